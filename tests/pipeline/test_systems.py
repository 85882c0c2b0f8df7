from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.anonymizers.base import load
from harness.pipeline.systems import Here, Standing, chief, look, standings
from harness.protocols.systems import Way, everything, find

ROOT = Path(__file__).resolve().parents[2]
B3_INPUTS = {
    "code.tar.gz": {"from": "the code", "systems": ["B3", "B4"], "sha256": "ab" * 32},
    "tts.zip": {"from": "the weights", "systems": ["B3"], "sha256": None},
    "other.tar": {"from": "elsewhere", "systems": ["B4"], "sha256": None},
}


def refuse_none(name: str, entry: Mapping[str, Any]) -> str | None:
    return None


def here(**changed: Any) -> Here:
    """A machine with nothing but a repository, unless said otherwise."""
    nothing: dict[str, Any] = {
        "refusal": lambda name, entry: "unknown type",
        "module": lambda name: False,
        "inputs": lambda recipe: B3_INPUTS,
        "digest": lambda image: None,
        "imported": lambda name: [],
    }
    return Here(**(nothing | changed))


def standing(name: str, how: str, machine: Here, of: str = "the system") -> Standing:
    (one,) = [
        one for one in standings(find(name), machine) if (one.way.how, one.way.of) == (how, of)
    ]
    return one


def test_what_is_built_in_runs() -> None:
    found = standing("B2", "built in", here(refusal=refuse_none, module=lambda name: True))
    assert (found.runs, found.status) == (True, "runs here")
    entry = "{type: mcadams, level: utterance, alphas_from: official}"
    assert found.todo == (f"params.yaml, anonymizers: `B2: {entry}`",)


def test_what_is_refused_is_not_built_in() -> None:
    found = standing("B2", "built in", here(module=lambda name: True))
    assert (found.runs, found.status, found.todo) == (False, "not built in: unknown type", ())


def test_what_lacks_a_package_does_not_run() -> None:
    # Its type is refused too, as it cannot be imported.
    for machine in (here(refusal=refuse_none), here()):
        found = standing("B2", "built in", machine)
        assert (found.runs, found.status) == (False, "needs the package numba")
        assert found.todo == ("pip install numba",)


def test_one_of_its_kind_is_not_the_system() -> None:
    machine = here(refusal=refuse_none, module=lambda name: True)
    kind = standing("T12-5", "built in", machine, "its kind")
    of_its_kind = (
        "one of its kind runs here: type pitch-smoothing, with another system in place of B5"
    )
    assert (kind.runs, kind.status) == (False, of_its_kind)
    entry = "{type: pitch-smoothing, system: {type: mcadams}}"
    # No published value of T12-5 is ever set beside it.
    assert kind.todo == (f"params.yaml, anonymizers: `T12-5-like: {entry}`",)
    best = chief(standings(find("T12-5"), machine))
    assert (best.runs, best.status) == (False, "audio from the organizers")
    lacking = standing("T8", "built in", here(refusal=refuse_none), "its kind")
    assert (lacking.status, lacking.todo) == (
        "needs the package pyworld",
        ("pip install pyworld-prebuilt",),
    )


@pytest.mark.heavy
def test_what_is_said_to_be_built_in_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    machine = look()
    ways = [(one, way) for one in everything() for way in one.ways if way.how == "built in"]
    assert len(ways) > 8
    for system, way in ways:
        found = standing(system.name, "built in", machine, way.of)
        expected = "runs here" if way.of == "the system" else "one of its kind runs here"
        assert found.status.startswith(expected), system.name
        # The line can be pasted into params.yaml as it is.
        ((name, entry),) = yaml.safe_load(found.todo[0].split("`")[1]).items()
        assert name == system.name + ("" if way.of == "the system" else "-like")
        assert load(system.name, entry)


