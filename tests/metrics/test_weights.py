"""Weighted EERs against the official one on the repeated trials, and hand arithmetic."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.metrics.eer import equal_error_rate
from harness.metrics.weights import OrderedTrials

ABOVE_ONE = float(np.nextafter(np.float32(1), np.float32(2)))
one_score = st.sampled_from((0.0, -0.0, 1.0, ABOVE_ONE)) | st.floats(-4, 4, width=32)
one_trial = st.tuples(one_score, st.booleans(), st.lists(st.integers(0, 4), min_size=3, max_size=3))
trials = st.lists(one_trial, min_size=2, max_size=50).filter(
    lambda rows: len({target for _, target, _ in rows}) == 2
)


def repeated(
    scores: npt.NDArray[np.float64], target: npt.NDArray[np.bool_], times: npt.NDArray[np.int64]
) -> float:
    """The official EER of each trial so many times; NaN without a class."""
    times_target, times_nontarget = times[target], times[~target]
    if not times_target.any() or not times_nontarget.any():
        return float("nan")
    return equal_error_rate(
        np.repeat(scores[target], times_target), np.repeat(scores[~target], times_nontarget)
    ).rate


def test_by_hand() -> None:
    # Targets 1, 3 and nontargets 0, 2. At threshold 2 the target 1 is missed, no false alarm; at 1
    # the nontarget 2 is one as well. Weighing target 1 as 1 of 4 and nontarget 2 as 1 of 4: 0.25.
    one = OrderedTrials([1, 3, 0, 2], [True, True, False, False], [0, 1, 2, 3])
    weights = [[1, 1, 0], [1, 3, 1], [1, 3, 1], [1, 1, 1]]
    # All one: both rates 0.5. Without the target 1: threshold 2 has no error.
    assert one.equal_error_rates(weights).tolist() == [0.5, 0.25, 0.0]


def test_trials_of_a_cell_share_its_weight() -> None:
    apart = OrderedTrials([1, 3, 0, 2], [True, True, False, False], [0, 1, 2, 3])
    shared = OrderedTrials([1, 3, 0, 2], [True, True, False, False], [0, 1, 1, 0])
    assert shared.equal_error_rates([[1], [5]]) == apart.equal_error_rates([[1], [5], [5], [1]])


@settings(deadline=None, max_examples=300)
@given(trials)
def test_equal_to_the_official_eer_of_repeated_trials(
    rows: list[tuple[float, bool, list[int]]],
) -> None:
    scores, target = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    weights = np.array([row[2] for row in rows])
    weights = np.c_[np.ones(len(rows), np.int64), weights, weights**5]
    found = OrderedTrials(scores, target, np.arange(len(rows))).equal_error_rates(weights)
    expected = [repeated(scores, target, times) for times in weights.T]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("decimals", [9, 2, 1])
def test_equal_on_a_list_as_large_as_the_official_ones(decimals: int) -> None:
    rng = np.random.default_rng(1)
    target = np.arange(15_270) < 704
    scores = (rng.standard_normal(15_270) + target).round(decimals)
    cells = rng.integers(300, size=15_270)
    weights = rng.poisson(1.0, (300, 20)) * rng.poisson(1.0, (300, 20))
    found = OrderedTrials(scores, target, cells).equal_error_rates(weights)
    expected = [repeated(scores, target, times[cells]) for times in weights.T]
    assert found.tolist() == expected


@settings(deadline=None)
@given(trials)
def test_only_shares_of_weight_matter(rows: list[tuple[float, bool, list[int]]]) -> None:
    scores, target = [row[0] for row in rows], [row[1] for row in rows]
    weights = np.array([row[2] for row in rows])
    one = OrderedTrials(scores, target, np.arange(len(rows)))
    np.testing.assert_array_equal(
        one.equal_error_rates(weights / 8), one.equal_error_rates(weights)
    )


def test_fractional_weights() -> None:
    # Tenths do not add up exactly.
    scores, target = np.arange(9.0), np.array([1, 0, 1, 0, 1, 0, 1, 1, 0], np.bool_)
    whole = np.array([[1, 3, 2, 1, 2, 5, 1, 3, 7]]).T
    one = OrderedTrials(scores, target, np.arange(9))
    assert one.equal_error_rates(whole / 10) == pytest.approx(
        one.equal_error_rates(whole), abs=1e-7
    )


def test_fractional_weights_of_scores_apart() -> None:
    # Whether all nontargets are rejected must not hang on the order in which tenths are added.
    weights = np.random.default_rng(1).integers(1, 9, (60, 200)) / 10
    one = OrderedTrials(np.arange(60.0), np.arange(60) >= 30, np.arange(60))
    assert one.equal_error_rates(weights) == pytest.approx(np.zeros(200), abs=1e-9)


def test_constant_scores_give_half() -> None:
    one = OrderedTrials([1.0] * 6, [True, True, False, False, False, False], [0, 1, 2, 3, 4, 5])
    assert one.equal_error_rates([[1, 0], [1, 3], [1, 0], [1, 2], [1, 0], [1, 1]]).tolist() == [
        0.5,
        0.5,
    ]


def test_a_class_without_weight_has_no_eer() -> None:
    one = OrderedTrials([1, 0], [True, False], [0, 1])
    assert np.isnan(one.equal_error_rates([[0, 1, 0, 1], [1, 0, 0, 1]])).tolist() == [
        True,
        True,
        True,
        False,
    ]


def test_what_the_official_eer_refuses_is_refused() -> None:
    with pytest.raises(ScoreError, match="1 target scores are NaN"):
        OrderedTrials([np.nan, 0], [True, False], [0, 1])
    with pytest.raises(ScoreError, match="there is no nontarget score"):
        OrderedTrials([1, 0], [True, True], [0, 1])
    with pytest.raises(ScoreError, match=r"scores of shape \(3,\) for trials of shape \(2,\)"):
        OrderedTrials([1, 0, 2], [True, False], [0, 1])
