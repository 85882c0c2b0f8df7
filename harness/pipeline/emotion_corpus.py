"""The stage `emotion-corpus`: one set of original emotional speech."""

from __future__ import annotations

from harness.corpora.emotional import build_emotional
from harness.corpora.places import need
from harness.pipeline.context import Context
from harness.runtime.events import Events
from harness.runtime.parameters import EMODB_VARIABLE, LISTS_VARIABLE
from harness.runtime.pool import Pool

PLACES = {
    "emodb": (EMODB_VARIABLE, "sources.emodb", "EmoDB"),
    "lists": (LISTS_VARIABLE, "sources.lists", "the official Kaldi folders"),
}


def run(context: Context, name: str) -> str:
    """Store the set; returns the line that tells a person what came out."""
    context.require("set", name, context.benchmark.emotion_sets)
    wanted = context.protocol.emotion_set(name)
    variable, setting, what = PLACES[wanted.corpus]
    root = need(context.parameters.folder(variable), variable, setting, what)
    with Pool(context.parameters.runtime.workers) as pool:
        count = build_emotional(
            wanted,
            root,
            context.layout.emotional(name),
            pool=pool,
            events=Events(*context.listeners),
        )
    return f"emotion-corpus {context.benchmark.name} {name}: {count:,} utterances"
