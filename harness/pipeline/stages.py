"""The stages, one function each. Each returns the line that tells a person what came out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from harness.anonymizers.stage import anonymize as anonymize_corpora
from harness.attackers.stage import Lists, Run, dataset_fact, score_path, trials_path
from harness.attackers.stage import score as score_lists
from harness.attackers.stage import train as train_attacker
from harness.corpora.benchmark import Folders, build_benchmark
from harness.corpora.store import Corpus
from harness.errors import ConfigError
from harness.pipeline.context import Context
from harness.protocols.scenarios import Scenario, of_system
from harness.protocols.typed import did_you_mean
from harness.reports import evaluation as ev
from harness.reports.tables import markdown
from harness.runtime.events import Events
from harness.runtime.files import (
    fingerprint,
    finished_folder,
    folder_fingerprint,
    work_folder,
    write_text,
)
from harness.runtime.parameters import LIBRISPEECH_VARIABLE, LISTS_VARIABLE, ORIGINAL
from harness.runtime.pool import Pool

DET_PICTURE = "det.png"
HISTOGRAM_PICTURE = "scores.png"


def corpus(context: Context) -> str:
    """Original speech and trial lists of the benchmark."""
    parameters, layout = context.parameters, context.layout
    with Pool(parameters.runtime.workers) as pool:
        count = build_benchmark(
            context.protocol,
            Folders(parameters.folder(LIBRISPEECH_VARIABLE), parameters.folder(LISTS_VARIABLE)),
            layout.corpus,
            segment_seconds=context.benchmark.segment_seconds,
            pool=pool,
            events=Events(*context.listeners),
        )
    trials = sum(listed.target + listed.nontarget for listed in context.protocol.lists)
    return (
        f"corpus {context.benchmark.name}: {count:,} utterances in {len(context.protocol.sets)} "
        f"sets, {trials:,} trials in {len(context.protocol.lists)} lists"
    )


def anonymize(context: Context, system: str) -> str:
    """All sets of the benchmark through one anonymizer."""
    _known(system, context.benchmark.systems, "system")
    layout = context.layout
    with Pool(context.parameters.runtime.workers) as pool:
        count = anonymize_corpora(
            context.anonymizer(system),
            system,
            [layout.corpus / dataset.name for dataset in context.protocol.sets],
            layout.anonymized(system),
            seed=context.parameters.seed,
            pool=pool,
            events=Events(*context.listeners),
        )
    return f"anonymize {context.benchmark.name} {system}: {count:,} utterances"


def train(context: Context, system: str, attacker: str, seed: int) -> str:
    """An attacker trained on the training set of one system."""
    run = _run(context, "train", system, attacker, seed)
    name = context.protocol.training_set().name
    source = Corpus(context.layout.anonymized(system) / name)
    target = context.layout.model(system, attacker, seed)
    with context.tracked(run.key, run.identity(source.digest())) as (events, sink):
        train_attacker(run, source, f"{context.benchmark.name}/{system}/{name}", target, events)
        if sink is not None:
            sink.finish(target)
        last = {e["name"]: e["value"] for e in events.recorded if e["event"] == "metric"}
    figures = ", ".join(f"{name} {value:.4g}" for name, value in last.items() if "rate" not in name)
    return f"{run.key}: {figures or 'untrained weights'}{_problems(sink)}"


def score(context: Context, system: str, attacker: str, seed: int) -> str:
    """Scores of every list in every scenario of one system; the EERs go to MLflow."""
    from harness.reports.figures import draw_det, draw_histograms

    run = _run(context, "score", system, attacker, seed)
    layout, protocol = context.layout, context.protocol
    lists = Lists(protocol, layout.corpus, layout.anonymized(system))
    scenarios = _scenarios(context, system, attacker, seed)
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
    identity = run.identity(
        fingerprint([asdict(scenario) for scenario in scenarios]),
        *(d["digest"] for d in datasets),
        *(folder_fingerprint(model) for model in scenarios.values()),
    )
    target = layout.scores(system, attacker, seed)
    with context.tracked(run.key, identity) as (events, sink):
        events.emit("run", stage="score", datasets=datasets, **run.facts)
        with finished_folder(target, work_folder(run.key, identity)) as folder:
            score_lists(run, scenarios, lists, folder, events)
            scored = _read_scored(context, list(scenarios), folder)
            means = _averages(context, system, attacker, seed, scored)
            for one in scored:
                events.emit("metric", name=f"eer/{one.name}", value=one.eer.percent, step=0)
            rows: Iterator[Any] = means.itertuples(index=False)
            for row in rows:
                name = f"eer/{row.scenario}/{row.split}/mean"
                events.emit("metric", name=name, value=float(row.eer_percent), step=0)
            draw_det(scored, run.key, folder / DET_PICTURE)
            draw_histograms(scored, run.key, folder / HISTOGRAM_PICTURE)
            for picture in (DET_PICTURE, HISTOGRAM_PICTURE):
                events.emit("artifact", path=picture)
            events.emit("done")
            events.write(folder)
        if sink is not None:
            sink.finish(target)
    return f"{run.key}: {_figures(means)}{_problems(sink)}"


def evaluate(context: Context, system: str, attacker: str, seed: int) -> str:
    """EERs of one run from its score files alone."""
    scenarios = list(_scenarios(context, system, attacker, seed))
    scored = _read_scored(context, scenarios, context.layout.scores(system, attacker, seed))
    facts = _run_facts(context, system, attacker, seed)
    means = _averages(context, system, attacker, seed, scored)
    target = context.layout.evaluation(system, attacker, seed)
    write_text(target / ev.EER_FILE, ev.to_csv(ev.eer_rows(facts, scored)))
    write_text(target / ev.AVERAGES_FILE, ev.to_csv(means))
    write_text(target / ev.DET_FILE, ev.to_csv(ev.det_rows(facts, scored)))
    return f"evaluate {context.benchmark.name} {system} {attacker} {seed}: {_figures(means)}"


def compare(context: Context) -> str:
    """The tables of the whole benchmark; returns the Markdown table."""
    tables: dict[str, list[pd.DataFrame]] = {ev.EER_FILE: [], ev.AVERAGES_FILE: [], ev.DET_FILE: []}
    columns: dict[str, Sequence[str]] = {
        ev.EER_FILE: ev.COLUMNS,
        ev.AVERAGES_FILE: ev.AVERAGE_COLUMNS,
        ev.DET_FILE: ("curve",),
    }
    benchmark, results = context.benchmark, context.layout.results
    for system in benchmark.systems:
        for attacker in benchmark.attackers:
            for seed in benchmark.seeds:
                folder = context.layout.evaluation(system, attacker, seed)
                for name, parts in tables.items():
                    parts.append(ev.read_table(folder / name, columns[name]))
    whole = {name: pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
    for name, table in whole.items():
        write_text(results / name, ev.to_csv(table))
    write_text(results / ev.SUMMARY_FILE, ev.summary_text(whole[ev.AVERAGES_FILE]))
    text = markdown(context.protocol, whole[ev.AVERAGES_FILE], whole[ev.EER_FILE])
    write_text(results / "table.md", text)
    return text


def _run(context: Context, stage: str, system: str, attacker: str, seed: int) -> Run:
    _known(system, context.benchmark.systems, "system")
    _known(attacker, context.benchmark.attackers, "attacker")
    key = f"{stage}@{context.benchmark.name}-{system}-{attacker}-{seed}"
    return Run(
        key=key,
        attacker=context.attacker(attacker),
        seed=seed,
        machine=context.machine(),
        facts=context.facts(key, system, attacker, seed),
    )


def _known(name: str, names: Sequence[str], kind: str) -> None:
    if name not in names:
        raise ConfigError(
            f"{kind} {name!r} is not part of the benchmark",
            where="params.yaml",
            fix=did_you_mean(name, names),
        )


def _scenarios(context: Context, system: str, attacker: str, seed: int) -> dict[Scenario, Path]:
    """The scenarios of a system, each with the model that scores it."""
    models = {
        "original": context.layout.model(ORIGINAL, attacker, seed),
        "anonymized": context.layout.model(system, attacker, seed),
    }
    return {s: models[s.train] for s in of_system(system == ORIGINAL)}


def _read_scored(context: Context, scenarios: Sequence[Scenario], folder: Path) -> list[ev.Scored]:
    return [
        ev.read_list(
            scenario,
            listed,
            trials_path(context.layout.corpus, listed.trials),
            score_path(folder, scenario.name, listed),
        )
        for scenario in scenarios
        for listed in context.protocol.lists
    ]


def _run_facts(context: Context, system: str, attacker: str, seed: int) -> dict[str, Any]:
    values = (context.benchmark.name, system, attacker, seed)
    return dict(zip(ev.RUN_COLUMNS, values, strict=True))


def _averages(
    context: Context, system: str, attacker: str, seed: int, scored: Sequence[ev.Scored]
) -> pd.DataFrame:
    return ev.averages(context.protocol, _run_facts(context, system, attacker, seed), scored)


def _figures(means: pd.DataFrame) -> str:
    return ", ".join(
        f"{row.scenario} {row.split} EER {row.eer_percent:.2f} %"
        for row in means.itertuples(index=False)
    )


def _problems(sink: Any) -> str:
    return "" if sink is None or not sink.problems else f" (tracking: {'; '.join(sink.problems)})"
