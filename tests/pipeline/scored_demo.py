"""A repository in which the demo has scores, drawn from normal distributions, made-up values of
utility, and tables of both.

The trial lists are made from the names of the demo's voices; their hashes are the protocol's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from harness.pipeline import compare, evaluate
from harness.pipeline.context import Context, open_context
from harness.protocols.lists import Trial, cross_product, to_text
from harness.protocols.protocol import load
from harness.protocols.scenarios import of_system
from harness.protocols.scores import score_path
from harness.protocols.scores import to_text as scores_text
from harness.protocols.values import FILE_NAME, Value, to_csv
from harness.runtime.files import write_text

SYSTEMS = ("orig", "b2", "b9")
ATTACKERS = ("strong", "weak")
SEEDS = (1, 2)
# Distance of the means of target and nontarget scores, in standard deviations.
DISTANCE = {"strong": 2.5, "weak": 1.0}
# Word error rate and pitch correlation of each system, with their intervals.
WER = {"orig": (10.0, 8.0, 12.5), "b2": (28.0, 24.0, 32.0), "b9": (55.0, 50.0, 60.0)}
PITCH = {"orig": (1.0, 1.0, 1.0), "b2": (0.75, 0.7, 0.8), "b9": (0.5, 0.4, 0.6)}
PARAMETERS: dict[str, Any] = {
    "benchmarks": {},
    "benchmark": {
        "name": "demo",
        "systems": list(SYSTEMS),
        "attackers": list(ATTACKERS),
        "seeds": list(SEEDS),
        "segment_seconds": None,
        "evaluators": ["wer", "pitch"],
    },
    "anonymizers": {
        "orig": {"type": "original"},
        "b2": {"type": "mcadams", "level": "utterance", "alphas_from": "seed"},
        "b9": {"type": "mcadams", "level": "speaker", "alphas_from": "seed"},
    },
    "attackers": {name: {"type": "ecapa", "epochs": 1} for name in ATTACKERS},
    "evaluators": {"wer": {"type": "wer"}, "pitch": {"type": "pitch-correlation"}},
    "seed": 1,
    "sources": {},
    "runtime": {"workers": 1},
    "tracking": {"enabled": False},
}


def trials_of(gender: str) -> list[Trial]:
    first = {"f": 1, "m": 13}[gender]
    speakers = [f"ev{number:03d}" for number in range(first, first + 12)]
    utterances = {f"{name}-2-{number:04d}": name for name in speakers for number in range(5)}
    return cross_product(speakers, utterances)


def run_event(system: str, attacker: str, seed: int, stage: str = "score") -> str:
    """The first line of a stage's events.jsonl."""
    event = {
        "event": "run",
        "stage": stage,
        "key": f"{stage}@demo-{system}-{attacker}-{seed}",
        "benchmark": "demo",
        "system": system,
        "attacker": attacker,
        "seed": seed,
        "parameters": {
            "anonymizer": PARAMETERS["anonymizers"][system],
            "attacker": PARAMETERS["attackers"][attacker],
            "segment_seconds": None,
            "threads": 2,
        },
        "versions": {"torch": "9.9"},
        "device": "cpu",
        "datasets": [{"name": f"demo/{system}/x", "digest": "0" * 64, "context": "trial"}],
    }
    return json.dumps(event) + "\n"


def parameters(runner: str = "process", **changes: object) -> None:
    """Write params.yaml into the working folder; changes: of the benchmark's block."""
    benchmark = {**PARAMETERS["benchmark"], **changes}
    content = {**PARAMETERS, "benchmark": benchmark, "runner": runner}
    Path("params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")


def utility_values(system: str) -> dict[str, list[Value]]:
    """By evaluator: of all speakers, and of one gender, which no table of trade-offs shows."""
    place = ("demo", "test")
    return {
        name: [
            Value(system, name, "", measure, *place, "", 120, *of_system[system]),
            Value(system, name, "", measure, *place, "f", 60, 0.0),
        ]
        for name, measure, of_system in (
            ("wer", "WER", WER),
            ("pitch", "pitch-correlation", PITCH),
        )
    }


def make(systems: Sequence[str] = SYSTEMS, attackers: Sequence[str] = ATTACKERS) -> None:
    """Write parameters, lists, scores and values into the working folder, and let the stages
    `evaluate` and `compare` make their tables."""
    parameters(systems=list(systems), attackers=list(attackers))
    context = open_context("demo")
    runs = [(s, a, seed) for s in systems for a in attackers for seed in SEEDS]
    for listed in context.protocol.lists:
        write_text(
            context.layout.corpus / "lists" / listed.trials / "trials",
            to_text(trials_of(listed.gender)),
        )
    for place, (system, attacker, seed) in enumerate(runs):
        folder = context.layout.scores(system, attacker, seed)
        generator = np.random.default_rng(place)
        for scenario in of_system(system == "orig"):
            for listed in load("demo").lists:
                trials = trials_of(listed.gender)
                target = np.array([trial.target for trial in trials])
                scores = generator.normal(size=len(trials)) + DISTANCE[attacker] * target
                write_text(
                    score_path(folder, scenario.name, listed),
                    scores_text(trials, scores.astype(np.float32)),
                )
        write_text(folder / "events.jsonl", run_event(system, attacker, seed))
        evaluate.run(context, system, attacker, seed)
        write_text(context.layout.voices(system, attacker, seed) / FILE_NAME, to_csv([]))
    for system in systems:
        for evaluator, values in utility_values(system).items():
            write_text(context.layout.utility(system, evaluator) / FILE_NAME, to_csv(values))
    compare.run(context)


def context() -> Context:
    return open_context("demo")
