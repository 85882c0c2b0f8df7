"""The stage `train`: an attacker trained on the training set of one system."""

from __future__ import annotations

from harness.attackers.stage import train
from harness.corpora.store import Corpus
from harness.pipeline.context import Context
from harness.pipeline.runs import make_run
from harness.pipeline.tracked import problems, tracked


def run(context: Context, system: str, attacker: str, seed: int) -> str:
    """Train; returns the line that tells a person what came out."""
    one = make_run(context, "train", system, attacker, seed)
    name = context.protocol.training_set().name
    source = Corpus(context.layout.anonymized(system) / name)
    target = context.layout.model(system, attacker, seed)
    with tracked(context, one.key, one.identity(source.digest())) as (events, sink):
        train(one, source, f"{context.benchmark.name}/{system}/{name}", target, events)
        if sink is not None:
            sink.finish(target)
        last = {e["name"]: e["value"] for e in events.recorded if e["event"] == "metric"}
    figures = ", ".join(f"{name} {value:.4g}" for name, value in last.items() if "rate" not in name)
    return f"{one.key}: {figures or 'no metrics'}{problems(sink)}"
