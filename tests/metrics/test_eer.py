"""The EER against SpeechBrain's function, the Attacker plan's error counts, and hand arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import ScoreError
from harness.metrics.eer import equal_error_rate


def test_by_hand() -> None:
    # Threshold 0.45: the target 0.4 is missed (1/4), the nontarget 0.5 is a false alarm (1/4).
    found = equal_error_rate([0.9, 0.8, 0.7, 0.4], [0.5, 0.3, 0.2, 0.1])
    assert found.rate == 0.25
    assert (found.misses, found.false_alarms) == (1, 1)
    assert (found.n_target, found.n_nontarget) == (4, 4)
    assert found.percent == 25.0


def test_perfect_and_reversed() -> None:
    assert equal_error_rate([2.0, 3.0], [0.0, 1.0]).rate == 0.0
    assert equal_error_rate([0.0, 1.0], [2.0, 3.0]).rate == 1.0


def test_constant_scores_give_half() -> None:
    assert equal_error_rate([1.0] * 5, [1.0] * 9).rate == 0.5


def test_published_counts_give_the_published_value() -> None:
    # Orig, dev f: 74 of 704 targets missed, 1531 of 14,566 nontargets accepted: 10.511 %.
    target = np.r_[np.full(74, -1.0), np.full(630, 1.0)]
    nontarget = np.r_[np.full(1531, 0.5), np.full(13035, -2.0)]
    found = equal_error_rate(target, nontarget)
    assert (found.misses, found.false_alarms, found.percent) == (74, 1531, 10.511)


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
        ([1.0], [float("-inf")], "infinite"),
        ([1.0], [1e39], "infinite"),
        ([[1.0]], [0.0], "shape"),
    ],
)
def test_unscorable_input_is_refused(target: list, nontarget: list, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        equal_error_rate(target, nontarget)
