"""What the stages `train` and `score` share: a run with its facts, told to MLflow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.attackers.base import Machine
from harness.attackers.stage import Run
from harness.pipeline.context import Context
from harness.pipeline.runner import device, load_attacker, versions
from harness.runtime.events import Events
from harness.runtime.files import fingerprint
from harness.tracking.sink import RunSink
from harness.tracking.store import open_store


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


@contextmanager
def tracked(context: Context, key: str, identity: Any) -> Iterator[tuple[Events, RunSink | None]]:
    """Events that also become an MLflow run, unless tracking is off.

    Raises TrackingError at once when the store cannot be reached.
    """
    store = open_store(context.parameters.tracking)
    if store is None:
        yield Events(*context.listeners), None
        return
    with RunSink(store, identity=fingerprint(identity), dvc_stage=key) as sink:
        yield Events(*context.listeners, sink), sink


def problems(sink: RunSink | None) -> str:
    """What went wrong with tracking, to stand behind a result line."""
    return "" if sink is None or not sink.problems else f" (tracking: {'; '.join(sink.problems)})"
