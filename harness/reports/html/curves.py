"""DET curves of attackers as the page draws them: on probit axes, in whole units of a square.

A curve is thinned to the points that a reader could see, so that hundreds fit into one page. Those
of the first attackers are drawn; all are kept as data for a reader to choose from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

from harness.ranking.model import APART, Board, Row
from harness.reports.html.boards import with_several

SIDE = 1000
# Twice the width of what the eye tells apart, in units, where the square is as wide as a column.
TOLERANCE = 2.0
DRAWN = 10
# Their numbers have no common factor: forty curves differ in one or the other.
COLOURS, DASHES = 8, 5
# As those of `harness.reports.figures`, so that curves can be held beside its pictures.
TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)

Point = tuple[float, float]
_probit = NormalDist().inv_cdf


@dataclass(frozen=True)
class Panel:
    """One list. ticks: label in percent and position along either axis, in units.

    lines: of each attacker, in the chart's order, one of each training: points as SVG has them.
    percents: their mean EERs, as printed.
    """

    list: str
    ticks: tuple[tuple[str, int], ...]
    lines: tuple[tuple[str, ...], ...]
    percents: tuple[str, ...]


@dataclass(frozen=True)
class Chart:
    """One system, a panel for each list of the split that ranks. names: of the attackers,
    with the archive where one has several."""

    system: str
    names: tuple[str, ...]
    panels: tuple[Panel, ...]

    @staticmethod
    def of(board: Board) -> Chart | None:
        """The chart of the verified attackers that have curves; None where there is none."""
        rows = [
            row
            for row in board.rows
            if row.status not in APART
            and any(rate.det and rate.split == board.split for rate in row.rates)
        ]
        if not rows:
            return None
        ranking = [rate for row in rows for rate in row.rates if rate.split == board.split]
        lists = dict.fromkeys(rate.list for rate in ranking)
        several = with_several(board)
        return Chart(
            system=board.system,
            names=tuple(
                f"{row.attacker} ({row.entry})" if row.attacker in several else row.attacker
                for row in rows
            ),
            panels=tuple(_panel(name, rows) for name in lists),
        )

    def data(self, shown: Callable[[str], str]) -> dict[str, object]:
        """What the page's program draws from. shown: makes a stranger's text fit to be seen."""
        return {
            "names": [shown(name) for name in self.names],
            "series": [series(place) for place in range(len(self.names))],
            "panels": [{"lines": panel.lines, "percents": panel.percents} for panel in self.panels],
        }


def series(place: int) -> str:
    """Classes of a curve by its place, from 0: a colour, and a dash for those who see none."""
    return f"s{place % COLOURS} d{place % DASHES}"


def _panel(name: str, rows: Sequence[Row]) -> Panel:
    rates = [[rate for rate in row.rates if rate.list == name] for row in rows]
    low, high = _probit(TICKS[0]), _probit(TICKS[-1])

    def unit(fraction: float) -> float:
        return SIDE * (_probit(fraction) - low) / (high - low)

    def line(det: Sequence[Point]) -> str:
        # A rate of 0 or 1 lies at infinity.
        inside = [(x, y) for x, y in det if 0 < x < 1 and 0 < y < 1]
        points = thinned([(unit(x), SIDE - unit(y)) for x, y in inside])
        return " ".join(f"{x:.0f},{y:.0f}" for x, y in points)

    return Panel(
        list=name,
        ticks=tuple((f"{100 * tick:g}", round(unit(tick))) for tick in TICKS),
        lines=tuple(tuple(line(rate.det) for rate in of_row if rate.det) for of_row in rates),
        percents=tuple(
            f"{sum(rate.percent for rate in of_row) / len(of_row):.2f}" if of_row else "no EER"
            for of_row in rates
        ),
    )


def thinned(points: Sequence[Point]) -> list[Point]:
    """The fewest of the points that leave no other farther than the tolerance from their line.

    After Douglas and Peucker, "Algorithms for the reduction of the number of points", 1973.
    """
    if not points:
        return []
    kept, spans = {0, len(points) - 1}, [(0, len(points) - 1)]
    while spans:
        first, last = spans.pop()
        (x0, y0), (x1, y1) = points[first], points[last]
        length = math.hypot(x1 - x0, y1 - y0) or 1.0
        farthest, distance = first, TOLERANCE
        for middle in range(first + 1, last):
            x, y = points[middle]
            off = abs((x1 - x0) * (y0 - y) - (x0 - x) * (y1 - y0)) / length
            if off > distance:
                farthest, distance = middle, off
        if farthest != first:
            kept.add(farthest)
            spans += [(first, farthest), (farthest, last)]
    return [points[index] for index in sorted(kept)]
