"""Scores at the quantiles of normal distributions, for comparison with closed forms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

Floats = npt.NDArray[np.float64]


def quantiles(number: int) -> Floats:
    """So many of the standard normal distribution, evenly spread."""
    return np.asarray(norm.ppf((np.arange(number) + 0.5) / number))


QUANTILES = quantiles(20_000)


def normal_ratios(distance: float, of: Floats = QUANTILES) -> tuple[Floats, Floats]:
    """Well calibrated LLRs of two classes of one variance, so many deviations apart."""
    return distance * of + distance**2 / 2, distance * of - distance**2 / 2
