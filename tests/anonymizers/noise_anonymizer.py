"""An anonymizer for tests, in a module of its own so that worker processes can import it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.anonymizers.base import Job, Level, Source
from harness.corpora.store import Samples
from harness.errors import AudioError


@dataclass(frozen=True)
class Noise:
    """Adds noise that the job's seed determines; refuses utterances with the sample `refused`."""

    name: ClassVar[str] = "noise"
    level: Level = "utterance"
    amplitude: int = 100
    refused: int | None = None

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        return [place / 8 for place in range(len(sources))]

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        if self.refused in samples:
            raise AudioError("told to fail", where=job.utterance, fix="do not tell")
        noise = np.random.default_rng(job.seed).integers(
            -self.amplitude, self.amplitude, len(samples)
        )
        return (samples // 2 + noise).astype(np.int16)
