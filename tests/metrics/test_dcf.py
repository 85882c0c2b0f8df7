"""Detection costs against hand arithmetic, closed forms of normal scores, NIST's thresholds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from harness.errors import ScoreError
from harness.metrics.calibration import calibrate
from harness.metrics.dcf import Application, actual_dcf, min_dcf
from harness.metrics.estimators import ESTIMATORS

from .normal import normal_ratios

one_score = st.integers(-5, 5).map(float) | st.floats(-4, 4, width=32)
scores = st.lists(one_score, min_size=1, max_size=30)
applications = st.builds(
    Application, st.floats(0.001, 0.999), st.floats(0.1, 10), st.floats(0.1, 10)
)


@pytest.mark.parametrize(
    ("application", "threshold"),
    [
        (Application(0.5), 0),
        # log beta of NIST's 2016 plan: beta is 99 and 199 there.
        (Application(0.01), math.log(99)),
        (Application(0.005), math.log(199)),
        # The effective prior of the plans up to 2008 is 0.0917 (BOSARIS).
        (Application(0.01, c_miss=10), math.log((1 - 10 / 109) / (10 / 109))),
        (Application(0.5, c_miss=1, c_false_alarm=3), math.log(3)),
    ],
)
def test_threshold(application: Application, threshold: float) -> None:
    assert application.threshold == pytest.approx(threshold, abs=1e-12)


# Misses and false alarms: 0 2 at -inf, 0 1 at 0, 1 1 at 1, 1 0 at 2, 2 0 at 3.
@pytest.mark.parametrize(
    ("application", "cost"),
    [
        (Application(0.5), 0.5),  # 0 + 1/2, or 1/2 + 0
        (Application(0.01), 0.5),  # misses count 1, false alarms 99
        (Application(0.9), 0.5),  # misses count 9, false alarms 1
        (Application(0.6, c_miss=2), 0.5),  # misses count 3, false alarms 1
        (Application(0.4), 0.5),  # misses count 1, false alarms 3/2
    ],
)
def test_minimum_by_hand(application: Application, cost: float) -> None:
    assert min_dcf([1, 3], [0, 2], application) == pytest.approx(cost)


def test_minimum_by_hand_depends_on_the_application() -> None:
    # 0 4, then 1 4 (target 1 is the lowest), and so on: 1 3, 1 2, 1 1, 2 1, 3 1, 3 0.
    target, nontarget = [1, 5, 6], [2, 3, 4, 7]
    assert min_dcf(target, nontarget, Application(0.5)) == pytest.approx(1 / 3 + 1 / 4)
    assert min_dcf(target, nontarget, Application(0.01)) == pytest.approx(1)  # reject all
    assert min_dcf(target, nontarget, Application(0.99)) == pytest.approx(1)  # accept all
    # Misses count 3/2: 1/3 * 3/2 + 1/4.
    assert min_dcf(target, nontarget, Application(0.6)) == pytest.approx(3 / 4)


def test_actual_by_hand() -> None:
    # At 0: of two targets one is below, of two nontargets the one that equals it is accepted.
    assert actual_dcf([-1, 2], [0, -3], Application(0.5)) == pytest.approx(1)
    assert actual_dcf([-1, 2], [-0.1, -3], Application(0.5)) == pytest.approx(0.5)
    # At log 99: all rejected, and one nontarget accepted, which costs 99 / 2.
    assert actual_dcf([4.5, -1], [0, 4.5], Application(0.01)) == pytest.approx(1)
    assert actual_dcf([4.5, -1], [0, 4.6], Application(0.01)) == pytest.approx(1 + 99 / 2)


def test_the_worst_actual_cost() -> None:
    assert actual_dcf([-9.0], [9.0], Application(0.01)) == pytest.approx(1 + 99)
    assert actual_dcf([-9.0], [9.0], Application(0.99)) == pytest.approx(1 + 99)


def test_constant_scores() -> None:
    for prior in (0.01, 0.5, 0.9):
        assert min_dcf([3.0] * 5, [3.0] * 2, Application(prior)) == pytest.approx(1)
    # All accepted: false alarms alone.
    assert actual_dcf([3.0] * 5, [3.0] * 2, Application(0.1)) == pytest.approx(9)


def test_perfect_and_reversed() -> None:
    assert min_dcf([2.0], [1.0], Application(0.01)) == 0
    assert min_dcf([1.0], [2.0], Application(0.01)) == pytest.approx(1)


@pytest.mark.parametrize("distance", [1.0, 2.0, 3.0])
@pytest.mark.parametrize(
    "application", [Application(0.5), Application(0.1), Application(0.2, 1, 5)]
)
def test_normal_scores(distance: float, application: Application) -> None:
    shift = distance**2 / 2
    ratios = normal_ratios(distance)
    threshold = application.threshold
    miss = norm.cdf((threshold - shift) / distance)
    false_alarm = norm.sf((threshold + shift) / distance)
    weights = (
        application.p_target * application.c_miss,
        (1 - application.p_target) * application.c_false_alarm,
    )
    expected = (weights[0] * miss + weights[1] * false_alarm) / min(weights)
    assert actual_dcf(*ratios, application) == pytest.approx(expected, abs=2e-3)
    assert min_dcf(*ratios, application) == pytest.approx(expected, abs=2e-3)


@settings(deadline=None)
@given(scores, scores, applications)
def test_minimum_is_the_cheapest_cut(
    target: list[float], nontarget: list[float], application: Application
) -> None:
    weights = (
        application.p_target * application.c_miss,
        (1 - application.p_target) * application.c_false_alarm,
    )
    cheapest = min(
        weights[0] * sum(score < cut for score in target) / len(target)
        + weights[1] * sum(score >= cut for score in nontarget) / len(nontarget)
        for cut in [*target, *nontarget, math.inf]
    )
    least = min_dcf(target, nontarget, application)
    assert least == pytest.approx(cheapest / min(weights), abs=1e-12)
    assert 0 <= least <= 1 + 1e-12
    assert least <= actual_dcf(target, nontarget, application) + 1e-12


@settings(deadline=None)
@given(scores, scores, applications)
def test_calibrated_ratios_cost_the_minimum(
    target: list[float], nontarget: list[float], application: Application
) -> None:
    ratios = (np.nan_to_num(one) for one in calibrate(target, nontarget))
    # At the threshold itself, but for rounding, either decision costs the same.
    expected = min_dcf(target, nontarget, application)
    assert actual_dcf(*(one.clip(-1e3, 1e3) for one in ratios), application) == pytest.approx(
        expected, abs=1e-4
    )


def test_highest_minimal_cost_over_priors_is_the_rocch_eer() -> None:
    # Brümmer's definition of the ROCCH-EER, with costs that are not normalised.
    rng = np.random.default_rng(2)
    target, nontarget = rng.normal(1, 1, 300), rng.normal(0, 1, 500)
    priors = np.linspace(0.3, 0.7, 400)
    costs = [
        min_dcf(target, nontarget, Application(prior)) * min(prior, 1 - prior) for prior in priors
    ]
    rocch = ESTIMATORS["rocch"](target, nontarget)
    assert rocch - 5e-4 < max(costs) <= rocch + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0,), "a prior of 0"),
        ((1,), "a prior of 1"),
        ((float("nan"),), "a prior of nan"),
        ((1.5,), "no percentage"),
        ((0.5, 0), "a cost of 0"),
        ((0.5, 1, -1), "a cost of -1"),
        ((0.5, math.inf), "a cost of inf"),
    ],
)
def test_refused_applications(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        Application(*arguments)
