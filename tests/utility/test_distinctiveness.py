"""Voices as attackers hear them: those with embeddings, and those that only score pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from harness.attackers.base import Attacker, Embedding, Machine
from harness.attackers.base import Pair as Trial
from harness.corpora.opaque import Speech
from harness.corpora.store import Corpus
from harness.errors import ScoreError
from harness.runtime.events import Events
from harness.utility.base import Pair
from harness.utility.distinctiveness import Voices, voices
from harness.utility.stage import pairs
from utility.sets import Said, stored

# What each speaker says is this, and a little of something else.
DIRECTIONS = {"a": (9000, 0, 0), "b": (0, 9000, 0), "c": (0, 0, 9000)}
OTHERS = ((900, 300, 0), (0, 900, 300), (300, 0, 900), (500, 100, 500))


@dataclass(frozen=True)
class Scoring:
    """An attacker that compares the first three samples; seen: what it was shown."""

    seen: list[str] = field(default_factory=list)

    def train(self, *arguments: object, **named: object) -> None:
        raise AssertionError

    def score(
        self,
        model: Path,
        speech: Speech,
        enrolments: Mapping[str, Sequence[str]],
        trials: Sequence[Trial],
        *,
        machine: Machine,
        events: Events,
    ) -> npt.NDArray[np.float32]:
        self.seen.extend([*speech.recordings, *speech.speakers])
        found = heard(speech)
        scores = []
        for trial in trials:
            (enrolled,) = enrolments[trial.enrolment]
            one, other = found[enrolled], found[trial.trial]
            scores.append(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
        return np.array(scores, dtype=np.float32)


class EmbeddingToo(Scoring):
    """The same, by embeddings."""

    def score(self, *arguments: object, **named: object) -> npt.NDArray[np.float32]:
        raise AssertionError

    def embed(
        self, model: Path, speech: Speech, *, machine: Machine, events: Events
    ) -> dict[str, npt.NDArray[np.float32]]:
        self.seen.extend([*speech.recordings, *speech.speakers])
        return {name: one.astype(np.float32) for name, one in heard(speech).items()}


def heard(speech: Speech) -> dict[str, npt.NDArray[np.float64]]:
    return {name: one.read()[:3].astype(np.float64) for name, one in speech.recordings.items()}


def said(shared: int = 0) -> dict[str, Said]:
    """Four utterances of each speaker; shared: what all have in common, however they differ."""
    return {
        f"{speaker}-{number}": Said(
            np.array([*(np.add(direction, other) + shared), 0], dtype=np.int16), speaker, "f", ""
        )
        for speaker, direction in DIRECTIONS.items()
        for number, other in enumerate(OTHERS)
    }


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Pair]:
    monkeypatch.chdir(tmp_path)
    stored(Path("original/set"), said())
    # Half of what all speakers say is what one of them says.
    alike = {
        name: Said(said()[f"a-{name[-1]}" if name[-1] in "23" else name].samples, name[0])
        for name in said()
    }
    stored(Path("anonymized/set"), alike)
    return pairs(Corpus(Path("original/set")), Corpus(Path("anonymized/set")))


def compare(attacker: Attacker, chosen: Sequence[Pair], seed: int = 1) -> Voices:
    machine = Machine(1, "cpu")
    return voices(attacker, Path("model"), chosen, "f", seed=seed, machine=machine, events=Events())


def test_both_ways_agree(chosen: list[Pair]) -> None:
    assert isinstance(EmbeddingToo(), Embedding)
    assert not isinstance(Scoring(), Embedding)
    by_scores, by_embeddings = (compare(one, chosen[:8]) for one in (Scoring(), EmbeddingToo()))
    assert by_scores.matrices.keys() == by_embeddings.matrices.keys() == {"oo", "oa", "aa"}
    for kind, matrix in by_scores.matrices.items():
        np.testing.assert_allclose(matrix.values, by_embeddings.matrices[kind].values, atol=1e-6)


def test_original_speakers_are_like_themselves(chosen: list[Pair]) -> None:
    matrices = compare(EmbeddingToo(), chosen).matrices
    assert matrices["oo"].speakers == ("a", "b", "c")
    original = matrices["oo"].values
    assert original.diagonal().min() > 0.5 > original[~np.eye(3, dtype=bool)].max()


def test_speech_that_is_left_alone_keeps_its_voices(chosen: list[Pair]) -> None:
    same = [
        Pair(one.utterance, one.speaker, "f", "", one.original, one.original, {}) for one in chosen
    ]
    gain, lost = compare(EmbeddingToo(), same).values
    assert (gain.measure, gain.value, gain.n, gain.gender) == ("G_VD", 0.0, 12, "f")
    assert (lost.measure, lost.value) == ("DeID", pytest.approx(0, abs=1e-9))
    # Three speakers are too few for an interval.
    assert gain.low is gain.high is None


def test_voices_that_are_alike_are_a_loss(chosen: list[Pair]) -> None:
    gain, lost = compare(EmbeddingToo(), chosen).values
    assert -40 < gain.value < -0.5
    assert 10 < lost.value < 100


def test_silence_hides_everybody_and_has_no_gain(chosen: list[Pair]) -> None:
    # The same recording for every utterance: -inf dB, which no table holds.
    same = [
        Pair(one.utterance, one.speaker, "f", "", one.original, chosen[0].anonymized, {})
        for one in chosen
    ]
    found = compare(EmbeddingToo(), same)
    assert [(one.measure, one.value) for one in found.values] == [("DeID", pytest.approx(100))]
    assert found.warnings == (
        "anonymized speakers are all alike: G_VD is minus infinity, and left out",
    )


def test_an_attacker_that_tells_nobody_apart_says_nothing(chosen: list[Pair]) -> None:
    one = chosen[0].original
    same = [Pair(each.utterance, each.speaker, "f", "", one, one, {}) for each in chosen]
    found = compare(EmbeddingToo(), same)
    assert found.values == ()
    assert found.warnings == ("the attacker tells no original speakers apart: no G_VD and no DeID",)


def test_names_are_opaque_and_drawn(chosen: list[Pair]) -> None:
    first, again, other = EmbeddingToo(), EmbeddingToo(), EmbeddingToo()
    values = [compare(first, chosen, 1), compare(again, chosen, 1), compare(other, chosen, 2)]
    assert first.seen == again.seen
    # Original and anonymized, by names that say neither.
    assert len(set(first.seen)) == len(first.seen) == 24
    assert all(name.startswith("u") and name[1:].isdigit() for name in first.seen)
    # Names and their order are nothing to the voices.
    for one in values[1:]:
        np.testing.assert_array_equal(one.matrices["oa"].values, values[0].matrices["oa"].values)


def test_one_speaker_cannot_be_told_apart(chosen: list[Pair]) -> None:
    with pytest.raises(ScoreError, match="1 speakers cannot be told apart; give utterances of"):
        compare(EmbeddingToo(), chosen[:4])
