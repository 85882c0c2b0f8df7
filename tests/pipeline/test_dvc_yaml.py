"""dvc.yaml names exactly the code that computes each stage's output."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
import yaml
from closure import ANONYMIZERS, ATTACKERS, EVALUATORS, ROOT, STAGES, closure, data_files

BENCHMARK = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
SUBMISSIONS = yaml.safe_load((ROOT / "submissions/dvc.yaml").read_text(encoding="utf-8"))["stages"]
PIPELINE = BENCHMARK | SUBMISSIONS


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_a_stage_depends_on_the_modules_it_imports(stage: str) -> None:
    declared = [d for d in PIPELINE[stage]["deps"] if d.startswith("harness/")]
    protocol = [d for d in declared if d.startswith("harness/protocols/data/")]
    assert declared == [*protocol, *closure(STAGES[stage]), *data_files(stage)]
    assert "requirements/full.lock" in PIPELINE[stage]["deps"]


def test_every_stage_is_held() -> None:
    assert set(PIPELINE) == set(STAGES)


@pytest.mark.parametrize(
    ("group", "modules"),
    [("anonymizers", ANONYMIZERS), ("attackers", ATTACKERS), ("evaluators", EVALUATORS)],
)
def test_every_registered_type_is_a_dependency(group: str, modules: tuple[str, ...]) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = text.split(f'entry-points."harness.{group}"]')[1].split("[")[0]
    assert sorted(re.findall(r'"([\w.]+):', section)) == sorted(modules)


def test_no_absolute_path_and_no_runtime_worker_count() -> None:
    text = Path(ROOT / "dvc.yaml").read_text(encoding="utf-8")
    assert not re.search(r"^\s*- /", text, re.MULTILINE)
    assert "workers" not in text


def test_the_committed_lock_is_of_this_code() -> None:
    lock = yaml.safe_load((ROOT / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    demo = {name: stage for name, stage in lock.items() if name.split("@")[1].startswith("demo")}
    # It has no emotional speech.
    expected = {name for name in BENCHMARK if not name.startswith("emotion")}
    assert {name.split("@")[0] for name in demo} == expected
    for name, stage in demo.items():
        for dependency in stage["deps"]:
            path = ROOT / dependency["path"]
            if dependency["path"].startswith(("harness/", "requirements/")):
                content = hashlib.md5(path.read_bytes()).hexdigest()
                assert content == dependency["md5"], f"{name}: {dependency['path']}: run dvc repro"
