"""params.yaml: every mistake is found before any work starts, with the way out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import ConfigError
from harness.runtime.parameters import (
    EMODB_VARIABLE,
    LIBRISPEECH_VARIABLE,
    LISTS_VARIABLE,
    load,
)

REPOSITORY = Path(__file__).parents[2]


def content() -> dict[str, Any]:
    demo = {
        "name": "demo",
        "systems": ["orig", "b2"],
        "attackers": ["ecapa"],
        "seeds": [1986],
        "segment_seconds": None,
        "evaluators": ["wer"],
    }
    mini = {
        **demo,
        "name": "libri-mini",
        "emotion_sets": ["emodb"],
        "emotion_evaluators": ["emotion"],
    }
    return {
        "benchmarks": {"demo": demo, "libri-mini": mini},
        "benchmark": dict(demo),
        "anonymizers": {"orig": {"type": "original"}, "b2": {"type": "mcadams"}},
        "attackers": {"ecapa": {"type": "ecapa"}},
        "evaluators": {"wer": {"type": "wer"}, "emotion": {"type": "emotion"}},
        "seed": 5,
        "sources": {"librispeech": "/speech", "lists": None},
        "runtime": {"threads": 2},
        "tracking": {"enabled": False},
    }


def put(values: dict[str, Any], place: str, value: Any) -> None:
    *above, last = place.split(".")
    for name in above:
        values = values[name]
    values[last] = value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "params.yaml"


def write(path: Path, place: str | None = None, value: Any = None) -> None:
    values = content()
    if place is not None:
        put(values, place, value)
    path.write_text(yaml.safe_dump(values))


def test_shipped_file_is_right() -> None:
    parameters = load(REPOSITORY / "params.yaml")
    assert parameters.benchmark.name == "demo"
    assert set(parameters.benchmarks) == {"demo", "libri-mini", "vpac2025"}
    # Uncut training audio with one utterance a speaker would overstate privacy.
    assert parameters.benchmarks["libri-mini"].segment_seconds == 3.0


def test_values_and_defaults(path: Path) -> None:
    write(path)
    parameters = load(path)
    assert parameters.benchmark.systems == ("orig", "b2")
    assert parameters.benchmark == parameters.benchmarks["demo"]
    assert parameters.benchmark.evaluators == ("wer",)
    assert (parameters.benchmark.emotion_sets, parameters.benchmark.emotion_evaluators) == ((), ())
    mini = parameters.benchmarks["libri-mini"]
    assert (mini.emotion_sets, mini.emotion_evaluators) == (("emodb",), ("emotion",))
    assert (parameters.runtime.threads, parameters.runtime.device) == (2, "auto")
    assert (parameters.runtime.workers, parameters.tracking.uri) == (None, None)
    assert parameters.runner == "process"


def test_the_runner_is_chosen(path: Path) -> None:
    write(path, "runner", "docker")
    assert load(path).runner == "docker"


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("benchmak", 1, r"params\.yaml: unknown name 'benchmak'; did you mean 'benchmark"),
        (
            "benchmark.sytems",
            [],
            r"params\.yaml\.benchmark: unknown name 'sytems'; did you mean 'sys",
        ),
        ("benchmark.name", "dem", r"benchmark\.name: no benchmark 'dem'; did you mean 'demo'"),
        ("benchmarks.demo.name", "dem", r"benchmarks\.demo\.name: no benchmark 'dem'"),
        ("benchmark.systems", ["orig", "b3"], r"systems: no system 'b3'; known are: b2, orig"),
        ("benchmark.systems", ["b2"], r"systems: 'orig' is missing: every scenario .*; add orig"),
        ("benchmark.systems", [], r"benchmark\.systems: the list is empty; name at least one"),
        ("benchmark.systems", "orig", r"benchmark\.systems: expected a list, found 'orig'"),
        ("benchmark.systems", ["orig", "b2", "b2"], r"systems: values are missing or stand twice"),
        ("benchmark.attackers", ["ekapa"], r"no attacker 'ekapa'; did you mean 'ecapa'"),
        ("benchmark.attackers", [], r"benchmark\.attackers: the list is empty"),
        ("benchmark.evaluators", ["emotio"], r"evaluators: no evaluator 'emotio'; did you mean"),
        ("benchmark.evaluators", [], r"benchmark\.evaluators: the list is empty; name at least"),
        ("benchmark.evaluators", ["wer", "wer"], r"benchmark\.evaluators: values are missing or"),
        ("evaluators.wer", {"weights": "x"}, r"params\.yaml: benchmarks\.demo: 'wer' has no type"),
        ("evaluators.a b", {"type": "wer"}, r"params\.yaml: evaluators: 'a b' cannot be a name"),
        (
            "benchmarks.libri-mini.emotion_sets",
            ["emo"],
            r"libri-mini\.emotion_sets: libri-mini has no set of emotional speech 'emo'; did you",
        ),
        (
            "benchmark.emotion_sets",
            ["emodb"],
            r"benchmark\.emotion_evaluators: the list is empty; name at least one",
        ),
        (
            "benchmarks.libri-mini.emotion_sets",
            ["emodb", "emodb"],
            r"libri-mini\.emotion_sets: values are missing or stand twice; name each once",
        ),
        (
            "benchmarks.libri-mini.emotion_evaluators",
            ["emotions"],
            r"emotion_evaluators: no emotion_evaluator 'emotions'; did you mean 'emotion'",
        ),
        (
            "benchmarks.libri-mini.emotion_evaluators",
            ["emotion", "emotion"],
            r"libri-mini\.emotion_evaluators: values are missing or stand twice",
        ),
        ("sources.emodb", 1, r"sources\.emodb: expected str, found 1"),
        ("benchmark.seeds", [], r"benchmark\.seeds: values are missing"),
        ("benchmark.seeds", [1, 1], r"benchmark\.seeds: values are missing or stand twice"),
        ("benchmark.seeds", [1.5], r"benchmark\.seeds\[0\]: expected int, found 1\.5"),
        ("benchmark.segment_seconds", 0, r"segment_seconds: 0\.0 is not a length; use seconds abo"),
        ("benchmark.segment_seconds", -1.0, r"segment_seconds: -1\.0 is not a length"),
        ("benchmark.segment_seconds", float("nan"), r"segment_seconds: nan is not a length"),
        ("benchmark.segment_seconds", float("inf"), r"segment_seconds: inf is not a length"),
        ("anonymizers.b2", {"alpha_min": 0.5}, r"'b2' has no type; add `type:`"),
        ("anonymizers.b2", "mcadams", r"anonymizers\.b2: expected a mapping, found 'mcadams'"),
        ("seed", "x", r"params\.yaml\.seed: expected int, found 'x'"),
        ("runtime.threads", 0, r"params\.yaml: runtime\.threads: 0 is not possible; use 1 to 1024"),
        ("runtime.threads", -2, r"runtime\.threads: -2 is not possible"),
        ("runtime.threads", "two", r"runtime\.threads: expected int, found 'two'"),
        ("runtime.threads", True, r"runtime\.threads: expected int, found True"),
        ("runtime.threads", 1025, r"runtime\.threads: 1025 is not possible; use 1 to 1024"),
        ("runtime.workers", 0, r"runtime\.workers: 0 is not possible"),
        ("seed", -1, r"params\.yaml: seed: -1 is not a seed; use 0 to 4294967295"),
        ("seed", 2**32, r"params\.yaml: seed: 4294967296 is not a seed"),
        ("benchmark.seeds", [1, -1], r"params\.yaml: benchmark\.seeds: -1 is not a seed"),
        ("benchmarks.demo.seeds", [2**32], r"benchmarks\.demo\.seeds: 4294967296 is not a seed"),
        ("anonymizers.a/b", {"type": "original"}, r"anonymizers: 'a/b' cannot be a name; begin"),
        ("attackers.-x", {"type": "ecapa"}, r"params\.yaml: attackers: '-x' cannot be a name"),
        ("attackers.é", {"type": "ecapa"}, r"params\.yaml: attackers: 'é' cannot be a name"),
        (
            "anonymizers.orig",
            {"type": "mcadams"},
            r"anonymizers\.orig\.type: orig is the original speech; its type must be original;",
        ),
        (
            "runtime.device",
            "gpu",
            r"runtime\.device: 'gpu' is not possible; use one of 'auto', 'cpu'",
        ),
        (
            "runner",
            "podman",
            r"params\.yaml\.runner: 'podman' is not possible; use one of 'process'",
        ),
        ("runner", None, r"params\.yaml\.runner: None is not possible"),
        ("tracking.enabled", "no", r"tracking\.enabled: expected bool"),
    ],
)
def test_mistake_is_named(path: Path, place: str, value: Any, message: str) -> None:
    write(path, place, value)
    with pytest.raises(ConfigError, match=message):
        load(path)


@pytest.mark.parametrize("part", ["attackers", "evaluators"])
def test_missing_part(path: Path, part: str) -> None:
    values = content()
    del values[part]
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(ConfigError, match=rf"params\.yaml: '{part}' is missing; add `{part}:`"):
        load(path)


def test_a_benchmark_says_what_measures_it(path: Path) -> None:
    values = content()
    del values["benchmarks"]["demo"]["evaluators"]
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(ConfigError, match=r"benchmarks\.demo: 'evaluators' is missing; add `evalu"):
        load(path)


def test_evaluators_of_emotions_may_wait_for_a_set(path: Path) -> None:
    write(path, "benchmarks.libri-mini.emotion_sets", [])
    assert load(path).benchmarks["libri-mini"].emotion_evaluators == ("emotion",)


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a\nb", "B1.a"])
def test_name_that_could_leave_its_folder(path: Path, name: str) -> None:
    values = content()
    values["benchmarks"][name] = values["benchmark"]
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(ConfigError, match=r"params\.yaml: benchmarks: '.*' cannot be a name"):
        load(path)


def test_largest_seed_is_possible(path: Path) -> None:
    write(path, "seed", 2**32 - 1)
    assert load(path).seed == 4_294_967_295


def test_syntax_error_gives_the_line(path: Path) -> None:
    path.write_text("seed: 5\nruntime:\n  threads: 2\n workers: 1\n")
    with pytest.raises(ConfigError, match=r"params\.yaml:4: not valid YAML"):
        load(path)


def test_missing_file_says_where_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"params\.yaml: no such file; run from the repository's"):
        load()


def test_variable_wins_over_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path)
    parameters = load(path)
    assert parameters.folder(LIBRISPEECH_VARIABLE) == Path("/speech")
    assert parameters.folder(LISTS_VARIABLE) is None
    monkeypatch.setenv("HARNESS_LIBRISPEECH", "/other")
    monkeypatch.setenv("HARNESS_LISTS", "/lists")
    assert parameters.folder(LIBRISPEECH_VARIABLE) == Path("/other")
    assert parameters.folder(LISTS_VARIABLE) == Path("/lists")
    assert parameters.folder(EMODB_VARIABLE) is None
    monkeypatch.setenv("HARNESS_EMODB", "/emodb")
    assert parameters.folder(EMODB_VARIABLE) == Path("/emodb")
    write(path, "sources.emodb", "/elsewhere")
    assert load(path).folder(EMODB_VARIABLE) == Path("/emodb")
    monkeypatch.delenv("HARNESS_EMODB")
    assert load(path).folder(EMODB_VARIABLE) == Path("/elsewhere")
    monkeypatch.setenv("HARNESS_LIBRISPEECH", "")
    assert parameters.folder(LIBRISPEECH_VARIABLE) == Path("/speech")
