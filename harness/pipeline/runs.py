"""What the stages `train` and `score` share: a run with its facts."""

from __future__ import annotations

from typing import Any

from harness.attackers.base import Machine
from harness.attackers.stage import Run
from harness.pipeline.context import Context
from harness.pipeline.runner import device, load_attacker, versions


def make_run(context: Context, stage: str, system: str, attacker: str, seed: int) -> Run:
    """The run of a stage. Its facts hold no time, host or path: they become an output."""
    benchmark, parameters = context.benchmark, context.parameters
    context.require("system", system, benchmark.systems)
    context.require("attacker", attacker, benchmark.attackers)
    context.require("seed", seed, benchmark.seeds)
    key = f"{stage}@{benchmark.name}-{system}-{attacker}-{seed}"
    works = load_attacker(parameters, attacker)
    on = Machine(parameters.runtime.threads, device(parameters, works))
    facts: dict[str, Any] = {
        "key": key,
        "benchmark": benchmark.name,
        "system": system,
        "attacker": attacker,
        "seed": seed,
        "parameters": {
            "anonymizer": parameters.anonymizers[system],
            "attacker": parameters.attackers[attacker],
            "segment_seconds": benchmark.segment_seconds,
            "threads": on.threads,
        },
        "versions": versions(parameters, attacker),
        "device": on.device,
    }
    return Run(key, works, seed, on, facts)
