"""Draws: what adds up whatever is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import ScoreError
from harness.metrics.draws import Pairs, SpeakerDraws, TrialDraws

from .simulated import crossed


def drawn(lists: list[Pairs], n_draws: int = 50) -> list[np.ndarray]:
    """The weight of each trial of each list, shape (n_trials, n_draws)."""
    draws = SpeakerDraws(lists)
    weights = draws.weights(np.random.default_rng(1), n_draws)
    return [of_list[cells] for of_list, cells in zip(weights, draws.cells, strict=True)]


def test_a_trial_is_a_target_where_the_speakers_are_one() -> None:
    assert Pairs(["a", "a", "b"], ["a", "b", "b"]).target.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("enrolled", "trial", "what"),
    [
        (["a"], ["a", "b"], r"\(1,\) enrolled speakers for \(2,\) trial speakers"),
        ([], [], "the list has no trials"),
        (["1", "2"], [1, 2], "enrolled speakers are <U1, trial speakers int64"),
    ],
)
def test_pairs_are_refused(enrolled: list[str], trial: list[str], what: str) -> None:
    with pytest.raises(ScoreError, match=what):
        Pairs(enrolled, trial)


def test_a_trial_weighs_the_product_of_its_speakers_counts() -> None:
    # Of a full cross product with one utterance each, the weights are c c': they add up to (sum
    # of c)² = 36, and those of a row to 6 c, where c² is the weight of the target.
    pairs = crossed(range(6), range(6), 1)
    weights = drawn([pairs])[0].reshape(6, 6, -1)
    counts = np.sqrt(np.diagonal(weights).T)
    assert (counts == counts.round()).all()
    assert (counts.sum(axis=0) == 6).all()
    assert (weights == counts[:, None] * counts).all()


def test_each_speaker_is_drawn_once_on_average() -> None:
    counts = np.sqrt(
        np.diagonal(drawn([crossed(range(6), range(6), 1)], 4000)[0].reshape(6, 6, -1))
    )
    # The standard error is 0.91 / sqrt(4000) = 0.0144.
    assert counts.mean(axis=0) == pytest.approx(np.ones(6), abs=0.06)
    # Counts are binomial: variance 6 * 1/6 * 5/6.
    assert counts.var(axis=0) == pytest.approx(np.full(6, 5 / 6), abs=0.1)


def test_speakers_never_enrolled_are_of_the_population() -> None:
    # One enrolled of three: weights c0 c0, c0 c1, c0 c2 add up to 3 c0.
    weights = drawn([crossed(range(1), range(3), 1)])[0]
    assert (weights.sum(axis=0) == 3 * np.sqrt(weights[0])).all()
    assert {0, 1, 4} <= set(weights[0])


def test_lists_of_the_same_speakers_have_the_same_draws() -> None:
    first, second = drawn([crossed(range(5), range(5), 1), crossed(range(5), range(5), 2)])
    assert (np.repeat(first, 2, axis=0) == second).all()


def test_lists_that_share_no_speaker_are_drawn_apart() -> None:
    lists = [crossed(range(2), range(2), 1), crossed(range(2, 5), range(2, 5), 1)]
    first, second = drawn(lists)
    assert (first.sum(axis=0) == 4).all()
    assert (second.sum(axis=0) == 9).all()
    assert len(np.unique(np.vstack([first, second]), axis=1).T) > len(np.unique(second, axis=1).T)


def test_lists_that_share_speakers_through_a_third_are_one_population() -> None:
    lists = [
        crossed(range(2), range(2), 1),
        crossed(range(2, 4), range(2, 4), 1),
        crossed(range(1, 3), range(1, 3), 1),
    ]
    first, second, _ = drawn(lists)
    sizes = np.sqrt(first.sum(axis=0)), np.sqrt(second.sum(axis=0))
    assert (sizes[0] + sizes[1] == 4).all()
    assert len(set(sizes[0])) > 1


def test_trials_are_drawn_within_their_class() -> None:
    pairs = crossed(range(3), range(4), 2)
    weights = TrialDraws([pairs]).weights(np.random.default_rng(1), 30)[0]
    assert (weights[pairs.target].sum(axis=0) == 6).all()
    assert (weights[~pairs.target].sum(axis=0) == 18).all()
    assert len(set(weights[pairs.target].ravel())) > 2
