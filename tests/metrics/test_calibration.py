"""Calibration against hand arithmetic, the min-max formula of isotonic regression, invariances."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.metrics.calibration import calibrate

# Few values, so that there are ties within and between the classes.
one_score = st.integers(-5, 5).map(float) | st.floats(-4, 4, width=32)
scores = st.lists(one_score, min_size=1, max_size=20)


def slow(target: list[float], nontarget: list[float], *, laplace: bool) -> dict[float, float]:
    """LLR of each distinct score: the posterior at i is the largest over a <= i of the smallest
    over b >= i of the mean label from a to b. Exact fractions."""
    levels = sorted({*target, *nontarget})
    counts = [(target.count(level), nontarget.count(level)) for level in levels]
    if laplace:
        counts = [(1, 1), *counts, (1, 1)]

    def mean(first: int, last: int) -> Fraction:
        targets = sum(count[0] for count in counts[first : last + 1])
        nontargets = sum(count[1] for count in counts[first : last + 1])
        return Fraction(targets, targets + nontargets)

    posteriors = [
        max(min(mean(a, b) for b in range(i, len(counts))) for a in range(i + 1))
        for i in range(len(counts))
    ]
    if laplace:
        posteriors = posteriors[1:-1]
    prior = Fraction(len(target), len(nontarget))
    ratios = []
    for posterior in posteriors:
        if posterior in (0, 1):
            ratios.append(math.inf if posterior else -math.inf)
        else:
            ratios.append(math.log(posterior / (1 - posterior) / prior))
    return dict(zip(levels, ratios, strict=True))


def test_by_hand() -> None:
    # Nontarget, target, nontarget, target: labels 0 1 0 1 become 0, 1/2, 1/2, 1. The prior is even.
    target, nontarget = calibrate([2, 4], [1, 3])
    assert target.tolist() == [0, math.inf]
    assert nontarget.tolist() == [-math.inf, 0]


def test_by_hand_with_the_rule_of_laplace() -> None:
    # 1 0 | 0 1 0 1 | 1 0: blocks 1 0 0, then 1 0, then 1 1 0, with posteriors 1/3, 1/2, 2/3.
    target, nontarget = calibrate([2, 4], [1, 3], laplace=1)
    assert target == pytest.approx([0, math.log(2)], abs=1e-15)
    assert nontarget == pytest.approx([-math.log(2), 0], abs=1e-15)


def test_the_prior_is_taken_off() -> None:
    # Labels 0 1 0 0 1 0 1: blocks 0, then 1 0 0, then 1 0, then 1. The prior odds are 3 to 4.
    target, nontarget = calibrate([2, 5, 7], [1, 3, 4, 6])
    low, high = math.log(1 / 2 * 4 / 3), math.log(1 / 1 * 4 / 3)
    assert target == pytest.approx([low, high, math.inf])
    assert nontarget == pytest.approx([-math.inf, low, low, high])


def test_equal_scores_have_equal_ratios() -> None:
    # Levels 0: nontarget; 1: both; 2: target. Told apart, the tie would be perfectly separated.
    target, nontarget = calibrate([1, 2], [1, 0])
    assert target.tolist() == [0, math.inf]
    assert nontarget.tolist() == [0, -math.inf]


@pytest.mark.parametrize(("n_target", "n_nontarget"), [(1, 1), (3, 7), (7, 3), (704, 14566)])
def test_constant_scores(n_target: int, n_nontarget: int) -> None:
    constant = np.ones(n_target), np.ones(n_nontarget)
    assert [set(one) for one in calibrate(*constant)] == [{0}, {0}]
    # Of the two pairs of Laplace's rule, one is pooled with the trials, unless the prior is even.
    left = math.log((n_target + 1) / (n_nontarget + 1) / (n_target / n_nontarget))
    for one in calibrate(*constant, laplace=1):
        assert one == pytest.approx(np.full(len(one), left), abs=1e-12)


@pytest.mark.parametrize(("n_target", "n_nontarget"), [(1, 1), (3, 7), (7, 3), (704, 14566)])
def test_separated_scores(n_target: int, n_nontarget: int) -> None:
    separated = np.ones(n_target), np.zeros(n_nontarget)
    assert [set(one) for one in calibrate(*separated)] == [{math.inf}, {-math.inf}]
    target, nontarget = calibrate(*separated, laplace=1)
    assert target[0] == pytest.approx(math.log((n_target + 1) * n_nontarget / n_target))
    assert nontarget[0] == pytest.approx(-math.log((n_nontarget + 1) * n_target / n_nontarget))


def test_reversed_scores_say_nothing() -> None:
    assert [one.tolist() for one in calibrate([0, 1], [2, 3, 4])] == [[0, 0], [0, 0, 0]]


@settings(deadline=None, max_examples=200)
@given(scores, scores, st.booleans())
def test_equals_the_min_max_formula(
    target: list[float], nontarget: list[float], laplace: bool
) -> None:
    expected = slow(target, nontarget, laplace=laplace)
    found = calibrate(target, nontarget, laplace=laplace)
    for ratios, given_scores in zip(found, (target, nontarget), strict=True):
        assert ratios == pytest.approx([expected[score] for score in given_scores], abs=1e-12)


@settings(deadline=None)
@given(scores, scores, st.integers(1, 3))
def test_the_rule_of_laplace_counts_as_often_as_the_trials(
    target: list[float], nontarget: list[float], times: int
) -> None:
    once = calibrate(target, nontarget, laplace=1)
    often = calibrate(target * times, nontarget * times, laplace=times)
    for one, repeated in zip(once, often, strict=True):
        assert repeated == pytest.approx(np.tile(one, times), abs=1e-12)


@settings(deadline=None)
@given(scores, scores, st.booleans())
def test_only_the_order_of_scores_matters(
    target: list[float], nontarget: list[float], laplace: bool
) -> None:
    ranks = np.unique([*target, *nontarget], return_inverse=True)[1]
    bent = np.arcsinh(ranks.astype(float)) * 1e-6 - 3
    for one, other in zip(
        calibrate(target, nontarget, laplace=laplace),
        calibrate(bent[: len(target)], bent[len(target) :], laplace=laplace),
        strict=True,
    ):
        assert one.tolist() == other.tolist()


@settings(deadline=None)
@given(scores, scores, st.booleans(), st.randoms(use_true_random=False))
def test_ratios_come_in_the_order_given_and_rise_with_the_score(
    target: list[float], nontarget: list[float], laplace: bool, random: object
) -> None:
    found = dict(zip(target, calibrate(target, nontarget, laplace=laplace)[0], strict=True))
    shuffled = list(target)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = calibrate(shuffled, nontarget, laplace=laplace)[0]
    assert again.tolist() == [found[score] for score in shuffled]
    rising = [found[score] for score in sorted(found)]
    assert rising == sorted(rising)


@settings(deadline=None)
@given(scores, scores)
def test_more_trials_of_one_class_change_nothing_but_the_prior(
    target: list[float], nontarget: list[float]
) -> None:
    once = calibrate(target, nontarget)
    often = calibrate(target, nontarget * 3)
    assert often[0] == pytest.approx(once[0], abs=1e-12)
    assert often[1][: len(nontarget)] == pytest.approx(once[1], abs=1e-12)


def test_input_is_left_as_it_is() -> None:
    target, nontarget = np.array([3.0, 1.0]), np.array([2.0, 0.0])
    calibrate(target, nontarget, laplace=1)
    assert (target.tolist(), nontarget.tolist()) == ([3, 1], [2, 0])


def test_scores_that_only_double_precision_tells_apart() -> None:
    assert calibrate([1 + 1e-12], [1.0])[0].tolist() == [math.inf]


@pytest.mark.parametrize(
    ("target", "nontarget", "message"),
    [
        ([], [1.0], "there is no target score"),
        ([1.0], [], "there is no nontarget score"),
        ([np.nan], [1.0], "1 target scores are NaN"),
        ([1.0], [np.inf, 2.0], "1 nontarget scores are infinite"),
        ([[1.0]], [1.0], r"target scores have shape \(1, 1\)"),
    ],
)
def test_refuses_what_the_eer_refuses(target: object, nontarget: object, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        calibrate(target, nontarget)  # type: ignore[arg-type]
