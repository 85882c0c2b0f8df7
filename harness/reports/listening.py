"""What the page of `harness listen` shows: utterances to be heard, original and anonymized.

Plain data, and the numbers that stand beside the sound. Speech is mono, 16 kHz, 16-bit: (samples,)
of int16, full scale 32768. Levels are in dBFS: decibels below that, for an RMS of full scale 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.int16]
Floats = npt.NDArray[np.float64]

SAMPLE_RATE = 16_000
FULL_SCALE = 32_768
# 25-ms Hann windows 10 ms apart, as speech recognisers have them; zeros make 512 samples of each.
WINDOW = 400
HOP = 160
FFT_SIZE = 512
# Where a spectrogram ends: well below what 16 bits can hold.
FLOOR_DBFS = -120.0


@dataclass(frozen=True)
class Version:
    """An utterance as the corpus has it, or as a system made it.

    samples: what is to be heard, of an utterance of `seconds`. f0: (frames,) in Hz, 0 where
    unvoiced, `Listening.frame_ms` apart, the first at the first sample. note: of the manifest.
    """

    name: str
    samples: Samples
    f0: Floats
    seconds: float
    note: str = ""


@dataclass(frozen=True)
class Heard:
    """An utterance: who says what, and its versions, the original first."""

    utterance: str
    speaker: str
    gender: str
    dataset: str
    text: str
    versions: tuple[Version, ...]


@dataclass(frozen=True)
class Source:
    """A corpus that speech was taken from. sha256: of its manifest, which has that of every file.

    entry: what params.yaml says of the system.
    """

    name: str
    dataset: str
    sha256: str
    entry: str


@dataclass(frozen=True)
class Listening:
    """A page. systems: names of the versions after the original. f0_method: how F0 was found.

    most_seconds: of an utterance can be heard. reference: of the benchmark.
    """

    benchmark: str
    title: str
    reference: str | None
    systems: tuple[str, ...]
    utterances: tuple[Heard, ...]
    sources: tuple[Source, ...]
    most_seconds: float
    frame_ms: float
    f0_method: str


def level_dbfs(samples: Samples) -> float | None:
    """RMS of the samples in dBFS; None where all are zero."""
    power = float(np.mean(np.square(samples / FULL_SCALE))) if samples.size else 0.0
    return 10 * math.log10(power) if power > 0 else None


def mean_f0(f0: Floats) -> float | None:
    """Mean in Hz over the voiced frames, (frames,); None where there is none."""
    voiced = f0[f0 > 0]
    return float(voiced.mean()) if voiced.size else None


def spectrogram(samples: Samples) -> Floats:
    """Levels in dBFS, (257 frequencies from 0 to 8 kHz, one frame in 10 ms, at least one).

    A sine of full scale has 0 at its frequency, silence FLOOR_DBFS everywhere. Frame i is centred
    on the middle of the 10 ms from i * HOP on.
    """
    frames = max(1, math.ceil(samples.size / HOP))
    padded = np.zeros((frames - 1) * HOP + WINDOW)
    before = (WINDOW - HOP) // 2
    padded[before : before + samples.size] = samples / FULL_SCALE
    window = np.hanning(WINDOW)
    pieces = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP] * window
    amplitudes = 2 * np.abs(np.fft.rfft(pieces, FFT_SIZE)) / window.sum()
    levels: Floats = 20 * np.log10(np.maximum(amplitudes, 10 ** (FLOOR_DBFS / 20))).T
    return levels
