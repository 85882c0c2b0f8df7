"""Intervals by speakers: by hand, against draws made one by one, and how wide they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from harness.errors import ConfigError, DataError
from harness.metrics.bootstrap import Interval
from harness.metrics.resampling import Sampling
from harness.metrics.speaker_interval import FEWEST_SPEAKERS, mean_interval, ratio_interval

TEN = [f"speaker-{number}" for number in range(10)]


def simulated(
    n_speakers: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Errors, words and speakers of six utterances each, at a rate of 0.1 that speakers vary."""
    speakers = np.repeat(np.arange(n_speakers), 6)
    rates = rng.beta(5, 45, n_speakers)
    words = rng.integers(5, 40, len(speakers))
    return rng.binomial(words, rates[speakers]), words, speakers


def test_one_speaker_with_errors_by_hand() -> None:
    # One of ten has the one error. Its count in ten draws is binomial: 0 at most in 0.349 of the
    # draws, 3 at most in 0.987, 2 at most in 0.930; so the ends at 95 % are 0 and 3 of 100 words.
    errors = [0] * 9 + [1]
    found = ratio_interval(errors, [10] * 10, TEN, Sampling(draws=2000, level=0.95))
    assert found == Interval(0.01, 0.95, 0.0, 0.03)
    # At 80 %, 0 and 2: the count is 1 at most in 0.736 of the draws.
    assert ratio_interval(errors, [10] * 10, TEN, Sampling(level=0.8)).high == 0.02


def test_the_words_of_a_draw_are_those_of_its_speakers() -> None:
    # The speaker with the error has 91 of 100 words: k times drawn, k errors in 91 k + 10 - k.
    words = [1] * 9 + [91]
    found = ratio_interval([0] * 9 + [1], words, TEN)
    assert found.estimate == 0.01
    assert found.high == 3 / (91 * 3 + 7)


def test_speakers_are_drawn_whole() -> None:
    # Each speaker has one utterance with value 0 and one with 1: other speakers change nothing.
    values = np.tile([0.0, 1.0], 10)
    found = mean_interval(values, np.repeat(TEN, 2))
    assert (found.estimate, found.low) == (0.5, None)
    assert found.reason == "all draws have the same value"
    # The same utterances, each of a speaker of its own: the mean of 20 fair coins.
    apart = mean_interval(values, np.arange(20))
    assert (apart.low, apart.high) == (0.3, 0.7)


def test_a_mean_weighs_speakers_by_their_utterances() -> None:
    speakers = [*TEN, "speaker-0", "speaker-0"]
    values = [1.0, *[0.0] * 9, 1.0, 1.0]
    found = mean_interval(values, speakers)
    assert found.estimate == 0.25
    # Drawn three times, speaker 0 has 9 of 16 utterances.
    assert found.high == 9 / 16


def test_ends_are_those_of_draws_made_one_by_one() -> None:
    rng = np.random.default_rng(5)
    errors, words, speakers = simulated(20, rng)
    found = ratio_interval(errors, words, speakers, Sampling(draws=4000))
    drawn = []
    for _ in range(4000):
        chosen = rng.integers(20, size=20)
        drawn.append(
            sum(errors[speakers == one].sum() for one in chosen)
            / sum(words[speakers == one].sum() for one in chosen)
        )
    assert found.estimate == errors.sum() / words.sum()
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), rel=0.02)


def test_of_normal_speakers_it_is_as_narrow_as_stated() -> None:
    # The comment of FEWEST_SPEAKERS, and the same by simulation with 10 speakers.
    stated = {20: 93, 10: 90, 5: 85, 3: 75}
    for n, percent in stated.items():
        covered = 2 * t.cdf(1.96 * math.sqrt((n - 1) / n), n - 1) - 1
        assert round(100 * covered) == percent
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        found = mean_interval(rng.normal(size=10), TEN, Sampling(draws=400))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    # Of 400 the standard deviation is 6.
    assert 342 <= held <= 378


@given(st.permutations(range(120)))
def test_order_and_names_change_nothing(order: list[int]) -> None:
    errors, words, speakers = simulated(20, np.random.default_rng(1))
    names = np.array([f"{number:03}" for number in speakers])
    sampling = Sampling(draws=50)
    assert ratio_interval(errors[order], words[order], names[order], sampling) == ratio_interval(
        errors, words, speakers, sampling
    )


def test_values_of_the_same_speakers_are_in_the_same_draws() -> None:
    errors, words, speakers = simulated(20, np.random.default_rng(1))
    one, double = (ratio_interval(e, words, speakers) for e in (errors, 2 * errors))
    assert (double.low, double.high) == (2 * one.low, 2 * one.high)  # type: ignore[operator]
    assert ratio_interval(errors, words, speakers, Sampling(seed=7)).low != one.low


def test_few_speakers_give_a_reason() -> None:
    errors, words, speakers = simulated(FEWEST_SPEAKERS - 1, np.random.default_rng(1))
    found = ratio_interval(errors, words, speakers)
    assert found.reason == "9 speakers, fewer than 10"
    assert (found.low, found.high, found.estimate) == (None, None, errors.sum() / words.sum())
    assert mean_interval([0.25], ["a"]).reason == "1 speakers, fewer than 10"


def test_draws_without_a_denominator_are_left_out() -> None:
    # One of ten speakers has all words: in 0.349 of the draws there are none, in the others the
    # rate is 0.5.
    found = ratio_interval([0] * 9 + [5], [0] * 9 + [10], TEN, Sampling(draws=100))
    assert (found.estimate, found.reason) == (0.5, "all draws have the same value")
    found = ratio_interval([0] * 9 + [5], [0] * 9 + [10], TEN, Sampling(draws=39))
    assert found.reason is not None
    assert found.reason.endswith("draws with a value are too few")


@pytest.mark.parametrize(
    ("numerators", "denominators", "speakers", "message"),
    [
        ([1, 2], [1], ["a", "b"], r"shapes \(2,\) and \(1,\) for speakers of shape \(2,\)"),
        ([1], [1], ["a", "b"], r"\(1,\) and \(1,\) for speakers of shape \(2,\); give one of each"),
        ([[1]], [[1]], [["a"]], r"shapes \(1, 1\)"),
        ([], [], [], "at least one utterance"),
        ([np.nan], [1], ["a"], "not finite; give undefined values a defined one"),
        ([1], [np.inf], ["a"], "not finite"),
        ([1, 1], [2, -1], ["a", "b"], "negative, or all 0; give sizes"),
        ([1, 1], [0, 0], ["a", "b"], "negative, or all 0"),
    ],
)
def test_refused(numerators: object, denominators: object, speakers: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ratio_interval(numerators, denominators, speakers)  # type: ignore[arg-type]


def test_only_speakers_are_drawn() -> None:
    with pytest.raises(ConfigError, match="'trials' cannot be drawn here; give 'speakers'"):
        mean_interval([1.0], ["a"], Sampling(unit="trials"))
