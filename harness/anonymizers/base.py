"""The interface of an anonymizer, and how one is found by name.

An anonymizer is a frozen dataclass whose fields are its parameters (those of its entry in
params.yaml), registered in the entry-point group `harness.anonymizers`. It sees one utterance at a
time, or a shard at once where starting is dear, and of each a job that the host has drawn for it:
so batches, order and number of workers cannot change a result. It never sees an official name; the
speaker only where the level is `speaker`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from harness.corpora.opaque import Recording
from harness.corpora.store import Samples
from harness.runtime import plugins
from harness.runtime.events import Events

Level = Literal["utterance", "speaker"]
Device = Literal["cpu", "cuda"]
LEVELS: tuple[Level, ...] = ("utterance", "speaker")


@dataclass(frozen=True)
class Job:
    """What an anonymizer is told about an utterance.

    utterance: opaque id (`u000123`).
    seed: 63-bit seed; one per utterance, or one per speaker where the level is `speaker`.
    alpha: McAdams coefficient where the host assigns one, else None.
    speaker: opaque id (`s0042`) where the level is `speaker`, else None.
    """

    utterance: str
    seed: int
    alpha: float | None = None
    speaker: str | None = None


@dataclass(frozen=True)
class Source:
    """What the host knows of an utterance when it draws: official names, in the set's order."""

    utterance: str
    speaker: str


@runtime_checkable
class Anonymizer(Protocol):
    """One anonymization system with its parameters."""

    name: ClassVar[str]

    @property
    def level(self) -> Level:
        """Whether utterances or speakers have a seed each."""
        ...

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """Coefficients the host hands out for one data set, in C order of its utterances.

        seeds: of the utterances or speakers, as they will stand in the jobs. Systems that take
        their randomness from the seed alone return None for each.
        """
        ...

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """Anonymized speech of one utterance: mono 16 kHz int16 in, the same out."""
        ...


@runtime_checkable
class BatchAnonymizer(Anonymizer, Protocol):
    """One that would rather have many utterances at once, such as an image."""

    def batch(
        self,
        speech: Sequence[tuple[Job, Recording]],
        *,
        work: Path,
        threads: int,
        device: Device,
        events: Events,
    ) -> AbstractContextManager[Mapping[str, Callable[[], Samples]]]:
        """What reads the anonymized speech of each utterance, by opaque name, in any process.

        It is there while the context lasts. work: a folder of its own; nothing is left there.
        threads, device: what may be used.
        """
        ...


KIND = plugins.Kind(
    "anonymizer", "harness.anonymizers", Anonymizer, "level, name, alphas() and anonymize()"
)


def load(name: str, entry: Mapping[str, Any]) -> Anonymizer:
    """The anonymizer that params.yaml calls `name`, from its entry (`type` and parameters).

    Raises ConfigError as `plugins.load` does.
    """
    anonymizer: Anonymizer = plugins.load(KIND, name, entry)
    return anonymizer
