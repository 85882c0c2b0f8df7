"""Operating points: one error rate where the other is held low.

Goal: what an attacker achieves who may be wrong seldom, which the EER does not tell: the miss rate
at a false-alarm rate of 1 % or 0.1 %, and the false-alarm rate at a miss rate.

Conventions as in `harness.metrics.det`. Nothing is interpolated: the point is one that a threshold
gives, and the held rate never exceeds its limit. Equal scores are decided together: where the
limit falls among equal scores, all of them are rejected (or, to hold the miss rate, accepted), so
that ties never make an attacker look stronger.

Few trials: with n nontargets, a limit of r allows r n false alarms, rounded down. Below
FEWEST_ERRORS allowed ones a handful of trials decides the point, and below one it is the single
highest nontarget: `OperatingPoint.caution` says so. Source: Doddington's "rule of 30" (30 errors
for 90 % confidence to be within 30 % of the rate), in NIST's evaluations since 1998.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.metrics.det import Det, det

FEWEST_ERRORS = 30


@dataclass(frozen=True)
class OperatingPoint:
    """Both error rates, fractions from 0 to 1, at a threshold; -inf accepts all trials.

    held: the kind of error that is held, "false alarm" or "miss". limit: its largest allowed rate.
    trials: how many trials could be wrong in that way.
    """

    miss_rate: float
    false_alarm_rate: float
    threshold: float
    held: str
    limit: float
    trials: int

    @property
    def caution(self) -> str | None:
        """What to print beside the point when the limit allows fewer than FEWEST_ERRORS errors."""
        return caution(self.held, self.limit, self.trials)


def caution(held: str, limit: float, trials: int) -> str | None:
    """`OperatingPoint.caution`, of what is known before there is a score."""
    allowed = limit * trials
    if allowed >= FEWEST_ERRORS:
        return None
    return (
        f"A {held} rate of {100 * limit:g} % of {trials:,} trials allows {allowed:.1f} errors: "
        f"fewer than {FEWEST_ERRORS}, so that a few trials decide it."
    )


def miss_rate_at(
    target: npt.ArrayLike, nontarget: npt.ArrayLike, false_alarm_rate: float
) -> OperatingPoint:
    """The point with the fewest misses whose false-alarm rate is at most the one given.

    target, nontarget: shapes (n_target,), (n_nontarget,). false_alarm_rate: a fraction from 0 to 1.
    Constant scores give a miss rate of 1, for rates below 1. Raises ScoreError as the EER does,
    and for another rate.
    """
    curve = det(target, nontarget)
    # The false-alarm rate never rises: the first point that is low enough has the fewest misses.
    index = int(np.argmax(curve.false_alarm_rate <= _checked(false_alarm_rate)))
    return _point(curve, index, "false alarm", false_alarm_rate, np.size(nontarget))


def false_alarm_rate_at(
    target: npt.ArrayLike, nontarget: npt.ArrayLike, miss_rate: float
) -> OperatingPoint:
    """The point with the fewest false alarms whose miss rate is at most the one given.

    target, nontarget: shapes (n_target,), (n_nontarget,). miss_rate: a fraction from 0 to 1.
    Constant scores give a false-alarm rate of 1, for rates below 1. Raises ScoreError as the EER
    does, and for another rate.
    """
    curve = det(target, nontarget)
    # The miss rate never falls: the last point that is low enough has the fewest false alarms.
    index = int(np.count_nonzero(curve.miss_rate <= _checked(miss_rate))) - 1
    return _point(curve, index, "miss", miss_rate, np.size(target))


def _checked(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise ScoreError(f"an error rate of {rate}", fix="give a fraction from 0 to 1")
    return rate


def _point(curve: Det, index: int, held: str, limit: float, trials: int) -> OperatingPoint:
    return OperatingPoint(
        miss_rate=float(curve.miss_rate[index]),
        false_alarm_rate=float(curve.false_alarm_rate[index]),
        threshold=float(curve.thresholds[index]),
        held=held,
        limit=limit,
        trials=trials,
    )
