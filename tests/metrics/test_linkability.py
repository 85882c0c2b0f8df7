"""Linkability against counting by hand, integrals over normal distributions, a slow definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from harness.errors import ScoreError
from harness.metrics.linkability import linkability

from .normal import QUANTILES


def test_by_hand() -> None:
    # Two bins. In the upper one LR is (15/20) / (5/20) = 3 and D is 2 * 3/4 - 1 = 1/2; in the lower
    # one LR is below 1. Each bin has half its weight: 1/2 * 15/20 / 2.
    target = [0.0] * 5 + [1.0] * 15
    nontarget = [0.0] * 15 + [1.0] * 5
    assert linkability(target, nontarget) == pytest.approx(3 / 16, abs=1e-15)


def test_an_edge_belongs_to_the_upper_bin() -> None:
    # Three bins from 0 to 3. The targets, all at 1, are alone in the second one, which counts
    # whole, or share the first one with nontargets, if edges belonged to the lower bin.
    assert linkability([1.0] * 30, [0.0, 3.0]) == 1
    # The highest score is in the last bin: shared, LR = 2, D = 1/3, half the weight.
    assert linkability([3.0] * 30, [0.0, 3.0]) == pytest.approx(1 / 6)


@pytest.mark.parametrize(("each", "expected"), [(10, 0.98), (20, 0.98), (50, 0.98)])
def test_at_most_100_bins(each: int, expected: float) -> None:
    # One bin for each of 0.5, 1.5, ... 99.5; the nontargets are in the first and the last. With
    # 200 bins no target would share its bin with a nontarget.
    target = np.repeat(np.arange(100) + 0.5, each)
    assert linkability(target, [0.0, 100.0]) == pytest.approx(expected)


def test_ten_targets_per_bin() -> None:
    # 29 targets give two bins, 30 give three: at 1 the targets are in the first bin of two, with a
    # nontarget (LR 2, half weight), and alone in the second one of three.
    assert linkability([1.0] * 29, [0.0, 3.0]) == pytest.approx(1 / 6)
    assert linkability([1.0] * 30, [0.0, 3.0]) == 1


def test_perfectly_separated_scores_count_by_half_in_the_outermost_bin() -> None:
    assert linkability([1.0] * 100, [0.0] * 100) == pytest.approx(0.5)
    # Scores that tell by being low: the EER would be 100 %.
    assert linkability([0.0] * 100, [1.0] * 100) == pytest.approx(0.5)


def test_constant_scores() -> None:
    assert linkability([2.0] * 50, [2.0] * 70) == 0.0


def test_equal_distributions() -> None:
    assert linkability(QUANTILES, QUANTILES) == 0.0


@pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 4.0])
def test_normal_scores(distance: float) -> None:
    def told(score: float) -> float:
        target, nontarget = norm.pdf(score, distance), norm.pdf(score)
        return target * max(target - nontarget, 0) / (target + nontarget)

    expected = quad(told, -8, distance + 8, points=[distance / 2])[0]
    found = linkability(QUANTILES + distance, QUANTILES)
    assert found == pytest.approx(expected, abs=2e-3)


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=50, max_size=59),
    st.lists(st.integers(0, 5), min_size=1, max_size=40),
)
def test_equals_counting(target: list[int], nontarget: list[int]) -> None:
    # Five bins of width 1 when 0 and 5 are among the scores: 5 joins 4.
    nontarget = [*nontarget, 0, 5]
    total = Fraction(0)
    for number in range(5):
        scores = {4, 5} if number == 4 else {number}
        of_target = Fraction(sum(score in scores for score in target), len(target))
        of_nontarget = Fraction(sum(score in scores for score in nontarget), len(nontarget))
        if of_target > of_nontarget:
            odds = of_target / of_nontarget if of_nontarget else None
            local = 1 if odds is None else 2 * odds / (1 + odds) - 1
            total += local * of_target / (2 if number in (0, 4) else 1)
    assert linkability(target, nontarget) == pytest.approx(float(total), abs=1e-12)


@settings(deadline=None)
@given(
    st.lists(st.floats(-4, 4, width=32), min_size=20, max_size=60),
    st.lists(st.floats(-4, 4, width=32), min_size=1, max_size=60),
    st.sampled_from([0.25, 1.0, 64.0]),
)
def test_range_and_scale(target: list[float], nontarget: list[float], scale: float) -> None:
    found = linkability(target, nontarget)
    assert 0 <= found <= 1
    scaled = linkability(scale * np.array(target), scale * np.array(nontarget))
    assert scaled == pytest.approx(found, abs=1e-12)


def test_bending_the_axis_changes_it() -> None:
    rng = np.random.default_rng(1)
    target, nontarget = rng.normal(1, 1, 500), rng.normal(0, 1, 5000)
    plain, bent = (
        linkability(*(bend(one) for one in (target, nontarget)))
        for bend in (np.asarray, lambda one: np.exp(3 * one))
    )
    assert abs(plain - bent) > 0.02


def test_bins_narrower_than_the_resolution_of_numbers() -> None:
    next_to_one = np.nextafter(1.0, 2.0)
    assert linkability([next_to_one] * 1000, [1.0] * 10) == pytest.approx(0.5)


@pytest.mark.parametrize("number", [1, 9, 10, 19])
def test_too_few_targets_for_two_bins(number: int) -> None:
    with pytest.raises(ScoreError, match=f"linkability of {number} targets; give at least 20"):
        linkability([1.0] * number, [0.0] * 100)
