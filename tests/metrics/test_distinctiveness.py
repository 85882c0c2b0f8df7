"""Voice similarity matrices against hand arithmetic and a loop over pairs; voices that collapse."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from harness.errors import ScoreError
from harness.metrics.bootstrap import Interval
from harness.metrics.calibration import calibrate
from harness.metrics.distinctiveness import (
    BLOCK,
    SimilarityMatrix,
    cosines,
    cross_similarity,
    deidentification,
    diagonal_dominance,
    gain,
    gain_interval,
    similarity,
)

Floats = npt.NDArray[np.float64]

# Of utterances of a, a, b, b. Of the pairs, one nontarget scores between the two targets:
# levels 0 0 0 | 1 | 2 | 3 with labels N N N | T | N | T. With one target and one nontarget at
# either end, PAV pools 1 of 5, 1 of 2 and 2 of 3 targets; the prior odds are 1 to 2, so that the
# likelihood ratios are 1/2, 2 and 4.
NAMES = ["a", "a", "b", "b"]
ONE_SET = np.array([[9.0, 3, 2, 0], [3, 9, 0, 0], [2, 0, 9, 1], [0, 0, 1, 9]])
# a, a: 4. b, b: 2. a, b: 2 and three times 1/2, whose geometric mean is 1/√2. M is LR / (1 + LR).
ONE_MATRIX = [[4 / 5, 1 / (1 + 2**0.5)], [1 / (1 + 2**0.5), 2 / 3]]

# Original utterances in rows. Levels 0 with one of eight targets, 2 with three of four; with two of
# either class at either end 3 of 12 and 5 of 8; the prior odds are 1 to 2, the ratios 2/3 and 10/3.
TWO_SETS = np.array([[5.0, 2, 0, 0], [2, 5, 0, 0], [0, 0, 5, 0], [0, 2, 2, 5]])
# b, b: one of each, geometric mean √20/3. b, a: three times 2/3 and 10/3, (80/81)^(1/4).
TWO_MATRIX = [[10 / 13, 2 / 5], [80**0.25 / (3 + 80**0.25), 20**0.5 / (3 + 20**0.5)]]


def matrix(values: list[list[float]]) -> SimilarityMatrix:
    return SimilarityMatrix(tuple("abcd"[: len(values)]), np.array(values))


def voices(deviation: float, n_speakers: int = 20, seed: int = 1) -> tuple[Floats, list[str]]:
    """Embeddings of a two-covariance model: speakers of variance 1, utterances around them."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(n_speakers), 8)
    speakers = rng.standard_normal((n_speakers, 24))[owners]
    return speakers + deviation * rng.standard_normal(speakers.shape), [f"s{i:02}" for i in owners]


def slow(scores: Floats, speakers: list[str], *, crossed: bool) -> Floats:
    """The definition, pair by pair."""
    pairs = list((permutations if crossed else combinations)(range(len(speakers)), 2))
    kinds: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    for k, other in pairs:
        kinds[speakers[k] == speakers[other]].append((k, other))
    target, nontarget = ([scores[pair] for pair in kinds[kind]] for kind in (True, False))
    ratios: dict[tuple[str, str], list[float]] = {}
    for kind, found in zip(
        (True, False), calibrate(target, nontarget, laplace=2 if crossed else 1), strict=True
    ):
        for (k, other), ratio in zip(kinds[kind], found, strict=True):
            ratios.setdefault((speakers[k], speakers[other]), []).append(float(ratio))
            if not crossed and not kind:
                ratios.setdefault((speakers[other], speakers[k]), []).append(float(ratio))
    names = sorted(set(speakers))
    return np.array(
        [[1 / (1 + math.exp(-sum(ratios[i, j]) / len(ratios[i, j]))) for j in names] for i in names]
    )


