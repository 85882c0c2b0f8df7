"""The stage `compare`: the tables of the whole benchmark."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from harness.pipeline.context import Context
from harness.reports import evaluation as ev
from harness.reports.tables import markdown
from harness.runtime.files import write_text


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
    text = markdown(context.protocol, whole[ev.AVERAGES_FILE], whole[ev.EER_FILE])
    write_text(results / "table.md", text)
    return text
