"""Boards, heat map and evidence as the page shows them: what stands in which row, and where.

Positions are in units of a bar's length; rates are in percent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.ranking.model import APART, Board, Estimate, Evidence, Ranking, Reference, Row

BAR = 120
# Shades of the heat map, from an EER of 50 % or more, where an attacker guesses, to one of 0.
SHADES = 10
GUESSING = 50.0


@dataclass(frozen=True)
class Bar:
    """An EER on the board's scale. low, high: of its interval; None where there is none."""

    point: int
    low: int | None
    high: int | None


@dataclass(frozen=True)
class Line:
    """One row of a board: an attacker's, or a published one. eers: by split.

    new_tier: whether a tier begins here. note: number of the reason why there is no interval.
    """

    row: Row | None
    published: tuple[Reference, ...]
    eers: dict[str, Estimate]
    bar: Bar | None
    new_tier: bool = False
    note: int | None = None


@dataclass(frozen=True)
class BoardView:
    """A board, with lines in the order shown. splits: the one that ranks first.

    scale: ends of the bars, percent. notes: reasons for absent intervals, numbered from 1.
    apart: rows that are never ranked.
    """

    board: Board
    splits: tuple[str, ...]
    scale: tuple[int, int]
    lines: tuple[Line, ...]
    apart: tuple[Row, ...]
    notes: tuple[str, ...]

    @staticmethod
    def of(board: Board) -> BoardView:
        """Published values stand among the ranked rows, where their EER would."""
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
        lines, tier = [], None
        for row, eer in zip(standing, shown, strict=True):
            new_tier = row.tier is not None and row.tier != tier
            tier = row.tier
            lines.append(
                Line(
                    row,
                    (),
                    row.averages or {},
                    _bar(eer, scale) if eer else None,
                    new_tier,
                    notes.index(eer.reason) + 1 if eer and eer.reason else None,
                )
            )
        for label in dict.fromkeys(one.label for one in board.references):
            published = tuple(one for one in board.references if one.label == label)
            eers = {one.split: Estimate(one.percent) for one in published}
            eer = eers.get(board.split)
            line = Line(None, published, eers, _bar(eer, scale) if eer else None)
            lines.insert(_place(lines, board.split, eer), line)
        return BoardView(
            board,
            tuple(splits),
            scale,
            tuple(lines),
            tuple(row for row in board.rows if row.status in APART),
            notes,
        )


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


def _place(lines: Sequence[Line], split: str, eer: Estimate | None) -> int:
    """Before the first ranked row of a higher EER, else behind the last ranked one."""
    place = 0
    for number, line in enumerate(lines, start=1):
        if line.row and line.row.rank is None:
            continue
        if eer and split in line.eers and line.eers[split].percent > eer.percent:
            return number - 1
        place = number
    return place
