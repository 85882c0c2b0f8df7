"""`original`: speech as it is. The system `orig` of every benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from harness.anonymizers.base import Job, Level, Source
from harness.corpora.store import Samples


@dataclass(frozen=True)
class Original:
    """Returns the samples unchanged."""

    name: ClassVar[str] = "original"
    # Nothing to isolate: it works in this process under either runner.
    image: ClassVar[str | None] = None
    level: Level = "utterance"

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients."""
        return [None] * len(sources)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """The samples themselves."""
        return samples
