"""Do scores of the same pairs come again?

Scores of attackers have any scale. So a difference is told as a share of the spread (the standard
deviation over the pairs), and a movement in rank as a share of the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError

Numbers = npt.NDArray[np.float64]
Agreed = Literal["reproduced", "same order", "differs"]

# Movements up to these are taken for the same scores: what one machine does twice; what another
# machine's sums in float32 or TF32 do; ranks of scores that were rescaled since.
NOISE_SHARE = 0.001
ABSOLUTE_SHARE = 0.01
RANK_SHARE = 0.01
# By which EERs of two such runs may differ, in percentage points.
EER_BAND = 0.1


@dataclass(frozen=True)
class Agreement:
    """How scores `after` differ from those `before`, pair by pair.

    largest: largest |difference|, in units of the scores. share: the same in units of the spread
    of `before`; infinite where that is 0 and something differs. rank_share: largest movement in
    rank (ties: average ranks) by the number of pairs. worst: place of the pair with the largest
    difference. beyond: pairs that differ by more than ABSOLUTE_SHARE. ordered: does `before` hold
    scores that differ, so that there is an order?
    """

    pairs: int
    largest: float
    share: float
    rank_share: float
    worst: int
    beyond: int
    ordered: bool

    @property
    def agreed(self) -> Agreed:
        """Whether all differences, or at least all movements in rank, are within tolerance."""
        if self.share <= ABSOLUTE_SHARE:
            return "reproduced"
        return "same order" if self.ordered and self.rank_share <= RANK_SHARE else "differs"


def shares(
    before: npt.ArrayLike, after: npt.ArrayLike, among: npt.ArrayLike | None = None
) -> Numbers:
    """|difference| of each pair, shape (n,), as a share of the spread.

    among: the scores, shape (m,), whose spread counts; those `before`, where it is not given. 0
    where nothing differs; infinite where the spread is 0 and something does, so also for a single
    score. Raises ScoreError for arrays that are empty, not finite, or of other shapes.
    """
    earlier, later = _same_pairs(before, after)
    difference = np.abs(later - earlier)
    spread = _spread(earlier if among is None else _checked(among))
    if spread == 0:
        return np.where(difference == 0, 0.0, np.inf)
    return np.asarray(difference / spread)


def rank_share(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """Largest movement in rank by the number of pairs; in [0, 1). Raises ScoreError as `shares`."""
    earlier, later = _same_pairs(before, after)
    return float(np.abs(ranks(later) - ranks(earlier)).max() / len(earlier))


def ranks(scores: npt.ArrayLike) -> Numbers:
    """Rank of each score from 1, shape (n,); equal scores share the mean of their ranks."""
    # As SciPy's `rankdata`, whose import takes longer than verifying may.
    _, place, counts = np.unique(np.asarray(scores), return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place], dtype=np.float64)


def agreement(before: npt.ArrayLike, after: npt.ArrayLike) -> Agreement:
    """How scores of the same pairs, shapes (n,), agree. Raises ScoreError as `shares` does."""
    earlier, later = _same_pairs(before, after)
    share = shares(earlier, later)
    difference = np.abs(later - earlier)
    worst = int(difference.argmax())
    return Agreement(
        pairs=len(share),
        largest=float(difference[worst]),
        share=float(share[worst]),
        rank_share=rank_share(earlier, later),
        worst=worst,
        beyond=int((share > ABSOLUTE_SHARE).sum()),
        ordered=bool(np.ptp(earlier) > 0),
    )


def _spread(scores: Numbers) -> float:
    # Of equal numbers the mean is rounded, and so their deviation may be more than 0.
    return 0.0 if np.ptp(scores) == 0 else float(scores.std())


def _same_pairs(before: npt.ArrayLike, after: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    earlier, later = _checked(before), _checked(after)
    if earlier.shape != later.shape:
        raise ScoreError(
            f"{len(earlier)} scores before, {len(later)} after", fix="compare the same pairs"
        )
    return earlier, later


def _checked(values: npt.ArrayLike) -> Numbers:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not len(scores):
        raise ScoreError(
            f"scores of shape {scores.shape}", fix="give one number per pair (a 1-D array)"
        )
    if not np.isfinite(scores).all():
        raise ScoreError("a score is not finite", fix="give a finite number for every pair")
    return scores
