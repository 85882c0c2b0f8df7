"""Interface of evaluators: what anonymized speech still is good for.

An evaluator measures each utterance by itself, in any process, and then makes values of all these
measurements. Its file is found by an entry point of the group `harness.evaluators`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from harness.corpora.opaque import Recording
from harness.metrics.resampling import Sampling
from harness.protocols.values import Value
from harness.runtime import plugins

# What a measurement is: it is kept as JSON, so that a run that was killed goes on.
Measurement = Mapping[str, Any]


@dataclass(frozen=True)
class Pair:
    """An utterance before and after anonymization, which are the same of original speech.

    text: the transcript, empty where there is none. gender: f | m. labels: further columns of the
    original's manifest, such as `emotion` and `fold`.
    """

    utterance: str
    speaker: str
    gender: str
    text: str
    original: Recording
    anonymized: Recording
    labels: Mapping[str, str]


@dataclass(frozen=True)
class Group:
    """Utterances of a data set and split, or of one gender in it (f | m; empty for all)."""

    dataset: str
    split: str
    gender: str
    pairs: tuple[Pair, ...]
    measured: tuple[Measurement, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def speakers(self) -> list[str]:
        """Of each utterance."""
        return [pair.speaker for pair in self.pairs]


@dataclass(frozen=True)
class Measured:
    """A value. gender: f | m, or empty for all. n: utterances it is of. low, high: interval of
    95 %, or None."""

    measure: str
    gender: str
    n: int
    value: float
    low: float | None = None
    high: float | None = None


def as_value(
    found: Measured, *, system: str, evaluator: str, dataset: str, split: str, seed: str = ""
) -> Value:
    """The row of a measured value. See `Value`."""
    return Value(
        system=system,
        evaluator=evaluator,
        seed=seed,
        measure=found.measure,
        dataset=dataset,
        split=split,
        gender=found.gender,
        n=found.n,
        value=found.value,
        low=found.low,
        high=found.high,
    )


@dataclass(frozen=True)
class Evaluation:
    """Of a group. rows: what the table of utterances says of each, in their order: text, or finite
    numbers. warnings: what a person should know of the values, one line each."""

    rows: Sequence[Mapping[str, str | float]]
    values: Sequence[Measured]
    warnings: Sequence[str] = ()


@runtime_checkable
class Evaluator(Protocol):
    """One way to measure utility, with its parameters."""

    def measure(self, pair: Pair) -> Measurement:
        """One utterance, measured; JSON can hold it. It depends on this pair alone."""
        ...

    def evaluate(self, group: Group, sampling: Sampling) -> Evaluation:
        """What follows from the measurements of one data set and split.

        Raises DataError for utterances that cannot have a value, and says why.
        """
        ...


@runtime_checkable
class Choosy(Protocol):
    """An evaluator that cannot measure every utterance."""

    def check(self, pairs: Sequence[Pair]) -> None:
        """Raises DataError for those of a set that can have no value, before any is measured."""
        ...


KIND = plugins.Kind("evaluator", "harness.evaluators", Evaluator, "measure() and evaluate()")


def load(name: str, entry: Mapping[str, Any]) -> Evaluator:
    """The evaluator that params.yaml calls `name`, from its entry (`type` and parameters).

    Raises ConfigError as `plugins.load` does.
    """
    evaluator: Evaluator = plugins.load(KIND, name, entry)
    return evaluator


def by_gender(group: Group) -> Iterator[Group]:
    """The group itself; where it has two genders also its women, then its men."""
    yield group
    genders = [pair.gender for pair in group.pairs]
    for gender in sorted(set(genders)) if len(set(genders)) > 1 else ():
        chosen = [place for place, found in enumerate(genders) if found == gender]
        yield Group(
            group.dataset,
            group.split,
            gender,
            tuple(group.pairs[place] for place in chosen),
            tuple(group.measured[place] for place in chosen),
        )
