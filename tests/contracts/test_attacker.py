"""`harness contract train` and `score`, without a container: what ECAPA gives when it is called."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.attackers.base import Machine
from harness.attackers.ecapa.attacker import Ecapa
from harness.contracts.attacker import tiny
from harness.contracts.attacker.exchange import read_scores, write_scoring, write_training
from harness.contracts.inputs import Circumstances, Held
from harness.corpora.opaque import Speech, speech
from harness.corpora.store import Corpus, Made, Utterance, build, partition
from harness.runtime.events import Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

TINY: dict[str, Any] = {
    "channels": [8, 8, 8, 8, 24],
    "attention_channels": 8,
    "embedding_dim": 16,
    "n_mels": 24,
    "batch_size": 4,
    "epochs": 1,
    "crop_seconds": 1.0,
    "min_seconds": 1.0,
    "step_size": 3,
}
PARAMETERS = {"type": "ecapa", **TINY}
ATTACKER = Ecapa(**{name: tuple(v) if isinstance(v, list) else v for name, v in TINY.items()})
SEED = 7


def contract(verb: str, folder: Path) -> tuple[int, list[dict[str, Any]]]:
    """Run a verb in a process on `folder/in`; its exit status and events."""
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "harness.cli.main", "contract"),
            *("--in", folder / "in", "--out", folder / "out", verb),
        ],
        capture_output=True,
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def stored(folder: Path, sounds: dict[str, Held]) -> Corpus:
    """The same speech as the pipeline keeps it."""
    utterances = [
        Utterance(name, "s", "f", "", len(sound.samples), sound.samples)
        for name, sound in sorted(sounds.items())
    ]
    with Pool(1) as pool:
        build(folder / "c", partition(utterances), kept, work=folder / "work", pool=pool)
    return Corpus(folder / "c")


def kept(utterance: Utterance) -> Made:
    return Made(utterance.recipe)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `train` has run."""
    folder = tmp_path_factory.mktemp("trained")
    sounds, speakers = tiny.training()
    write_training(folder / "in", sounds, speakers, PARAMETERS, Circumstances(seed=SEED))
    status, events = contract("train", folder)
    assert status == 0
    assert events[-1] == {"event": "done"}
    assert {event["event"] for event in events} == {"progress", "metric", "done"}
    return folder


def test_the_model_is_that_of_a_direct_training(trained: Path, tmp_path: Path) -> None:
    sounds, speakers = tiny.training()
    recordings = speech(stored(tmp_path, sounds), {name: name for name in sounds}).recordings
    ATTACKER.train(
        Speech(recordings, speakers),
        tmp_path / "model",
        seed=SEED,
        work=tmp_path / "checkpoints",
        machine=Machine(1, "cpu"),
        events=Events(),
    )
    made, direct = (
        {path.name: path.read_bytes() for path in folder.iterdir()}
        for folder in (trained / "out" / "model", tmp_path / "model")
    )
    assert made == direct
    assert [path.name for path in (trained / "out").iterdir()] == ["model"]


def test_the_scores_are_those_of_a_direct_call(trained: Path, tmp_path: Path) -> None:
    asked = tiny.scoring()
    model = trained / "out" / "model"
    write_scoring(
        *(tmp_path / "in", model, asked.sounds, asked.enrolments, asked.pairs),
        *(PARAMETERS, Circumstances(threads=2)),
    )
    status, events = contract("score", tmp_path)
    assert (status, events[-1]) == (0, {"event": "done"})
    scores = read_scores(tmp_path / "out" / "scores.tsv", asked.pairs)
    direct = ATTACKER.score(
        model,
        speech(stored(tmp_path, dict(asked.sounds)), {name: name for name in asked.sounds}),
        asked.enrolments,
        asked.pairs,
        machine=Machine(1, "cpu"),
        events=Events(),
    )
    assert scores.tobytes() == direct.tobytes()
    assert len(np.unique(scores)) == len(asked.pairs)


@pytest.mark.parametrize(
    ("verb", "place", "said"),
    [
        ("train", "train/audio/u0003.wav", "u0003.wav: not a WAV file"),
        ("train", "train/manifest.tsv", "manifest.tsv: has no column"),
        ("score", "model/model.safetensors", "not a whole ECAPA model"),
        ("score", "pairs.tsv", "pairs.tsv: has no column"),
    ],
)
def test_bad_input_is_one_error_event(
    verb: str, place: str, said: str, trained: Path, tmp_path: Path
) -> None:
    sounds, speakers = tiny.training()
    asked = tiny.scoring()
    if verb == "train":
        write_training(tmp_path / "in", sounds, speakers, PARAMETERS, Circumstances())
    else:
        write_scoring(
            *(tmp_path / "in", trained / "out" / "model", asked.sounds, asked.enrolments),
            *(asked.pairs, PARAMETERS, Circumstances()),
        )
    (tmp_path / "in" / place).write_bytes(b"nothing of use")
    status, events = contract(verb, tmp_path)
    assert status == 1
    assert [event["event"] for event in events].count("error") == 1
    assert events[-1]["event"] == "error"
    assert said in events[-1]["message"]
