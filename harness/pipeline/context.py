"""What every stage needs: parameters checked as a whole, protocol, paths, tracking."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from harness.anonymizers.base import Anonymizer
from harness.anonymizers.base import load as load_anonymizer
from harness.attackers.base import Attacker, Machine
from harness.attackers.base import load as load_attacker
from harness.errors import ConfigError
from harness.pipeline.layout import Layout
from harness.protocols import protocol as protocols
from harness.protocols.protocol import Protocol
from harness.protocols.typed import did_you_mean
from harness.runtime.events import Events, Listener
from harness.runtime.files import fingerprint
from harness.runtime.parameters import Benchmark, Parameters, load
from harness.tracking.sink import RunSink
from harness.tracking.store import Store, open_store

TRACKED_VERSIONS = ("torch", "speechbrain", "numpy", "scipy", "soundfile", "numba")


@dataclass(frozen=True)
class Context:
    """One benchmark of params.yaml."""

    parameters: Parameters
    benchmark: Benchmark
    protocol: Protocol
    layout: Layout
    listeners: tuple[Listener, ...]

    def anonymizer(self, system: str) -> Anonymizer:
        """The anonymizer of a system."""
        return load_anonymizer(system, self.parameters.anonymizers[system])

    def attacker(self, name: str) -> Attacker:
        """The attacker of that name."""
        return load_attacker(name, self.parameters.attackers[name])

    def machine(self) -> Machine:
        """Threads and device of the attacker."""
        device = self.parameters.runtime.device
        if device == "auto":
            import torch

            device = "cuda" if torch.cuda.is_available() else "cpu"
        return Machine(self.parameters.runtime.threads, device)

    def facts(self, key: str, system: str, attacker: str, seed: int) -> dict[str, Any]:
        """What a run's first event says besides its stage and data; no time, host or path."""
        machine = self.machine()
        return {
            "key": key,
            "benchmark": self.benchmark.name,
            "system": system,
            "attacker": attacker,
            "seed": seed,
            "parameters": {
                "anonymizer": self.parameters.anonymizers[system],
                "attacker": self.parameters.attackers[attacker],
                "segment_seconds": self.benchmark.segment_seconds,
                "threads": machine.threads,
            },
            "versions": {name: version(name) for name in TRACKED_VERSIONS},
            "device": machine.device,
        }

    @contextmanager
    def tracked(self, key: str, identity: Any) -> Iterator[tuple[Events, RunSink | None]]:
        """Events that also become an MLflow run, unless tracking is off.

        Raises TrackingError at once when the store cannot be reached.
        """
        store: Store | None = open_store(self.parameters.tracking)
        if store is None:
            yield Events(*self.listeners), None
            return
        with RunSink(store, identity=fingerprint(identity), dvc_stage=key) as sink:
            yield Events(*self.listeners, sink), sink


def open_context(benchmark: str, listeners: tuple[Listener, ...] = ()) -> Context:
    """Read params.yaml and check all of it, every system and attacker included.

    Raises ConfigError before any work starts.
    """
    parameters = load()
    known = {**parameters.benchmarks, parameters.benchmark.name: parameters.benchmark}
    if benchmark not in known:
        raise ConfigError(
            f"no benchmark {benchmark!r}", where="params.yaml", fix=did_you_mean(benchmark, known)
        )
    context = Context(
        parameters=parameters,
        benchmark=known[benchmark],
        protocol=protocols.load(benchmark),
        layout=Layout(benchmark),
        listeners=listeners,
    )
    for name in parameters.anonymizers:
        context.anonymizer(name)
    for name in parameters.attackers:
        context.attacker(name)
    return context
