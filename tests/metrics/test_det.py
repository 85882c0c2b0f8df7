"""The DET curve: counted by hand, counted naively, and consistent with the EER."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.metrics.det import det
from harness.metrics.eer import equal_error_rate

scores = st.lists(
    st.floats(-4, 4, width=32) | st.sampled_from([-1.0, 0.0, 0.5]), min_size=1, max_size=30
)


def test_counted_by_hand() -> None:
    curve = det([1.0, 2.0, 3.0, 4.0], [0.0, 1.0])
    # A target is missed at or below the threshold, a nontarget a false alarm above it.
    assert curve.thresholds.tolist() == [-np.inf, 0, 1, 2, 3, 4]
    assert curve.miss_rate.tolist() == [0, 0, 0.25, 0.5, 0.75, 1]
    assert curve.false_alarm_rate.tolist() == [1, 0.5, 0, 0, 0, 0]


def test_constant_scores_give_the_two_ends() -> None:
    curve = det([2.0, 2.0], [2.0])
    assert curve.thresholds.tolist() == [-np.inf, 2]
    assert curve.miss_rate.tolist() == [0, 1]
    assert curve.false_alarm_rate.tolist() == [1, 0]


@settings(deadline=None)
@given(scores, scores)
def test_agrees_with_counting(target: list[float], nontarget: list[float]) -> None:
    curve = det(target, nontarget)
    distinct = sorted(set(map(float, [*target, *nontarget])))
    assert curve.thresholds.tolist() == [-np.inf, *distinct]
    for threshold, misses, false_alarms in zip(
        curve.thresholds, curve.miss_rate, curve.false_alarm_rate, strict=True
    ):
        assert misses == sum(score <= threshold for score in target) / len(target)
        assert false_alarms == sum(score > threshold for score in nontarget) / len(nontarget)


@settings(deadline=None)
@given(scores, scores)
def test_eer_lies_on_the_curve(target: list[float], nontarget: list[float]) -> None:
    curve = det(target, nontarget)
    eer = equal_error_rate(target, nontarget)
    point = (eer.misses / eer.n_target, eer.false_alarms / eer.n_nontarget)
    points = set(zip(curve.miss_rate.tolist(), curve.false_alarm_rate.tolist(), strict=True))
    assert point in points
    assert min(abs(miss - fa) for miss, fa in points) == pytest.approx(
        abs(point[0] - point[1]), abs=1e-6
    )


def test_points_are_picked_from_the_whole_curve() -> None:
    generator = np.random.default_rng(1)
    target, nontarget = generator.normal(1, 1, 700), generator.normal(0, 1, 1300)
    whole, picked = det(target, nontarget), det(target, nontarget, 50)
    assert len(whole.thresholds) == 2_001
    assert len(picked.thresholds) == 51
    assert set(picked.thresholds) <= set(whole.thresholds)
    assert picked.thresholds[[0, 1, -1]].tolist() == whole.thresholds[[0, 1, -1]].tolist()
    assert (np.diff(picked.miss_rate) >= 0).all()
    assert (np.diff(picked.false_alarm_rate) <= 0).all()
    # Evenly spread over the ranks.
    ranks = np.searchsorted(whole.thresholds, picked.thresholds[1:])
    assert set(np.diff(ranks)) <= {40, 41}


def test_fewer_scores_than_points() -> None:
    assert len(det([1.0], [0.0], 200).thresholds) == 3


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
        det(target, nontarget)  # type: ignore[arg-type]
