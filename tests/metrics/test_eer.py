"""The EER against SpeechBrain's function, a plain replay of it, and hand arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.metrics.eer import (
    EqualErrorRate,
    equal_error_rate,
    in_double,
    sorted_scores,
    validate,
)

LARGEST = float(np.finfo(np.float32).max)
SUBNORMAL = float(np.finfo(np.float32).smallest_subnormal)
ABOVE_ONE = float(np.nextafter(np.float32(1), np.float32(2)))
# Ties, adjacent floats (the middle rounds to a neighbour), both zeros, subnormals, and values
# whose sum overflows single precision.
AWKWARD = (0.0, -0.0, 0.5, 1.0, ABOVE_ONE, SUBNORMAL, 3 * SUBNORMAL, LARGEST, 0.9 * LARGEST)
one_score = (
    st.sampled_from([*AWKWARD, *(-value for value in AWKWARD)])
    | st.integers(-3, 3).map(float)
    | st.floats(-4, 4, width=32)
    | st.floats(allow_nan=False, allow_infinity=False, width=32)
)
scores = st.lists(one_score, min_size=1, max_size=40)


def replay(target: list[float], nontarget: list[float]) -> EqualErrorRate:
    """The official loop over all thresholds, O(N²), comparing as it does: a float32 difference
    with the float64 difference of the best point so far."""
    of_target, of_nontarget = np.float32(target), np.float32(nontarget)
    unique = np.unique(np.concatenate([of_target, of_nontarget]))
    with np.errstate(over="ignore"):
        middles = (unique[:-1] + unique[1:]) / np.float32(2)
    best, best_difference = None, 0.0
    for threshold in np.sort(np.concatenate([unique, middles])):
        misses, alarms = int((of_target <= threshold).sum()), int((of_nontarget > threshold).sum())
        miss_rate = np.float32(misses) / np.float32(len(target))
        alarm_rate = np.float32(alarms) / np.float32(len(nontarget))
        if best is None or float(abs(alarm_rate - miss_rate)) < best_difference:
            best_difference = abs(float(alarm_rate) - float(miss_rate))
            best = EqualErrorRate(
                (float(alarm_rate) + float(miss_rate)) / 2,
                float(threshold),
                misses,
                alarms,
                len(target),
                len(nontarget),
            )
    assert best is not None
    return best


def test_by_hand() -> None:
    # Threshold 0.5: the target 0.4 is missed (1/4), the nontarget 0.6 is a false alarm (1/4).
    found = equal_error_rate([0.9, 0.8, 0.7, 0.4], [0.6, 0.3, 0.2, 0.1])
    assert found == EqualErrorRate(0.25, float(np.float32(0.4)), 1, 1, 4, 4)
    assert found.percent == 25.0


def test_perfect_and_reversed() -> None:
    assert equal_error_rate([2.0, 3.0], [0.0, 1.0]).rate == 0.0
    assert equal_error_rate([0.0, 1.0], [2.0, 3.0]).rate == 1.0


def test_constant_scores_give_half() -> None:
    # At the one threshold all targets are missed and no nontarget is accepted.
    assert equal_error_rate([1.0] * 5, [1.0] * 9) == EqualErrorRate(0.5, 1.0, 5, 0, 5, 9)


def test_one_score_of_each_class() -> None:
    assert equal_error_rate([1.0], [0.0]) == EqualErrorRate(0.0, 0.0, 0, 0, 1, 1)
    assert equal_error_rate([0.0], [1.0]) == EqualErrorRate(1.0, 0.0, 1, 1, 1, 1)


def test_published_counts_give_the_published_value() -> None:
    # Orig, dev f: 74 of 704 targets missed, 1531 of 14,566 nontargets accepted: 10.511 %.
    target = np.r_[np.full(74, -1.0), np.full(630, 1.0)]
    nontarget = np.r_[np.full(1531, 0.5), np.full(13035, -2.0)]
    found = equal_error_rate(target, nontarget)
    assert (found.misses, found.false_alarms, found.percent) == (74, 1531, 10.511)


def test_a_middle_may_be_the_threshold() -> None:
    # At -0.5 one of three targets is missed, and the nontarget is accepted; at 0 the difference is
    # 1 the other way. 1 - 0.33333334 is rounded down in float32, so that the middle, -0.25, whose
    # rates are those of -0.5, is officially nearer.
    assert equal_error_rate([0.0, 0.0, -0.5], [0.0]).threshold == -0.25


def test_scores_whose_middle_overflows() -> None:
    # Perfectly separated; in float32 the sum of the two is infinite.
    low, high = float(np.float32(0.9 * LARGEST)), LARGEST
    assert equal_error_rate([high], [low]) == EqualErrorRate(0.0, low, 0, 0, 1, 1)
    assert equal_error_rate([-low], [-high]) == EqualErrorRate(0.0, -high, 0, 0, 1, 1)


def test_one_target_among_a_million_nontargets() -> None:
    # The rates are nearest just below the target, 0 and 0.1; at it they are 0.9 apart, and most
    # scores lie between.
    nontarget = np.arange(1_000_000, dtype=np.float32)
    found = equal_error_rate([899_999.5], nontarget)
    assert (found.rate, found.misses, found.false_alarms) == (pytest.approx(0.05), 0, 100_000)


@settings(deadline=None, max_examples=400)
@given(scores, scores)
def test_equals_the_official_loop(target: list[float], nontarget: list[float]) -> None:
    assert equal_error_rate(target, nontarget) == replay(target, nontarget)


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 700), st.integers(1, 700), st.floats(-1, 4, width=32)
)
def test_equals_the_official_loop_on_larger_classes(
    seed: int, n_target: int, n_nontarget: int, shift: float
) -> None:
    rng = np.random.default_rng(seed)
    target, nontarget = rng.normal(shift, 1, n_target), rng.normal(0, 1, n_nontarget)
    if seed % 3 == 0:
        target, nontarget = target.round(1), nontarget.round(1)
    assert equal_error_rate(target, nontarget) == replay(target.tolist(), nontarget.tolist())


@settings(deadline=None)
@given(scores, scores)
def test_order_of_trials_and_input_type_do_not_matter(
    target: list[float], nontarget: list[float]
) -> None:
    once = equal_error_rate(target, nontarget)
    assert equal_error_rate(target[::-1], tuple(sorted(nontarget))) == once
    assert equal_error_rate(np.float64(target), np.float32(nontarget)) == once


def test_input_is_left_as_it_is() -> None:
    target, nontarget = np.float32([3, 1, 2]), np.float32([0, 2, 1])
    equal_error_rate(target, nontarget)
    found = sorted_scores(target, nontarget)
    assert (target.tolist(), nontarget.tolist()) == ([3, 1, 2], [0, 2, 1])
    assert [one.tolist() for one in found] == [[1, 2, 3], [0, 1, 2]]
    assert not any(np.shares_memory(*pair) for pair in zip(found, (target, nontarget), strict=True))


def test_double_precision_is_kept() -> None:
    # 0.1 is no float32; both are copies, so that the input is left as it is.
    given = np.array([0.1, 1e-300])
    target, nontarget = in_double(given, [0.1])
    assert (target.dtype, nontarget.dtype) == (np.float64, np.float64)
    assert (target.tolist(), nontarget.tolist()) == ([0.1, 1e-300], [0.1])
    assert not np.shares_memory(given, target)


def cases(count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(1)
    made = []
    for number in range(count):
        n_target, n_nontarget = rng.integers(1, 60, 2)
        target = rng.normal(rng.uniform(-1, 3), 1, n_target)
        nontarget = rng.normal(0, rng.uniform(0.2, 2), n_nontarget)
        ties = number % 4
        if ties:  # heavily tied: few distinct values
            scale = (1, 3, 100)[ties - 1]
            target, nontarget = np.round(target * scale), np.round(nontarget * scale)
        if number % 7 == 0:  # values at the edge of float32's resolution
            target, nontarget = target * 1e-7 + 1, nontarget * 1e-7 + 1
        if number % 5 == 0:
            target = rng.choice(AWKWARD, n_target) * rng.choice([-1, 1], n_target)
            nontarget = rng.choice(AWKWARD, n_nontarget) * rng.choice([-1, 1], n_nontarget)
        made.append((target, nontarget))
    return made


@pytest.mark.heavy
def test_equals_speechbrain_in_thousands_of_cases() -> None:
    torch = pytest.importorskip("torch")
    from speechbrain.utils.metric_stats import EER

    for target, nontarget in cases(3000):
        official, threshold = EER(
            torch.tensor(target, dtype=torch.float32), torch.tensor(nontarget, dtype=torch.float32)
        )
        found = equal_error_rate(target, nontarget)
        assert found.rate == official
        assert found.threshold == threshold


@pytest.mark.parametrize(
    ("target", "nontarget", "message"),
    [
        ([], [1.0], "there is no target score"),
        ([1.0], [], "there is no nontarget score"),
        ([1.0, float("nan")], [0.0], "1 target scores are NaN"),
        ([float("nan"), float("inf"), 0.0], [0.0], "1 target scores are NaN"),
        ([1.0], [float("-inf"), 0.0], "1 nontarget scores are infinite"),
        ([1.0], [float("inf"), float("-inf"), 0.0], "2 nontarget scores are infinite"),
        ([1.0], [1e39], "infinite"),
        ([[1.0]], [0.0], "shape"),
        (1.0, [0.0], "shape"),
    ],
)
def test_unscorable_input_is_refused(target: object, nontarget: object, message: str) -> None:
    for refuse in (equal_error_rate, validate, sorted_scores, in_double):
        with pytest.raises(ScoreError, match=message):
            refuse(target, nontarget)  # type: ignore[arg-type]
