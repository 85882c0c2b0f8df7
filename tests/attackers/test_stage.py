"""What an attacker is shown, and what becomes of its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from harness.attackers.base import Machine, Pair, load
from harness.attackers.stage import Lists, Run, score, score_path, train, trials_path
from harness.corpora.opaque import Speech
from harness.corpora.store import Corpus, Made, Utterance, build, partition
from harness.errors import ConfigError, ScoreError
from harness.protocols.lists import cross_product, sha256_text, to_text
from harness.protocols.protocol import Average, DataSet, Protocol, Source, TrialList
from harness.protocols.scenarios import ORIGINAL
from harness.runtime.events import Events
from harness.runtime.pool import Pool


@dataclass
class Spy:
    """A stand-in attacker: keeps what it is shown; its score is the length of the trial."""

    seen: dict[str, Any] = field(default_factory=dict)
    shape: int | None = None

    def train(
        self,
        speech: Speech,
        model: Path,
        *,
        seed: int,
        work: Path,
        machine: Machine,
        events: Events,
    ) -> None:
        self.seen["training"] = speech
        (model / "model").write_text("spy")

    def score(
        self,
        model: Path,
        speech: Speech,
        enrolments: Mapping[str, Sequence[str]],
        pairs: Sequence[Pair],
        *,
        machine: Machine,
        events: Events,
    ) -> npt.NDArray[np.float32]:
        self.seen |= {"speech": speech, "enrolments": enrolments, "pairs": pairs}
        scores = [speech.recordings[pair.trial].samples for pair in pairs]
        return np.array(scores[: self.shape], dtype=np.float32)


def silence(utterance: Utterance) -> Made:
    return Made(np.zeros(utterance.samples, np.int16))


@pytest.fixture
def lists(tmp_path: Path) -> Lists:
    """Three enrolled speakers with two utterances, four trial speakers with two; lengths differ."""
    speakers = ["alice", "bob", "carol", "dave"]
    sets = {
        "enrol": [(s, f"{s}-1-{n}") for s in speakers[:3] for n in range(2)],
        "trial": [(s, f"{s}-2-{n}") for s in speakers for n in range(2)],
    }
    length = 1000
    for name, members in sets.items():
        made = []
        for speaker, utterance in members:
            length += 10
            made.append(Utterance(utterance, speaker, "f", "", length, None))
        with Pool(1) as pool:
            build(
                tmp_path / "corpus" / name,
                partition(made),
                silence,
                work=tmp_path / name,
                pool=pool,
            )
    text = to_text(cross_product(speakers[:3], {u: s for s, u in sets["trial"]}))
    path = trials_path(tmp_path / "corpus", "trial")
    path.parent.mkdir(parents=True)
    path.write_text(text)
    listed = TrialList("trial", "enrol", "d", "test", "f", 6, 18, sha256_text(text))
    protocol = Protocol(
        name="p",
        title="p",
        source=Source("lists"),
        sets=(DataSet("enrol", "enrolment", 3, 0, 6), DataSet("trial", "trial", 4, 0, 8)),
        lists=(listed,),
        averages=(Average("test", "Average"),),
    )
    return Lists(protocol, tmp_path / "corpus", tmp_path / "corpus")


def a_run(spy: Spy) -> Run:
    return Run("score@p", spy, 3, Machine(1, "cpu"), {"benchmark": "p"})


def test_names_and_order_tell_nothing(lists: Lists, tmp_path: Path) -> None:
    spy = Spy()
    score(a_run(spy), {ORIGINAL: Path("model")}, lists, tmp_path / "scores", Events())
    shown = (
        repr(spy.seen["enrolments"])
        + repr(spy.seen["pairs"])
        + repr(list(spy.seen["speech"].recordings))
    )
    for name in ("alice", "bob", "carol", "dave", "-1-", "-2-"):
        assert name not in shown
    assert spy.seen["speech"].speakers == {}
    # In C order each enrolled speaker's own trials would come first: the pairs are shuffled.
    trials = lists.trials(lists.protocol.lists[0])
    lengths = {
        u: int(n)
        for u, n in lists.corpus("original", "trial").manifest[["utterance", "samples"]].values
    }
    shown_lengths = [spy.seen["speech"].recordings[p.trial].samples for p in spy.seen["pairs"]]
    assert sorted(shown_lengths) == sorted(lengths[t.utterance] for t in trials)
    assert shown_lengths != [lengths[t.utterance] for t in trials]


def test_scores_come_back_to_their_trials_in_list_order(lists: Lists, tmp_path: Path) -> None:
    score(a_run(Spy()), {ORIGINAL: Path("model")}, lists, tmp_path / "scores", Events())
    listed = lists.protocol.lists[0]
    path = score_path(tmp_path / "scores", "original", listed)
    assert path == tmp_path / "scores/original/enrol-trial/scores"
    lines = [line.split(" ") for line in path.read_text().splitlines()]
    assert [line[:2] for line in lines] == [
        [t.enrolment, t.utterance] for t in lists.trials(listed)
    ]
    # The fixture's trial utterances are 1070, 1080, … samples long, in C order.
    expected = {
        f"{s}-2-{n}": 1070.0 + 20 * k + 10 * n
        for k, s in enumerate(["alice", "bob", "carol", "dave"])
        for n in (0, 1)
    }
    assert all(float(line[2]) == expected[line[1]] for line in lines)


def test_a_missing_score_is_refused(lists: Lists, tmp_path: Path) -> None:
    with pytest.raises(ScoreError, match=r"scores of shape \(5,\) for 24 trials"):
        score(a_run(Spy(shape=5)), {ORIGINAL: Path("model")}, lists, tmp_path / "scores", Events())


def test_training_shows_opaque_speakers(
    lists: Lists, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spy = Spy()
    corpus: Corpus = lists.corpus("original", "enrol")
    train(a_run(spy), corpus, "p/enrol", tmp_path / "model", Events())
    shown: Speech = spy.seen["training"]
    assert len(shown) == 6
    assert len(set(shown.speakers.values())) == 3
    assert "alice" not in repr(list(shown.recordings)) + repr(shown.speakers)
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["events.jsonl", "model"]


def test_unknown_type_and_parameter() -> None:
    with pytest.raises(
        ConfigError, match=r"attackers\.x: unknown attacker type 'ecappa'; did you mean 'ecapa'"
    ):
        load("x", {"type": "ecappa"})
    with pytest.raises(
        ConfigError, match=r"attackers\.x: unknown name 'epoch'; did you mean 'epochs'"
    ):
        load("x", {"type": "ecapa", "epoch": 3})
    with pytest.raises(ConfigError, match=r"attackers\.x\.epochs: expected int, found '3'"):
        load("x", {"type": "ecapa", "epochs": "3"})
