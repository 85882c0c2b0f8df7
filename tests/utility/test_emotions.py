"""Recognizers of emotions: folds, what is learned from whom, and real emotional speech."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from harness.anonymizers import base
from harness.anonymizers.base import Job, Source
from harness.corpora.audio import read_audio
from harness.corpora.store import Samples
from harness.errors import ConfigError, DataError
from harness.metrics.recall import RecallOverFolds, recall_over_folds
from harness.protocols import protocol
from harness.utility.acoustic import FEATURES, acoustic_features
from harness.utility.emotions import Acoustic, Labelled, recognizer
from harness.utility.emotions_2024 import Wav2Vec2

pytestmark = pytest.mark.heavy

Floats = npt.NDArray[np.float64]

EMOTIONS = ("angry", "happy", "neutral", "sad")


def test_speech_that_would_leak_is_refused() -> None:
    with pytest.raises(DataError, match="speaker 03: is in the folds 1 and 2; put all that a"):
        Labelled(("03", "08", "03"), ("1", "1", "2"), ("sad", "sad", "sad"))
    with pytest.raises(DataError, match="2 speakers, 2 folds and 1 emotions; give one of each"):
        Labelled(("03", "08"), ("1", "1"), ("sad",))


def labelled(emotions: npt.NDArray[np.str_], speakers: int = 10) -> Labelled:
    """Speakers take turns; two to a fold."""
    number = np.arange(len(emotions)) % speakers
    return Labelled(
        tuple(f"s{one}" for one in number),
        tuple(f"{one // 2}" for one in number),
        tuple(emotions.tolist()),
    )


def random_emotions(count: int, seed: int = 1) -> npt.NDArray[np.str_]:
    return np.random.default_rng(seed).choice(EMOTIONS, count)


def test_what_shows_in_the_vectors_is_recognized() -> None:
    emotions = random_emotions(200)
    centres = {name: 4 * row for name, row in zip(EMOTIONS, np.eye(4), strict=True)}
    vectors = np.array([centres[name] for name in emotions])
    vectors += np.random.default_rng(2).normal(scale=0.5, size=vectors.shape)
    assert Acoustic().recognize(vectors, vectors, labelled(emotions)) == emotions.tolist()
    # Moved by as much as other emotions are away, they are taken for these.
    moved = np.roll(vectors, 1, axis=1)
    following = dict(zip(EMOTIONS, np.roll(EMOTIONS, -1), strict=True))
    assert Acoustic().recognize(moved, vectors, labelled(emotions)) == [
        following[name] for name in emotions
    ]


def test_nothing_is_learned_from_what_is_to_be_recognized() -> None:
    # More features than utterances: what it learned from, it would know by heart.
    emotions = random_emotions(100)
    vectors = np.random.default_rng(3).normal(size=(100, 400))
    found = np.array(Acoustic().recognize(vectors, vectors, labelled(emotions)))
    assert 0.1 < (found == emotions).mean() < 0.45


def test_nothing_is_learned_from_other_speech_of_the_same_speaker() -> None:
    # A speaker has one emotion, and a voice of its own in which everything is said.
    number = np.arange(100) % 20
    emotions = np.array(EMOTIONS)[number % 4]
    vectors = np.random.default_rng(4).normal(size=(20, 400))[number]
    spoken = labelled(emotions, speakers=20)
    assert (np.array(Acoustic().recognize(vectors, vectors, spoken)) == emotions).mean() < 0.5


def test_speech_is_measured_by_what_was_learned_from_original_speech() -> None:
    emotions = random_emotions(60)
    original = np.array([[EMOTIONS.index(name)] for name in emotions], dtype=np.float64)
    # All the same after anonymization: it cannot be told apart, though it could be from itself.
    flat = np.full_like(original, 3)
    assert set(Acoustic().recognize(flat, original, labelled(emotions))) == {"sad"}


def test_what_an_utterance_lacks_is_taken_for_the_mean() -> None:
    # Happy is the emotion in the middle; two speakers, so the other one is what is learned from.
    emotions = np.array(["angry", "happy", "neutral"] * 4)
    vectors = np.array([[-1.0], [0.0], [1.0]] * 4)
    spoken = Labelled(("a",) * 6 + ("b",) * 6, ("1",) * 6 + ("2",) * 6, tuple(emotions.tolist()))
    lacking = np.full_like(vectors, np.nan)
    middle = Acoustic().recognize(np.zeros_like(vectors), vectors, spoken)
    assert Acoustic().recognize(lacking, vectors, spoken) == middle
    # A feature that nobody has says nothing.
    both, alone = np.hstack([vectors, lacking]), Acoustic().recognize(vectors, vectors, spoken)
    assert Acoustic().recognize(both, both, spoken) == alone


def test_too_little_to_learn_from() -> None:
    emotions = np.array(["sad"] + ["angry", "happy"] * 10)
    vectors = np.zeros((21, 2))
    spoken = Labelled(("a", *("b", "c") * 10), ("1", *("2", "3") * 10), tuple(emotions.tolist()))
    match = "fold 1: speakers of other folds lack sad to learn from; give more speakers"
    with pytest.raises(DataError, match=match):
        Acoustic().recognize(vectors, vectors, spoken)
    one = Labelled(("a", "b"), ("1", "2"), ("sad", "sad"))
    with pytest.raises(DataError, match="fold 1: speakers of other folds lack a second emotion"):
        Acoustic().recognize(vectors[:2], vectors[:2], one)
    alone = Labelled(("a", "b"), ("1", "1"), ("sad", "angry"))
    with pytest.raises(DataError, match="fold 1: speakers of other folds lack angry, sad to learn"):
        Acoustic().recognize(vectors[:2], vectors[:2], alone)


def test_recognizers_by_name(tmp_path: Path) -> None:
    assert recognizer("acoustic") == Acoustic()
    recognizer("acoustic").require_files()
    found = recognizer("wav2vec2-2024", str(tmp_path), "a" * 64)
    assert found == Wav2Vec2(str(tmp_path), "a" * 64)
    name: Any = "hubert"
    with pytest.raises(ConfigError, match="emotion: recognizer is 'hubert'; choose one of: acoust"):
        recognizer(name)
    with pytest.raises(ConfigError, match="recognizer acoustic: it has no use for weights; leave"):
        recognizer("acoustic", weights=str(tmp_path))


def test_vectors_are_acoustic_features() -> None:
    samples = np.random.default_rng(6).integers(-9_000, 9_000, 8_000).astype(np.int16)
    found = recognizer("acoustic").vector(samples, "1")
    np.testing.assert_array_equal(found, acoustic_features(samples))


@pytest.fixture(scope="module")
def emodb(test_data: Path) -> pd.DataFrame:
    """339 utterances of 10 speakers, with their folds."""
    table = pd.read_csv(test_data / "speech/emodb/utterances.tsv", sep="\t", dtype=str)
    folds = protocol.load("libri-mini").emotion_set("emodb").folds
    fold_of = {speaker: fold for fold, speakers in folds.items() for speaker in speakers}
    assert len(table) == 339
    return table.assign(fold=table["speaker"].map(fold_of))


@pytest.fixture(scope="module")
def spoken(test_data: Path, emodb: pd.DataFrame) -> list[Samples]:
    return [read_audio(test_data / "speech/emodb" / name).samples for name in emodb["file"]]


@pytest.fixture(scope="module")
def original(spoken: list[Samples]) -> Floats:
    return np.array([acoustic_features(samples) for samples in spoken])


def recalled(emodb: pd.DataFrame, vectors: Floats, original: Floats) -> RecallOverFolds:
    known = Labelled(tuple(emodb["speaker"]), tuple(emodb["fold"]), tuple(emodb["emotion"]))
    found = Acoustic().recognize(vectors, original, known)
    return recall_over_folds(known.emotions, found, known.folds, EMOTIONS)


def test_real_emotions_are_recognized(emodb: pd.DataFrame, original: Floats) -> None:
    assert original.shape == (339, len(FEATURES))
    assert np.isfinite(original).all()
    found = recalled(emodb, original, original)
    assert len(found.folds) == 5
    assert found.absent == ()
    # A guess has 0.25; with these features it is about 0.83.
    assert found.uar > 0.7
    assert min(found.recalls) > 0.5


def test_shuffled_emotions_are_not(emodb: pd.DataFrame, original: Floats) -> None:
    generator = np.random.default_rng(7)
    uars = []
    for _ in range(4):
        shuffled = emodb.assign(emotion=generator.permutation(emodb["emotion"]))
        uars.append(recalled(shuffled, original, original).uar)
    # One has a standard deviation of about 0.03.
    assert np.mean(uars) == pytest.approx(0.25, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["formant-pitch", "mcadams"])
def test_anonymized_emotions_are_recognized_less(
    emodb: pd.DataFrame, spoken: list[Samples], original: Floats, system: str
) -> None:
    # Every second utterance: anonymizing takes a minute.
    some, vectors = emodb[::2], []
    anonymizer = base.load(system, {"type": system})
    names = some["file"].tolist()
    seeds = [int(hashlib.sha256(name.encode()).hexdigest()[:15], 16) for name in names]
    sources = [Source(*pair) for pair in zip(names, some["speaker"], strict=True)]
    alphas = anonymizer.alphas(sources, seeds)
    for samples, *job in zip(spoken[::2], names, seeds, alphas, strict=True):
        vectors.append(acoustic_features(anonymizer.anonymize(samples, Job(*job))))
    before = recalled(some, original[::2], original[::2]).uar
    after = recalled(some, np.array(vectors), original[::2]).uar
    # Of all utterances it is about 0.83 before, 0.68 (formant-pitch) and 0.39 (mcadams) after.
    assert 0.25 < after < before - 0.05