def test_one_set_by_hand() -> None:
    found = similarity(ONE_SET, NAMES)
    assert found.speakers == ("a", "b")
    assert found.values == pytest.approx(np.array(ONE_MATRIX), abs=1e-15)
    assert diagonal_dominance(found) == pytest.approx(26 / 15 - 2**0.5, abs=1e-15)


def test_two_sets_by_hand() -> None:
    found = cross_similarity(TWO_SETS, NAMES)
    assert found.speakers == ("a", "b")
    assert found.values == pytest.approx(np.array(TWO_MATRIX), abs=1e-15)


@pytest.mark.parametrize(
    ("function", "scores"), [(similarity, ONE_SET), (cross_similarity, TWO_SETS)]
)
def test_no_utterance_is_compared_with_itself(
    function: Callable[..., SimilarityMatrix], scores: Floats
) -> None:
    changed = scores.copy()
    np.fill_diagonal(changed, np.nan)
    assert (function(changed, NAMES).values == function(scores, NAMES).values).all()


def test_the_score_of_a_pair_is_the_mean_of_its_directions() -> None:
    either = ONE_SET + np.triu(np.full((4, 4), 0.5), 1) - np.tril(np.full((4, 4), 0.5), -1)
    assert (similarity(either, NAMES).values == similarity(ONE_SET, NAMES).values).all()


# Few values, so that there are ties; two to four speakers of two or more utterances.
owners = st.lists(st.sampled_from("abcd"), min_size=0, max_size=5).map(
    lambda more: ["a", "a", "b", "b", *more, *(name for name in "cd" if more.count(name) == 1)]
)


@st.composite
def sets(draw: st.DrawFn) -> tuple[Floats, list[str], list[int]]:
    """Scores of any order of utterances, their speakers, and another order."""
    speakers = draw(st.permutations(draw(owners)))
    row = st.lists(st.integers(-4, 4), min_size=len(speakers), max_size=len(speakers))
    scores = draw(st.lists(row, min_size=len(speakers), max_size=len(speakers)))
    order = draw(st.permutations(range(len(speakers))))
    return np.array(scores, np.float64), list(speakers), list(order)


@settings(deadline=None)
@given(sets())
def test_equals_the_loop_over_pairs(drawn: tuple[Floats, list[str], list[int]]) -> None:
    scores, speakers, _ = drawn
    crossed = cross_similarity(scores, speakers).values
    assert crossed == pytest.approx(slow(scores, speakers, crossed=True), abs=1e-12)
    symmetric = scores + scores.T
    alone = similarity(symmetric, speakers).values
    assert alone == pytest.approx(slow(symmetric, speakers, crossed=False), abs=1e-12)


@settings(deadline=None)
@given(sets())
def test_the_order_of_utterances_does_not_matter(
    drawn: tuple[Floats, list[str], list[int]],
) -> None:
    scores, speakers, order = drawn
    for function in (similarity, cross_similarity):
        found = function(scores, speakers)
        again = function(scores[np.ix_(order, order)], [speakers[place] for place in order])
        assert again.speakers == found.speakers
        assert again.values == pytest.approx(found.values, abs=1e-12)


def test_measures_by_hand() -> None:
    # Means of the diagonals: 0.8, 0.5, 0.55; of all else: 0.2, 0.44, 0.4.
    original = matrix([[0.9, 0.1, 0.2], [0.3, 0.8, 0.1], [0.2, 0.3, 0.7]])
    anonymized = matrix([[0.5, 0.4, 0.48], [0.4, 0.5, 0.44], [0.48, 0.44, 0.5]])
    crossed = matrix([[0.5, 0.3, 0.4], [0.4, 0.6, 0.5], [0.3, 0.5, 0.55]])
    assert diagonal_dominance(original) == pytest.approx(0.6, abs=1e-15)
    # A tenth of the dominance is -10 dB; a quarter of it is left in 0.15.
    assert gain(anonymized, original) == pytest.approx(-10, abs=1e-12)
    assert deidentification(crossed, original) == pytest.approx(0.75, abs=1e-12)


