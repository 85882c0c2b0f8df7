"""Frames of speech, and 16-bit samples before and after: what a CPU and a GPU have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from harness.anonymizers.samples import PEAK
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import Samples

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Added to the samples, and once more to the windowed frames before the analysis.
EPS = float(np.finfo(np.float32).eps)


@dataclass(frozen=True)
class Framing:
    """How speech is cut and analysed, and how far poles may turn.

    length: samples of a frame. shift: from one frame's start to the next's. first: the first
    frame's. order: of the linear prediction. largest_angle: of a moved pole, in radians.
    """

    length: int
    shift: int
    first: int
    order: int
    largest_angle: float

    @cached_property
    def window(self) -> Floats:
        """Applied before and after, shape (length,): sqrt(hann / K), K = sum(hann) / shift."""
        hann = np.hanning(self.length)
        window: Floats = np.sqrt(hann / (hann.sum() / self.shift))
        return window

    def starts(self, samples: Samples) -> Integers:
        """The first sample of every full frame, shape (frames,); none where all are silent."""
        starts = np.arange(self.first, len(samples) - self.length + 1, self.shift)
        # The window is 0 at its ends.
        heard = samples[self.first + 1 : starts[-1] + self.length - 1]
        return starts if heard.any() else starts[:0]


def floats(samples: Samples) -> Floats:
    """16-bit samples on a scale of 1, and a little more than that, of the same shape."""
    scaled: Floats = samples / FULL_SCALE + EPS
    return scaled


def integers(speech: Floats) -> Samples:
    """Peak to 32766, truncated to 16 bits, of the same shape; silence stays silence."""
    peak = float(np.abs(speech).max())
    samples: Samples = (speech / peak * PEAK if peak else speech).astype(np.int16)
    return samples
