"""What differs in how scores were made: read from locks that differ in one thing each."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.reports.difference import Side
from harness.reports.difference_inputs import InputDifference, input_differences
from harness.reports.freshness import path_md5
from harness.reports.lockfile import read_lock

from .compared import small_lists, write_side

LISTS = small_lists(enrolled=2, speakers=2, utterances=1)
SCORES = "results/demo/scores/b2/ecapa/seed-1"
# By stage: what it reads by hash, parameters by file, what it writes.
STAGES: dict[str, dict[str, Any]] = {
    "corpus@demo": {
        "deps": {"harness/corpora/store.py": "c1", "requirements/full.lock": "e1"},
        "outs": {"data/demo/corpus": "d1"},
    },
    "anonymize@demo-b2": {
        "deps": {"data/demo/corpus": "d1", "harness/anonymizers/mcadams.py": "a1"},
        "params": {
            "params.yaml": {"seed": 5, "anonymizers.b2": {"type": "mcadams", "alpha_min": 0.5}},
            "docker/images.lock": {"process.anonymizer": "none"},
        },
        "outs": {"data/demo/anonymized/b2": "s1"},
    },
    "train@demo-b2-ecapa-1": {
        "deps": {"data/demo/anonymized/b2": "s1", "harness/attackers/ecapa/training.py": "t1"},
        "params": {"params.yaml": {"benchmark.segment_seconds": None}},
        "outs": {"models/demo/b2/ecapa/seed-1": "m1"},
    },
    "score@demo-b2-ecapa-1": {
        "deps": {
            "data/demo/corpus": "d1",
            "data/demo/anonymized/b2": "s1",
            "models/demo/b2/ecapa/seed-1": "m1",
        },
        "params": {
            "params.yaml": {
                "attackers.ecapa": {"type": "ecapa", "epochs": 6},
                "runtime.threads": 2,
                "runtime.device": "auto",
            },
            "docker/images.lock": {"docker.attacker": {"attacker": {"digest": "sha256:1"}}},
        },
        "outs": {SCORES: "r1"},
    },
    # Of another attacker, on which these scores do not stand.
    "train@demo-b2-other-1": {
        "deps": {"data/demo/anonymized/b2": "s1", "harness/attackers/other.py": "o1"},
        "outs": {"models/demo/b2/other/seed-1": "n1"},
    },
}
RUN: dict[str, Any] = {
    "device": "cpu",
    "versions": {"torch": "2.14.1"},
    "parameters": {
        "anonymizer": {"type": "mcadams", "alpha_min": 0.5},
        "attacker": {"type": "ecapa", "epochs": 6},
        "segment_seconds": None,
        "threads": 2,
    },
}


TRAIN, SCORE = "train@demo-b2-ecapa-1", "score@demo-b2-ecapa-1"
PARAMETERS = (SCORE, "params", "params.yaml")
IMAGES = ("params", "docker/images.lock")

Changes = Mapping[tuple[str, ...], Any]


def scored(root: Path, system: str = "b2", seeds: Sequence[int] = (1,)) -> Side:
    """A side that no lock names."""
    noise = dict.fromkeys(seeds, 0.5)
    runs = dict.fromkeys(seeds, RUN)
    return write_side(root / system, {"semi-informed": noise}, LISTS, system=system, runs=runs)


def locked(side: Side, changes: Changes | None = None) -> Side:
    """The side with a lock that names its scores. changes: by where they stand in STAGES."""
    stages = copy.deepcopy(STAGES)
    for (*above, last), value in (changes or {}).items():
        place: dict[str, Any] = stages
        for name in above:
            place = place[name]
        place[last] = value
    stages[SCORE]["outs"] = {SCORES: path_md5(side.scores[1])}
    entries = {
        name: {
            "cmd": f"harness stage {name}",
            "params": stage.get("params", {}),
            **{
                kind: [{"path": path, "md5": md5} for path, md5 in stage[kind].items()]
                for kind in ("deps", "outs")
            },
        }
        for name, stage in stages.items()
    }
    text = yaml.safe_dump({"stages": entries}, sort_keys=False).replace("b2", side.system)
    return replace(side, stages=read_lock(text, "demo", "dvc.lock"))


@pytest.mark.parametrize(
    ("where", "value", "difference"),
    [
        (
            ("corpus@demo", "deps", "harness/corpora/store.py"),
            "c2",
            ("code", "harness/corpora/store.py", "c1", "c2"),
        ),
        (
            ("corpus@demo", "deps", "harness/corpora/new.py"),
            "c3",
            ("code", "harness/corpora/new.py", None, "c3"),
        ),
        (
            (TRAIN, "deps", "harness/attackers/ecapa/training.py"),
            "t2",
            ("code", "harness/attackers/ecapa/training.py", "t1", "t2"),
        ),
        (
            ("corpus@demo", "deps", "requirements/full.lock"),
            "e2",
            ("environment", "requirements/full.lock", "e1", "e2"),
        ),
        (
            (SCORE, "deps", "data/demo/anonymized/b2"),
            "s2",
            # The training was on the other speech still: all values are shown.
            ("data", "speech of the system", "s1", "s1, s2"),
        ),
        (
            ("anonymize@demo-b2", "params", "params.yaml", "seed"),
            6,
            ("parameter", "seed", "5", "6"),
        ),
        (
            (*PARAMETERS, "attackers.ecapa"),
            {"type": "ecapa", "epochs": 12},
            ("parameter", "attacker.epochs", "6", "12"),
        ),
        ((*PARAMETERS, "runtime.threads"), 4, ("machine", "threads", "2", "4")),
        ((*PARAMETERS, "runtime.device"), "cpu", ("machine", "device asked for", "auto", "cpu")),
        (
            ("anonymize@demo-b2", *IMAGES, "process.anonymizer"),
            {"anonymizer-b2": {"digest": "sha256:9"}},
            ("image", "anonymizer", "none", "sha256:9"),
        ),
        (
            (SCORE, *IMAGES, "docker.attacker"),
            {"attacker": {"digest": "sha256:2", "code_sha256": "1"}},
            ("image", "attacker", "sha256:1", "sha256:2"),
        ),
        # What these scores do not stand on, and what follows from the rest.
        (("train@demo-b2-other-1", "deps", "harness/attackers/other.py"), "o2", None),
        ((SCORE, "deps", "models/demo/b2/ecapa/seed-1"), "m2", None),
    ],
)
def test_one_change_is_one_difference(
    tmp_path: Path, where: tuple[str, ...], value: Any, difference: tuple[Any, ...] | None
) -> None:
    side = replace(scored(tmp_path), runs={1: {}})
    before, after = locked(side), locked(side, {where: value})
    found, remarks = input_differences(before, after)
    assert found == (() if difference is None else (InputDifference(*difference),))
    assert remarks == ()


def test_what_the_stage_says_of_itself(tmp_path: Path) -> None:
    side = locked(scored(tmp_path))
    other = replace(side, runs={1: {**RUN, "device": "cuda", "versions": {"numpy": "2.4.6"}}})
    assert input_differences(side, other)[0] == (
        InputDifference("environment", "numpy", None, "2.4.6"),
        InputDifference("environment", "torch", "2.14.1", None),
        InputDifference("machine", "device", "cpu", "cuda"),
    )
    assert input_differences(side, replace(side, runs={1: {}}))[0] == (
        InputDifference("environment", "torch", "2.14.1", None),
        InputDifference("machine", "device", "cpu", None),
    )


def test_another_system_lines_up(tmp_path: Path) -> None:
    mild = {"type": "mcadams", "alpha_min": 0.8}
    before, after = (
        replace(scored(tmp_path, system=system), runs={1: {}}) for system in ("b2", "b9")
    )
    changes = {
        ("anonymize@demo-b2", "params", "params.yaml", "anonymizers.b2"): mild,
        (SCORE, "deps", "data/demo/anonymized/b2"): "s9",
        (TRAIN, "deps", "data/demo/anonymized/b2"): "s9",
    }
    assert input_differences(locked(before), locked(after, changes))[0] == (
        InputDifference("system", "name", "b2", "b9"),
        InputDifference("data", "speech of the system", "s1", "s9"),
        InputDifference("parameter", "anonymizer.alpha_min", "0.5", "0.8"),
    )


def test_scores_that_the_lock_does_not_name_are_told_apart_by_what_they_say(tmp_path: Path) -> None:
    side = locked(scored(tmp_path))
    changed = {**RUN, "parameters": {**RUN["parameters"], "attacker": {"type": "ecapa"}}}
    (side.scores[1] / "notes").write_text("not of the lock")
    found, remarks = input_differences(side, replace(side, stages={}, runs={1: changed}))
    assert found == (InputDifference("parameter", "attacker.epochs", "6", None),)
    assert [remark.partition(":")[0] for remark in remarks] == [
        "dvc.lock does not name the scores of A as they are",
        "dvc.lock does not name the scores of B as they are",
    ]


def test_more_seeds(tmp_path: Path) -> None:
    side = scored(tmp_path, seeds=(1, 2))
    found, remarks = input_differences(replace(side, scores={1: side.scores[1]}), side)
    assert found == (InputDifference("seeds", "of the trainings", "1", "1, 2"),)
    assert len(remarks) == 2


def test_trainings_that_differ_among_themselves_show_all_values(tmp_path: Path) -> None:
    side = scored(tmp_path, seeds=(1, 2))
    mixed = replace(side, runs={1: RUN, 2: {**RUN, "device": "cuda"}})
    assert input_differences(side, mixed)[0] == (
        InputDifference("machine", "device", "cpu", "cpu, cuda"),
    )
