"""Whether a number gives a claim, and how likely some number would by chance."""

from __future__ import annotations

import math
from collections.abc import Iterable

from harness.submissions.model import Claim
from harness.submissions.verdict import LARGEST_UNIT, LEAST_TOLERANCE, SINGLE_PRECISION

# Where the share of fitting claims is measured: at most so many percentage points on each side of
# the claim, and over so many units of its last digit at least.
NEARBY = 2.0
FEWEST = 10
# Percentage points: what a fraction's only digit is worth, 0.3 for 30 %. Anything wider fits all.
WIDEST = 10.0


def fits(claim: Claim, value: float, scale: float = 1) -> bool:
    """Does a number, rounded or cut at the claim's last digit, give the claim?

    value: in percent. scale: what the claim is multiplied with first.
    """
    claimed = float(claim.percent)
    low, high = fitting_claims(claim, value, scale)
    return math.isfinite(claimed) and low < claimed <= high


def is_cut(claim: Claim, value: float, scale: float = 1) -> bool:
    """Does a number that gives the claim do so only when it is cut, not rounded?"""
    return value - float(claim.percent) * scale > _tolerance(_unit(claim, scale))


def unit_of(claim: Claim) -> float:
    """One unit of the last digit that a claim is held to, in percentage points."""
    return float(min(claim.unit, LARGEST_UNIT))


def fitting_claims(claim: Claim, value: float, scale: float = 1) -> tuple[float, float]:
    """The interval of claims, of as many digits as this one, that a number gives."""
    unit = _unit(claim, scale)
    tolerance = _tolerance(unit)
    return (value - max(unit, tolerance)) / scale, (value + tolerance) / scale


def _unit(claim: Claim, scale: float) -> float:
    return min(unit_of(claim) * scale, WIDEST)


def _tolerance(unit: float) -> float:
    return max(unit / 2, float(LEAST_TOLERANCE)) + float(SINGLE_PRECISION)


def chance(claim: Claim, values: Iterable[tuple[float, float]], official: float | None) -> float:
    """Probability that one of the alternatives gives a random claim of as many digits.

    values: of each alternative the number in percent and its scale. official: in percent, if there
    is one. It is the share of the claims about as far from it, on the same side, that are given:
    most alternatives change little, so that more claims fit the nearer they are. Alternatives may
    overlap.
    """
    low, high = _about(claim, official)
    covered, reached = 0.0, low
    for start, end in sorted(fitting_claims(claim, value, scale) for value, scale in values):
        start, end = max(start, reached), min(end, high)
        if end > start:
            covered += end - start
            reached = end
    return covered / (high - low)


def _about(claim: Claim, official: float | None) -> tuple[float, float]:
    """From half to twice as far from the official EER as the claim is, at most NEARBY from the
    claim, at least FEWEST units wide, and without claims that are verified."""
    claimed = float(claim.percent)
    if official is None:
        return max(claimed - NEARBY, 0.0), claimed + NEARBY
    distance = abs(claimed - official)
    inward, outward = min(distance / 2, NEARBY), min(distance, NEARBY)
    width = FEWEST * unit_of(claim)
    verified_from, verified_to = fitting_claims(claim, official)
    if claimed > official:
        low = max(claimed - inward, verified_to)
        return low, max(claimed + outward, low + width)
    high = min(claimed + inward, verified_from)
    low = max(min(claimed - outward, high - width), 0.0)
    # Where no claim is between 0 and those that are verified, the ones above 0 are as good.
    return (low, high) if high > low else (0.0, width)
