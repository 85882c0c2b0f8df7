"""16-bit samples that go into an anonymizer, and those that come out of one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.anonymizers.base import Job
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import Samples
from harness.errors import AudioError

# Of what comes out, whatever the level of what went in: that of the published B2.
PEAK = 32_766
# Half a step of 16 bits: what stays below is digital silence.
SILENT = 0.5 / FULL_SCALE


def finish(speech: npt.NDArray[np.float64]) -> Samples:
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
