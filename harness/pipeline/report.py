"""The stage `report`: one page of a benchmark, with its tables and pictures as files beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from harness.metrics.resampling import SAMPLING, Sampling
from harness.pipeline.context import Context
from harness.pipeline.leaderboard import log_leaderboard, write_leaderboard
from harness.pipeline.scored import read_scored
from harness.protocols.lists import trials_path
from harness.protocols.protocol import Protocol
from harness.protocols.ranking import AttackerRanking, usual
from harness.protocols.ranking import load as ranking_rules
from harness.protocols.scenarios import of_system
from harness.protocols.scores import score_path
from harness.protocols.typed import read_yaml
from harness.protocols.values import read_values
from harness.ranking.document import to_json
from harness.ranking.model import Method, Ranking
from harness.reports import evaluation as ev
from harness.reports import per_list, provenance
from harness.reports.drawing_set import HISTOGRAMS, SPEAKERS, pictures
from harness.reports.html.render import render
from harness.reports.measured import Measured, Training
from harness.reports.page import Fact, Page, ResultRow, Results, Utility
from harness.reports.results import cautions, intervals_table, require_same, result_rows
from harness.reports.standing import own_ranking
from harness.reports.tradeoff import TRADEOFF_FILE, UTILITY_FILE
from harness.reports.utility import utility_of
from harness.runtime import events
from harness.runtime.files import (
    fingerprint,
    finished_folder,
    sha256_bytes,
    sha256_file,
    work_folder,
    write_bytes,
)
from harness.runtime.images import LOCK, PART, Kind, locked
from harness.runtime.parameters import ORIGINAL

STAGE = "report"
PAGE_FILE = "index.html"
RANKING_FILE = "ranking.json"
INTERVALS, MEASURES = "intervals.csv", "measures.csv"
PROTOCOLS = "harness/protocols/data"


@dataclass(frozen=True)
class Run:
    """One training of an attacker on a system."""

    system: str
    attacker: str
    seed: int


@dataclass(frozen=True)
class Report:
    """A page, its results, and the files beside it by name, relative to the report's folder."""

    page: Page
    results: Results
    files: dict[str, bytes]


def run(context: Context) -> str:
    """Write the report of all runs; returns the line that tells a person where it is.

    Raises DataError where scores are missing, or the tables of `compare` are of others.
    """
    report = make_report(context, list(runs_of(context)))
    folder = context.layout.report
    files = {PAGE_FILE: render(report.page, folder.as_posix()).encode(), **report.files}
    identity = fingerprint({name: sha256_bytes(data) for name, data in files.items()})
    with finished_folder(folder, work_folder(STAGE, identity)) as work:
        for name, data in files.items():
            write_bytes(work / name, data)
        attackers, results = context.parameters.attackers, report.results
        name = context.benchmark.name
        write_leaderboard(work, name, results.rows, attackers, results.utility)
    problems = log_leaderboard(folder, context.parameters.tracking)
    told = f" (tracking: {'; '.join(problems)})" if problems else ""
    return f"{STAGE} {context.benchmark.name}: {folder / PAGE_FILE}{told}"


def runs_of(context: Context) -> Iterator[Run]:
    """All that the benchmark names, in its order."""
    benchmark = context.benchmark
    for system in benchmark.systems:
        for attacker in benchmark.attackers:
            for seed in benchmark.seeds:
                yield Run(system, attacker, seed)


