"""Recall of emotions by made-up vectors, by hand, and of a part of real emotional speech."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from harness.corpora.emotional import build_emotional
from harness.errors import DataError
from harness.metrics.resampling import SAMPLING
from harness.protocols.protocol import EmotionSet
from harness.runtime.events import Events
from harness.runtime.pool import Pool
from harness.utility import emotion
from harness.utility.base import Evaluation, Group, Measured
from harness.utility.emotion import Emotion
from harness.utility.stage import Part, evaluate, pairs
from utility.sets import Said, group, stored

pytestmark = pytest.mark.heavy

EMOTIONS = ("angry", "happy", "neutral", "sad")
OFFICIAL = Emotion(recognizer="wav2vec2-2024", weights="/not/read", sha256="0" * 64)


def vector(emotion: str) -> list[float]:
    """One that shows the emotion plainly."""
    return [4.0 * (name == emotion) for name in EMOTIONS]


def set_of(
    emotions: Sequence[str],
    shown: Sequence[str] | None = None,
    speakers: Sequence[str] | None = None,
    folds: Sequence[str] | None = None,
    learns: bool = True,
) -> Group:
    """Utterances of emotions; shown: what their anonymized speech shows.

    Speakers are s0 to s3 in turn, of whom two are in each fold. learns: whether the recognizer
    wants original speech, too.
    """
    count = len(emotions)
    speakers = speakers or [f"s{n % 4}" for n in range(count)]
    folds = folds or [str(int(one[1:]) // 2 + 1) for one in speakers]
    measured = [
        ({"anonymized": vector(one)} | ({"original": vector(spoken)} if learns else {}), speaker)
        for spoken, one, speaker in zip(emotions, shown or emotions, speakers, strict=True)
    ]
    return group(*((*one, "f", "") for one in measured), emotion=emotions, fold=folds)


def values(evaluation: Evaluation) -> dict[str, float]:
    return {one.measure: one.value for one in evaluation.values}


# Each speaker says each emotion twice.
SPOKEN = [emotion for emotion in EMOTIONS for _ in range(8)]


def test_emotions_that_show_are_all_recalled() -> None:
    found = Emotion().evaluate(set_of(SPOKEN), SAMPLING)
    assert found.values == [
        Measured("UAR", "", 32, 100),
        *(Measured(f"recall-{emotion}", "", 8, 100) for emotion in EMOTIONS),
    ]
    assert [row["heard"] for row in found.rows] == SPOKEN
    assert dict(found.rows[2]) == {"fold": "2", "emotion": "angry", "heard": "angry"}
    assert list(found.warnings) == []


def test_recalls_are_means_over_folds() -> None:
    shown = list(SPOKEN)
    # All sad speech of fold 1 sounds happy, and one of four of fold 2, in which s2 and s3 are.
    for place in (24, 25, 28, 29, 26):
        shown[place] = "happy"
    found = Emotion().evaluate(set_of(SPOKEN, shown), SAMPLING)
    assert values(found) == {
        # Fold 1: 3 of 4 emotions; fold 2: 3.75 of 4.
        "UAR": pytest.approx(100 * (3 / 4 + 3.75 / 4) / 2),
        "recall-angry": 100,
        "recall-happy": 100,
        "recall-neutral": 100,
        "recall-sad": pytest.approx(37.5),
    }
    assert [row["heard"] for row in found.rows] == shown


def test_folds_and_emotions_weigh_the_same_whatever_their_sizes() -> None:
    # Fold 1: angry 1 of 1, sad 0 of 1. Fold 2: angry 3 of 4, sad 2 of 2.
    emotions = ["angry", "sad", *["angry"] * 4, "sad", "sad"]
    shown = ["angry", "angry", "sad", *["angry"] * 3, "sad", "sad"]
    speakers = ["s0", "s0", *["s2"] * 6]
    found = OFFICIAL.evaluate(set_of(emotions, shown, speakers, learns=False), SAMPLING)
    assert values(found) == {
        "UAR": pytest.approx(100 * (0.5 + 0.875) / 2),
        "recall-angry": pytest.approx(87.5),
        "recall-sad": 50,
    }
    assert [one.n for one in found.values] == [8, 5, 3]


def test_what_learns_learns_from_original_speech() -> None:
    # Anger shows as happiness and so on: told apart among themselves, and all wrong to a listener.
    shown = [EMOTIONS[(EMOTIONS.index(one) + 1) % 4] for one in SPOKEN]
    assert values(Emotion().evaluate(set_of(SPOKEN, shown), SAMPLING))["UAR"] == 0


def test_an_emotion_that_is_not_asked_for_is_an_error() -> None:
    emotions = ["angry", "sad"] * 4
    shown = ["neutral", "sad", *emotions[2:]]
    found = OFFICIAL.evaluate(set_of(emotions, shown, learns=False), SAMPLING)
    # Of the angry ones, one of two in fold 1 is heard, and both in fold 2.
    assert values(found) == {
        "UAR": pytest.approx(100 * (0.75 + 1) / 2),
        "recall-angry": pytest.approx(75),
        "recall-sad": 100,
    }
    assert found.rows[0]["heard"] == "neutral"
    # Nobody is neutral in any fold, and nobody should be.
    assert list(found.warnings) == []


def test_a_fold_without_an_emotion_is_told() -> None:
    emotions, speakers = ["angry", "sad", "angry"], ["s0", "s0", "s2"]
    whole = set_of(emotions, ["sad", "sad", "angry"], speakers, learns=False)
    found = OFFICIAL.evaluate(whole, SAMPLING)
    assert list(found.warnings) == ["fold 2 has nothing sad: its UAR is of the other emotions"]
    # Fold 1: half; fold 2: all that it has.
    assert values(found) == {"UAR": 75, "recall-angry": 50, "recall-sad": 100}


def test_an_interval_of_ten_speakers_or_more() -> None:
    emotions = [emotion for emotion in EMOTIONS for _ in range(20)]
    speakers = [f"s{n % 10}" for n in range(80)]
    generator = np.random.default_rng(3)
    shown = [str(generator.choice(EMOTIONS)) if n % 3 else one for n, one in enumerate(emotions)]
    uar, *recalls = Emotion().evaluate(set_of(emotions, shown, speakers), SAMPLING).values
    assert uar.low is not None
    assert uar.high is not None
    assert 25 < uar.low < uar.value < uar.high < 100
    assert {(one.low, one.high) for one in recalls} == {(None, None)}


def test_a_speaker_in_two_folds_is_refused() -> None:
    folds = ["1", "1", "2", "2", "1", "2", "2", "2"]
    with pytest.raises(DataError, match="speaker s1: is in the folds 1 and 2; put all that a spe"):
        Emotion().evaluate(set_of(["sad", "angry"] * 4, folds=folds), SAMPLING)


def test_folds_that_cannot_teach_one_another() -> None:
    alone = set_of(["angry", "sad"] * 4, folds=["1"] * 8)
    with pytest.raises(DataError, match="fold 1: speakers of other folds lack angry, sad to learn"):
        Emotion().evaluate(alone, SAMPLING)


# Speech


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9_000, 9_000, 4_000).astype(np.int16)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({}, r"^utterance a \(evaluator emotion\): no column 'fold'; use the evaluator emotion on"),
        ({"emotion": "sad"}, r"^utterance a \(evaluator emotion\): no column 'fold'; use the"),
        ({"fold": "1"}, r"^evaluator emotion: no column 'emotion'; use the evaluator emotion on"),
    ],
)
def test_a_set_that_is_not_of_emotional_speech(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, labels: Mapping[str, str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = stored(Path("set"), {"a": Said(noise(1), labels=labels)})
    part = Part("libri", "test", corpus.path, corpus.path)
    with pytest.raises(DataError, match=said):
        evaluate(Emotion(), [part], system="b2", name="emotion", pool=Pool(1), events=Events())


@dataclass(frozen=True)
class Loudness:
    """Stands for a recognizer."""

    learns: bool

    def vector(self, samples: np.ndarray, fold: str) -> np.ndarray:
        """The largest sample, and the fold."""
        return np.array([float(np.abs(samples).max()), float(fold)])


def test_what_is_measured_is_what_the_recognizer_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = {"emotion": "sad", "fold": "3"}
    original = stored(Path("original"), {"a": Said(np.array([0, 7], np.int16), labels=labels)})
    anonymized = stored(Path("anonymized"), {"a": Said(np.array([0, 5], np.int16))})
    (pair,) = pairs(original, anonymized)
    before, after = {"original": [7.0, 3.0]}, {"anonymized": [5.0, 3.0]}
    for learns, expected in ((True, before | after), (False, after)):
        stand_in = partial(lambda one, *of_it: one, Loudness(learns))
        monkeypatch.setattr(emotion, "recognizer", stand_in)
        assert Emotion().measure(pair) == expected


def test_a_part_of_real_speech(
    test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = test_data / "speech/emodb"
    folds: dict[str, tuple[str, ...]] = {"1": ("03", "08"), "2": ("10", "09")}
    with (root / "utterances.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [
            row
            for row in csv.DictReader(stream, delimiter="\t")
            if row["speaker"] in sum(folds.values(), ()) and row["emotion"] in ("angry", "sad")
        ]
    counts = Counter(row["emotion"] for row in rows)
    wanted = EmotionSet("part", "emodb", "test", "emodb", 2, 2, dict(counts), folds)
    build_emotional(wanted, root, Path("part"), pool=Pool(1), events=Events())
    part = Part("emodb", "test", Path("part"), Path("part"))
    whisper = {
        row["file"].removesuffix(".flac"): Said(noise(number)) for number, row in enumerate(rows)
    }
    stored(Path("whisper"), whisper)
    found = {}
    for system, anonymized in (("orig", part), ("b2", replace(part, anonymized=Path("whisper")))):
        table, (uar, *recalls) = evaluate(
            Emotion(), [anonymized], system=system, name="emotion", pool=Pool(1), events=Events()
        )
        assert sorted(table["utterance"]) == sorted(whisper)
        assert [(one.measure, one.n) for one in recalls] == [
            (f"recall-{emotion}", counts[emotion]) for emotion in ("angry", "sad")
        ]
        found[system] = uar.value
    # Anger and sadness are far apart; of noise, whatever it is taken for, a guess is right.
    assert found["orig"] > 85
    assert found["b2"] == pytest.approx(50, abs=15)
