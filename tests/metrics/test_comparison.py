"""Differences: a planted one is found, an absent one is not; Holm and p-values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.errors import ScoreError
from harness.metrics.comparison import SeedSpread, compare, holm, p_value, seed_spread
from harness.metrics.draws import Pairs
from harness.metrics.resampling import Sampling

from .simulated import crossed, scores

PAIRS = crossed(range(13), range(20), 8)
QUICK = Sampling(draws=999)


def test_p_values_by_hand() -> None:
    # 2 of 19 draws at or below 0: 2 (1 + 2) / 20. All above: 2 / 20.
    assert p_value([-1, 0, *[1] * 17]) == pytest.approx(0.3)
    assert p_value([1] * 19) == pytest.approx(0.1)
    assert p_value([-1] * 19) == pytest.approx(0.1)
    assert p_value([-1, 1] * 5) == 1
    assert p_value([0] * 19) == 1


def test_holm_by_hand() -> None:
    # In order 0.005 * 4, 0.01 * 3, 0.03 * 2, and 0.04 * 1, which is raised to the one before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.6]).tolist() == [1, 1]
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).tolist() == []


def test_holm_rejects_more_than_bonferroni() -> None:
    # Against 0.05 / 4, / 3, / 2, / 1 in ascending order: the second fails, and all after it.
    assert (holm([0.01, 0.02, 0.03, 0.04]) <= 0.05).tolist() == [True, False, False, False]
    # Each at its own bound passes; against 0.05 / 4 only the first would.
    assert (holm([0.0125, 0.0166, 0.025, 0.05]) <= 0.05).all()


def test_a_planted_difference_is_found() -> None:
    # The same attacker, and one that hears each trial with more noise.
    rng = np.random.default_rng(1)
    strong = scores(PAIRS, 0.15, rng)
    weak = strong + 1.5 * rng.standard_normal(len(strong))
    found = compare([PAIRS], [weak], [strong], sampling=QUICK)
    assert found.p_value == 2 / 1000
    assert found.difference.low is not None
    assert 0 < found.difference.low < found.difference.estimate


def test_an_absent_difference_is_not_found() -> None:
    # Equal over all speakers; each with speaker effects of its own, so that the lists differ.
    rng = np.random.default_rng(2)
    first, second = scores(PAIRS, 0.2, rng), scores(PAIRS, 0.2, rng)
    by_speakers = compare([PAIRS], [first], [second], sampling=QUICK)
    by_trials = compare([PAIRS], [first], [second], sampling=Sampling(draws=999, unit="trials"))
    assert by_speakers.p_value is not None
    assert by_trials.p_value is not None
    assert by_speakers.p_value > 0.2
    assert by_trials.p_value < by_speakers.p_value


def test_equal_attackers_are_equal_in_every_draw() -> None:
    # Nine lists, so that sums have an order to differ by.
    lists = [crossed(range(f, f + 10), range(f, f + 10), 2) for f in range(0, 90, 10)]
    rng = np.random.default_rng(3)
    one = [scores(pairs, 0.3, rng) for pairs in lists]
    found = compare(lists, one, one, weights=[0.1 * n + 0.1 for n in range(9)], sampling=QUICK)
    assert (found.difference.low, found.difference.high, found.p_value) == (0, 0, 1)


def test_the_order_of_two_only_turns_the_sign() -> None:
    rng = np.random.default_rng(4)
    first, second = [scores(PAIRS, 0.2, rng)], [scores(PAIRS, 0.3, rng)]
    there = compare([PAIRS], first, second, sampling=QUICK)
    back = compare([PAIRS], second, first, sampling=QUICK)
    assert there.difference.estimate == -back.difference.estimate
    assert there.difference.low == -back.difference.high  # type: ignore[operator]
    assert there.p_value == back.p_value


def test_few_speakers_compare_nothing() -> None:
    pairs = crossed(range(5), range(5), 5)
    rng = np.random.default_rng(1)
    found = compare([pairs], [scores(pairs, 0.1, rng)], [scores(pairs, 0.4, rng)], sampling=QUICK)
    assert found.p_value is None
    assert found.difference.low is None
    assert found.difference.reason == "5 speakers have target trials, fewer than 10"


def test_spread_by_hand() -> None:
    # Targets and nontargets of two speakers; EERs 0, 0.5 and 1 by construction.
    pairs = Pairs([0, 1, 0, 1], [0, 1, 1, 0])
    trainings = [[[3, 3, 0, 0]], [[3, 1, 2, 0]], [[0, 0, 3, 3]]]
    assert seed_spread([pairs], trainings) == SeedSpread(0.5, 0.5, 3)
    twice = seed_spread(
        [pairs, pairs], [[a[0], b[0]] for a, b in zip(trainings, trainings[::-1], strict=True)]
    )
    assert twice == SeedSpread(0.5, 0, 3)
    weighted = seed_spread(
        [pairs, pairs], [[trainings[0][0]] * 2, [trainings[0][0], trainings[2][0]]], weights=[3, 1]
    )
    assert weighted.mean == 0.125
    assert weighted.deviation == pytest.approx(0.25 / math.sqrt(2))


def test_one_training_has_no_spread() -> None:
    pairs = Pairs([0, 0], [0, 1])
    with pytest.raises(ScoreError, match="1 training shows no spread"):
        seed_spread([pairs], [[[1, 0]]])


def test_what_retraining_may_undo_is_no_difference() -> None:
    rng = np.random.default_rng(1)
    strong = scores(PAIRS, 0.15, rng)
    weak = strong + 0.6 * rng.standard_normal(len(strong))
    plain = compare([PAIRS], [weak], [strong], sampling=QUICK)
    assert plain.p_value is not None
    assert plain.p_value < 0.05
    # Deviations of a point and a half each, of nine trainings: the difference is about three.
    spread = SeedSpread(0.2, 0.015, 9)
    noisy = compare([PAIRS], [weak], [strong], sampling=QUICK, spreads=(spread, spread))
    assert noisy.difference.estimate == plain.difference.estimate
    assert noisy.p_value is not None
    assert noisy.p_value > 0.05
    again = compare([PAIRS], [weak], [strong], sampling=QUICK, spreads=(spread, spread))
    assert again == noisy


def test_spreads_add_as_variances() -> None:
    # Equal attackers differ by training alone: t with 1000 degrees is normal, sqrt(2) * 0.01.
    rng = np.random.default_rng(1)
    one = [scores(PAIRS, 0.15, rng)]
    spread = SeedSpread(0.2, 0.01, 1001)
    sampling = Sampling(draws=3999)
    found = compare([PAIRS], one, one, sampling=sampling, spreads=(spread, spread)).difference
    assert found.high == pytest.approx(1.96 * math.sqrt(2) * 0.01, rel=0.06)
    assert found.low == pytest.approx(-1.96 * math.sqrt(2) * 0.01, rel=0.06)
    single = compare([PAIRS], one, one, sampling=sampling, spreads=(None, spread)).difference
    assert single.high == pytest.approx(1.96 * 0.01, rel=0.06)