def make_report(context: Context, runs: Sequence[Run]) -> Report:
    """The page of some runs of the benchmark, and its files.

    Raises ScoreError or DataError for scores that are missing or not those of the tables.
    """
    protocol, layout = context.protocol, context.layout
    sampling = replace(SAMPLING, workers=context.parameters.runtime.workers or os.cpu_count() or 1)
    folder = layout.report.as_posix()
    measured = list(_measured(context, runs))
    averages = layout.results / ev.AVERAGES_FILE
    rows = result_rows(protocol, measured, sampling, averages.as_posix())
    require_same(rows, ev.read_table(averages, ev.AVERAGE_COLUMNS))
    rules = ranking_rules(protocol.name)
    ranked = rules if isinstance(rules, AttackerRanking) else usual(protocol)
    ranking = own_ranking(protocol, measured, ranked.rank_by, sampling)
    measures = per_list.measures_table(measured)
    utility = _utility(context, rows)
    curves = (layout.results / ev.DET_FILE).as_posix()
    drawn = list(pictures(measured, rows, ranked.rank_by, utility, folder=folder, curves=curves))
    tables = {
        INTERVALS: intervals_table(rows),
        MEASURES: measures,
        SPEAKERS: per_list.speakers_table(measured),
        HISTOGRAMS: per_list.histograms_table(measured),
    }
    files = {name: ev.to_csv(table).encode() for name, table in tables.items()}
    for one in drawn:
        files |= one.files
    files[RANKING_FILE] = to_json(ranking).encode()
    results = Results(
        rows=rows,
        measures=per_list.measure_rows(measures),
        figures=tuple(one.figure for one in drawn),
        cautions=(*cautions(rows), per_list.LEFT_OUT),
        method=Method(sampling.draws, sampling.level, sampling.unit, sampling.seed),
        utility=utility,
    )
    facts = _facts(context, runs, sampling)
    page = make_page(protocol, results, ranking if ranking.boards else None, facts)
    return Report(page, results, files)


def make_page(
    protocol: Protocol, results: Results | None, ranking: Ranking | None, facts: Sequence[Fact]
) -> Page:
    """The page of an edition. results: None where there are no runs; ranking: None without one."""
    return Page(
        benchmark=protocol.name,
        title=protocol.title,
        reference=protocol.reference,
        rules=protocol.rules,
        results=results,
        ranking=ranking,
        provenance=tuple(facts),
    )


def _measured(context: Context, runs: Sequence[Run]) -> Iterator[Measured]:
    """The runs' scores, read again, by system, attacker and scenario."""
    for system, attacker in dict.fromkeys((one.system, one.attacker) for one in runs):
        scenarios = of_system(system == ORIGINAL)
        found: dict[tuple[str, str], list[Training]] = {}
        for one in runs:
            if (one.system, one.attacker) != (system, attacker):
                continue
            folder = context.layout.scores(system, attacker, one.seed)
            for scored in read_scored(context, scenarios, folder):
                path = score_path(folder, scored.scenario.name, scored.listed)
                training = Training(one.seed, scored, path.as_posix(), sha256_file(path))
                found.setdefault((scored.scenario.name, scored.listed.trials), []).append(training)
        for scenario in scenarios:
            lists = [found[scenario.name, listed.trials] for listed in context.protocol.lists]
            yield Measured(system, attacker, scenario.name, tuple(map(tuple, lists)))


def _utility(context: Context, rows: Sequence[ResultRow]) -> Utility | None:
    values, tradeoffs = (context.layout.results / name for name in (UTILITY_FILE, TRADEOFF_FILE))
    files = [tradeoffs.as_posix(), values.as_posix()]
    return utility_of(rows, read_values(values), ORIGINAL, files)


def _facts(context: Context, runs: Sequence[Run], sampling: Sampling) -> list[Fact]:
    protocol, layout = context.protocol, context.layout
    opening = []
    for one in runs:
        for folder in (layout.model, layout.scores):
            path = folder(one.system, one.attacker, one.seed) / events.FILE_NAME
            if path.is_file():
                first = next(events.read_events(path), {})
                opening += [(path.as_posix(), first)] if first.get("event") == "run" else []
    lists = {
        one.trials: trials_path(layout.corpus, one.trials).as_posix() for one in protocol.lists
    }
    return [
        *provenance.facts_of_method(
            protocol,
            sampling,
            protocol_file=f"{PROTOCOLS}/{protocol.name}.yaml",
            intervals_file=(layout.report / INTERVALS).as_posix(),
        ),
        *provenance.facts_of_lists(protocol, lists),
        *provenance.facts_of_runs(opening),
        *provenance.facts_of_images(_images(context), LOCK.as_posix()),
    ]


def _images(context: Context) -> dict[str, str]:
    """Digests of all recorded images of systems and attackers; none under `process`."""
    if context.parameters.runner != PART:
        return {}
    recorded = read_yaml(LOCK).get(PART, {})
    return {
        name: locked(kind, name).digest
        for kind in get_args(Kind)
        for name in recorded.get(kind, {})
    }
