"""Intervals: which draws are their ends, when there are none, and how often they hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.metrics.bootstrap import Interval, eer_intervals, percentile_interval
from harness.metrics.comparison import p_value
from harness.metrics.resampling import Sampling

from .simulated import crossed, scores


@pytest.mark.parametrize(
    ("draws", "level", "low", "high"),
    # k = (n + 1) (1 - level) / 2: 1, 5, 1, 10, 10 (9.99 is cut to 9).
    [(39, 0.95, 1, 39), (199, 0.95, 5, 195), (19, 0.9, 1, 19), (99, 0.8, 10, 90), (98, 0.8, 9, 90)],
)
def test_ends_by_hand(draws: int, level: float, low: int, high: int) -> None:
    values = np.random.default_rng(1).permutation(np.arange(1, draws + 1))
    found = percentile_interval(0.5, values, level, None)
    assert found == Interval(0.5, level, low, high, None)


def test_a_reason_stands_in_place_of_an_interval() -> None:
    assert percentile_interval(0.5, [1.0] * 99, 0.95, "why") == Interval(
        0.5, 0.95, None, None, "why"
    )
    found = percentile_interval(0.5, [1.0] * 38, 0.95, None)
    assert (found.low, found.reason) == (None, "38 draws with an EER are too few")


@settings(deadline=None)
@given(st.lists(st.integers(-3, 40), min_size=39, max_size=120), st.sampled_from([0.9, 0.95]))
def test_the_interval_leaves_zero_out_where_p_is_low(drawn: list[int], level: float) -> None:
    found = percentile_interval(0, drawn, level, None)
    assert found.low is not None
    assert found.high is not None
    excludes = found.low > 0 or found.high < 0
    assert excludes == (p_value(drawn) <= 1 - level + 1e-9)


def test_average_and_lists_are_of_the_same_draws() -> None:
    # Two lists with the same scores: their average is each of them, in every draw.
    pairs = crossed(range(12), range(14), 4)
    values = scores(pairs, 0.25, np.random.default_rng(3))
    found = eer_intervals([pairs, pairs], [values, values], weights=[1, 3])
    assert found.lists[0] == found.lists[1]
    assert found.average.low == pytest.approx(found.lists[0].low, abs=1e-12)
    assert found.average.high == pytest.approx(found.lists[0].high, abs=1e-12)


def test_the_average_of_lists_apart_is_narrower() -> None:
    rng = np.random.default_rng(3)
    lists = [crossed(range(first, first + 12), range(first, first + 14), 4) for first in (0, 20)]
    found = eer_intervals(lists, [scores(pairs, 0.25, rng) for pairs in lists])
    widths = [
        one.high - one.low  # type: ignore[operator]
        for one in (*found.lists, found.average)
    ]
    # Of two independent equal deviations the mean has 0.71 of one.
    assert widths[2] == pytest.approx((widths[0] ** 2 + widths[1] ** 2) ** 0.5 / 2, rel=0.15)


def test_a_higher_level_is_wider() -> None:
    pairs = crossed(range(12), range(14), 4)
    values = scores(pairs, 0.25, np.random.default_rng(3))
    narrow, wide = (
        eer_intervals([pairs], [values], sampling=Sampling(level=level)).average
        for level in (0.8, 0.99)
    )
    assert wide.low < narrow.low < narrow.estimate < narrow.high < wide.high  # type: ignore[operator]


def test_few_speakers_give_a_reason() -> None:
    rng = np.random.default_rng(1)
    few, enough = crossed(range(9), range(20), 4), crossed(range(20, 30), range(20, 40), 4)
    found = eer_intervals([few, enough], [scores(few, 0.3, rng), scores(enough, 0.3, rng)])
    assert found.lists[0].reason == "9 speakers have target trials, fewer than 10"
    assert (found.lists[0].low, found.lists[0].high) == (None, None)
    assert found.lists[1].reason is None
    assert found.average.reason == found.lists[0].reason
    without = eer_intervals(
        [few, enough], [scores(few, 0.3, rng), scores(enough, 0.3, rng)], weights=[0, 1]
    )
    assert without.average.reason is None


def test_no_errors_give_a_reason_and_no_certainty() -> None:
    pairs = crossed(range(12), range(12), 3)
    found = eer_intervals([pairs], [pairs.target.astype(float)]).average
    assert found.estimate == 0
    assert found.high is None
    assert found.reason == "the targets missed are of 0 speakers, fewer than 3"


def test_weights_are_checked() -> None:
    pairs = crossed(range(12), range(12), 3)
    with pytest.raises(ConfigError, match="no weights of 1 lists"):
        eer_intervals([pairs], [pairs.target.astype(float)], weights=[1, 2])


def test_intervals_by_speakers_hold_the_truth_and_those_by_trials_do_not() -> None:
    # 40 evaluations with 13 enrolled of 20 speakers and an EER of 20 %. By speakers nine of ten and
    # more hold it, by trials about half.
    pairs = crossed(range(13), range(20), 10)
    rng = np.random.default_rng(7)
    held = {"speakers": 0, "trials": 0}
    for _ in range(40):
        values = scores(pairs, 0.2, rng)
        for unit in held:
            found = eer_intervals(
                [pairs], [values], sampling=Sampling(draws=200, unit=unit)
            ).average
            assert found.low is not None
            assert found.high is not None
            held[unit] += found.low <= 0.2 <= found.high
    assert held["speakers"] >= 36
    assert 12 <= held["trials"] <= 32
