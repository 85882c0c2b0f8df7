"""Ranks, tiers and the strongest: ties, missing values, and hand-made draws."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import ConfigError, ScoreError
from harness.metrics.bootstrap import eer_intervals
from harness.metrics.comparison import compare
from harness.metrics.ranks import leaderboard, ranks_of, strongest_of, tiers_of
from harness.metrics.resampling import Averages, Sampling, resample

from .simulated import crossed, scores

PAIRS = crossed(range(13), range(20), 8)
QUICK = Sampling(draws=999)


def averages(observed: list[float], drawn: np.ndarray) -> Averages:
    return Averages(np.array(observed), drawn, 20, np.full(len(observed), 10))


def spread(n_draws: int, below: int) -> np.ndarray:
    """Draws of a difference: so many below 0, the others above."""
    return np.where(np.arange(n_draws) < below, -0.01, 0.01)


def test_ranks_by_hand() -> None:
    assert ranks_of(np.array([0.3, 0.1, 0.2, 0.1])).tolist() == [4, 1, 3, 1]
    assert ranks_of(np.array([[0.3, 0.1], [0.2, 0.2]])).tolist() == [[2, 1], [1, 1]]
    # 0.1 + 0.2 is not quite 0.3, and a tie all the same.
    assert ranks_of(np.array([0.1 + 0.2, 0.3])).tolist() == [1, 1]


# 10 and 20, and 15 and 15, of 96: the mean is 15 of 96, but for what float32 leaves of it.
NOISY = [
    float(np.mean(np.float32([few, 30 - few]) / np.float32(96), dtype=float)) for few in (15, 10)
]


def test_what_float32_leaves_of_equal_eers_is_a_tie() -> None:
    higher, lower = sorted(NOISY, reverse=True)
    assert higher > lower
    assert ranks_of(np.array([higher, lower, lower - 1e-6])).tolist() == [2, 2, 1]
    # Tied in every draw, and so not told apart, though one is a little lower in each.
    drawn = np.tile([0.1, higher, lower], (999, 1))
    assert tiers_of(averages([0.1, higher, lower], drawn), 0.95) == [1, 2, 2]
    # Of equal ones the first is the strongest.
    tied = averages([higher, lower], np.zeros((9, 2)))
    assert strongest_of(tied).observed.tolist() == [higher]


def test_tiers_by_hand() -> None:
    # In 99 draws: the second is below the first in 30 (p = 2 * 31 / 100), the third in none (0.02,
    # doubled 0.04 after Holm). The third is then alone.
    first = np.zeros(99)
    drawn = np.c_[first, first + spread(99, 30), first + 0.05]
    assert tiers_of(averages([0.1, 0.11, 0.15], drawn), 0.95) == [1, 1, 2]
    # The order of the attackers is not that of their EERs.
    assert tiers_of(averages([0.15, 0.1, 0.11], drawn[:, [2, 0, 1]]), 0.95) == [2, 1, 1]


def test_tiers_heed_how_many_are_compared() -> None:
    # p = 2 * 2 / 100 = 0.04 alone is enough; beside two others that are alike, 0.12 is not.
    first = np.zeros(99)
    rare = spread(99, 1)
    assert tiers_of(averages([0.1, 0.2], np.c_[first, rare]), 0.95) == [1, 2]
    drawn = np.c_[first, rare, rare, rare]
    assert tiers_of(averages([0.1, 0.2, 0.2, 0.2], drawn), 0.94) == [1, 1, 1, 1]


def test_a_level_is_meant_as_written() -> None:
    # p = 2 * 2 / 40 = 0.1, and 1 - 0.9 is a little less.
    assert tiers_of(averages([0.1, 0.2], np.c_[np.zeros(39), spread(39, 1)]), 0.9) == [1, 2]


def test_a_surer_attacker_may_fall_below_a_less_sure_one_of_higher_eer() -> None:
    first = np.zeros(999)
    drawn = np.c_[first, first + 0.01, 30 * spread(999, 300)]
    assert tiers_of(averages([0.1, 0.11, 0.2], drawn), 0.95) == [1, 2, 1]


def test_ties_share_a_tier() -> None:
    drawn = np.c_[np.zeros(999), np.full(999, 0.1)]
    assert tiers_of(averages([0.1, 0.1], drawn), 0.95) == [1, 1]


def test_too_few_draws_to_tell_so_many_apart() -> None:
    attackers = [[scores(PAIRS, 0.2, np.random.default_rng(1))]] * 4
    # 2 / 120 * 3 = 0.05.
    with pytest.raises(ConfigError, match="99 draws cannot tell 4 attackers apart; draw 119 times"):
        leaderboard([PAIRS], attackers, sampling=Sampling(draws=99))
    # It takes no rival to compete with one.
    leaderboard([PAIRS], attackers, ranked=[True, *[False] * 3], sampling=Sampling(draws=99))
    assert tiers_of(averages([0.1, 0.2, 0.3, 0.4], np.zeros((119, 4))), 0.95) == [1, 1, 1, 1]


def test_draws_without_an_eer_may_leave_too_few() -> None:
    # Of 119 one is left out, and 2 / 119 * 3 is above 0.05.
    assert tiers_of(averages([0.1, 0.2, 0.3, 0.4], np.zeros((118, 4))), 0.95) is None


def test_a_leaderboard() -> None:
    # Two pairs of attackers: within a pair noise of one size, between the pairs far more noise.
    rng = np.random.default_rng(1)
    clear = scores(PAIRS, 0.1, rng)
    noise = rng.standard_normal((4, len(clear)))
    attackers = [
        [clear + 2.5 * noise[0]],
        [clear + 0.1 * noise[1]],
        None,
        [clear + 2.5 * noise[2]],
        [clear + 0.1 * noise[3]],
    ]
    board = leaderboard([PAIRS], attackers, sampling=QUICK)
    assert board.places[2] is None
    places = [place for place in board.places if place is not None]
    assert [place.tier for place in places] == [2, 1, 2, 1]
    assert {places[1].rank.estimate, places[3].rank.estimate} == {1, 2}
    assert {places[0].rank.estimate, places[2].rank.estimate} == {3, 4}
    for place, ends in zip(places, ((3, 4), (1, 2), (3, 4), (1, 2)), strict=True):
        assert (place.rank.low, place.rank.high) == ends
    alone = eer_intervals([PAIRS], [attackers[0][0]], sampling=QUICK)  # type: ignore[index]
    assert places[0].eer == alone.average


def test_equal_attackers_share_the_first_rank() -> None:
    one = [scores(PAIRS, 0.2, np.random.default_rng(1))]
    board = leaderboard([PAIRS], [one, one], sampling=QUICK)
    for place in board.places:
        assert place is not None
        assert (place.rank.estimate, place.rank.low, place.rank.high, place.tier) == (1, 1, 1, 1)


def test_a_missing_attacker_is_never_first() -> None:
    one = [scores(PAIRS, 0.45, np.random.default_rng(1))]
    board = leaderboard([PAIRS], [None, one, None], sampling=QUICK)
    assert board.places[0] is None
    assert board.places[2] is None
    assert board.places[1] is not None
    assert board.places[1].rank.estimate == 1
    assert board.strongest == board.places[1].eer
    with pytest.raises(ScoreError, match="no attacker has scores"):
        leaderboard([PAIRS], [None, None], sampling=QUICK)


def test_the_strongest_is_the_lowest_of_each_draw() -> None:
    rng = np.random.default_rng(1)
    attackers = [[scores(PAIRS, 0.2, rng)] for _ in range(4)]
    board = leaderboard([PAIRS], attackers, sampling=QUICK)
    eers = [place.eer for place in board.places if place is not None]
    strongest = board.strongest
    assert strongest.estimate == min(one.estimate for one in eers)
    # In each draw the minimum is no higher than any one of them.
    assert strongest.low <= min(one.low for one in eers)  # type: ignore[type-var,operator]
    assert strongest.high < min(one.high for one in eers)  # type: ignore[type-var,operator]


def test_few_speakers_have_ranks_and_no_tiers() -> None:
    pairs = crossed(range(5), range(5), 5)
    rng = np.random.default_rng(1)
    board = leaderboard([pairs], [[scores(pairs, eer, rng)] for eer in (0.4, 0.1)], sampling=QUICK)
    assert [place.rank.estimate for place in board.places if place] == [2, 1]
    for place in board.places:
        assert place is not None
        assert (place.tier, place.rank.low, place.eer.low) == (None, None, None)
        assert place.rank.reason == "5 speakers have target trials, fewer than 10"
    assert board.strongest.low is None


def test_lists_are_averaged_by_weight() -> None:
    # The first attacker is the better on the first list, the second on the second.
    rng = np.random.default_rng(1)
    lists = [PAIRS, crossed(range(20, 33), range(20, 40), 8)]
    one = [scores(lists[0], 0.1, rng), scores(lists[1], 0.4, rng)]
    other = [scores(lists[0], 0.4, rng), scores(lists[1], 0.1, rng)]
    for weights, ranks in (([9, 1], [1, 2]), ([1, 9], [2, 1])):
        board = leaderboard(lists, [one, other], weights=weights, sampling=QUICK)
        assert [place.rank.estimate for place in board.places if place] == ranks


def test_several_trainings_rank_by_their_mean() -> None:
    # EERs of about 10 and 40 %, whose mean is above that of the other attacker's single training.
    rng = np.random.default_rng(1)
    low, high, other = (scores(PAIRS, eer, rng) for eer in (0.1, 0.4, 0.18))
    board = leaderboard([PAIRS], [[[low, high]], [other]], sampling=QUICK)
    assert [place.rank.estimate for place in board.places if place] == [2, 1]
    assert (
        board.places[0] == leaderboard([PAIRS], [[[high, low]], [other]], sampling=QUICK).places[0]
    )


def test_what_training_again_would_undo_is_one_tier() -> None:
    # Each hears what the other hears, with more noise: the second is told apart in every draw of
    # speakers. Its trainings differ far more than the means do, or else hardly.
    rng = np.random.default_rng(1)
    clear = scores(PAIRS, 0.15, rng)
    for first, second, tiers, ends in (
        ((0.0, 0.3, 1.2), (0.4, 1.3, 1.6), [1, 1], [(1, 2), (1, 2)]),
        ((0.1, 0.1, 0.1), (1.2, 1.2, 1.2), [1, 2], [(1, 1), (2, 2)]),
    ):
        attackers = [
            [[clear + noise * rng.standard_normal(len(clear)) for noise in noises]]
            for noises in (first, second)
        ]
        drawn = resample([PAIRS], attackers, QUICK).averages().drawn
        assert (drawn[:, 0] < drawn[:, 1]).all()
        board = leaderboard([PAIRS], attackers, sampling=QUICK)
        places = [place for place in board.places if place is not None]
        assert [place.tier for place in places] == tiers
        assert [(place.rank.low, place.rank.high) for place in places if place.rank] == ends
        # As the comparison of the two finds; intervals of EERs are of these trainings.
        found = compare([PAIRS], *attackers, sampling=QUICK).p_value
        assert found is not None
        assert (found <= 0.05) == (tiers == [1, 2])
        alone = eer_intervals([PAIRS], attackers[0], sampling=QUICK)
        assert places[0].eer == alone.average


def test_who_does_not_compete_takes_no_place() -> None:
    rng = np.random.default_rng(1)
    attackers = [[scores(PAIRS, eer, rng)] for eer in (0.1, 0.2, 0.4)]
    both = leaderboard([PAIRS], attackers[1:], sampling=QUICK)
    board = leaderboard([PAIRS], attackers, ranked=[False, True, True], sampling=QUICK)
    assert board.places[1:] == both.places
    assert board.places[0] is not None
    assert (board.places[0].rank, board.places[0].tier) == (None, None)
    # It is the strongest all the same, by an interval of its own.
    assert board.places[0].eer == leaderboard([PAIRS], attackers[:1], sampling=QUICK).places[0].eer
    assert board.strongest.estimate == board.places[0].eer.estimate
    nobody = leaderboard([PAIRS], attackers, ranked=[False] * 3, sampling=QUICK)
    assert [place.rank for place in nobody.places if place] == [None] * 3
