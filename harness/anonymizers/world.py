"""WORLD: speech as F0, spectral envelope and aperiodicity, and speech made of the three again.

Morise, Yokomori, Ozawa: WORLD: a vocoder-based high-quality speech synthesis system for real-time
applications, IEICE Transactions 2016; by the package `pyworld`. F0 comes from DIO refined by
StoneMask, the envelope from CheapTrick, the aperiodicity from D4C. Frames lie 5 ms apart, the first
at the first sample.

Nothing is random: WORLD's noise starts from the same state in each call, so results depend on the
arguments alone. Levels are kept: speech between -1 and 1 comes back at the level it had.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
import numpy.typing as npt

from harness.anonymizers.base import Job
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import AudioError, ConfigError

Floats = npt.NDArray[np.float64]

FRAME_MS = 5.0
FRAME_SAMPLES = 80
FFT_SIZE = 1_024
BINS = FFT_SIZE // 2 + 1
# Hz. Below the floor CheapTrick's windows would not fit FFT_SIZE.
F0_FLOOR = 71.0
F0_CEILING = 800.0
FULL_SCALE = 32_768
PEAK = 32_766
# Half a step of 16 bits: what stays below is digital silence.
SILENT = 0.5 / FULL_SCALE
# Shorter speech gets zeros behind it for the analysis: 100 ms hold the windows of the lowest F0.
SHORTEST = 1_600


def _pyworld() -> ModuleType:
    # Not at the top: parameters of anonymizers are checked where it is not installed.
    try:
        import pyworld
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the module {error.name} is not installed",
            where="WORLD vocoder",
            fix="pip install 'anonymization-harness[world]'",
        ) from error
    module: ModuleType = pyworld
    return module


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


def finish(speech: Floats) -> Samples:
    """16-bit samples with the peak at 32766, (samples,) → (samples,); zeros for digital silence."""
    peak = float(np.abs(speech).max(initial=0))
    if peak < SILENT:
        return np.zeros(len(speech), dtype=np.int16)
    finished: Samples = np.rint(speech / peak * PEAK).astype(np.int16)
    return finished


def check_samples(samples: Samples, job: Job) -> None:
    """Raises AudioError, naming the utterance, for samples that are not mono int16."""
    if samples.dtype != np.int16 or samples.ndim != 1:
        raise AudioError(
            f"audio is {samples.dtype} of {samples.ndim} dimensions, not mono 16-bit",
            where=f"utterance {job.utterance}",
            fix="convert it",
        )
