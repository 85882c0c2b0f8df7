"""WORLD: speech as F0, spectral envelope and aperiodicity, and speech made of the three again.

Morise, Yokomori, Ozawa: WORLD: a vocoder-based high-quality speech synthesis system for real-time
applications, IEICE Transactions 2016; by the package `pyworld`. F0 comes from DIO refined by
StoneMask, the envelope from CheapTrick, the aperiodicity from D4C. Frames lie 5 ms apart, the first
at the first sample.

Nothing is random: WORLD's noise starts from the same state in each call, so results depend on the
arguments alone. Levels are kept: speech between -1 and 1 comes back at the level it had.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt

from harness.anonymizers.pretrained import package
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import SAMPLE_RATE, Samples

Floats = npt.NDArray[np.float64]

FRAME_MS = 5.0
FRAME_SAMPLES = 80
FFT_SIZE = 1_024
BINS = FFT_SIZE // 2 + 1
# Hz: WORLD's own limits.
F0_FLOOR = 71.0
F0_CEILING = 800.0
# Where the second line of a warp begins, as a share of 8 kHz.
KNEE = 0.875
# Shorter speech gets zeros behind it for the analysis: 100 ms hold the windows of the lowest F0.
SHORTEST = 1_600


def _pyworld() -> ModuleType:
    return package("pyworld", "WORLD vocoder", "pip install 'anonymization-harness[knn-vc]'")


@dataclass(frozen=True)
class Analysis:
    """Speech in frames 5 ms apart.

    f0: (frames,) in Hz, 0 where unvoiced. envelope: (frames, 513) power, 0 to 8 kHz, above 0.
    aperiodicity: (frames, 513) share of noise in the amplitude, 0 to 1.
    """

    f0: Floats
    envelope: Floats
    aperiodicity: Floats


def analyse(samples: Samples) -> Analysis:
    """Analysis of mono 16 kHz int16 samples, (samples,) → samples // 80 + 1 frames.

    Raises ConfigError without pyworld.
    """
    world = _pyworld()
    speech = np.zeros(max(len(samples), SHORTEST))
    speech[: len(samples)] = samples / FULL_SCALE
    coarse, times = world.dio(
        speech, SAMPLE_RATE, f0_floor=F0_FLOOR, f0_ceil=F0_CEILING, frame_period=FRAME_MS
    )
    f0 = world.stonemask(speech, coarse, times, SAMPLE_RATE)
    envelope = world.cheaptrick(speech, f0, times, SAMPLE_RATE, fft_size=FFT_SIZE)
    aperiodicity = world.d4c(speech, f0, times, SAMPLE_RATE, fft_size=FFT_SIZE)
    frames = len(samples) // FRAME_SAMPLES + 1
    return Analysis(f0[:frames], envelope[:frames], aperiodicity[:frames])


def synthesize(analysis: Analysis, length: int) -> Floats:
    """Speech of an analysis of one frame or more: exactly `length` samples.

    What lies past the last frame is 0. Raises ConfigError without pyworld.
    """
    made = _pyworld().synthesize(
        np.ascontiguousarray(analysis.f0, dtype=np.float64),
        np.ascontiguousarray(analysis.envelope, dtype=np.float64),
        np.ascontiguousarray(analysis.aperiodicity, dtype=np.float64),
        SAMPLE_RATE,
        FRAME_MS,
    )[:length]
    speech = np.zeros(length)
    speech[: len(made)] = made
    return speech


def coded_envelope(envelope: Floats, coefficients: int) -> Floats:
    """An envelope as mel-cepstra, (frames, 513) → (frames, coefficients).

    They are linear in the log envelope.
    """
    frames = np.ascontiguousarray(envelope)
    coded: Floats = _pyworld().code_spectral_envelope(frames, SAMPLE_RATE, coefficients)
    return coded


def decoded_envelope(coded: Floats) -> Floats:
    """The envelope of mel-cepstra, (frames, coefficients) → (frames, 513)."""
    frames = np.ascontiguousarray(coded, dtype=np.float64)
    envelope: Floats = _pyworld().decode_spectral_envelope(frames, SAMPLE_RATE, FFT_SIZE)
    return envelope


def coded_aperiodicity(aperiodicity: Floats) -> Floats:
    """An aperiodicity in dB where D4C measures it, (frames, 513) → (frames, bands)."""
    frames = np.ascontiguousarray(aperiodicity)
    coded: Floats = _pyworld().code_aperiodicity(frames, SAMPLE_RATE)
    return coded


def decoded_aperiodicity(coded: Floats) -> Floats:
    """The aperiodicity of its coded form, (frames, bands) → (frames, 513)."""
    frames = np.ascontiguousarray(coded, dtype=np.float64)
    aperiodicity: Floats = _pyworld().decode_aperiodicity(frames, SAMPLE_RATE, FFT_SIZE)
    return aperiodicity


def moved(f0: Floats, mean_hz: float, factor: float) -> Floats:
    """An F0 contour in Hz, (frames,) → (frames,), 0 where unvoiced, with another mean and range.

    mean_hz: its geometric mean over voiced frames. factor: of the deviations of log F0 from it.
    """
    voiced = f0 > 0
    result = np.zeros(len(f0))
    if voiced.any():
        log_f0 = np.log(f0[voiced])
        contour = np.exp(math.log(mean_hz) + factor * (log_f0 - log_f0.mean()))
        result[voiced] = np.clip(contour, F0_FLOOR, F0_CEILING)
    return result


def warped(frames: Floats, factor: float) -> Floats:
    """Spectra (frames, bins) with what stood at a frequency moved to `factor` times it.

    So that nothing leaves the band, this holds up to 7 kHz, in the input or in the output,
    whichever is reached first; from there a second line leads to 8 kHz. (Vocal tract length
    normalisation: the HTK Book, 5.5.)
    """
    bins = np.arange(frames.shape[1])
    last = bins[-1]
    knee = KNEE * last * min(1.0, 1 / factor)
    places = np.interp(bins, [0, knee * factor, last], [0, knee, last])
    below = np.minimum(places.astype(np.intp), last - 1)
    share = places - below
    mixed: Floats = frames[:, below] * (1 - share) + frames[:, below + 1] * share
    return mixed
