"""Speakers are told from names only where these agree with the labels."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import ScoreError
from harness.ranking.speakers import pairs_of


def test_an_utterance_begins_with_its_speaker() -> None:
    pairs = pairs_of(
        ["1272", "1272", "ev001"],
        ["1272-128104-0000", "ev001-2-0000", "ev001-2-0001"],
        np.array([True, False, True]),
    )
    assert pairs is not None
    assert pairs.enrolled.tolist() == ["1272", "1272", "ev001"]
    assert pairs.trial.tolist() == ["1272", "ev001", "ev001"]
    assert pairs.target.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("utterances", "target"),
    [
        # A target whose name begins with another, and a nontarget of the same speaker.
        (["u1-0", "s2-0"], [True, False]),
        (["s1-0", "s1-1"], [True, False]),
        # No `-`: the whole name would be the speaker.
        (["s1_0", "s2_0"], [True, False]),
    ],
)
def test_names_that_contradict_the_labels_tell_nothing(
    utterances: list[str], target: list[bool]
) -> None:
    assert pairs_of(["s1", "s1"], utterances, np.array(target)) is None


def test_labels_of_another_list_are_refused() -> None:
    assert pairs_of(["s1"], ["s1-0"], np.array([True, False])) is None
    with pytest.raises(ScoreError, match=r"\(1,\) enrolled speakers for \(2,\) trial speakers"):
        pairs_of(["s1"], ["s1-0", "s2-0"], np.array([True, False]))
