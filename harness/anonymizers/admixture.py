"""`admixture`: one of two systems for each utterance, at random.

Team JHU-CLSP's T8-5 of 2024 is one, with p = 0.4: Whisper and VITS, or with probability p kNN-VC on
WavLM features (the Attacker Challenge's evaluation plan, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from harness.anonymizers.base import Anonymizer, Device, Job, Source, batch_of, everything_of
from harness.anonymizers.composite import Composite, Entry
from harness.corpora.opaque import Recording
from harness.corpora.store import Samples
from harness.errors import ConfigError
from harness.runtime.events import Events
from harness.runtime.seeds import derived_seed


@dataclass(frozen=True, kw_only=True)
class Admixture(Composite):
    """Two systems, mixed.

    first, second: their entries. p: probability of the second, 0 to 1. Which one it is follows from
    the seed of the job, so at the level `speaker` it is the same for all that a speaker says.
    Raises ConfigError for a p out of range, or a part that cannot be loaded.
    """

    name: ClassVar[str] = "admixture"
    first: Entry
    second: Entry
    p: float = 0.4

    def entries(self) -> Mapping[str, Entry]:
        """Both of its parts."""
        return {"first": self.first, "second": self.second}

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.p <= 1:
            raise ConfigError(f"p is {self.p}", where=self.name, fix="give a number from 0 to 1")

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """Of each utterance the coefficient of the system that it gets."""
        drawn = [part.alphas(sources, seeds) for part in self.parts]
        return [drawn[self._choice(seed)][place] for place, seed in enumerate(seeds)]

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """What the system of this job makes of the samples. Errors are its own."""
        return self._of(job).anonymize(samples, job)

    @contextmanager
    def batch(
        self,
        speech: Sequence[tuple[Job, Recording]],
        *,
        work: Path,
        threads: int,
        device: Device,
        events: Events,
    ) -> Iterator[Mapping[str, Callable[[], Samples]]]:
        """Each system makes its utterances at once; see `BatchAnonymizer.batch`."""
        made: dict[str, Callable[[], Samples]] = {}
        with ExitStack() as stack:
            for place, part in enumerate(self.parts):
                own = [one for one in speech if self._choice(one[0].seed) == place]
                if own:
                    batch = batch_of(
                        part,
                        own,
                        work=work / str(place),
                        threads=threads,
                        device=device,
                        events=events,
                    )
                    made |= stack.enter_context(batch)
            yield made

    def _of(self, job: Job) -> Anonymizer:
        return self.parts[self._choice(job.seed)]

    def _choice(self, seed: int) -> int:
        # By what is inside too, or an admixture inside another would choose as that does; not by
        # parameters, so that systems that differ by one can be compared utterance by utterance.
        inside = [one.name for one in everything_of(self)]
        drawn = np.random.default_rng(derived_seed(seed, *inside)).random()
        return int(drawn < self.p)
