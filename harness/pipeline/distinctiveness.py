"""The stage `distinctiveness`: how different a system's speakers still sound to an attacker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.attackers.base import Machine
from harness.corpora.store import Corpus
from harness.pipeline.context import Context
from harness.pipeline.measuring import leave
from harness.pipeline.runner import device, load_attacker
from harness.protocols.values import Value
from harness.reports import drawing
from harness.reports.drawing_similarity import similarity_figure
from harness.runtime.events import Events
from harness.runtime.files import folder_fingerprint, write_bytes, write_text
from harness.runtime.parameters import ORIGINAL
from harness.utility.base import as_value
from harness.utility.distinctiveness import KINDS, Voices, voices
from harness.utility.stage import pairs

MATRICES = "similarity.csv"


@dataclass(frozen=True)
class Place:
    """Whose voices are compared: those of one gender of a trial set."""

    dataset: str
    split: str
    gender: str

    @property
    def name(self) -> str:
        """For files."""
        return f"{self.dataset}-{self.split}-{self.gender}"


def run(context: Context, system: str, attacker: str, seed: int) -> str:
    """Compare; returns the line that tells a person what came out."""
    benchmark, parameters, layout = context.benchmark, context.parameters, context.layout
    context.require("system", system, benchmark.systems)
    context.require("attacker", attacker, benchmark.attackers)
    context.require("seed", seed, benchmark.seeds)
    model = layout.model(ORIGINAL, attacker, seed)
    works = load_attacker(parameters, attacker)
    machine = Machine(parameters.runtime.threads, device(parameters, works))
    # Trial utterances, as in VoicePrivacy 2022; several lists may be of one set.
    of_sets = {listed.trials: listed for listed in context.protocol.lists}

    def compare(events: Events) -> Iterator[tuple[Place, Voices]]:
        for name, listed in of_sets.items():
            stored = pairs(Corpus(layout.corpus / name), Corpus(layout.anonymized(system) / name))
            for gender in sorted({pair.gender for pair in stored}):
                chosen = [pair for pair in stored if pair.gender == gender]
                yield (
                    Place(listed.dataset, listed.split, gender),
                    voices(works, model, chosen, gender, seed=seed, machine=machine, events=events),
                )

    def work(folder: Path, events: Events) -> list[Value]:
        found = list(compare(events))
        write_text(folder / MATRICES, _table(found))
        for place, one in found:
            for warning in one.warnings:
                events.emit("warning", message=f"voices {system}: {place.name}: {warning}")
            write_bytes(folder / f"{place.name}.svg", _picture(system, place, one))
            events.emit("artifact", path=f"{place.name}.svg")
        return [
            as_value(
                value,
                system=system,
                evaluator=attacker,
                dataset=place.dataset,
                split=place.split,
                seed=str(seed),
            )
            for place, one in found
            for value in one.values
        ]

    facts = {
        "system": system,
        "attacker": attacker,
        "seed": seed,
        "parameters": {
            "anonymizer": parameters.anonymizers[system],
            "attacker": parameters.attackers[attacker],
        },
    }
    return leave(
        context,
        f"distinctiveness@{benchmark.name}-{system}-{attacker}-{seed}",
        facts,
        [
            folder / name
            for name in of_sets
            for folder in (layout.corpus, layout.anonymized(system))
        ],
        [repr(works), repr(machine), folder_fingerprint(model)],
        work,
        layout.voices(system, attacker, seed),
    )


def _table(found: list[tuple[Place, Voices]]) -> str:
    """All matrices, one row per pair of speakers."""
    rows = [
        f"{place.dataset},{place.split},{place.gender},{kind},{one},{other},"
        f"{matrix.values[row, column]:.6f}\n"
        for place, voices_of in found
        for kind, matrix in voices_of.matrices.items()
        for row, one in enumerate(matrix.speakers)
        for column, other in enumerate(matrix.speakers)
    ]
    return "".join(["dataset,split,gender,kind,row,column,similarity\n", *rows])


def _picture(system: str, place: Place, found: Voices) -> bytes:
    original, crossed, anonymized = (found.matrices[kind] for kind in KINDS)
    title = f"{system}: {place.dataset} {place.split} {place.gender}"
    return drawing.svg(similarity_figure(original, crossed, anonymized, title)).encode()
