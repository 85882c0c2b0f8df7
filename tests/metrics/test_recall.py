"""UAR and recalls: by hand, and as scikit-learn has them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import DataError
from harness.metrics.bootstrap import Interval
from harness.metrics.recall import (
    RecallOverFolds,
    recall_over_folds,
    uar_interval,
)
from harness.metrics.resampling import Sampling

EMOTIONS = ("angry", "happy", "neutral", "sad")
emotion = st.sampled_from(EMOTIONS)


def test_by_hand() -> None:
    labels = ["angry", "angry", "angry", "happy", "neutral", "neutral", "sad", "sad", "sad", "sad"]
    taken = ["angry", "happy", "angry", "angry", "neutral", "neutral", "sad", "sad", "sad", "happy"]
    found = recall_over_folds(labels, taken, ["1"] * 10, EMOTIONS)
    assert found.recalls == pytest.approx([2 / 3, 0, 1, 3 / 4])
    # Accuracy would be 7 / 10.
    assert found.uar == pytest.approx(29 / 48, abs=1e-15)


def test_what_is_named_always_is_a_guess_by_chance() -> None:
    labels = ["angry"] * 127 + ["happy"] * 71 + ["neutral"] * 79 + ["sad"] * 62
    taken = ["angry"] * len(labels)
    assert recall_over_folds(labels, taken, ["1"] * len(labels), EMOTIONS).uar == 0.25


def test_folds_weigh_the_same_whatever_their_sizes() -> None:
    # Fold 1: angry 1 of 1, happy 0 of 1. Fold 2: angry 1 of 4, happy 2 of 2.
    labels = ["angry", "happy", *["angry"] * 4, *["happy"] * 2]
    taken = ["angry", "angry", "angry", *["happy"] * 5]
    folds = ["1", "1", *["2"] * 6]
    found = recall_over_folds(labels, taken, folds, ("angry", "happy"))
    assert [(one.fold, one.examples, one.recalls, one.uar) for one in found.folds] == [
        ("1", (1, 1), (1.0, 0.0), 0.5),
        ("2", (4, 2), (0.25, 1.0), 0.625),
    ]
    assert found.uar == 0.5625
    assert found.recalls == (0.625, 0.5)
    assert found.absent == ()
    # Over all utterances at once it would be another number.
    at_once = recall_over_folds(labels, taken, ["1"] * 8, ("angry", "happy"))
    assert at_once.uar == pytest.approx(8 / 15)


def test_a_fold_without_an_emotion_is_told() -> None:
    # Nobody is sad in fold 2, where happy speech is taken for sad; nobody is neutral anywhere.
    labels = ["angry", "happy", "sad", "angry", "happy"]
    taken = ["angry", "happy", "angry", "angry", "sad"]
    found = recall_over_folds(labels, taken, ["1", "1", "1", "2", "2"], EMOTIONS)
    assert found.absent == (("1", "neutral"), ("2", "neutral"), ("2", "sad"))
    assert found.folds[1].recalls == pytest.approx((1, 0, math.nan, math.nan), nan_ok=True)
    # Of three emotions, and of two.
    assert [one.uar for one in found.folds] == pytest.approx([2 / 3, 1 / 2])
    assert found.uar == pytest.approx(7 / 12)
    assert found.recalls == pytest.approx((1, 0.5, math.nan, 0), nan_ok=True)


def test_no_warning_where_nothing_is_divided() -> None:
    found = recall_over_folds(["sad"], ["angry"], ["5"], EMOTIONS)
    assert found.uar == 0
    assert found.absent == (("5", "angry"), ("5", "happy"), ("5", "neutral"))


@pytest.mark.heavy
@given(st.lists(st.tuples(emotion, emotion, st.sampled_from("123")), min_size=1, max_size=40))
def test_equals_scikit_learn(spoken: list[tuple[str, str, str]]) -> None:
    from sklearn.metrics import recall_score

    labels, taken, folds = zip(*spoken, strict=True)
    found = recall_over_folds(labels, taken, folds, EMOTIONS)
    uars = []
    for fold in sorted(set(folds)):
        here = [one for one in spoken if one[2] == fold]
        true, guessed = [one[0] for one in here], [one[1] for one in here]
        # Of what has an example: it counts what has none, and is predicted, as 0.
        of_each = recall_score(true, guessed, labels=sorted(set(true)), average=None)
        uars.append(of_each.mean())
    assert [one.uar for one in found.folds] == pytest.approx(uars, abs=1e-12)
    assert found.uar == pytest.approx(np.mean(uars), abs=1e-12)


@given(st.lists(st.tuples(emotion, emotion), min_size=1))
def test_order_does_not_matter(spoken: list[tuple[str, str]]) -> None:
    labels, taken = zip(*spoken, strict=True)
    folds = ["1"] * len(labels)
    there = recall_over_folds(labels, taken, folds, EMOTIONS).recalls
    back = recall_over_folds(labels[::-1], taken[::-1], folds, EMOTIONS[::-1]).recalls
    np.testing.assert_array_equal(there, back[::-1])
    assert np.nanmax(there) <= 1
    assert np.nanmin(there) >= 0


@pytest.mark.parametrize(
    ("labels", "taken", "folds", "classes", "match"),
    [
        ([], [], [], EMOTIONS, "no utterances; give one or more"),
        (["sad"], [], ["1"], EMOTIONS, "1 labels and 0 predictions; give one per utterance"),
        (["sad"], ["sad"], ["1", "2"], EMOTIONS, "1 labels and 2 folds; give one per utterance"),
        (["ang"], ["sad"], ["1"], EMOTIONS, "'ang' is none of the classes angry, happy, neu"),
        (["sad"], ["fear"], ["1"], EMOTIONS, "'fear' is none of the classes"),
        (["sad"], ["sad"], ["1"], (), "classes are ; give distinct names"),
        (["sad"], ["sad"], ["1"], ("sad", "sad"), "classes are sad, sad; give distinct names"),
    ],
)
def test_refused(
    labels: list[str], taken: list[str], folds: list[str], classes: tuple[str, ...], match: str
) -> None:
    with pytest.raises(DataError, match=match):
        recall_over_folds(labels, taken, folds, classes)


class Spoken(NamedTuple):
    labels: list[str]
    predictions: list[str]
    folds: list[str]
    speakers: list[str]


def interval(spoken: Spoken, seed: int = 1986) -> Interval:
    return uar_interval(*spoken, EMOTIONS, Sampling(draws=99, seed=seed))


def spoken_by(recognized: list[int], of: int = 4) -> Spoken:
    """Of each emotion of each speaker, so many of four are recognized. Two speakers a fold."""
    rows = [
        (name, name if place < hits else EMOTIONS[number - 1], f"{speaker // 2}", f"s{speaker:02d}")
        for speaker, hits in enumerate(recognized)
        for number, name in enumerate(EMOTIONS)
        for place in range(of)
    ]
    return Spoken(*(list(column) for column in zip(*rows, strict=True)))


def test_interval_is_of_speech_that_is_there_as_often_as_its_speaker_is_drawn() -> None:
    generator = np.random.default_rng(3)
    speaker = generator.integers(12, size=150)
    rows = [
        (EMOTIONS[label], EMOTIONS[generator.choice([label, 0])], f"{one % 5}", f"s{one:02d}")
        for one, label in zip(
            speaker, generator.choice(4, 150, p=[0.4, 0.3, 0.2, 0.1]), strict=True
        )
    ]
    spoken = Spoken(*(list(column) for column in zip(*rows, strict=True)))
    found = interval(spoken, seed=7)
    counts = np.random.default_rng(7).multinomial(12, [1 / 12] * 12, 99)
    uars = []
    for times in counts:
        drawn = [row for row, one in zip(rows, speaker, strict=True) for _ in range(times[one])]
        labels, taken, folds, _ = zip(*drawn, strict=True)
        uars.append(recall_over_folds(labels, taken, folds, EMOTIONS).uar)
    # 2.5 % of 99 + 1 draws, rounded down, from either end.
    assert [found.low, found.high] == pytest.approx([sorted(uars)[1], sorted(uars)[-2]], abs=1e-12)
    assert found.estimate == recall_over_folds(*spoken[:3], EMOTIONS).uar


def test_interval_depends_on_the_seed_alone() -> None:
    spoken = spoken_by([4, 3, 4, 2, 3, 3, 1, 4, 2, 0])
    backwards = Spoken(*(column[::-1] for column in spoken))
    assert interval(backwards) == interval(spoken)
    assert interval(spoken, seed=1) != interval(spoken)


def test_few_speakers_have_no_interval() -> None:
    found = interval(spoken_by([4, 3, 4, 2, 3, 3, 1, 4]))
    assert (found.low, found.high) == (None, None)
    assert found.reason == "8 speakers, fewer than 10"
    assert found.estimate == 0.75


def test_no_errors_at_all_have_no_interval() -> None:
    found = interval(spoken_by([4] * 10))
    assert (found.estimate, found.low, found.high) == (1, None, None)
    assert found.reason == "all draws have the same value"


def test_a_speaker_in_two_folds_is_refused() -> None:
    spoken = spoken_by([4] * 10)
    spoken.folds[0] = "4"
    with pytest.raises(DataError, match="a speaker is in two folds; put all that a speaker says"):
        interval(spoken)


def test_result_is_plain_data() -> None:
    found = recall_over_folds(["sad", "angry"], ["sad", "sad"], ["1", "2"], ("angry", "sad"))
    assert isinstance(found, RecallOverFolds)
    assert [type(number) for number in (*found.recalls, found.uar, *found.folds[0].examples)] == [
        *(float, float, float, int, int)
    ]
