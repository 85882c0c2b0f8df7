"""The stage `anonymize`: all sets of the benchmark through one anonymizer."""

from __future__ import annotations

from harness.anonymizers.stage import anonymize
from harness.pipeline.context import Context
from harness.pipeline.runner import device, load_anonymizer
from harness.runtime.events import Events
from harness.runtime.pool import Pool


def run(context: Context, system: str) -> str:
    """Anonymize; returns the line that tells a person what came out."""
    context.require("system", system, context.benchmark.systems)
    context.require_later_stages()
    anonymizer = load_anonymizer(context.parameters, system)
    with Pool(context.parameters.runtime.workers) as pool:
        count = anonymize(
            anonymizer,
            system,
            [context.layout.corpus / dataset.name for dataset in context.protocol.sets],
            context.layout.anonymized(system),
            seed=context.parameters.seed,
            pool=pool,
            events=Events(*context.listeners),
            device=device(context.parameters, anonymizer),
        )
    return f"anonymize {context.benchmark.name} {system}: {count:,} utterances"
