"""Evaluators by name, those of strangers too; groups of one gender."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from harness.anonymizers.pretrained import Pinned
from harness.errors import ConfigError
from harness.utility.base import Evaluator, by_gender, load
from harness.utility.emotion import Emotion
from harness.utility.pitch_correlation import PitchCorrelation
from harness.utility.wer import WordErrorRate
from utility.sets import group

PLUGIN = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Loud:
    decibels: float = 3.0
    def measure(self, pair): ...
    def evaluate(self, group, sampling): ...
@dataclass(frozen=True)
class Deaf:
    def measure(self, pair): ...
"""
ENTRY_POINTS = """
[harness.evaluators]
loud = loud_plugin:Loud
deaf = loud_plugin:Deaf
needy = a_module_that_is_not_installed:X
"""
HASH = "0" * 64


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stranger's installed distribution that registers evaluators."""
    (tmp_path / "loud_plugin.py").write_text(PLUGIN)
    info = tmp_path / "loud-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "wer"}, WordErrorRate()),
        (
            {"type": "wer", "recognizer": "whisper-tiny", "normalization": "vpc2022"},
            WordErrorRate(recognizer="whisper-tiny", normalization="vpc2022"),
        ),
        (
            {"type": "wer", "recognizer": "whisper", "weights": "/w", "sha256": HASH},
            WordErrorRate(recognizer="whisper", weights="/w", sha256=HASH),
        ),
        ({"type": "pitch-correlation"}, PitchCorrelation()),
        ({"type": "emotion"}, Emotion()),
        (
            {"type": "emotion", "recognizer": "wav2vec2-2024", "weights": "/w", "sha256": HASH},
            Emotion(recognizer="wav2vec2-2024", weights="/w", sha256=HASH),
        ),
    ],
)
def test_own_evaluators(entry: dict[str, Any], expected: Evaluator) -> None:
    found = load("x", entry)
    assert found == expected
    assert isinstance(found, Evaluator)
    # As it goes to workers, and as it identifies what was measured.
    assert pickle.loads(pickle.dumps(found)) == found
    assert repr(pickle.loads(pickle.dumps(found))) == repr(expected)
    assert isinstance(found, Pinned) == (entry["type"] != "pitch-correlation")


def test_parameters_tell_evaluators_apart() -> None:
    assert repr(load("x", {"type": "wer"})) != repr(
        load("x", {"type": "wer", "normalization": "vpc2022"})
    )


def test_a_strangers_evaluator_is_found_by_name(plugin: None) -> None:
    found = load("mine", {"type": "loud", "decibels": 6})
    assert repr(found) == "Loud(decibels=6.0)"
    assert isinstance(found, Evaluator)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, r"^params\.yaml: evaluators\.x: unknown evaluator type ''; known are: "),
        ({"type": "emotions"}, r"unknown evaluator type 'emotions'; did you mean 'emotion'"),
        ({"type": "deaf"}, r"loud_plugin:Deaf is no evaluator; make it .* measure\(\) and evalu"),
        ({"type": "needy"}, r"cannot be imported \(No module named 'a_module_that_is_not_in"),
        (
            {"type": "wer", "recogniser": "whisper-tiny"},
            r"^params\.yaml: evaluators\.x: unknown name 'recogniser'; did you mean 'recognizer'",
        ),
        (
            {"type": "wer", "recognizer": "whisper-large"},
            r"^params\.yaml: evaluators\.x\.recognizer: 'whisper-large' is not possible; use one",
        ),
        (
            {"type": "wer", "normalization": "englsh"},
            r"^params\.yaml: evaluators\.x \(normalization\): unknown normalization 'englsh'; did",
        ),
        (
            {"type": "wer", "recognizer": "whisper"},
            r"^params\.yaml: evaluators\.x \(evaluator wer\): recognizer whisper has no weights;",
        ),
        (
            {"type": "wer", "weights": "/w"},
            r"^params\.yaml: evaluators\.x \(evaluator wer\): recognizer whisper-tiny has no use",
        ),
        ({"type": "wer", "sha256": 7}, r"evaluators\.x\.sha256: expected str, found 7"),
        (
            {"type": "pitch-correlation", "floor": 75},
            r"^params\.yaml: evaluators\.x: unknown name 'floor'; known are: none",
        ),
        (
            {"type": "emotion", "recognizer": "hubert"},
            r"^params\.yaml: evaluators\.x\.recognizer: 'hubert' is not possible; use one of 'ac",
        ),
        (
            {"type": "emotion", "weights": "/w"},
            r"^params\.yaml: evaluators\.x \(recognizer acoustic\): it has no use for weights",
        ),
        (
            {"type": "emotion", "recognizer": "wav2vec2-2024"},
            r"^params\.yaml: evaluators\.x \(recognizer wav2vec2-2024\): weights is None; name",
        ),
    ],
)
def test_mistake_is_named(plugin: None, entry: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("x", entry)


def test_women_and_men_apart() -> None:
    whole = group(
        ({"x": 0}, "s1", "m", ""),
        ({"x": 1}, "s2", "f", ""),
        ({"x": 2}, "s3", "f", ""),
        ({"x": 3}, "s1", "m", ""),
    )
    first, women, men = by_gender(whole)
    assert first is whole
    assert (len(women), women.gender, women.speakers) == (2, "f", ["s2", "s3"])
    assert (len(men), men.gender, men.speakers) == (2, "m", ["s1", "s1"])
    assert [one["x"] for one in women.measured] == [1, 2]
    assert [one["x"] for one in men.measured] == [0, 3]
    assert {(one.dataset, one.split) for one in (women, men)} == {("libri", "test")}


def test_of_one_gender_there_is_one_group() -> None:
    women = group(({}, "s1", "f", ""), ({}, "s2", "f", ""))
    assert list(by_gender(women)) == [women]
    assert women.gender == ""
