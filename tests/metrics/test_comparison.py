"""Differences: a planted one is found, an absent one is not; Holm and p-values by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from harness.metrics.comparison import (
    SeedSpread,
    compare,
    differences,
    fewest_draws,
    holm,
    p_value,
    retrained,
    seed_spread,
)
from harness.metrics.draws import Pairs
from harness.metrics.resampling import Averages, Sampling

from .simulated import Floats, crossed, scores

PAIRS = crossed(range(13), range(20), 8)
QUICK = Sampling(draws=999)


def test_p_values_by_hand() -> None:
    # 2 of 19 draws at or below 0: 2 (1 + 2) / 20. All above: 2 / 20.
    assert p_value([-1, 0, *[1] * 17]) == pytest.approx(0.3)
    assert p_value([1] * 19) == pytest.approx(0.1)
    assert p_value([-1] * 19) == pytest.approx(0.1)
    assert p_value([-1, 1] * 5) == 1
    assert p_value([0] * 19) == 1


def test_what_float32_leaves_of_equal_eers_is_no_difference() -> None:
    # 15 of 96 in both, as the mean of 10 and 20 and of 15 and 15.
    mixed, same = (
        float(np.mean(np.float32([few, 30 - few]) / np.float32(96), dtype=float))
        for few in (10, 15)
    )
    assert mixed != same
    assert p_value(differences([mixed] * 19, [same] * 19)) == 1
    assert differences([0.2, 0.1], [0.1, 0.1 + 1e-6]).tolist() == [0.1, -1e-6]


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


def test_the_fewest_draws_reach_the_level() -> None:
    # 2 / (39 + 1) = 0.05; for three comparisons 3 * 2 / (119 + 1).
    assert fewest_draws(1, 0.95) == 39
    assert fewest_draws(3, 0.95) == 119
    assert holm([p_value([1] * 119)] * 3) == pytest.approx([0.05] * 3)
    assert fewest_draws(1, 0.9) == 19


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
    none, half, all_ = [3, 3, 0, 0], [3, 1, 2, 0], [0, 0, 3, 3]
    assert seed_spread([pairs], [[none, half, all_]]) == SeedSpread(0.5, 0.5, 3)
    twice = seed_spread([pairs, pairs], [[none, half, all_], [all_, half, none]])
    assert twice == SeedSpread(0.5, 0, 3)
    weighted = seed_spread([pairs, pairs], [[none, none], [none, all_]], weights=[3, 1])
    assert weighted.mean == 0.125
    assert weighted.deviation == pytest.approx(0.25 / math.sqrt(2))


def test_one_training_has_no_spread() -> None:
    pairs = Pairs([0, 1, 0, 1], [0, 1, 1, 0])
    assert seed_spread([pairs], [[3, 1, 2, 0]]) == SeedSpread(0.5, None, 1)
    assert seed_spread([pairs], [[[3, 1, 2, 0]]]) == SeedSpread(0.5, None, 1)


def trained(base: Floats, noises: Sequence[float], rng: np.random.Generator) -> list[list[Floats]]:
    """One list's scores by trainings that hear the same with noise of these deviations."""
    return [[base + noise * rng.standard_normal(len(base)) for noise in noises]]


def test_a_clearly_stronger_attacker_of_three_trainings_is_found() -> None:
    rng = np.random.default_rng(1)
    strong = scores(PAIRS, 0.12, rng)
    found = compare(
        [PAIRS], trained(strong, [1.5] * 3, rng), trained(strong, [0.1] * 3, rng), sampling=QUICK
    )
    assert (found.first.trainings, found.second.trainings) == (3, 3)
    assert found.difference.estimate == pytest.approx(found.first.mean - found.second.mean)
    assert found.difference.low is not None
    assert found.difference.low > 0
    assert found.p_value is not None
    assert found.p_value < 0.05


