"""Detection cost: what errors cost an application that has a prior and prices.

Goal: NIST's detection cost function, normalised so that 1 is the cost of deciding without looking
at any score. The minimum takes the best threshold for these very trials; the actual cost takes the
one that is right for log-likelihood ratios (LLRs).

Conventions as in `harness.metrics.eer`: 1-D arrays of scores, single precision; rates are
fractions. Costs are without unit.

Source: NIST 2016 Speaker Recognition Evaluation Plan, section 3; the default of the cheaper
constant decision as in the plans since 1996.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.metrics.det import det
from harness.metrics.eer import validate

Costs = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Application:
    """Who uses the decisions, and at what price.

    p_target: prior probability of a target trial, between 0 and 1, both excluded. c_miss,
    c_false_alarm: costs of an error of each kind, positive. Raises ScoreError otherwise.
    """

    p_target: float
    c_miss: float = 1.0
    c_false_alarm: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.p_target < 1:
            raise ScoreError(
                f"a prior of {self.p_target}",
                fix="give a fraction between 0 and 1, no percentage",
            )
        for cost in (self.c_miss, self.c_false_alarm):
            if not 0 < cost < math.inf:
                raise ScoreError(f"a cost of {cost}", fix="give positive, finite costs")

    @property
    def threshold(self) -> float:
        """The natural LLR from which on accepting costs less: log beta in NIST's plans."""
        return math.log(self.c_false_alarm * (1 - self.p_target)) - math.log(
            self.c_miss * self.p_target
        )

    def cost(self, miss_rate: npt.ArrayLike, false_alarm_rate: npt.ArrayLike) -> Costs:
        """Normalised cost of both error rates (fractions, one shape); its own shape is theirs."""
        of_misses = self.c_miss * self.p_target
        of_false_alarms = self.c_false_alarm * (1 - self.p_target)
        cost = of_misses * np.asarray(miss_rate) + of_false_alarms * np.asarray(false_alarm_rate)
        return np.asarray(cost / min(of_misses, of_false_alarms))


def min_dcf(target: npt.ArrayLike, nontarget: npt.ArrayLike, application: Application) -> float:
    """Lowest normalised cost at any threshold, from 0 to 1.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite. Accepting all trials and
    rejecting all are among the choices, so it is never above 1, and 1 for constant scores. Only the
    order of the scores matters. Raises ScoreError as the EER does.
    """
    curve = det(target, nontarget)
    return float(application.cost(curve.miss_rate, curve.false_alarm_rate).min())


def actual_dcf(target: npt.ArrayLike, nontarget: npt.ArrayLike, application: Application) -> float:
    """Normalised cost of accepting the trials whose natural LLR reaches the threshold.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite scores taken as natural LLRs. It
    is never below `min_dcf` and may exceed 1, where the scores do harm; it is at most 1 plus the
    ratio of the two weighted costs, the larger over the smaller. A score that equals the threshold
    is accepted, which is NIST's rule; elsewhere in this package a trial at the threshold is
    rejected. Raises ScoreError as the EER does.
    """
    target, nontarget = validate(target, nontarget)
    threshold = np.float32(application.threshold)
    return float(application.cost((target < threshold).mean(), (nontarget >= threshold).mean()))
