"""What the rows of a board say: its EERs, which of them hold, and which are the strongest.

Equal means are one and the same number (`exact_mean`), so that averages are compared as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from statistics import mean

from harness.ranking.model import APART, Board, ListRate, Row


def exact_mean(rates: Iterable[ListRate]) -> Fraction:
    """The mean EER in percent, from the counts of errors.

    Official rates are float32: of them equal means differ (15.624999627, 15.625, 15.625000373), and
    rounding does not make all of them one (0.703125 is halfway between two of five decimals). That
    much `harness.metrics.comparison.differences` lets differ, for ranks in draws.
    """
    return mean(
        50 * (Fraction(one.misses, one.n_target) + Fraction(one.false_alarms, one.n_nontarget))
        for one in rates
    )


def percent_of(row: Row, split: str) -> float:
    """The average of a split; infinite without one, so that what is missing is never the lowest."""
    estimate = (row.averages or {}).get(split)
    return math.inf if estimate is None else estimate.percent


def verified(board: Board) -> list[Row]:
    """The rows whose EER holds, whether they are ranked or not."""
    return [
        row
        for row in board.rows
        if row.status not in APART and math.isfinite(percent_of(row, board.split))
    ]


def strongest_rows(board: Board) -> dict[str, Row | None]:
    """Of each of the strongest attackers, by name, the row of its lowest EER.

    Of equal ones the first, which is official if any is; None where a document has no such row.
    """
    rows = verified(board)
    return {
        name: min(
            (row for row in rows if row.attacker == name),
            key=lambda row: percent_of(row, board.split),
            default=None,
        )
        for name in board.strongest_of
    }
