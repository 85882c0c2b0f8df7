"""What holds for every system of params.yaml: it alone counts, and no utterance is lost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.anonymizers.base import aimed, load
from harness.anonymizers.stage import anonymize
from harness.corpora.store import SAMPLE_RATE, Corpus, Made, Samples, Utterance, build
from harness.corpora.voices import speak, utterances, voices
from harness.protocols.protocol import DataSet
from harness.runtime import parameters
from harness.runtime.events import Event, Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
ENTRIES = parameters.load(ROOT / "params.yaml").anonymizers
SYSTEMS = sorted(ENTRIES)
# What most recordings are not.
ODD = ("silence", "one-window", "noise")


@dataclass(frozen=True)
class Recipe:
    """A voice of the demo, or something odd."""

    utterance: Utterance | None = None
    odd: str | None = None


def make(utterance: Utterance) -> Made:
    recipe: Recipe = utterance.recipe
    if recipe.utterance is not None:
        return speak(recipe.utterance)
    noise = np.random.default_rng(1).integers(-300, 300, SAMPLE_RATE).astype(np.int16)
    samples: Samples = {
        "silence": np.zeros(SAMPLE_RATE, dtype=np.int16),
        # The shortest that is an utterance to the definition of 2022.
        "one-window": noise[:480],
        "noise": noise,
    }[str(recipe.odd)]
    return Made(samples)


@lru_cache(maxsize=1)
def spoken() -> list[Utterance]:
    """Two utterances of each of three voices, and the odd ones."""
    said = utterances(voices(5, 2, 1, "q"), 2, 5)
    odd = [
        Utterance(f"q{n:03d}-9-0000", f"q{n:03d}", "f", "", SAMPLE_RATE, Recipe(odd=name))
        for n, name in enumerate(ODD, start=1)
    ]
    return sorted(
        [
            *(
                Utterance(u.utterance, u.speaker, u.gender, u.text, u.samples, Recipe(u))
                for u in said
            ),
            *odd,
        ],
        key=lambda one: one.utterance,
    )


def corpus(path: Path, chosen: list[Utterance], each: int) -> Path:
    shards = [chosen[start : start + each] for start in range(0, len(chosen), each)]
    build(path, shards, make, work=path.with_name(f"{path.name}-work"), pool=Pool(1))
    return path


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same utterances in one shard, in small ones, and a few of them alone."""
    folder = tmp_path_factory.mktemp("given")
    return {
        "whole": corpus(folder / "whole" / "set", spoken(), each=20),
        "parts": corpus(folder / "parts" / "set", spoken(), each=4),
        "few": corpus(folder / "few" / "set", spoken()[1::3], each=20),
    }


def run(
    entry: dict[str, Any], source: Path, targets: Path, target: Path, workers: int
) -> list[Event]:
    heard: list[Event] = []
    dataset = DataSet("set", "trial", 2, 1, 9)
    system = aimed(load("s", entry, dataset), targets)
    with Pool(workers) as pool:
        anonymize(
            {"set": system}, "s", [source], target, seed=3, pool=pool, events=Events(heard.append)
        )
    return heard


def made(folder: Path) -> dict[str, str]:
    """Hashes by utterance."""
    manifest = Corpus(folder / "set").manifest
    return dict(zip(manifest["utterance"], manifest["sha256"], strict=True))


@pytest.mark.parametrize("name", SYSTEMS)
def test_neighbours_shards_and_workers_change_nothing(
    name: str, given: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = ENTRIES[name]
    if entry.get("alphas_from") == "official":
        pytest.skip("the challenge drew in the order of the set: that is its definition")
    monkeypatch.chdir(tmp_path)
    heard = run(entry, given["whole"], given["whole"], tmp_path / "whole", 1)
    whole = made(tmp_path / "whole")
    run(entry, given["parts"], given["whole"], tmp_path / "parts", 2)
    assert made(tmp_path / "parts") == whole
    run(entry, given["few"], given["whole"], tmp_path / "few", 1)
    few = made(tmp_path / "few")
    assert few == {utterance: whole[utterance] for utterance in few}
    assert len(few) == 3
    # Nothing is lost, and nothing but the odd ones became silent.
    assert sorted(whole) == [one.utterance for one in spoken()]
    manifest = Corpus(tmp_path / "whole" / "set").manifest
    silent = {
        u
        for u, note in zip(manifest["utterance"], manifest["note"], strict=True)
        if "silence" in note.split(";")
    }
    odd = {one.utterance for one in spoken() if one.recipe.odd}
    assert {"q001-9-0000"} <= silent <= odd
    told = [event["message"] for event in heard if event["event"] == "warning"]
    assert bool(told) == bool(silent - {"q001-9-0000"})
    if name != "orig":
        original = made(given["whole"].parent)
        assert not {u for u in whole if whole[u] == original[u]} - {"q001-9-0000"}
