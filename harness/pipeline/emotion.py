"""The stage `emotion`: one system's emotional speech, measured by one evaluator."""

from __future__ import annotations

from harness.pipeline.context import Context
from harness.pipeline.measuring import evaluate_system
from harness.utility.stage import Part


def run(context: Context, name: str, system: str, evaluator: str) -> str:
    """Measure; returns the line that tells a person what came out."""
    benchmark, layout = context.benchmark, context.layout
    context.require("set", name, benchmark.emotion_sets)
    context.require("system", system, benchmark.systems)
    context.require("evaluator", evaluator, benchmark.emotion_evaluators)
    wanted = context.protocol.emotion_set(name)
    anonymized = layout.emotional_anonymized(name, system) / name
    part = Part(wanted.dataset, wanted.split, layout.emotional(name), anonymized)
    key = f"emotion@{benchmark.name}-{name}-{system}-{evaluator}"
    target = layout.utility(system, f"{name}-{evaluator}")
    return evaluate_system(context, key, system, evaluator, [part], target)
