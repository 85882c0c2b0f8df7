"""The stage `emotion-anonymize`: one set of emotional speech through one anonymizer."""

from __future__ import annotations

from harness.anonymizers.base import aimed
from harness.anonymizers.stage import anonymize
from harness.pipeline.context import Context
from harness.pipeline.runner import device, load_anonymizer
from harness.protocols.protocol import DataSet
from harness.runtime.events import Events
from harness.runtime.pool import Pool


def run(context: Context, name: str, system: str) -> str:
    """Anonymize; returns the line that tells a person what came out."""
    context.require("set", name, context.benchmark.emotion_sets)
    context.require("system", system, context.benchmark.systems)
    context.require_later_stages()
    protocol, layout = context.protocol, context.layout
    wanted = protocol.emotion_set(name)
    # Evaluation speech, as trials are.
    dataset = DataSet(name, "trial", wanted.female, wanted.male, sum(wanted.emotions.values()))
    anonymizer = aimed(
        load_anonymizer(context.parameters, system, dataset),
        layout.corpus / protocol.training_set().name,
    )
    with Pool(context.parameters.runtime.workers) as pool:
        count = anonymize(
            {name: anonymizer},
            system,
            [layout.emotional(name)],
            layout.emotional_anonymized(name, system),
            seed=context.parameters.seed,
            pool=pool,
            events=Events(*context.listeners),
            device=device(context.parameters, anonymizer),
        )
    return f"emotion-anonymize {context.benchmark.name} {name} {system}: {count:,} utterances"
