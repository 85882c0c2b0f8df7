"""The stage `anonymize`: all sets of the benchmark through one anonymizer."""

from __future__ import annotations

from harness.anonymizers.base import aimed
from harness.anonymizers.stage import anonymize
from harness.pipeline.context import Context
from harness.pipeline.runner import device, load_anonymizer
from harness.runtime.events import Events
from harness.runtime.pool import Pool


def run(context: Context, system: str) -> str:
    """Anonymize; returns the line that tells a person what came out."""
    context.require("system", system, context.benchmark.systems)
    context.require_later_stages()
    protocol, layout = context.protocol, context.layout
    targets = layout.corpus / protocol.training_set().name
    anonymizers = {
        dataset.name: aimed(load_anonymizer(context.parameters, system, dataset), targets)
        for dataset in protocol.sets
    }
    with Pool(context.parameters.runtime.workers) as pool:
        count = anonymize(
            anonymizers,
            system,
            [layout.corpus / name for name in anonymizers],
            layout.anonymized(system),
            seed=context.parameters.seed,
            pool=pool,
            events=Events(*context.listeners),
            device=device(context.parameters, *anonymizers.values()),
        )
    return f"anonymize {context.benchmark.name} {system}: {count:,} utterances"
