"""Word errors: by hand, and what holds of any texts. Counting needs jiwer, rates do not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError, DataError
from harness.metrics.resampling import Sampling
from harness.metrics.speaker_interval import ratio_interval
from harness.metrics.word_errors import WordErrors, rate, rate_interval, word_errors

texts = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)


def counts(found: WordErrors) -> list[tuple[int, ...]]:
    rows = np.array([found.words, found.substitutions, found.deletions, found.insertions]).T
    return [tuple(row) for row in rows.tolist()]


def made(words: list[int], substitutions: list[int]) -> WordErrors:
    none = np.zeros(len(words), np.int64)
    return WordErrors(np.array(words), np.array(substitutions), none, none)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("said", "heard", "expected"),
    [
        ("THE CAT SAT", "THE CAT SAT", (3, 0, 0, 0)),
        ("THE CAT SAT", "THE HAT SAT", (3, 1, 0, 0)),
        ("THE CAT SAT", "THE SAT", (3, 0, 1, 0)),
        ("THE CAT SAT", "OH THE CAT SAT", (3, 0, 0, 1)),
        # One word is two: another, and one more.
        ("THE HALL", "THE BIG HALLS", (2, 1, 0, 1)),
        # Words move: taken away here, put in there.
        ("A B C D E", "B C D E A", (5, 0, 1, 1)),
        ("A B C", "", (3, 0, 3, 0)),
        ("", "A B", (0, 0, 0, 2)),
        ("", "", (0, 0, 0, 0)),
        # White space of any kind parts, and nothing else is changed.
        (" A\tB\n", "A  B", (2, 0, 0, 0)),
        ("A b", "a b.", (2, 2, 0, 0)),
        # Marks of Kaldi's and the like are words.
        ("A <UNK>", "A [noise]", (2, 1, 0, 0)),
    ],
)
def test_by_hand(said: str, heard: str, expected: tuple[int, ...]) -> None:
    found = word_errors([said], [heard])
    assert counts(found) == [expected]
    assert found.errors.tolist() == [sum(expected[1:])]
    assert found.words.dtype == found.errors.dtype == np.int64


@pytest.mark.heavy
def test_one_utterance_does_not_change_another() -> None:
    found = word_errors(["A B", "", "C"], ["B", "X", "C"])
    assert counts(found) == [(2, 0, 1, 0), (0, 0, 0, 1), (1, 0, 0, 0)]
    # Pooled: two errors, three words.
    assert rate(found.errors, found.words) == 2 / 3
    assert word_errors([], []).words.shape == (0,)


def distance(said: list[str], heard: list[str]) -> int:
    """The fewest changes, by recursion."""
    if not said or not heard:
        return len(said) + len(heard)
    if said[0] == heard[0]:
        return distance(said[1:], heard[1:])
    return 1 + min(
        distance(said[1:], heard[1:]), distance(said[1:], heard), distance(said, heard[1:])
    )


@pytest.mark.heavy
@given(texts, texts)
def test_of_any_texts(said: str, heard: str) -> None:
    n, m = len(said.split()), len(heard.split())
    (found,), (turned,) = counts(word_errors([said], [heard])), counts(word_errors([heard], [said]))
    words, substitutions, deletions, insertions = found
    assert words == n
    assert substitutions + deletions + insertions == distance(said.split(), heard.split())
    assert insertions - deletions == m - n
    assert substitutions + deletions <= n
    assert sum(found[1:]) <= max(n, m)
    # The other way round what was inserted is deleted.
    assert sum(turned[1:]) == sum(found[1:])
    assert turned[3] - turned[2] == deletions - insertions


@pytest.mark.heavy
def test_without_jiwer_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jiwer", None)
    with pytest.raises(ConfigError, match=r"jiwer is not installed; pip install '.*\[utility\]'"):
        word_errors(["A"], ["A"])


def test_texts_go_in_pairs() -> None:
    with pytest.raises(DataError, match="1 recognized texts for 2 transcripts; give one of each"):
        word_errors(["A", "B"], ["A"])


def test_the_rate_is_pooled() -> None:
    # One of one word wrong, none of nine: 10 %, where the mean of the rates is 50 %.
    assert rate([1, 0], [1, 9]) == 0.1
    # The results of VPC 2022 print `%WER 3.82 [ 1518 / 39783, 185 ins, 140 del, 1193 sub ]`.
    assert round(100 * rate([185 + 140 + 1193], [39783]), 2) == 3.82
    assert rate([7], [2]) == 3.5


@pytest.mark.parametrize(
    ("errors", "words", "message"),
    [
        ([1, 2], [0, 0], "no word in 2 transcripts; give utterances with their transcripts"),
        ([], [], "no word in 0 transcripts"),
        ([1], [1, 2], r"errors of shape \(1,\) for words of shape \(2,\)"),
    ],
)
def test_refused(errors: list[int], words: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        rate(errors, words)
    with pytest.raises(DataError, match=message):
        rate_interval(errors, words, ["a"] * len(words))


def test_the_interval_is_that_of_speakers() -> None:
    speakers = [f"{number % 12}" for number in range(36)]
    errors, words = np.arange(36) % 5, np.full(36, 9)
    found = rate_interval(errors, words, speakers, Sampling(level=0.9))
    assert found == ratio_interval(errors, words, speakers, Sampling(level=0.9))
    assert found.estimate == rate(errors, words)
    assert found.low is not None
    assert rate_interval([1], [2], ["a"]).low is None
