"""Official EERs of weighted trials, for thousands of weightings of the same scores.

Goal: the EER of each resample of a list without making the resample. A trial of weight 3 counts as
three trials with its score, one of weight 0 is not there: rates are shares of weight, and all else
is the definition in `harness.metrics.eer`. With weights of one this is the official EER, with whole
numbers exactly the official EER of the repeated trials, rounding to float32 included, as long as
each class weighs less than 2^22 (4 million trials); beyond, float32 may not tell two operating
points apart, and the rate may be off by 1e-7.

Method: scores are sorted once. A first pass sums weights over blocks of about sqrt(n) trials, by a
sparse matrix product, and finds the block in which the miss rate reaches the false-alarm rate; a
second pass looks at the trials of that block alone. So a weighting costs a multiplication per
trial, or less where trials of a block share their weight, instead of a sort.

Conventions as in `harness.metrics.eer`. Trials that have one weight in every weighting form a cell:
in a resample of speakers, those of one enrolled speaker with one trial speaker.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import sparse

from harness.errors import ScoreError
from harness.metrics.eer import validate

Booleans = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Rates = npt.NDArray[np.float32]

# The first axis of arrays with two rows.
TARGET, NONTARGET = 0, 1


class OrderedTrials:
    """Scores of one list, sorted once, whose EER is to be had for any weights.

    scores: shape (n,), finite. target: shape (n,), True for a target. cells: shape (n,), the cell
    of each trial, a whole number from 0.
    Raises ScoreError for scores that the official EER refuses, or shapes that differ.
    """

    def __init__(self, scores: npt.ArrayLike, target: npt.ArrayLike, cells: npt.ArrayLike) -> None:
        scores, target, cells = np.asarray(scores), np.asarray(target), np.asarray(cells)
        if not scores.shape == target.shape == cells.shape:
            raise ScoreError(
                f"there are scores of shape {scores.shape} for trials of shape {target.shape}",
                fix="give one score for each trial, in the list's order",
            )
        ordered = np.concatenate(validate(scores[target], scores[~target]))
        order = np.argsort(ordered, kind="stable")
        ordered = ordered[order]
        self._cells = np.concatenate([cells[target], cells[~target]])[order]
        n_target = np.count_nonzero(target)
        self._kind = np.where(order < n_target, TARGET, NONTARGET)

        # Only the last of equal scores is an operating point.
        self._is_point = np.r_[ordered[1:] != ordered[:-1], True]
        points = np.flatnonzero(self._is_point)
        self._first_equal = np.searchsorted(ordered, ordered, "left")
        wanted = np.linspace(0, len(ordered), math.isqrt(len(ordered)) + 2)[1:]
        ends = np.unique(points[np.searchsorted(points, wanted - 1)]) + 1
        self._bounds = np.r_[0, ends]
        self._trials_in_block = self._count()

    def _count(self) -> sparse.csr_array:
        """Targets in each block by cell, and below them nontargets: (2 * n_blocks, n_cells)."""
        n_blocks = len(self._bounds) - 1
        block = np.repeat(np.arange(n_blocks), np.diff(self._bounds))
        return sparse.csr_array(
            (np.ones(len(block)), (self._kind * n_blocks + block, self._cells)),
            shape=(2 * n_blocks, self._cells.max() + 1),
        )

    def equal_error_rates(self, weights: npt.ArrayLike) -> Floats:
        """The EER under each weighting: fractions, shape (n_weightings,).

        weights: shape (n_cells, n_weightings), not negative. NaN where a class weighs nothing.
        """
        weights = np.ascontiguousarray(weights, np.float64)
        columns = np.arange(weights.shape[1])
        summed = self._trials_in_block @ weights
        rejected = np.cumsum(summed.reshape(2, -1, len(columns)), axis=1)
        totals = rejected[:, -1]
        block = np.argmax(_crossed(_rates(rejected, totals)), axis=0)

        start, end = self._bounds[block], self._bounds[block + 1]
        steps = np.arange((end - start).max())[:, None]
        trials = np.minimum(start + steps, end - 1)
        weight = weights[self._cells[trials], columns] * (start + steps < end)
        kind = self._kind[trials]
        within = np.stack([weight * (kind == TARGET), weight * (kind == NONTARGET)])
        below = np.where(block > 0, rejected[:, block - 1, columns], 0)
        # Step 0 is the point before the block, step i the one after its trial i - 1.
        rejected = np.cumsum(np.concatenate([below[:, None], within], axis=1), axis=1)
        rates = _rates(rejected, totals)

        crossed = _crossed(rates[:, 1:]) & self._is_point[trials]
        crossed[-1] = True  # as the first pass found, whatever the rounding of fractions
        last = np.argmax(crossed, axis=0)
        before = self._first_equal[trials[last, columns]] - start
        return _nearest(rates[:, before, columns], rates[:, last + 1, columns])


def _rates(rejected: Floats, totals: Floats) -> Rates:
    """Miss rates and false-alarm rates, rounded as they officially are.

    rejected: weight of targets and of nontargets up to a point, shape (2, n_points, n_weightings).
    """
    errors = np.stack([rejected[TARGET], totals[NONTARGET] - rejected[NONTARGET]])
    with np.errstate(invalid="ignore"):  # a class without weight has no rate
        return errors.astype(np.float32) / totals.astype(np.float32)[:, None]


def _crossed(rates: Rates) -> Booleans:
    """Where the miss rate is at least the false-alarm rate; it stays so at all higher scores."""
    crossed: Booleans = rates[TARGET] >= rates[NONTARGET]
    return crossed


def _nearest(before: Rates, after: Rates) -> Floats:
    """Mean rate at the better of two neighbouring points, one before and one after the crossing.

    Officially a float32 difference is compared with the float64 difference of the best point so
    far. Points farther off are worse by more than rounding, as long as a class weighs below 2^22.
    """
    best = np.abs(before[TARGET].astype(np.float64) - before[NONTARGET])
    nearer = np.abs(after[TARGET] - after[NONTARGET]) < best
    means: Floats = np.where(nearer, after, before).mean(axis=0, dtype=np.float64)
    return means
