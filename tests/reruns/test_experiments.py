"""Attackers that break the pair rule in several ways, and what the experiments say of each."""

from __future__ import annotations

import itertools
import random
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.attackers.base import Pair
from harness.errors import ContainerError
from harness.reruns.experiments import BY_NAME, EXPERIMENTS, examine, judge, sentence
from harness.reruns.model import REPETITION, Finding
from harness.reruns.scoring import Image
from reruns import spoken
from reruns.standin import Change, StandIn, bench, normalised

NAMES = [one.name for one in EXPERIMENTS]
LEFT_OUT = {"half-trials", "half-speakers", "one-speaker", "one-pair"}


@pytest.fixture(autouse=True)
def _known_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same names and orders in each run of a test: what moves how far is then known."""
    numbers = itertools.count()
    monkeypatch.setattr(secrets, "token_hex", lambda nbytes: str(next(numbers)))


def within(scores: np.ndarray, pairs: Sequence[Pair], key: Callable[[Pair], str]) -> np.ndarray:
    """Scores minus the mean over the pairs of the same key."""
    keys = np.array([key(pair) for pair in pairs])
    return np.array(
        [score - scores[keys == k].mean() for score, k in zip(scores, keys, strict=True)]
    )


def by_trial(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """T-normalisation: each trial against all enrolled speakers."""
    return within(scores, pairs, lambda pair: pair.trial)


def by_speaker(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """Z-normalisation: each enrolled speaker against all trials."""
    return within(scores, pairs, lambda pair: pair.enrolment)


def by_order(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """A score depends on the one before it."""
    return scores + 0.5 * np.roll(scores, 1)


def by_name(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """A name is taken for a number."""
    return scores + np.array([int(pair.trial[1:]) for pair in pairs])


def padded(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """All scores depend a little on how many are worked on at once."""
    return scores * (1 + 0.005 / len(pairs) ** 0.5)


CASES: dict[str, tuple[Change, set[str]]] = {
    "honest": (lambda scores, pairs: scores, set()),
    "rescaled": (lambda scores, pairs: 7 * scores - 3, set()),
    "normalised": (normalised, LEFT_OUT),
    "by trial": (by_trial, {"half-speakers", "one-speaker", "one-pair"}),
    "by speaker": (by_speaker, {"half-trials", "one-pair"}),
    "by order": (by_order, {"names", *LEFT_OUT}),
    "by name": (by_name, {"names"}),
}


def examined(standin: StandIn, image: Image, speech: Path, change: Change) -> dict[str, Finding]:
    standin.change = change
    made = bench(image, speech)
    names = made.names()
    base = made.score(made.trials, names)
    told: list[str] = []
    findings = list(examine(made, "the list", names, base, 1, told.append))
    assert told == [one.what for one in EXPERIMENTS]
    assert [finding.experiment for finding in findings] == NAMES
    assert {finding.list for finding in findings} == {"the list"}
    return {finding.experiment: finding for finding in findings}


@pytest.mark.parametrize("case", CASES)
def test_what_moves_is_named(case: str, standin: StandIn, image: Image, speech: Path) -> None:
    change, expected = CASES[case]
    found = examined(standin, image, speech, change)
    assert {name for name, one in found.items() if one.state == "moved"} == expected
    assert {name for name, one in found.items() if one.state == "kept"} == {*NAMES} - expected
    # None of these could be taken for what padding does.
    assert not any(one.small for one in found.values())


def test_amounts_are_those_of_the_arithmetic(standin: StandIn, image: Image, speech: Path) -> None:
    """Normalised scores deviate by 1, so the one pair moves by its own score, to 0."""
    found = examined(standin, image, speech, normalised)
    made = bench(image, speech)
    base = made.score(made.trials, made.names())
    one_pair = found["one-pair"]
    assert one_pair.share == pytest.approx(abs(base).max(), rel=1e-5)
    assert (one_pair.pairs, one_pair.beyond, one_pair.rank_share) == (1, 1, 0)
    assert (found["half-trials"].pairs, found["one-speaker"].pairs) == (5 * 18, 36)
    # The order of the scores of one run is the order of another.
    assert found["half-trials"].rank_share == 0
    assert found["names"].share == 0


def test_a_small_movement_in_order_is_told_from_normalisation(
    standin: StandIn, image: Image, speech: Path
) -> None:
    found = examined(standin, image, speech, padded)
    assert found["one-pair"].state == "moved"
    assert found["one-pair"].small
    assert sentence(found["one-pair"]).endswith(
        "; so little, and in order, as padding in batches moves scores"
    )


def test_noise_is_told_first_and_the_rest_is_judged_beyond_it(
    standin: StandIn, image: Image, speech: Path
) -> None:
    draw = np.random.default_rng(1)

    def noisy(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        return scores + draw.uniform(-0.05, 0.05, len(scores))

    found = examined(standin, image, speech, noisy)
    assert found[REPETITION].state == "moved"
    assert sentence(found[REPETITION]).startswith("not repeatable: scores move when nothing is")
    assert {name for name, one in found.items() if one.state == "moved"} == {REPETITION}

    def both(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        return noisy(by_order(scores, pairs), pairs)

    assert examined(standin, image, speech, both)["names"].state == "moved"


def test_an_image_that_fails_on_less_has_not_kept_the_rule(
    standin: StandIn, image: Image, speech: Path
) -> None:
    def fails(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
        if len(pairs) == 1:
            raise ContainerError("the container ended with status 1 (0/0)", where=image.digest)
        return scores

    found = examined(standin, image, speech, fails)
    assert found["one-pair"] == Finding(
        "the list", "one-pair", "failed", 1, said="the container ended with status 1 (0/0)"
    )
    assert {one.state for name, one in found.items() if name != "one-pair"} == {"kept"}
    assert sentence(found["one-pair"]) == "the image fails when all other pairs are left out"


def test_what_each_experiment_leaves() -> None:
    trials = spoken.trials_of("f")
    scores = np.zeros(len(trials), np.float32)
    scores[17] = -5

    def left(name: str) -> list[int]:
        return BY_NAME[name].choose(trials, scores, random.Random(3))

    assert left(REPETITION) == left("names") == list(range(len(trials)))
    half = {trials[place].utterance for place in left("half-trials")}
    assert (len(half), len(left("half-trials"))) == (18, 18 * 5)
    speakers = {trials[place].enrolment for place in left("half-speakers")}
    assert (len(speakers), len(left("half-speakers"))) == (3, 3 * 36)
    assert len({trials[place].enrolment for place in left("one-speaker")}) == 1
    assert len(left("one-speaker")) == 36
    # The pair that deviates most from the mean.
    assert left("one-pair") == [17]
    assert [one.renamed for one in EXPERIMENTS] == [one.name == "names" for one in EXPERIMENTS]
    assert left("inaudible") == list(range(len(trials)))
    assert [one.nudged for one in EXPERIMENTS] == [one.name == "inaudible" for one in EXPERIMENTS]


def test_judged_by_the_spread_of_all_scores() -> None:
    base = np.array([0.0, 2.0, 0.0, 2.0], np.float32)  # the spread is 1
    moved = judge("l", "one-speaker", base, np.array([0.5, 2.002], np.float32), [0, 1], 0.0)
    assert (moved.share, moved.beyond, moved.state) == (0.5, 2, "moved")
    # Twice the noise of the repetition is its own.
    assert judge("l", "names", base, base + np.float32(0.2), [0, 1, 2, 3], 0.11).state == "kept"
    assert judge("l", "names", base, base + np.float32(0.2), [0, 1, 2, 3], 0.09).state == "moved"
    assert judge("l", "names", base, base + np.float32(0.0005), range(4), 0.0).state == "kept"
    # What nobody hears may move an honest attacker more than what it is not given.
    assert judge("l", "inaudible", base, base + np.float32(0.04), range(4), 0.0).state == "kept"
    assert judge("l", "inaudible", base, base + np.float32(0.06), range(4), 0.0).state == "moved"


def test_small_is_little_and_in_order() -> None:
    assert Finding("l", "names", "moved", 100, 0.049, 5, 0.01).small
    assert not Finding("l", "names", "moved", 100, 0.051, 5, 0.01).small
    assert not Finding("l", "names", "moved", 100, 0.049, 5, 0.02).small
    # Two neighbours of a few pairs may change places.
    assert Finding("l", "names", "moved", 20, 0.049, 5, 0.05).small
    assert not Finding("l", "names", "kept", 100, 0.0, 0, 0.0).small
    # A note has its own words.
    assert not Finding("l", "inaudible", "moved", 100, 0.049, 5, 0.01).small


def test_words() -> None:
    assert sentence(Finding("l", "half-trials", "kept", 9)) == (
        "scores stay when other trial utterances are left out"
    )
    assert sentence(Finding("l", "half-trials", "moved", 40, 0.3123, 37, 0.125)) == (
        "scores move when other trial utterances are left out: by up to 0.31 of their spread; "
        "37 of 40 pairs, ranks by up to 12 %; as normalisation over other utterances moves scores"
    )
    assert sentence(Finding("l", "inaudible", "moved", 40, 0.7, 37, 0.125)) == (
        "a note: scores move when loud samples change by their last bit: by up to 0.7 of their "
        "spread; 37 of 40 pairs, ranks by up to 12 %; as a table of known recordings moves scores: "
        "look into the image"
    )
    assert "although all were the same" in sentence(
        Finding("l", "names", "moved", 4, float("inf"), 4, 0.5)
    )
