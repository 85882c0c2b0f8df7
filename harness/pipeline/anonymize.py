"""The stage `anonymize`: all sets of the benchmark through one anonymizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.anonymizers.base import aimed
from harness.anonymizers.stage import anonymize
from harness.pipeline.context import Context
from harness.pipeline.runner import device, load_anonymizer
from harness.protocols.protocol import DataSet
from harness.runtime.events import Events
from harness.runtime.pool import Pool


def run(context: Context, system: str) -> str:
    """Anonymize; returns the line that tells a person what came out."""
    context.require("system", system, context.benchmark.systems)
    context.require_later_stages()
    sets = {dataset: context.layout.corpus / dataset.name for dataset in context.protocol.sets}
    count = anonymize_sets(context, system, sets, context.layout.anonymized(system))
    return f"anonymize {context.benchmark.name} {system}: {count:,} utterances"


def anonymize_sets(
    context: Context, system: str, sets: Mapping[DataSet, Path], target: Path
) -> int:
    """Anonymize sets, each stored at its path, into `target`; returns the number of utterances."""
    parameters = context.parameters
    targets = context.layout.corpus / context.protocol.training_set().name
    anonymizers = {
        dataset.name: aimed(load_anonymizer(parameters, system, dataset), targets)
        for dataset in sets
    }
    with Pool(parameters.runtime.workers) as pool:
        return anonymize(
            anonymizers,
            system,
            list(sets.values()),
            target,
            seed=parameters.seed,
            pool=pool,
            events=Events(*context.listeners),
            device=device(parameters, *anonymizers.values()),
        )
