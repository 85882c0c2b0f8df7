"""Facts: what all runs share stands once, what differs stands with its file."""

from __future__ import annotations

from typing import Any

from harness.metrics.resampling import Sampling
from harness.reports.provenance import (
    facts_of_images,
    facts_of_lists,
    facts_of_method,
    facts_of_runs,
)

from .trained import protocol


def run(seed: int, device: str = "cpu") -> tuple[str, dict[str, Any]]:
    event = {
        "event": "run",
        "stage": "train",
        "key": f"train@x-b2-a-{seed}",
        "system": "b2",
        "attacker": "a",
        "parameters": {
            "anonymizer": {"type": "mcadams", "level": "speaker"},
            "attacker": {"type": "ecapa", "channels": [1, 2]},
            "segment_seconds": 3.0,
            "threads": 2,
        },
        "versions": {"torch": "2.0", "numpy": "1.0"},
        "device": device,
        "datasets": [{"name": "x/b2/train", "digest": "d1", "context": "training"}],
    }
    return f"models/seed-{seed}/events.jsonl", event


def told(runs: list) -> list[tuple[str, str, str | None]]:
    return [(fact.label, fact.value, fact.file) for fact in facts_of_runs(runs)]


def test_what_runs_share_stands_once() -> None:
    first = "models/seed-1/events.jsonl"
    assert told([run(1), run(2)]) == [
        ("attacker a", "channels: [1, 2], type: ecapa", first),
        ("device of attackers", "cpu", first),
        ("speech x/b2/train", "manifest sha256 d1 (training)", first),
        ("system b2", "level: speaker, type: mcadams", first),
        ("threads of attackers", "2", first),
        ("training segments", "3.0 s", first),
        ("versions", "numpy: 1.0, torch: 2.0", first),
        ("code and inputs by hash", "stages train@x-b2-a-1, train@x-b2-a-2", "dvc.lock"),
    ]


def test_what_differs_stands_with_its_file() -> None:
    facts = told([run(1), run(2, "cuda")])
    assert ("device of attackers", "cpu", "models/seed-1/events.jsonl") in facts
    assert ("device of attackers", "cuda", "models/seed-2/events.jsonl") in facts


def test_without_events_there_is_nothing_to_say() -> None:
    assert told([]) == []


def test_lists_by_hash() -> None:
    edition = protocol()
    facts = facts_of_lists(edition, {one.trials: f"lists/{one.trials}" for one in edition.lists})
    assert [(fact.label, fact.file) for fact in facts] == [
        ("list test_trials_f", "lists/test_trials_f"),
        ("list test_trials_m", "lists/test_trials_m"),
    ]
    assert facts[0].value.startswith("4 target and 4 nontarget trials, sha256 ")


def test_method_and_images() -> None:
    facts = facts_of_method(
        protocol(),
        Sampling(draws=1500, level=0.9, seed=7),
        protocol_file="p.yaml",
        intervals_file="i.csv",
    )
    assert (facts[1].value, facts[1].file) == ("Made up", "p.yaml")
    assert (facts[2].value, facts[2].file) == ("90 %, by 1,500 draws of speakers, seed 7", "i.csv")
    (image,) = facts_of_images({"attacker": "sha256:0"}, "docker/images.lock")
    assert (image.label, image.value, image.file) == (
        *("image recorded: attacker", "sha256:0", "docker/images.lock"),
    )
