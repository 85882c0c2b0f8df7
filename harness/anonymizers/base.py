"""The interface of an anonymizer, and how one is found by name.

An anonymizer is a frozen dataclass whose fields are its parameters (those of its entry in
params.yaml), registered in the entry-point group `harness.anonymizers`. It sees one utterance at a
time, or a shard at once where starting is dear, and of each a job that the host has drawn for it:
so batches, order and number of workers cannot change a result. It never sees an official name; the
speaker only where the level is not `utterance`.

A level says what has one draw of its own, and so sounds like one pseudo-speaker: an `utterance`, a
`speaker`, or a speaker in each set anew (`speaker-in-set`, as in 2022: an attacker who anonymizes
enrolments cannot draw what a trial's speaker drew). In params.yaml it may also be given for each
set, by its name or by its role in the protocol:
`level: {train: utterance, enrolment: speaker-in-set, trial: speaker-in-set}`. The host resolves
that: an anonymizer only ever has one level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeGuard, get_args, runtime_checkable

from harness.corpora.opaque import Recording
from harness.corpora.store import Samples
from harness.errors import ConfigError
from harness.protocols.protocol import ROLES, DataSet, set_names
from harness.protocols.typed import did_you_mean
from harness.runtime import plugins
from harness.runtime.events import Events

Level = Literal["utterance", "speaker", "speaker-in-set"]
Device = Literal["cpu", "cuda"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True)
class Job:
    """What an anonymizer is told about an utterance.

    utterance: opaque id (`u000123`).
    seed: 63-bit seed, one for what has one at the anonymizer's level.
    alpha: McAdams coefficient where the host assigns one, else None.
    speaker: opaque id (`s0042`), None where the level is `utterance`.
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
        """What has a seed of its own."""
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


@runtime_checkable
class Targeted(Anonymizer, Protocol):
    """One that turns speakers into others: those of the benchmark's training set."""

    def aimed(self, targets: Path) -> Anonymizer:
        """The system with its target speakers. targets: a stored corpus, the training set."""
        ...


@runtime_checkable
class Accelerated(BatchAnonymizer, Protocol):
    """One that can use a GPU in this process, and only there takes batches.

    gpu: whether it would, as its parameters are.
    """

    @property
    def gpu(self) -> bool:
        """Whether `batch` may be called, with the device `cuda`."""
        ...


@runtime_checkable
class Composed(Anonymizer, Protocol):
    """One that is made of others. parts: these, as they are loaded."""

    @property
    def parts(self) -> Sequence[Anonymizer]:
        """The systems it is made of, each of which must be able to run."""
        ...


KIND = plugins.Kind(
    "anonymizer", "harness.anonymizers", Anonymizer, "level, name, alphas() and anonymize()"
)


def load(name: str, entry: Mapping[str, Any], dataset: DataSet | None = None) -> Anonymizer:
    """The anonymizer that params.yaml calls `name`, from its entry (`type` and parameters).

    dataset: the set it is for, where the entry has a level for each; without one they are all
    checked. Raises ConfigError as `plugins.load` does, and for levels that leave a role out or name
    what is no set.
    """
    where = f"params.yaml: anonymizers.{name}"
    if _holds_itself(entry, ()):
        fix = "give the part an entry of its own"
        raise ConfigError("a system is a part of itself", where=where, fix=fix)
    level = entry.get("level")
    if not isinstance(level, Mapping):
        return _load(name, entry)
    where = f"{where}.level"
    known = (*ROLES, *set_names())
    for key in level:
        if key not in known:
            hint = did_you_mean(str(key), known)
            fix = f"keys are roles ({', '.join(ROLES)}) or sets; {hint}"
            raise ConfigError(f"no role or set {key!r}", where=where, fix=fix)
    lacking = [role for role in ROLES if role not in level]
    if lacking:
        raise ConfigError(f"{lacking[0]!r} has none", where=where, fix=f"add `{lacking[0]}:`")
    if dataset is None:
        return [_load(name, {**entry, "level": one}) for one in level.values()].pop()
    return _load(name, {**entry, "level": level.get(dataset.name, level[dataset.role])})


def _holds_itself(entry: Mapping[str, Any], within: tuple[int, ...]) -> bool:
    # An anchor of YAML can be named inside itself.
    return id(entry) in within or any(
        _holds_itself(part, (*within, id(entry)))
        for part in entry.values()
        if isinstance(part, Mapping)
    )


def _load(name: str, entry: Mapping[str, Any]) -> Anonymizer:
    anonymizer: Anonymizer = plugins.load(KIND, name, entry)
    return anonymizer


def aimed(anonymizer: Anonymizer, targets: Path) -> Anonymizer:
    """The anonymizer, with its target speakers where it has any. targets: see `Targeted`."""
    return anonymizer.aimed(targets) if isinstance(anonymizer, Targeted) else anonymizer


def check_choice(parameter: str, value: object, choices: Sequence[str], where: str) -> None:
    """Raises ConfigError unless a parameter's value is one of the choices."""
    if value not in choices:
        fix = f"choose one of: {', '.join(choices)}"
        if str(value) in choices:
            fix = f"write it in quotes: '{value}'"
        raise ConfigError(f"{parameter} is {value!r}", where=where, fix=fix)


def everything_of(anonymizer: Anonymizer) -> Iterator[Anonymizer]:
    """The anonymizer, and all that it is made of."""
    yield anonymizer
    for part in anonymizer.parts if isinstance(anonymizer, Composed) else ():
        yield from everything_of(part)


def takes_batches(anonymizer: Anonymizer, device: Device) -> TypeGuard[BatchAnonymizer]:
    """Whether it would rather have many utterances at once, where it may use that device."""
    if isinstance(anonymizer, Accelerated):
        return device == "cuda" and anonymizer.gpu
    return isinstance(anonymizer, BatchAnonymizer)


@contextmanager
def batch_of(
    anonymizer: Anonymizer,
    speech: Sequence[tuple[Job, Recording]],
    *,
    work: Path,
    threads: int,
    device: Device,
    events: Events,
) -> Iterator[Mapping[str, Callable[[], Samples]]]:
    """As `BatchAnonymizer.batch`, of any anonymizer; what takes no GPU has the CPU."""
    if takes_batches(anonymizer, device):
        with anonymizer.batch(
            speech, work=work, threads=threads, device=device, events=events
        ) as made:
            yield made
    else:
        yield {job.utterance: partial(_one, anonymizer, job, kept) for job, kept in speech}


def _one(anonymizer: Anonymizer, job: Job, recording: Recording) -> Samples:
    return anonymizer.anonymize(recording.read(), job)
