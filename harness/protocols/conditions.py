"""How an edition ranks anonymizers from measured values: its weights, minimums and measures.

VoicePrivacy 2022 calls the groups that a minimum of privacy makes conditions, 2024 categories.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from harness.errors import ConfigError
from harness.protocols.protocol import ListGender
from harness.protocols.typed import did_you_mean, named


def exact(number: float) -> Fraction:
    """A number of the rules as the decimal that is written there: 0.1 has no exact float."""
    return Fraction(str(number))


@dataclass(frozen=True)
class Part:
    """One value that goes into the mean of a measure, on each split.

    weight: from 0 to 1; those of a measure add up to 1. gender: None where the value is of all
    speakers together.
    """

    dataset: str
    weight: float
    gender: ListGender | None = None


@dataclass(frozen=True)
class Measure:
    """What is measured of a system. unit: `%`, `dB`, or empty for a bare number.

    least, most: values outside are faults of the table. exceeds: a system whose mean is not above
    it is not ranked; None where no such minimum is known. needs: what it takes to compute it; empty
    where scores are enough.
    """

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher"]
    least: float
    most: float
    parts: tuple[Part, ...]
    exceeds: float | None = None
    needs: str = ""


@dataclass(frozen=True)
class AnonymizerRanking:
    """The rules of an edition.

    split: the one that ranks; the other `splits` are shown beside it. original: name of original
    speech among the systems. privacy: the measure that `minimums`, in ascending order, are of; a
    system belongs to each that its mean reaches. tracks: the measures that rank, each by itself.
    systems_of_a_team: `best` where of each team the best system counts in each group and track.
    """

    kind: Literal["anonymizers"]
    name: str
    title: str
    reference: str
    group: Literal["condition", "category"]
    splits: tuple[str, ...]
    split: str
    original: str
    measures: tuple[Measure, ...]
    privacy: str
    minimums: tuple[float, ...]
    tracks: tuple[str, ...]
    systems_of_a_team: Literal["best", "all"]
    rules: tuple[str, ...]

    def __post_init__(self) -> None:
        """What the types cannot say. Raises ConfigError."""
        where = f"ranking {self.name}"
        for name in (self.privacy, *self.tracks):
            self.measure(name)
        if self.split not in self.splits:
            fix = did_you_mean(self.split, self.splits)
            raise ConfigError(f"no split {self.split!r}", where=where, fix=fix)
        if list(self.minimums) != sorted(set(self.minimums)):
            raise ConfigError("minimums not in ascending order", where=where, fix="sort them")
        for measure in self.measures:
            total = sum((exact(part.weight) for part in measure.parts), Fraction())
            if total != 1:
                raise ConfigError(
                    f"the weights of {measure.name} add up to {float(total):g}",
                    where=where,
                    fix="let them add up to 1",
                )

    def measure(self, name: str) -> Measure:
        """The measure of that name. Raises ConfigError when there is none."""
        return named(name, self.measures, "measure", f"ranking {self.name}")