def test_dominance_is_a_distance() -> None:
    assert diagonal_dominance(matrix([[0.1, 0.9], [0.7, 0.3]])) == pytest.approx(0.6)


def test_speakers_who_are_all_alike_have_no_distinctiveness() -> None:
    # 0.3 cannot be written in binary, and means of it are rounded.
    alike = matrix([[0.3] * 3] * 3)
    different = matrix([[0.9, 0.1, 0.1], [0.1, 0.9, 0.1], [0.1, 0.1, 0.9]])
    assert diagonal_dominance(alike) == 0
    assert gain(alike, different) == -math.inf
    assert deidentification(alike, different) == 1
    for measure in (gain, deidentification):
        with pytest.raises(ScoreError, match="the original speakers are all alike"):
            measure(different, alike)


def test_speech_that_is_left_as_it_is() -> None:
    embeddings, speakers = voices(1.2)
    scores = cosines(embeddings, embeddings)
    original = similarity(scores, speakers)
    assert gain(similarity(scores, speakers), original) == 0
    crossed = cross_similarity(scores, speakers)
    assert deidentification(crossed, original) == pytest.approx(0, abs=1e-12)


def test_voices_that_are_mapped_one_to_one_stay_distinct_and_are_hidden() -> None:
    original, speakers = voices(1.2)
    anonymized, _ = voices(1.2, seed=2)
    before = similarity(cosines(original, original), speakers)
    after = similarity(cosines(anonymized, anonymized), speakers)
    crossed = cross_similarity(cosines(original, anonymized), speakers)
    # Of other voices as far apart, so up to their noise, which the intervals know.
    assert abs(gain(after, before)) < 2
    assert deidentification(crossed, before) > 0.8


def test_voices_that_collapse_lose_distinctiveness() -> None:
    original, speakers = voices(1.2)
    before = similarity(cosines(original, original), speakers)
    rng = np.random.default_rng(3)
    voice = rng.standard_normal(24)
    noisy = voice + 0.5 * rng.standard_normal(original.shape)
    assert gain(similarity(cosines(noisy, noisy), speakers), before) < -15
    # Of one direction, whatever their lengths.
    one = voice * rng.uniform(0.1, 10, (len(speakers), 1))
    assert gain(similarity(cosines(one, one), speakers), before) == -math.inf


def test_cosines_by_hand() -> None:
    found = cosines([[3.0, 4.0]], [[4.0, 3.0], [0.0, -2.0], [0.3, 0.4]])
    assert found.dtype == np.float32
    # 24/25, -8/10, 1.
    assert found[0] == pytest.approx([0.96, -0.8, 1], abs=1e-7)


def test_blocks_of_cosines_fit_together() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.standard_normal((2 * BLOCK + 1, 3)), rng.standard_normal((4, 3))
    lengths = [np.sqrt((one**2).sum(axis=1)) for one in (first, second)]
    expected = np.einsum("nd,md->nm", first, second) / np.outer(*lengths)
    assert cosines(first, second) == pytest.approx(expected, abs=1e-7)


def test_interval_is_the_jackknife_of_speakers() -> None:
    (original, speakers), (anonymized, _) = voices(1.2, 12), voices(2.0, 12)
    scores = cosines(anonymized, anonymized), cosines(original, original)
    found = gain_interval(*scores, speakers, level=0.9)
    without = []
    for name in sorted(set(speakers)):
        left = [place for place, speaker in enumerate(speakers) if speaker != name]
        few = [speakers[place] for place in left]
        without.append(gain(*(similarity(one[left][:, left], few) for one in scores)))
    n = len(without)
    # The standard error: (n - 1)/√n times the standard deviation of the values without one.
    half = stats.t.ppf(0.95, n - 1) * (n - 1) / math.sqrt(n) * np.std(without, ddof=1)
    estimate = gain(*(similarity(one, speakers) for one in scores))
    assert (found.estimate, found.level, found.reason) == (estimate, 0.9, None)
    assert found.low == pytest.approx(estimate - half, abs=1e-12)
    assert found.high == pytest.approx(estimate + half, abs=1e-12)
    assert half > 0.1


