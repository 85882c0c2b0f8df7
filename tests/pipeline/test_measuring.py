"""The stages of utility, with an evaluator that writes down what it measures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import yaml
from scored_demo import PARAMETERS
from utility.counting import measured
from utility.sets import Said, stored

from harness.corpora.store import Corpus
from harness.errors import AudioError, ConfigError, DataError
from harness.pipeline import compare, emotion, emotion_anonymize, emotion_corpus, utility
from harness.pipeline.context import Context, open_context
from harness.protocols.values import Value, read_values, to_csv
from harness.runtime.events import Event
from harness.runtime.files import write_text

TRIALS = ("demo_test_trials_f", "demo_test_trials_m")
# The evaluator of tests/utility/counting.py, as a stranger's distribution registers it.
ENTRY_POINTS = "[harness.evaluators]\nloud = utility.counting:Counting\n"
EMOTIONS = {"W": 127, "F": 71, "N": 79, "T": 62}
SPEAKERS = ("03", "08", "09", "10", "11", "12", "13", "14", "15", "16")
BOOK = Path("book")


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters in which `loud` measures the demo, and EmoDB beside libri-mini."""
    info = tmp_path / "loud-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(tmp_path)
    demo = PARAMETERS["benchmark"] | {"systems": ["orig", "b2"], "evaluators": ["loud"]}
    emotional = {"emotion_sets": ["emodb"], "emotion_evaluators": ["loud"]}
    content = PARAMETERS | {
        "benchmark": demo,
        "benchmarks": {"libri-mini": demo | emotional | {"name": "libri-mini"}},
        "evaluators": {"loud": {"type": "loud", "book": BOOK.as_posix()}, "pitch": {"type": "wer"}},
    }
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def loudest(peak: int) -> np.ndarray:
    return np.array([0, peak, 5, -7], dtype=np.int16)


def sets(folder: Path, peak: int) -> None:
    """Two women, two men; and speech that no list tries."""
    for name, speakers in zip((*TRIALS, "demo_test_enrolls"), ("ab", "cd", "e"), strict=True):
        gender = "m" if speakers == "cd" else "f"
        stored(
            folder / name,
            {f"{one}-1": Said(loudest(peak), one, gender, f"OF {one}") for one in speakers},
        )


def make(context: Context) -> None:
    sets(context.layout.corpus, 1_000)
    sets(context.layout.anonymized("b2"), 250)


