"""Anonymizers ranked within minimums of privacy, as plain data.

Means are exact (of the decimals in the table, by the decimals of the weights), so that a minimum
is reached, and a tie is one, by the values alone. Texts of strangers are as they came: whoever
shows them makes them harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from harness.protocols.conditions import AnonymizerRanking

FORMAT = 1


@dataclass(frozen=True)
class Entry:
    """One system of a team.

    means: by measure and split, in the measure's unit; absent where a part is missing. reached: the
    minimums of privacy that it reaches. next: the lowest that it does not reach, None where it
    reaches all or its privacy is not known; short: what it lacks to that, in the measure's unit.
    changes: relative change against original speech in percent of original's mean, (anonymized -
    original) / original, of the measures of privacy and tracks; a WER that rises and a UAR that
    falls are losses. unranked: why it is missing from rankings, one sentence each. submission: what
    it is of, empty where it is of a table; of one, `claimed` names the measures that are its team's
    word alone, and remarks say what looks odd about its scores.
    """

    team: str
    system: str
    means: Mapping[str, Mapping[str, Fraction]]
    reached: tuple[float, ...] = ()
    next: float | None = None
    short: Fraction | None = None
    changes: Mapping[str, Fraction] | None = None
    unranked: tuple[str, ...] = ()
    submission: str = ""
    claimed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """A system on a board. rank: from 1, ties share the better; None for a system that does not
    count beside a better one of its team."""

    entry: Entry
    rank: int | None


@dataclass(frozen=True)
class Board:
    """A condition or category in one track: those that reach `minimum`, best first by `track`;
    then those that do not count."""

    minimum: float
    track: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Front:
    """The Pareto front in some measures: systems than which no other is as good in all of these
    measures and better in one."""

    measures: tuple[str, ...]
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class ConditionRanking:
    """All of it. entries: every system, by team and name. original: means of
    original speech by measure and split, None where no table has it."""

    edition: AnonymizerRanking
    entries: tuple[Entry, ...]
    boards: tuple[Board, ...]
    fronts: tuple[Front, ...]
    original: Mapping[str, Mapping[str, Fraction]] | None = None