def test_a_container_says_what_to_put_where() -> None:
    found = standing("B3", "container", here())
    assert found.runs is False
    assert found.status == "needs the weights anonymization.zip, asr.zip, tts.zip"
    assert found.todo[:2] == (
        f"put into FOLDER: code.tar.gz, the code; sha256 {'ab' * 32}",
        "put into FOLDER: tts.zip, the weights; sha256 not known",
    )
    assert not any("other.tar" in step for step in found.todo)
    assert "inputs.py record docker/anonymizer-vpc/inputs.lock FOLDER" in found.todo[2]
    assert "docker/anonymizer-vpc/build.sh B3 FOLDER BASE_IMAGE" in found.todo[3]


def test_hashes_that_are_known_need_no_recording() -> None:
    known = {"code.tar.gz": B3_INPUTS["code.tar.gz"]}
    found = standing("B3", "container", here(inputs=lambda recipe: known))
    assert not any("record" in step for step in found.todo)


def test_an_image_that_is_here() -> None:
    digests = {"harness-anonymizer-vpc:b3": "sha256:12"}
    machine = here(digest=digests.get)
    found = standing("B3", "container", machine)
    assert (found.runs, found.status) == (True, "its image is here")
    assert found.todo[-1].endswith("`B3: {type: image, image: sha256:12}`")
    assert standing("B4", "container", machine).runs is False


def test_outside_the_repository_no_container_is_promised() -> None:
    found = standing("B3", "container", here(inputs=lambda recipe: None))
    assert found.runs is False
    assert "there is no docker/anonymizer-vpc/inputs.lock here" in found.todo[0]


def test_a_container_without_a_recipe() -> None:
    # None of the registry is without one.
    system = replace(find("B1.b"), ways=(Way("container"),))
    (found,) = standings(system, here())
    assert found.runs is False
    assert found.status.startswith("needs an image, and the weights 1_asr_am")
    assert "docs/contracts.md" in found.todo[0]


def test_imported_audio() -> None:
    absent = standing("T10-2", "imported audio", here())
    assert (absent.runs, absent.status) == (False, "audio from the organizers")
    assert "`harness corpus import anonymized PATH --system T10-2`" in absent.todo[1]
    folders = {"T10-2": ["data/vpac2025/imported/T10-2"]}
    machine = here(imported=lambda name: folders.get(name, []))
    there = standing("T10-2", "imported audio", machine)
    assert (there.runs, there.status) == (True, "its audio is here: data/vpac2025/imported/T10-2")
    # Of several ways, the one that runs stands for the system.
    both = here(imported=lambda name: ["data/x/imported/B3"])
    assert chief(standings(find("B3"), both)).way.how == "imported audio"


def test_every_way_that_does_not_run_says_what_to_do() -> None:
    for system in everything():
        for one in standings(system, here()):
            # What is refused nobody but its maker can mend.
            assert one.todo or one.runs or one.way.how == "built in", system.name


def test_this_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stored = tmp_path / "data/vpac2025/imported/T25-1"
    stored.mkdir(parents=True)
    machine = look()
    assert standing("Orig", "built in", machine).status == "runs here"
    assert machine.refusal("x", {"type": "no-such"}) == "unknown anonymizer type 'no-such'"
    assert machine.module("json")
    assert not machine.module("no_such_package")
    assert machine.inputs("anonymizer-vpc") is None
    assert machine.imported("T25-1") == ["data/vpac2025/imported/T25-1"]
    assert machine.imported("T25-2") == []


def test_recipes_know_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    recipes = [(s, w.recipe) for s in everything() for w in s.ways if w.how == "container"]
    names = ["B1", "B1.a", "B1.b", "B3", "B4", "B5", "B6"]
    assert [system.name for system, _ in recipes] == names
    for system, recipe in recipes:
        assert recipe is not None
        inputs = look().inputs(recipe)
        assert inputs is not None
        needed = {name: one for name, one in inputs.items() if system.name in one["systems"]}
        # Those of 2022 are folders of one archive.
        archive = needed.get("models.2022.tar.gz", {"from": ""})["from"]
        known = {*needed, *re.findall(r"\w+", archive)}
        assert {one.name for one in system.weights} <= known
        assert system.code is not None
        (source,) = (name for name in needed if name.startswith("voice-privacy-challenge-"))
        assert system.code.repository.rpartition("/")[2].lower() == source.removesuffix(".tar.gz")
        assert system.code.commit in needed[source]["from"]
