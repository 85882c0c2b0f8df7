"""Can a number be an official EER of a trial list at all? Asked without any scores.

Without ties one more rejected trial moves one rate by one step, so that the official EER is
(k / n_target + j / n_nontarget) / 2 for whole k, j whose two rates are at most half a step of the
smaller class apart. On a usual list few three-decimal values have this form. Ties in the scores
break it: the answer is evidence, whose weight is the likelihood, and never a verdict.

Conventions: the number is in percent, as official scripts print it by `round(100 * EER, 3)`. So a
printed value stands for all within half a unit of its last digit; one that was cut instead of
rounded may fail.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Percentage points on each side of a value in which the share of feasible values is taken.
NEARBY = 1
# Official rates are float32: in percent they may be off by this much, and further decimals than
# these say nothing.
SINGLE_PRECISION = 100 * 2.0**-24
FEWEST_DECIMALS, MOST_DECIMALS = -2, 6


@dataclass(frozen=True)
class Feasibility:
    """counts: all pairs (misses, false alarms) that give the value, nearest to it first.

    likelihood: share of the values nearby, of as many decimals, that are feasible; the smaller, the
    more a feasible value says. 0 for a value that no rate can have.
    """

    feasible: bool
    counts: tuple[tuple[int, int], ...]
    likelihood: float


def feasibility(percent: Decimal, n_target: int, n_nontarget: int) -> Feasibility:
    """Whether an official EER of n_target and n_nontarget trials without ties can be printed so.

    percent: as printed, in percent; its exponent is the last printed digit (those beyond
    MOST_DECIMALS are rounded away). Nearby is within NEARBY percentage points, and 0 to 100.
    Raises ScoreError when there is no trial of a class or the number is not finite. Source: the
    rule of `harness.metrics.eer`; published values of VoicePrivacy 2024 all obey it.
    """
    if min(n_target, n_nontarget) < 1:
        raise ScoreError(
            f"{n_target} targets and {n_nontarget} nontargets", fix="give at least one of each"
        )
    if not percent.is_finite():
        raise ScoreError(f"{percent} is not an error rate", fix="give a number in percent")
    if not 0 <= percent <= 100:
        return Feasibility(False, (), 0.0)
    decimals = min(max(-int(percent.as_tuple().exponent), FEWEST_DECIMALS), MOST_DECIMALS)
    scale = 10.0**decimals  # units of the last digit in a percentage point
    printed = round(float(percent) * scale)
    tolerance = 0.5 + SINGLE_PRECISION * scale

    span = math.floor(NEARBY * scale)
    first, last = max(printed - span, 0), min(printed + span, math.floor(100 * scale))
    misses, false_alarms = _counts_between(
        (first - tolerance) / scale, (last + tolerance) / scale, n_target, n_nontarget
    )
    values = 50 * scale * (misses / n_target + false_alarms / n_nontarget)

    distance = np.abs(values - printed)
    near = np.flatnonzero(distance <= tolerance)
    near = near[np.argsort(distance[near], kind="stable")]
    lowest = np.maximum(np.ceil(values - tolerance), first)
    highest = np.minimum(np.floor(values + tolerance), last)
    return Feasibility(
        feasible=len(near) > 0,
        counts=tuple(zip(misses[near].tolist(), false_alarms[near].tolist(), strict=True)),
        likelihood=_covered(lowest, highest) / (last - first + 1),
    )


def _counts_between(
    low: float, high: float, n_target: int, n_nontarget: int
) -> tuple[Integers, Integers]:
    """Misses and false alarms of all possible EERs from low to high, in percent, and some beyond.

    Arrays of one shape, in ascending order of the errors of the smaller class.
    """
    if n_target > n_nontarget:
        false_alarms, misses = _counts_between(low, high, n_nontarget, n_target)
        return misses, false_alarms
    # A rate of the smaller class is within a quarter of its step of the mean of both.
    start = max(math.floor(low / 100 * n_target) - 1, 0)
    stop = min(math.ceil(high / 100 * n_target) + 1, n_target)
    reach = n_nontarget // (2 * n_target) + 1
    misses = np.arange(start, stop + 1)[:, None]
    false_alarms = misses * n_nontarget // n_target + np.arange(-reach, reach + 2)
    misses = np.broadcast_to(misses, false_alarms.shape)
    apart = np.abs(misses * n_nontarget - false_alarms * n_target)
    possible = (2 * apart <= n_nontarget) & (false_alarms >= 0) & (false_alarms <= n_nontarget)
    return misses[possible], false_alarms[possible]


def _covered(lowest: Floats, highest: Floats) -> int:
    """How many whole numbers lie in at least one of the intervals; some may be empty."""
    order = np.argsort(lowest)
    lowest, highest = lowest[order], np.maximum.accumulate(highest[order])
    fresh = np.maximum(lowest[1:], highest[:-1] + 1)
    return int(
        (highest[:1] - lowest[:1] + 1).clip(min=0).sum()
        + (highest[1:] - fresh + 1).clip(min=0).sum()
    )