def table(folder: Path) -> list[list[str]]:
    text = (folder / "utterances.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def test_trial_utterances_are_measured() -> None:
    heard: list[Event] = []
    context = open_context("demo", (heard.append,))
    make(context)
    said = utility.run(context, "b2", "loud")
    assert said == "utility@demo-b2-loud: LEVEL demo test 1.00"
    assert measured(BOOK) == ["a-1", "b-1", "c-1", "d-1"]
    folder = Path("results/demo/utility/b2/loud")
    place = ("b2", "loud", "", "LEVEL", "demo", "test")
    assert read_values(folder / "values.csv") == [
        Value(*place, "", 4, 1.0, 0, 1),
        Value(*place, "f", 2, 0.5, 0, 1),
        Value(*place, "m", 2, 0.5, 0, 1),
    ]
    assert table(folder) == [
        ["dataset", "split", "utterance", "speaker", "text", "level"],
        *(["demo", "test", f"{one}-1", one, f"OF {one}", "0.25"] for one in "abcd"),
    ]
    assert sorted(path.name for path in folder.iterdir()) == [
        *("events.jsonl", "utterances.tsv", "values.csv"),
    ]


def test_the_run_says_what_it_was_of() -> None:
    context = open_context("demo")
    make(context)
    utility.run(context, "b2", "loud")
    text = Path("results/demo/utility/b2/loud/events.jsonl").read_text(encoding="utf-8")
    run, *metrics, done = (json.loads(line) for line in text.splitlines())
    assert (run["event"], run["stage"], run["key"]) == ("run", "utility", "utility@demo-b2-loud")
    assert (run["benchmark"], run["system"], run["evaluator"]) == ("demo", "b2", "loud")
    assert run["parameters"] == {
        "anonymizer": PARAMETERS["anonymizers"]["b2"],
        "evaluator": {"type": "loud", "book": "book"},
    }
    assert [one["name"] for one in run["datasets"]] == [
        f"data/demo/{kind}/{name}" for name in TRIALS for kind in ("corpus", "anonymized/b2")
    ]
    stored_digest = Corpus(Path("data/demo/anonymized/b2", TRIALS[0])).digest()
    assert run["datasets"][1]["digest"] == stored_digest
    assert {one["name"]: one["value"] for one in metrics} == {
        "LEVEL/demo/test/all": 1.0,
        "LEVEL/demo/test/f": 0.5,
        "LEVEL/demo/test/m": 0.5,
    }
    assert done["event"] == "done"


def test_the_folder_is_whole_or_not_there() -> None:
    context = open_context("demo")
    make(context)
    Path(f"{BOOK}.stop").write_text("d-1", encoding="utf-8")
    with pytest.raises(AudioError, match="utterance d-1: cannot be heard"):
        utility.run(context, "b2", "loud")
    assert not Path("results").exists()
    Path(f"{BOOK}.stop").unlink()
    utility.run(context, "b2", "loud")
    # What one set had was kept.
    assert measured(BOOK) == ["a-1", "b-1", "c-1", "d-1", "c-1", "d-1"]
    assert not [path for path in Path(".work").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("system", "evaluator", "said"),
    [
        ("b9", "loud", "system 'b9' is not part of benchmark demo; it has an entry: add it to `sy"),
        ("b2", "lout", "evaluator 'lout' is not part of benchmark demo; did you mean 'loud'"),
        (
            "b2",
            "pitch",
            "evaluator 'pitch' is not part of benchmark demo; it has an entry: add it to",
        ),
    ],
)
def test_what_is_no_part_of_the_benchmark(system: str, evaluator: str, said: str) -> None:
    with pytest.raises(ConfigError, match=f"params.yaml: {said}"):
        utility.run(open_context("demo"), system, evaluator)


# Emotions


def emodb(folder: Path) -> None:
    """As many files as EmoDB has of the four emotions, by the same speakers."""
    folder.mkdir()
    for letter, count in EMOTIONS.items():
        for n in range(count):
            name = f"{SPEAKERS[n % 10]}a{n // 10 + 1:02d}{letter}a.wav"
            soundfile.write(str(folder / name), loudest(100 + n), 16_000)


def test_emotional_speech_from_corpus_to_values(monkeypatch: pytest.MonkeyPatch) -> None:
    context = open_context("libri-mini")
    match = r"^params\.yaml: sources\.emodb: where is EmoDB\?; set it, or .* HARNESS_EMODB$"
    with pytest.raises(ConfigError, match=match):
        emotion_corpus.run(context, "emodb")
    emodb(Path("emodb"))
    monkeypatch.setenv("HARNESS_EMODB", "emodb")
    said = emotion_corpus.run(context, "emodb")
    assert said == "emotion-corpus libri-mini emodb: 339 utterances"
    original = Corpus(Path("data/libri-mini/emotion/corpus/emodb"))
    assert original.manifest["emotion"].value_counts().to_dict() == {
        "angry": 127,
        "happy": 71,
        "neutral": 79,
        "sad": 62,
    }

    said = emotion_anonymize.run(context, "emodb", "orig")
    assert said == "emotion-anonymize libri-mini emodb orig: 339 utterances"
    folder = Path("data/libri-mini/emotion/anonymized/emodb/orig/emodb")
    assert Corpus(folder).manifest["sha256"].tolist() == original.manifest["sha256"].tolist()

    said = emotion.run(context, "emodb", "orig", "loud")
    # Each is as loud as itself.
    assert said == "emotion@libri-mini-emodb-orig-loud: LEVEL emodb test 339.00"
    values = read_values(Path("results/libri-mini/utility/orig/emodb-loud/values.csv"))
    assert [(one.dataset, one.split, one.gender, one.n) for one in values[:1]] == [
        ("emodb", "test", "", 339)
    ]
    assert {one.gender for one in values} == {"", "f", "m"}


@pytest.mark.parametrize(
    ("run", "arguments", "said"),
    [
        (emotion_corpus.run, ("iemocap",), "set 'iemocap' is not part of benchmark libri-mini;"),
        (emotion_anonymize.run, ("emo", "orig"), "set 'emo' is not .*; did you mean 'emodb'"),
        (emotion_anonymize.run, ("emodb", "b3"), "system 'b3' is not .*; known are: b2, orig"),
        (emotion.run, ("emodb", "orig", "wer"), "evaluator 'wer' is not part of .*known are: loud"),
    ],
)
def test_what_is_no_part_of_emotions(run: Any, arguments: Sequence[str], said: str) -> None:
    with pytest.raises(ConfigError, match=f"params.yaml: {said}"):
        run(open_context("libri-mini"), *arguments)


def test_an_imported_system_has_no_emotional_speech() -> None:
    content = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    entry = {"type": "imported", "folder": "data/libri-mini/imported/b2", "sha256": "0" * 64}
    content["anonymizers"]["b2"] = entry
    Path("params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    # The demo has no such sets.
    open_context("demo")
    match = (
        r"^params\.yaml: anonymizers\.b2: its speech is imported, and has no set emodb; set "
        r"`emotion_sets: \[\]` in benchmark libri-mini$"
    )
    with pytest.raises(ConfigError, match=match):
        open_context("libri-mini")


# What `compare` takes up


def test_values_come_in_the_order_of_the_benchmark() -> None:
    context = open_context("libri-mini")
    place = Path("results/libri-mini/utility")
    voices = [
        f"voices-{attacker}-seed-{seed}" for attacker in ("strong", "weak") for seed in (1, 2)
    ]
    expected = []
    for system in ("orig", "b2"):
        for number, name in enumerate(("loud", "emodb-loud", *voices)):
            one = Value(system, name, "", "LEVEL", "x", "test", "", 1, float(number))
            write_text(place / system / name / "values.csv", to_csv([one]))
            expected.append(one)
    # What is no part of the benchmark lies there from before.
    write_text(place / "b2" / "old" / "values.csv", to_csv(expected))
    assert list(compare.utility_values(context)) == expected
    (place / "b2" / "emodb-loud" / "values.csv").unlink()
    match = r"^results/libri-mini/utility/b2/emodb-loud/values\.csv: no such table; run `dvc repro`"
    with pytest.raises(DataError, match=match):
        list(compare.utility_values(context))
