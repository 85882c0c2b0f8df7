"""The stage `score`: every list in every scenario of one system; the EERs go to MLflow."""

from __future__ import annotations

from dataclasses import asdict

from harness.attackers.stage import Lists, dataset_fact, score
from harness.corpora.store import Corpus
from harness.pipeline.context import Context
from harness.pipeline.runs import make_run
from harness.pipeline.scored import figures, means, read_scored, scenario_models
from harness.pipeline.tracked import problems, tracked
from harness.reports.drawing import png
from harness.reports.figures import det_figure, histogram_figure
from harness.runtime.files import (
    fingerprint,
    finished_folder,
    folder_fingerprint,
    work_folder,
    write_bytes,
)
from harness.runtime.parameters import ORIGINAL

DET_PICTURE = "det.png"
HISTOGRAM_PICTURE = "scores.png"


def run(context: Context, system: str, attacker: str, seed: int) -> str:
    """Score; returns the line that tells a person what came out."""
    one = make_run(context, "score", system, attacker, seed)
    layout, protocol = context.layout, context.protocol
    lists = Lists(protocol, layout.corpus, layout.anonymized(system))
    scenarios = scenario_models(context, system, attacker, seed)
    datasets = [
        dataset_fact(
            Corpus(folder / dataset.name),
            f"{context.benchmark.name}/{kind}/{dataset.name}",
            dataset.role,
        )
        for kind, folder in {ORIGINAL: layout.corpus, system: layout.anonymized(system)}.items()
        for dataset in protocol.sets
        if dataset.role != "train"
    ]
    identity = one.identity(
        fingerprint([asdict(scenario) for scenario in scenarios]),
        *(dataset["digest"] for dataset in datasets),
        *(folder_fingerprint(model) for model in scenarios.values()),
    )
    target = layout.scores(system, attacker, seed)
    with tracked(context, one.key, identity) as (events, sink):
        events.emit("run", stage="score", datasets=datasets, **one.facts)
        with finished_folder(target, work_folder(one.key, identity)) as folder:
            score(one, scenarios, lists, folder, events)
            scored = read_scored(context, scenarios, folder)
            table = means(context, system, attacker, seed, scored)
            for each in scored:
                events.emit("metric", name=f"eer/{each.name}", value=each.eer.percent, step=0)
            columns = (table["scenario"], table["split"], table["eer_percent"])
            for scenario, split, eer in zip(*columns, strict=True):
                name = f"eer/{scenario}/{split}/mean"
                events.emit("metric", name=name, value=float(eer), step=0)
            det = det_figure([[each] for each in scored], one.key)
            write_bytes(folder / DET_PICTURE, png(det))
            write_bytes(folder / HISTOGRAM_PICTURE, png(histogram_figure(scored, one.key)))
            for picture in (DET_PICTURE, HISTOGRAM_PICTURE):
                events.emit("artifact", path=picture)
            events.emit("done")
            events.write(folder)
        if sink is not None:
            sink.finish(target)
    return f"{one.key}: {figures(table)}{problems(sink)}"
