"""The stage `corpus`: original speech and trial lists of the benchmark."""

from __future__ import annotations

from harness.corpora.benchmark import Folders, build_benchmark
from harness.pipeline.context import Context
from harness.runtime.events import Events
from harness.runtime.parameters import LIBRISPEECH_VARIABLE, LISTS_VARIABLE
from harness.runtime.pool import Pool


def run(context: Context) -> str:
    """Make the corpus; returns the line that tells a person what came out."""
    context.require_later_stages()
    parameters = context.parameters
    with Pool(parameters.runtime.workers) as pool:
        count = build_benchmark(
            context.protocol,
            Folders(parameters.folder(LIBRISPEECH_VARIABLE), parameters.folder(LISTS_VARIABLE)),
            context.layout.corpus,
            segment_seconds=context.benchmark.segment_seconds,
            pool=pool,
            events=Events(*context.listeners),
        )
    # Of lists that could be made all numbers are known.
    lists = context.protocol.lists
    trials = sum((listed.target or 0) + (listed.nontarget or 0) for listed in lists)
    return (
        f"corpus {context.benchmark.name}: {count:,} utterances in {len(context.protocol.sets)} "
        f"sets, {trials:,} trials in {len(context.protocol.lists)} lists"
    )
