"""Histograms of the scores of one list, both classes in the same bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.reports.evaluation import Scored

Floats = npt.NDArray[np.float64]

BINS = 60
# Half the width of all bins around scores that are all the same, as a share of the score.
CONSTANT = 0.01


@dataclass(frozen=True)
class Histogram:
    """edges: shape (BINS + 1,), ascending. target, nontarget: shapes (BINS,), shares of the trials
    of the class per unit of score, so that each integrates to 1."""

    edges: Floats
    target: Floats
    nontarget: Floats


def histogram(scored: Scored) -> Histogram:
    """Bins of one width, from the lowest to the highest score of either class."""
    scores = scored.scores.astype(np.float64)
    low, high = scores.min(), scores.max()
    if low == high:
        half = max(CONSTANT * abs(low), CONSTANT)
        low, high = low - half, high + half
    edges = np.linspace(low, high, BINS + 1)
    target, nontarget = (
        np.histogram(scored.of(kind).astype(np.float64), edges, density=True)[0]
        for kind in (True, False)
    )
    return Histogram(edges, target, nontarget)
