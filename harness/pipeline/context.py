"""What every stage needs: parameters checked as a whole, protocol, paths, listeners.

Nothing here can change an output, so dvc.yaml does not name this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.anonymizers.base import load as load_anonymizer
from harness.attackers.base import load as load_attacker
from harness.errors import ConfigError
from harness.pipeline.layout import Layout
from harness.pipeline.runner import require_machine
from harness.protocols import protocol as protocols
from harness.protocols.protocol import Protocol
from harness.protocols.typed import did_you_mean
from harness.runtime.events import Listener
from harness.runtime.parameters import Benchmark, Parameters, load
from harness.tracking.store import check_store
from harness.utility.base import load as load_evaluator

# Only sets of the attackers' lists are imported.
IMPORTED_TYPE = "imported"


@dataclass(frozen=True)
class Context:
    """One benchmark of params.yaml."""

    parameters: Parameters
    benchmark: Benchmark
    protocol: Protocol
    layout: Layout
    listeners: tuple[Listener, ...]

    def require(self, kind: str, name: object, known: Sequence[object]) -> None:
        """Raises ConfigError unless the benchmark names this system, attacker, seed and so on."""
        if name not in known:
            fix = did_you_mean(str(name), map(str, known))
            entries = {
                "system": self.parameters.anonymizers,
                "attacker": self.parameters.attackers,
                "evaluator": self.parameters.evaluators,
            }
            if name in entries.get(kind, ()):
                fix = f"it has an entry: add it to `{kind}s` of that benchmark"
            raise ConfigError(
                f"{kind} {name!r} is not part of benchmark {self.benchmark.name}",
                where="params.yaml",
                fix=fix,
            )

    def require_later_stages(self) -> None:
        """Look now at what later work needs: the MLflow store, and all of `require_machine`.

        Raises TrackingError, and as that does, before hours of work that would end there.
        """
        check_store(self.parameters.tracking)
        require_machine(self.parameters, self.benchmark)


def open_context(benchmark: str, listeners: tuple[Listener, ...] = ()) -> Context:
    """Read params.yaml and check all of it, every system, attacker and evaluator included.

    Raises ConfigError before any work starts.
    """
    parameters = load()
    known = {**parameters.benchmarks, parameters.benchmark.name: parameters.benchmark}
    if benchmark not in known:
        raise ConfigError(
            f"no benchmark {benchmark!r}", where="params.yaml", fix=did_you_mean(benchmark, known)
        )
    for name, entry in parameters.anonymizers.items():
        load_anonymizer(name, entry)
    _refuse_imported(parameters, known[benchmark])
    for name, entry in parameters.attackers.items():
        load_attacker(name, entry)
    for name, entry in parameters.evaluators.items():
        load_evaluator(name, entry)
    return Context(
        parameters=parameters,
        benchmark=known[benchmark],
        protocol=protocols.load(benchmark),
        layout=Layout(benchmark),
        listeners=listeners,
    )


def _refuse_imported(parameters: Parameters, benchmark: Benchmark) -> None:
    """Raises ConfigError for emotional speech that nobody can make."""
    for name in benchmark.systems if benchmark.emotion_sets else ():
        if parameters.anonymizers[name]["type"] == IMPORTED_TYPE:
            raise ConfigError(
                f"its speech is imported, and has no set {benchmark.emotion_sets[0]}",
                where=f"params.yaml: anonymizers.{name}",
                fix=f"set `emotion_sets: []` in benchmark {benchmark.name}",
            )
