"""Resampled EERs: exact, the same for any number of workers, averaged by weight."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import ConfigError, ScoreError
from harness.metrics.draws import UNITS, Pairs, SpeakerDraws
from harness.metrics.eer import equal_error_rate
from harness.metrics.resampling import Resamples, Sampling, resample, shares_of

from .simulated import crossed, scores

RNG = np.random.default_rng(1)
LISTS = [crossed(range(8), range(12), 5), crossed(range(12, 18), range(12, 24), 4)]
WEAK, STRONG = ([scores(pairs, eer, RNG) for pairs in LISTS] for eer in (0.3, 0.1))


@pytest.mark.parametrize("unit", UNITS)
def test_each_draw_is_the_official_eer_of_its_trials(unit: str) -> None:
    found = resample(LISTS, [WEAK, STRONG], Sampling(draws=45, unit=unit)).drawn
    draws = UNITS[unit](LISTS)
    first = min(draws.block, 45)
    seed = np.random.SeedSequence(1986).spawn(1)[0]
    weights = draws.weights(np.random.default_rng(seed), first)
    for number, pairs in enumerate(LISTS):
        for draw in range(first):
            times = weights[number][draws.cells[number], draw].astype(np.int64)
            target = np.repeat(pairs.target, times)
            for attacker, of_attacker in enumerate((WEAK, STRONG)):
                repeated = np.repeat(of_attacker[number], times)
                expected = equal_error_rate(repeated[target], repeated[~target]).rate
                assert found[draw, attacker, number] == expected


def test_observed_is_the_official_eer() -> None:
    found = resample(LISTS, [STRONG], Sampling(draws=39))
    for number, pairs in enumerate(LISTS):
        expected = equal_error_rate(STRONG[number][pairs.target], STRONG[number][~pairs.target])
        assert found.observed[0, number] == expected.rate


def test_workers_change_nothing_and_seeds_do() -> None:
    one, three, other = (
        resample(LISTS, [WEAK], Sampling(draws=350, workers=workers, seed=seed)).drawn
        for workers, seed in ((1, 1), (3, 1), (1, 2))
    )
    assert one.shape == (350, 1, 2)
    assert (one == three).all()
    assert not (one == other).any(axis=(1, 2)).all()
    # No block is drawn twice.
    assert len(np.unique(one[:, 0], axis=0)) > 340


def test_the_attackers_beside_one_change_nothing() -> None:
    alone = resample(LISTS, [STRONG], Sampling(draws=100)).drawn
    beside = resample(LISTS, [WEAK, STRONG], Sampling(draws=100)).drawn
    assert (alone[:, 0] == beside[:, 1]).all()


def test_two_equal_trainings_are_one() -> None:
    one = resample(LISTS, [WEAK], Sampling(draws=100))
    two = resample(LISTS, [[[scores, scores] for scores in WEAK]], Sampling(draws=100))
    assert (two.observed == one.observed).all()
    assert (two.drawn == one.drawn).all()
    assert (two.missed_speakers == one.missed_speakers).all()


def test_trainings_are_averaged_and_never_mixed() -> None:
    # Three trainings of one attacker beside one of another, on scales that have nothing in common:
    # a rate of their pooled scores, or of their mean scores, would be none of these.
    strong = [1000 + 50 * scores for scores in STRONG]
    single = resample(LISTS, [WEAK, STRONG], Sampling(draws=100))
    trained = [np.stack([weak, high, weak]) for weak, high in zip(WEAK, strong, strict=True)]
    found = resample(LISTS, [STRONG, trained], Sampling(draws=100))
    for together, apart in ((found.observed, single.observed), (found.drawn, single.drawn)):
        weak_rate, strong_rate = apart[..., 0, :], apart[..., 1, :]
        assert (together[..., 0, :] == strong_rate).all()
        assert together[..., 1, :] == pytest.approx((2 * weak_rate + strong_rate) / 3, abs=1e-12)


def test_averages_by_weight() -> None:
    resamples = Resamples(
        observed=np.array([[0.1, 0.2, 0.4]]),
        drawn=np.array([[[0.1, 0.3, 0.5]], [[0.3, 0.1, np.nan]]]),
        target_speakers=np.array([10, 20, 30]),
        missed_speakers=np.array([[3, 5, 2]]),
    )
    equal = resamples.averages()
    assert equal.observed == pytest.approx([0.7 / 3])
    assert equal.drawn == pytest.approx(np.array([[0.3]]))  # no EER in the other draw
    assert (equal.target_speakers, equal.missed_speakers.tolist()) == (10, [2])

    weighted = resamples.averages([0, 3, 1])
    assert weighted.observed == pytest.approx([0.25])
    assert (weighted.target_speakers, weighted.missed_speakers.tolist()) == (20, [2])
    two = resamples.averages([1, 1, 0])
    assert two.drawn == pytest.approx(np.array([[0.2], [0.2]]))
    assert two.missed_speakers.tolist() == [3]


@pytest.mark.parametrize("weights", [[1], [1, -1], [1, np.nan], [1, np.inf], [[1, 1]]])
def test_weights_that_are_none(weights: list[float]) -> None:
    with pytest.raises(ConfigError, match="no weights of 2 lists"):
        shares_of(weights, 2)
    with pytest.raises(ConfigError, match="all weights are 0"):
        shares_of([0, 0], 2)


def test_draws_without_a_class_have_no_eer() -> None:
    # One of three speakers is enrolled: (2/3)³ of the draws leave it out, another 1/27 the others.
    pairs = crossed(range(1), range(3), 2)
    resamples = resample([pairs], [[np.arange(6.0)]], Sampling(draws=2000))
    absent = np.isnan(resamples.drawn).mean()
    assert absent == pytest.approx(9 / 27, abs=0.04)
    assert len(resamples.averages().drawn) == round(2000 * (1 - absent))


def test_speakers_are_counted() -> None:
    # At the threshold 1 the miss rate is 2/6, the false-alarm rate 1/4. So speakers 0 and 1 have a
    # target missed, 2 has none; 3 is never enrolled.
    pairs = Pairs([0, 0, 1, 1, 2, 2, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3, 3, 3])
    values = [1.0, 9.0, 1.0, 9.0, 8.0, 8.0, 0.0, 0.0, 0.0, 5.0]
    resamples = resample([pairs], [[values]], Sampling(draws=39))
    assert resamples.target_speakers.tolist() == [3]
    assert resamples.missed_speakers.tolist() == [[2]]


def test_the_training_that_misses_fewest_speakers_counts() -> None:
    # As above, and a training of rates 1/6 and 1/4 that misses a target of speaker 2 alone.
    pairs = Pairs([0, 0, 1, 1, 2, 2, 0, 0, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3, 3, 3])
    values = [1.0, 9.0, 1.0, 9.0, 8.0, 8.0, 0.0, 0.0, 0.0, 5.0]
    better = [9.0, 9.0, 9.0, 9.0, 8.0, 1.0, 0.0, 0.0, 0.0, 5.0]
    resamples = resample([pairs], [[[values, better]]], Sampling(draws=39))
    assert resamples.missed_speakers.tolist() == [[1]]
    assert resamples.observed[0, 0] == pytest.approx((7 / 24 + 5 / 24) / 2)


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"unit": "utterances"}, "'utterances' cannot be drawn; give one of speakers, trials"),
        ({"draws": 0}, "draws: 0 is too low"),
        ({"workers": 0}, "workers: 0 is too low"),
        ({"seed": -1}, "seed: -1 is too low"),
        ({"seed": 4294967296}, "seed: the seed is too high; give one below 4294967296"),
        ({"level": 1.0}, "level: 1.0 is no level"),
        ({"level": float("nan")}, "level: nan is no level"),
        ({"draws": 38}, "38 draws are too few for a level of 0.95; give 39 or more"),
        ({"draws": 18, "level": 0.9}, "18 draws are too few for a level of 0.9; give 19 or more"),
    ],
)
def test_settings_out_of_range(settings: dict[str, object], what: str) -> None:
    with pytest.raises(ConfigError, match=what):
        Sampling(**settings)  # type: ignore[arg-type]


def test_scores_that_do_not_fit_the_lists() -> None:
    with pytest.raises(ScoreError, match="scores of 1 lists, where there are 2"):
        resample(LISTS, [WEAK[:1]], Sampling())
    with pytest.raises(ScoreError, match=r"scores of shape \(3,\) for 480 trials"):
        resample(LISTS, [[[1, 2, 3], WEAK[1]]], Sampling())
    with pytest.raises(ScoreError, match=r"scores of shape \(2, 3\) for 480 trials"):
        resample(LISTS, [[[[1, 2, 3]] * 2, WEAK[1]]], Sampling())
    for none in (np.empty((0, 480)), WEAK[0][None, None], 1.0):
        with pytest.raises(ScoreError, match="for 480 trials; give one score for each trial"):
            resample(LISTS, [[none, WEAK[1]]], Sampling())
    with pytest.raises(ScoreError, match="the lists have scores of 2, 1 trainings; score every"):
        resample(LISTS, [[[WEAK[0], WEAK[0]], WEAK[1]]], Sampling())
    with pytest.raises(ScoreError, match="1 lists and 0 attackers"):
        resample(LISTS[:1], [], Sampling())
    spoilt = [WEAK[0].copy(), WEAK[1]]
    spoilt[0][0] = np.nan
    with pytest.raises(ScoreError, match="1 target scores are NaN"):
        resample(LISTS, [spoilt], Sampling())


def test_blocks_are_of_one_size() -> None:
    # A longer run begins with the same draws: full blocks have seeds of their own.
    size = SpeakerDraws.block
    short = resample(LISTS, [WEAK], Sampling(draws=size)).drawn
    long = resample(LISTS, [WEAK], Sampling(draws=2 * size)).drawn
    assert (long[:size] == short).all()
    assert not (long[size:] == short).all()


def test_equal_attackers_have_equal_averages() -> None:
    # As a matrix product 198 of 500 draws differ in the last digit, for five attackers and 4 lists.
    rng = np.random.default_rng(1)
    drawn = np.repeat(rng.random((500, 1, 4)), 5, axis=1)
    ones = np.ones((5, 4), np.int64)
    averages = Resamples(drawn[0], drawn, ones[0], ones).averages(rng.random(4).tolist())
    assert (averages.drawn == averages.drawn[:, :1]).all()
    assert (averages.observed == averages.observed[0]).all()
