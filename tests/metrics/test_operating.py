"""Operating points: counted by hand, the cheapest of all thresholds, ties, few trials."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from harness.errors import ScoreError
from harness.metrics.operating import false_alarm_rate_at, miss_rate_at

from .normal import QUANTILES

one_score = st.integers(-5, 5).map(float) | st.floats(-4, 4, width=32)
scores = st.lists(one_score, min_size=1, max_size=30)
rates = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])


def test_by_hand() -> None:
    # Nontargets 0 to 9: at threshold 8 one is above; targets 7, 8 are at or below it.
    target, nontarget = [7.0, 8.0, 8.5, 9.5], np.arange(10.0)
    point = miss_rate_at(target, nontarget, 0.1)
    assert (point.miss_rate, point.false_alarm_rate, point.threshold) == (0.5, 0.1, 8)
    assert (point.held, point.limit, point.trials) == ("false alarm", 0.1, 10)
    # 0.19 allows no more than 0.1 does; 0.3 allows three, of which 7 is at the threshold 6.
    assert miss_rate_at(target, nontarget, 0.19).miss_rate == 0.5
    assert miss_rate_at(target, nontarget, 0.3).miss_rate == 0
    # No false alarm: the threshold is the highest nontarget.
    assert miss_rate_at(target, nontarget, 0).miss_rate == 0.75
    # One miss of four: the threshold may rise to 7, above which are 8 and 9.
    point = false_alarm_rate_at(target, nontarget, 0.25)
    assert (point.miss_rate, point.false_alarm_rate, point.threshold) == (0.25, 0.2, 7)
    assert (point.held, point.limit, point.trials) == ("miss", 0.25, 4)
    assert false_alarm_rate_at(target, nontarget, 0).false_alarm_rate == 0.3


def test_ties_are_never_split() -> None:
    # Two of four nontargets share the highest score: to hold 25 %, both are rejected, and the
    # target that shares it too.
    point = miss_rate_at([1.0, 2.0, 3.0], [0.0, 0.0, 2.0, 2.0], 0.25)
    assert (point.miss_rate, point.false_alarm_rate) == (2 / 3, 0)
    # Two of four targets share the lowest score: to hold 25 %, both are accepted, and with them
    # the nontarget of their score.
    point = false_alarm_rate_at([1.0, 1.0, 2.0, 3.0], [0.0, 1.0], 0.25)
    assert (point.miss_rate, point.false_alarm_rate) == (0, 0.5)


def test_constant_scores() -> None:
    constant = [1.0] * 4, [1.0] * 6
    assert miss_rate_at(*constant, 0.99).miss_rate == 1
    assert false_alarm_rate_at(*constant, 0.99).false_alarm_rate == 1


def test_a_limit_of_one_allows_everything() -> None:
    point = miss_rate_at([1.0], [2.0], 1)
    assert (point.miss_rate, point.false_alarm_rate, point.threshold) == (0, 1, -math.inf)
    assert false_alarm_rate_at([1.0], [2.0], 1).false_alarm_rate == 0


@pytest.mark.parametrize("rate", [0.001, 0.01, 0.1])
def test_normal_scores(rate: float) -> None:
    # At a false-alarm rate r the threshold is its upper quantile.
    target = QUANTILES + 2
    assert miss_rate_at(target, QUANTILES, rate).miss_rate == pytest.approx(
        norm.cdf(norm.isf(rate) - 2), abs=2e-3
    )
    assert false_alarm_rate_at(target, QUANTILES, rate).false_alarm_rate == pytest.approx(
        norm.sf(norm.ppf(rate) + 2), abs=2e-3
    )


@settings(deadline=None)
@given(scores, scores, rates)
def test_the_best_of_all_thresholds(
    target: list[float], nontarget: list[float], rate: float
) -> None:
    points = [
        (
            sum(score < cut for score in target) / len(target),
            sum(score >= cut for score in nontarget) / len(nontarget),
        )
        for cut in [*target, *nontarget, math.inf]
    ]
    held = miss_rate_at(target, nontarget, rate)
    assert held.miss_rate == min(miss for miss, alarm in points if alarm <= rate)
    assert held.false_alarm_rate <= rate
    held = false_alarm_rate_at(target, nontarget, rate)
    assert held.false_alarm_rate == min(alarm for miss, alarm in points if miss <= rate)
    assert held.miss_rate <= rate


def test_few_trials_are_told() -> None:
    target = [1.0, 2.0]
    caution = miss_rate_at(target, np.zeros(9_000), 0.001).caution
    assert caution is not None
    assert "0.1 % of 9,000 trials allows 9.0 errors" in caution
    assert miss_rate_at(target, np.zeros(30_000), 0.001).caution is None
    assert miss_rate_at(target, np.zeros(29_000), 0.001).caution is not None
    # A limit of 0 holds by the highest nontarget alone.
    assert "allows 0.0 errors" in str(miss_rate_at(target, np.zeros(30_000), 0).caution)
    assert "A miss rate of 1 % of 2 trials" in str(
        false_alarm_rate_at(target, np.zeros(30_000), 0.01).caution
    )


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), 5])
@pytest.mark.parametrize("function", [miss_rate_at, false_alarm_rate_at])
def test_no_rate(function: object, rate: float) -> None:
    with pytest.raises(ScoreError, match=f"an error rate of {rate}; give a fraction"):
        function([1.0], [0.0], rate)  # type: ignore[operator]
