"""Whether a number gives a claim, and how likely some number would by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable

from harness.submissions.model import Claim
from harness.submissions.verdict import LEAST_TOLERANCE, SINGLE_PRECISION

# Percentage points on each side within which the share of fitting claims is measured.
NEARBY = 2.0


def fits(claim: Claim, value: float, scale: float = 1) -> bool:
    """Does a number, rounded or cut at the claim's last digit, give the claim?

    value: in percent. scale: what the claim is multiplied with first.
    """
    claimed = float(claim.percent)
    low, high = fitting_claims(claim, value, scale)
    return math.isfinite(claimed) and low < claimed <= high


def fitting_claims(claim: Claim, value: float, scale: float = 1) -> tuple[float, float]:
    """The interval of claims, of as many digits as this one, that a number gives."""
    unit = float(claim.unit) * scale
    tolerance = max(unit / 2, float(LEAST_TOLERANCE)) + float(SINGLE_PRECISION)
    return (value - max(unit, tolerance)) / scale, (value + tolerance) / scale


def chance(claim: Claim, values: Iterable[tuple[float, float]], official: float | None) -> float:
    """Probability that one of the alternatives gives a random claim of as many digits.

    values: of each alternative the number in percent and its scale. official: in percent, if there
    is one. It is the share of the claims within NEARBY of it that are given, or within NEARBY of
    the claim, where that is farther away; alternatives may overlap.
    """
    middle = float(claim.percent)
    if official is not None and abs(official - middle) <= NEARBY:
        middle = official
    low, high = max(middle - NEARBY, 0.0), middle + NEARBY
    covered, reached = 0.0, low
    for start, end in sorted(fitting_claims(claim, value, scale) for value, scale in values):
        start, end = max(start, reached), min(end, high)
        if end > start:
            covered += end - start
            reached = end
    return covered / (high - low)
