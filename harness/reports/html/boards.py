"""Boards, heat map and evidence as the page shows them: what stands in which row, and where.

Positions are in units of a bar's length; rates are in percent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.ranking.model import APART, Board, Estimate, Evidence, Ranking, Row
from harness.ranking.rows import strongest_rows
from harness.reports.page import GUESSING

BAR = 120
# Shades of the heat map, from an EER of 50 % or more, where an attacker guesses, to one of 0.
SHADES = 10


@dataclass(frozen=True)
class Bar:
    """An EER on the board's scale. low, high: of its interval; None where there is none."""

    point: int
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Line:
    """One row of a board. of: the archive, where the attacker has several on this board.

    reasons: those of the row; of a late one, when it came. new_tier: whether a tier begins here.
    note: number of the reason why there is no interval.
    """

    row: Row
    of: str | None
    reasons: tuple[str, ...]
    bar: Bar | None
    new_tier: bool = False
    note: int | None = None


@dataclass(frozen=True)
class Published:
    """Published EERs of one label, by split. sources: where they are printed."""

    label: str
    eers: dict[str, Estimate]
    sources: tuple[str, ...]
    bar: Bar | None


@dataclass(frozen=True)
class BoardView:
    """A board, with lines in the order shown. splits: the one that ranks first.

    scale: ends of the bars, percent. published: EERs that stand below all lines. apart: lines that
    are never ranked. notes: reasons for absent intervals, numbered from 1. strongest: the
    rows of the strongest attackers, by name. n_ranked: attackers that have a rank.
    """

    board: Board
    splits: tuple[str, ...]
    scale: tuple[int, int]
    lines: tuple[Line, ...]
    published: tuple[Published, ...]
    apart: tuple[Line, ...]
    notes: tuple[str, ...]
    strongest: dict[str, Row | None]
    n_ranked: int

    @staticmethod
    def of(board: Board, evidence: Iterable[Evidence] = ()) -> BoardView:
        """evidence: of the entries, which says in full what is said briefly in a row."""
        standing = [row for row in board.rows if row.status not in APART]
        splits = dict.fromkeys([board.split])
        splits |= dict.fromkeys(split for row in standing for split in row.averages or {})
        splits |= dict.fromkeys(reference.split for reference in board.references)
        shown = [(row.averages or {}).get(board.split) for row in standing]
        scale = _scale(
            [one for one in shown if one],
            [one.percent for one in board.references if one.split == board.split],
        )
        notes = tuple(dict.fromkeys(one.reason for one in shown if one and one.reason))
        several = with_several(board)
        late = {
            (one.name, check.message)
            for one in evidence
            for check in one.checks
            if check.code == "late"
        }

        def line(row: Row, eer: Estimate | None = None, new_tier: bool = False) -> Line:
            return Line(
                row,
                row.entry if row.attacker in several else None,
                tuple(_brief(one) if (row.entry, one) in late else one for one in row.reasons),
                _bar(eer, scale) if eer else None,
                new_tier,
                notes.index(eer.reason) + 1 if eer and eer.reason else None,
            )

        lines, tier = [], None
        for row, eer in zip(standing, shown, strict=True):
            lines.append(line(row, eer, row.tier is not None and row.tier != tier))
            tier = row.tier
        return BoardView(
            board,
            tuple(splits),
            scale,
            tuple(lines),
            tuple(_published(board, scale)),
            tuple(line(row) for row in board.rows if row.status in APART),
            notes,
            strongest_rows(board),
            len({row.attacker for row in board.rows if row.rank is not None}),
        )


def with_several(board: Board) -> frozenset[str]:
    """Attackers with several entries on a board: their name alone does not tell these apart."""
    entries = Counter(row.attacker for row in board.rows)
    return frozenset(name for name, count in entries.items() if count > 1)


@dataclass(frozen=True)
class Heat:
    """Attackers by systems. cells: of each attacker, by system, the EER and its shade, 0 to
    `SHADES`; an attacker's best entry that is not refuted. Attackers in order of their mean."""

    systems: tuple[str, ...]
    cells: dict[str, dict[str, tuple[float, int]]]

    @staticmethod
    def of(ranking: Ranking) -> Heat | None:
        """The heat map of all boards; None where nothing is verified."""
        eers: dict[str, dict[str, float]] = {}
        for board in ranking.boards:
            for row in board.rows:
                eer = (row.averages or {}).get(board.split)
                if eer and row.status not in APART:
                    of_attacker = eers.setdefault(row.attacker, {})
                    best = of_attacker.get(board.system, math.inf)
                    of_attacker[board.system] = min(best, eer.percent)
        systems = tuple(board.system for board in ranking.boards)

        # One who attacked fewer systems stands below who attacked more.
        def order(attacker: str) -> tuple[int, float, str]:
            values = eers[attacker].values()
            return -len(values), sum(values) / len(values), attacker

        cells = {
            attacker: {name: (eer, _shade(eer)) for name, eer in eers[attacker].items()}
            for attacker in sorted(eers, key=order)
        }
        return Heat(systems, cells) if cells else None


@dataclass(frozen=True)
class Entry:
    """All that is known of one entry. anchor: where it stands. rows: with their systems."""

    name: str
    anchor: str
    evidence: Evidence | None
    rows: tuple[tuple[str, Row], ...]


def entries_of(ranking: Ranking) -> tuple[Entry, ...]:
    """Submissions in the ranking's order, then what else its rows come from."""
    evidence = {one.name: one for one in ranking.evidence}
    rows: dict[str, list[tuple[str, Row]]] = {name: [] for name in evidence}
    for board in ranking.boards:
        for row in board.rows:
            rows.setdefault(row.entry, []).append((board.system, row))
    return tuple(
        Entry(name, f"entry-{number}", evidence.get(name), tuple(rows[name]))
        for number, name in enumerate(rows, start=1)
    )


def _brief(late: str) -> str:
    """When a late entry came; the message goes on with the deadline."""
    return f"{late.partition(';')[0]}, after the deadline"


def _shade(percent: float) -> int:
    return round(SHADES * (1 - min(max(percent, 0.0), GUESSING) / GUESSING))


def _scale(estimates: Iterable[Estimate], percents: Iterable[float]) -> tuple[int, int]:
    """Multiples of 5 around all EERs and intervals."""
    values = list(percents)
    for one in estimates:
        values += [x for x in (one.percent, one.low, one.high) if x is not None]
    low, high = (min(values), max(values)) if values else (0.0, GUESSING)
    first = 5 * math.floor(low / 5)
    return first, max(5 * math.ceil(high / 5), first + 5)


def _bar(eer: Estimate, scale: tuple[int, int]) -> Bar:
    def at(percent: float | None) -> int | None:
        if percent is None:
            return None
        return round(BAR * (percent - scale[0]) / (scale[1] - scale[0]))

    return Bar(at(eer.percent) or 0, at(eer.low), at(eer.high))


def _published(board: Board, scale: tuple[int, int]) -> Iterable[Published]:
    for label in dict.fromkeys(one.label for one in board.references):
        of_label = [one for one in board.references if one.label == label]
        eers = {one.split: Estimate(one.percent) for one in of_label}
        eer = eers.get(board.split)
        sources = tuple(dict.fromkeys(one.source for one in of_label))
        yield Published(label, eers, sources, _bar(eer, scale) if eer else None)
