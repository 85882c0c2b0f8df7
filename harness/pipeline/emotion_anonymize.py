"""The stage `emotion-anonymize`: one set of emotional speech through one anonymizer."""

from __future__ import annotations

from harness.pipeline.anonymize import anonymize_sets
from harness.pipeline.context import Context
from harness.protocols.protocol import DataSet


def run(context: Context, name: str, system: str) -> str:
    """Anonymize; returns the line that tells a person what came out."""
    context.require("set", name, context.benchmark.emotion_sets)
    context.require("system", system, context.benchmark.systems)
    context.require_later_stages()
    layout, wanted = context.layout, context.protocol.emotion_set(name)
    # Evaluation speech, as trials are.
    dataset = DataSet(name, "trial", wanted.female, wanted.male, sum(wanted.emotions.values()))
    target = layout.emotional_anonymized(name, system)
    count = anonymize_sets(context, system, {dataset: layout.emotional(name)}, target)
    return f"emotion-anonymize {context.benchmark.name} {name} {system}: {count:,} utterances"
