"""Cllr against hand arithmetic, integrals over normal distributions, and printed results."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from harness.metrics.cllr import cllr, min_cllr

from .normal import normal_ratios

one_score = st.integers(-5, 5).map(float) | st.floats(-4, 4, width=32)
scores = st.lists(one_score, min_size=1, max_size=30)


def test_by_hand() -> None:
    assert cllr([0.0, 0.0], [0.0]) == pytest.approx(1, abs=1e-15)
    # Odds of 3 to 1 for the truth cost log2(4/3) bit, against it log2(4).
    told = math.log(3)
    assert cllr([told], [-told]) == pytest.approx(math.log2(4 / 3))
    assert cllr([told], [told]) == pytest.approx((math.log2(4 / 3) + 2) / 2)
    # Each class has half the weight, whatever its size.
    assert cllr([told] * 5, [told]) == pytest.approx((math.log2(4 / 3) + 2) / 2)
    assert cllr([told, -told], [-told]) == pytest.approx(
        ((math.log2(4 / 3) + 2) / 2 + math.log2(4 / 3)) / 2
    )


def test_minimum_by_hand() -> None:
    # LLRs 0, +inf of the targets and -inf, 0 of the nontargets: half of each class costs 1 bit.
    assert min_cllr([2, 4], [1, 3]) == pytest.approx(0.5)
    # Labels 0 1 0 0 1 0 1. The first and the last block, of one class alone, cost nothing; then
    # there are 1 of 3 targets with 2 of 4 nontargets, and 1 of 3 with 1 of 4.
    half = math.log2(1 + (2 / 4) / (1 / 3)) / 3 + 2 * math.log2(1 + (1 / 3) / (2 / 4)) / 4
    other = math.log2(1 + (1 / 4) / (1 / 3)) / 3 + math.log2(1 + (1 / 3) / (1 / 4)) / 4
    assert min_cllr([2, 5, 7], [1, 3, 4, 6]) == pytest.approx((half + other) / 2)


@pytest.mark.parametrize(
    ("target", "nontarget", "cost"),
    [([1, 2], [0], 0), ([5] * 3, [5] * 4, 1), ([0, 1], [2, 3, 4], 1), ([1], [1], 1)],
)
def test_minimum_of_perfect_constant_and_reversed_scores(
    target: list[float], nontarget: list[float], cost: float
) -> None:
    assert min_cllr(target, nontarget) == pytest.approx(cost, abs=1e-15)


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 3.0])
def test_normal_scores(distance: float) -> None:
    def cost(quantile: float) -> float:
        ratio = distance * quantile + distance**2 / 2
        return norm.pdf(quantile) * math.log2(1 + math.exp(-ratio))

    expected = quad(cost, -9, 9)[0]  # both classes cost the same
    ratios = normal_ratios(distance)
    assert cllr(*ratios) == pytest.approx(expected, abs=1e-4)
    # Good as they are, they cannot be calibrated better but for the finite number of scores.
    assert expected - 2e-3 < min_cllr(*ratios) <= cllr(*ratios)


# ROCCH-EER in percent and min Cllr as VoicePrivacy 2022 prints them for lists of its evaluation
# whose scores are close to two normal distributions.
@pytest.mark.parametrize(("rocch", "printed"), [(8.600, 0.304), (20.463, 0.626), (24.105, 0.712)])
def test_printed_results(rocch: float, printed: float) -> None:
    scores = normal_ratios(-2 * norm.ppf(rocch / 100))
    assert min_cllr(*scores) == pytest.approx(printed, abs=0.006)


def test_ratios_that_mislead_without_limit() -> None:
    # log2(1 + e^x) is x / ln 2 for large x, also where e^x overflows.
    assert cllr([-1e4], [0.0]) == pytest.approx((1e4 / math.log(2) + 1) / 2)
    assert cllr([1e30], [1e30]) == pytest.approx(1e30 / math.log(2) / 2)


@settings(deadline=None)
@given(scores, scores, st.floats(0.01, 50), st.floats(-5, 5))
def test_no_linear_calibration_is_better_than_the_minimum(
    target: list[float], nontarget: list[float], slope: float, offset: float
) -> None:
    least = min_cllr(target, nontarget)
    assert 0 <= least <= 1 + 1e-12
    ratios = (slope * np.array(one) + offset for one in (target, nontarget))
    assert least <= cllr(*ratios) + 1e-12


@settings(deadline=None)
@given(scores, scores)
def test_minimum_ignores_scale_and_actual_cost_does_not_prefer_a_class(
    target: list[float], nontarget: list[float]
) -> None:
    scaled = [8 * np.array(one) for one in (target, nontarget)]
    assert min_cllr(*scaled) == pytest.approx(min_cllr(target, nontarget), abs=1e-12)
    mirrored = [-np.array(one) for one in (nontarget, target)]
    assert cllr(*mirrored) == pytest.approx(cllr(target, nontarget), abs=1e-12)
    assert min_cllr(*mirrored) == pytest.approx(min_cllr(target, nontarget), abs=1e-12)
