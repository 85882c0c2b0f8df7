"""The stage `utility`: one system's evaluation speech, measured by one evaluator."""

from __future__ import annotations

from harness.pipeline.context import Context
from harness.pipeline.measuring import evaluate_system
from harness.utility.stage import Part


def run(context: Context, system: str, evaluator: str) -> str:
    """Measure; returns the line that tells a person what came out."""
    benchmark, layout = context.benchmark, context.layout
    context.require("system", system, benchmark.systems)
    context.require("evaluator", evaluator, benchmark.evaluators)
    # Trial utterances, as in the challenges; several lists may be of one set.
    of_sets = {listed.trials: listed for listed in context.protocol.lists}
    anonymized = layout.anonymized(system)
    parts = [
        Part(listed.dataset, listed.split, layout.corpus / name, anonymized / name)
        for name, listed in of_sets.items()
    ]
    key = f"utility@{benchmark.name}-{system}-{evaluator}"
    return evaluate_system(
        context, key, system, evaluator, parts, layout.utility(system, evaluator)
    )