def test_what_retraining_may_undo_is_no_difference() -> None:
    # Of each attacker one training hears well and two do not. The first of one against the second
    # of the other is a clear difference, but one that the other trainings undo.
    rng = np.random.default_rng(1)
    strong = scores(PAIRS, 0.12, rng)
    first, second = trained(strong, [1.5, 0.1, 1.2], rng), trained(strong, [0.1, 1.4, 0.8], rng)
    one_each = compare([PAIRS], [first[0][0]], [second[0][0]], sampling=QUICK)
    assert one_each.p_value is not None
    assert one_each.p_value < 0.05
    assert (one_each.first.deviation, one_each.second.deviation) == (None, None)
    three_each = compare([PAIRS], first, second, sampling=QUICK)
    assert three_each.p_value is not None
    assert three_each.p_value > 0.5
    assert compare([PAIRS], first, second, sampling=QUICK) == three_each


@pytest.mark.parametrize("trainings", [2, 12])
def test_training_noise_follows_students_t(trainings: int) -> None:
    # The same trainings in another order: equal means in every draw, so that what is left is the
    # noise of training on both sides, each of 1/√k of the deviation, by t with k - 1 degrees.
    rng = np.random.default_rng(1)
    base = scores(PAIRS, 0.15, rng)
    half = trainings // 2
    first = trained(base, [0] * half + [1] * half, rng)
    found = compare([PAIRS], first, [first[0][half:] + first[0][:half]], sampling=Sampling(5999))
    rates = [compare([PAIRS], [one], [base], sampling=QUICK).first.mean for one in first[0]]
    deviation = np.std(rates, ddof=1)
    assert (
        found.first
        == found.second
        == SeedSpread(pytest.approx(np.mean(rates)), pytest.approx(deviation), trainings)
    )
    noise = np.sum(rng.standard_t(trainings - 1, (2, 400_000)), axis=0)
    expected = deviation / math.sqrt(trainings) * np.quantile(noise, 0.975)
    assert found.difference.estimate == pytest.approx(0)
    assert found.difference.high == pytest.approx(expected, rel=0.2)
    assert found.difference.low == pytest.approx(-expected, rel=0.2)


def test_noise_is_only_of_those_whose_deviation_is_known() -> None:
    drawn = np.full((999, 3), 0.2)
    averages = Averages(np.full(3, 0.2), drawn, 20, np.full(3, 10))
    spreads = [SeedSpread(0.2, 0.02, 4), SeedSpread(0.2, None, 1), SeedSpread(0.2, 0.02, 4)]
    noisy = retrained(averages, spreads, 1).drawn
    assert (noisy[:, 1] == 0.2).all()
    # The quartiles of Student's t with 3 degrees of freedom are 0.765 from its middle; each has
    # noise of its own.
    quartiles = np.quantile(noisy[:, [0, 2]], [0.25, 0.75], axis=0) - 0.2
    assert quartiles == pytest.approx(0.01 * np.array([[-0.765] * 2, [0.765] * 2]), rel=0.2)
    assert abs(np.corrcoef(noisy[:, 0], noisy[:, 2])[0, 1]) < 0.1
    assert (drawn == 0.2).all()


def test_equal_attackers_of_three_trainings_are_told_apart_rarely() -> None:
    # Each training hears with noise of its own amount, by which its EER moves about three points.
    # With the first training of each alone, that is often taken for a difference.
    rng = np.random.default_rng(5)
    apart = {1: 0, 3: 0}
    for _ in range(40):
        base = scores(PAIRS, 0.15, rng)
        sides = [trained(base, rng.uniform(0, 1.2, 3), rng)[0] for _ in range(2)]
        for trainings in apart:
            found = compare(
                [PAIRS], *([side[:trainings]] for side in sides), sampling=Sampling(199)
            )
            assert found.p_value is not None
            apart[trainings] += found.p_value <= 0.05
    assert apart[3] <= 2
    assert apart[1] >= 6