def test_no_interval_of_few_speakers_or_of_voices_all_alike() -> None:
    embeddings, speakers = voices(1.2, 9)
    scores = cosines(embeddings, embeddings)
    assert gain_interval(scores, scores, speakers) == Interval(
        0.0, 0.95, None, None, "9 speakers, fewer than 10"
    )
    embeddings, speakers = voices(1.2, 10)
    scores = cosines(embeddings, embeddings)
    found = gain_interval(np.ones_like(scores), scores, speakers)
    assert found == Interval(-math.inf, 0.95, None, None, "anonymized speakers are all alike")


def test_no_interval_where_only_one_original_speaker_is_unlike_the_rest() -> None:
    speakers = [f"s{number:02d}" for number in range(12) for _ in range(2)]
    unlike = np.array(speakers) == "s05"
    scores = (unlike[:, None] == unlike).astype(float)
    found = gain_interval(scores, scores, speakers)
    reason = "without one of them, the original speakers are all alike"
    assert found == Interval(0.0, 0.95, None, None, reason)


@pytest.mark.parametrize("function", [similarity, cross_similarity])
@pytest.mark.parametrize(
    ("scores", "speakers", "message"),
    [
        (np.zeros((4, 3)), NAMES, r"scores of shape \(4, 3\) for 4 utterances"),
        (np.zeros(4), NAMES, r"scores of shape \(4,\) for 4 utterances"),
        (np.zeros((0, 0)), [], "0 speakers cannot be told apart"),
        (np.zeros((2, 2)), ["a", "a"], "1 speakers cannot be told apart"),
        (
            np.zeros((4, 4)),
            ["a", "a", "b", "c"],
            "2 speakers have a single utterance, such as b, c; give each at least two",
        ),
        (np.where(ONE_SET == 2, np.nan, ONE_SET), NAMES, "nontarget scores are NaN"),
        (np.where(ONE_SET == 3, np.inf, ONE_SET), NAMES, "target scores are infinite"),
    ],
)
def test_scores_are_refused(
    function: Callable[..., SimilarityMatrix], scores: Floats, speakers: list[str], message: str
) -> None:
    with pytest.raises(ScoreError, match=message):
        function(scores, speakers)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1.0, 2.0], [[1.0, 2.0]], r"embeddings have shape \(2,\)"),
        ([[1.0, 2.0]], [[1.0, 2.0, 3.0]], "embeddings of 2 and of 3 numbers"),
        ([[1.0, 2.0]], [[0.0, 0.0], [1.0, 1.0]], "1 embeddings are not finite or have length 0"),
        ([[1.0, np.nan], [np.inf, 1.0]], [[1.0, 2.0]], "2 embeddings are not finite"),
    ],
)
def test_embeddings_are_refused(first: object, second: object, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        cosines(first, second)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("speakers", "values", "message"),
    [
        ("a", np.ones((1, 1)), r"similarities of shape \(1, 1\) for 1 speakers"),
        ("ab", np.ones((2, 3)), r"similarities of shape \(2, 3\) for 2 speakers"),
        ("ab", np.array([[0.5, 0.5], [0.5, 1.5]]), "similarities are not all from 0 to 1"),
        ("ab", np.array([[0.5, 0.5], [0.5, np.nan]]), "similarities are not all from 0 to 1"),
    ],
)
def test_matrices_are_refused(speakers: str, values: Floats, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        SimilarityMatrix(tuple(speakers), values)


def test_matrices_of_other_speakers_are_refused() -> None:
    one, other = (SimilarityMatrix(names, np.eye(2)) for names in (("a", "b"), ("b", "a")))
    for measure in (gain, deidentification):
        with pytest.raises(ScoreError, match="are not of the same; compare the same speakers"):
            measure(one, other)
