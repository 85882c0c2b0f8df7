"""The stage `compare`: the tables of the whole benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from harness.pipeline.context import Context
from harness.protocols.values import FILE_NAME, Value, read_values, to_csv
from harness.reports import evaluation as ev
from harness.reports.tables import markdown
from harness.reports.tradeoff import TRADEOFF_FILE, UTILITY_FILE, to_table, tradeoffs
from harness.runtime.files import write_text
from harness.runtime.parameters import ORIGINAL


def run(context: Context) -> str:
    """Write the tables; returns the Markdown table."""
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
    values = list(utility_values(context))
    found = tradeoffs(whole[ev.AVERAGES_FILE], values, ORIGINAL)
    write_text(results / UTILITY_FILE, to_csv(values))
    write_text(results / TRADEOFF_FILE, ev.to_csv(to_table(found)))
    text = markdown(context.protocol, whole[ev.AVERAGES_FILE], whole[ev.EER_FILE])
    write_text(results / "table.md", text)
    return text


def utility_values(context: Context) -> Iterator[Value]:
    """What was measured of each system beside its EER, in the order of the benchmark.

    Raises DataError for a table that is missing.
    """
    benchmark, layout = context.benchmark, context.layout
    evaluators = [
        *benchmark.evaluators,
        *(f"{one}-{by}" for one in benchmark.emotion_sets for by in benchmark.emotion_evaluators),
    ]
    for system in benchmark.systems:
        for evaluator in evaluators:
            yield from read_values(layout.utility(system, evaluator) / FILE_NAME)
        for attacker in benchmark.attackers:
            for seed in benchmark.seeds:
                yield from read_values(layout.voices(system, attacker, seed) / FILE_NAME)
