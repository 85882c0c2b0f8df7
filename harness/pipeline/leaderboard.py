"""The leaderboard as MLflow runs: one of the whole benchmark, and one of each attacker.

The events that they are made of lie in the report's folder, so that DVC keeps them and
`harness track import` makes the runs again. An attacker's run names its metrics after scenario,
split and system alone: two of them, compared in the UI, line up. What was measured beside EERs is
of no attacker, and stands in the run of the whole benchmark alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import TrackingError
from harness.reports import drawing
from harness.reports.evaluation import DECIMALS
from harness.reports.page import ResultRow, Utility
from harness.reports.tradeoff import Kept
from harness.runtime.events import Events
from harness.runtime.files import write_bytes, write_text
from harness.runtime.parameters import Tracking
from harness.tracking.importer import import_runs
from harness.tracking.sink import LIVE, TABLE
from harness.tracking.store import open_store

FOLDER = "leaderboard"
TABLE_FILE = "table.json"
PICTURE_FILE = "table.png"
TEXTS = ("system", "attacker", "scenario", "split")
NUMBERS = ("EER %", "interval", "published")
# What the page's width holds of text of this size; more is drawn smaller.
LINE_CHARACTERS = 76
POINTS = 8
ROW_INCHES = 0.2


def write_leaderboard(
    folder: Path,
    benchmark: str,
    rows: Sequence[ResultRow],
    attackers: Mapping[str, Mapping[str, Any]],
    utility: Utility | None = None,
) -> None:
    """Write `folder`/leaderboard: the table, its picture and its events; the same of each attacker.

    folder: of the report. rows, utility: as the report shows them. attackers: parameters of each by
    name.
    """
    board = folder / FOLDER
    tradeoffs = utility.tradeoffs if utility else ()
    kept = {(one.system, one.split): one.kept[1:] for one in tradeoffs}
    names = dict.fromkeys(row.attacker for row in rows)
    facts = {"stage": FOLDER, "key": f"report@{benchmark}", "benchmark": benchmark}
    _write(
        board,
        {**facts, "parameters": {**_scope(rows), "attackers": ", ".join(names)}},
        rows,
        lambda row: f"{row.scenario}/{row.split}/{row.system}/{row.attacker}",
        kept,
    )
    for attacker in names:
        own = [row for row in rows if row.attacker == attacker]
        parameters = {**_scope(own), "attacker": dict(attackers[attacker])}
        _write(
            board / attacker,
            {**facts, "attacker": attacker, "parameters": parameters},
            own,
            lambda row: f"{row.scenario}/{row.split}/{row.system}",
            {},
        )


def log_leaderboard(folder: Path, tracking: Tracking) -> list[str]:
    """Log what `write_leaderboard` wrote as MLflow runs, if tracking is on; the same only once.

    folder: of the report, below the working directory. Returns what went wrong, one line each: it
    never takes the report away.
    """
    try:
        store = open_store(tracking)
        if store is None:
            return []
        report = import_runs(store, Path(), folders=[folder / FOLDER], source=LIVE)
    except TrackingError as error:
        return [str(error)]
    return list(report.problems)


def _write(
    folder: Path,
    run: Mapping[str, Any],
    rows: Sequence[ResultRow],
    name: Callable[[ResultRow], str],
    kept: Mapping[tuple[str, str], Sequence[Kept]],
) -> None:
    """kept: beside EERs, by system and split."""
    write_text(folder / TABLE_FILE, _table(rows, kept))
    write_bytes(folder / PICTURE_FILE, _picture(rows))
    events = Events()
    events.emit("run", **run)
    for row in rows:
        events.emit("metric", name=f"eer/{name(row)}", value=_rounded(row.mean.percent), step=0)
    for (system, split), values in kept.items():
        for one in values:
            place = "/".join(["utility", split, *one.key, system])
            events.emit("metric", name=place, value=_rounded(one.value), step=0)
    events.emit("artifact", path=TABLE_FILE, type=TABLE)
    events.emit("artifact", path=PICTURE_FILE)
    events.emit("done")
    events.write(folder)


def _scope(rows: Sequence[ResultRow]) -> dict[str, str]:
    """What the rows are about; two leaderboards of the same numbers may be of more or fewer."""
    systems = dict.fromkeys(row.system for row in rows)
    seeds = sorted({seed for row in rows for seed in row.seeds})
    return {"systems": ", ".join(systems), "seeds": ", ".join(map(str, seeds))}


def _table(rows: Sequence[ResultRow], kept: Mapping[tuple[str, str], Sequence[Kept]]) -> str:
    """The rows as JSON in the form that the UI shows as a table."""
    keys = dict.fromkeys(one.key for values in kept.values() for one in values)
    lines = [
        {
            "system": row.system,
            "attacker": row.attacker,
            "scenario": row.scenario,
            "split": row.split,
            "EER in percent": _rounded(row.mean.percent),
            "low": _rounded(row.mean.low),
            "high": _rounded(row.mean.high),
            "no interval because": row.mean.reason,
            "deviation over seeds": _rounded(row.deviation),
            "seeds": len(row.seeds),
            "published": row.published,
            **{", ".join(key): _of_key(kept.get((row.system, row.split), ()), key) for key in keys},
        }
        for row in rows
    ]
    columns = list(lines[0]) if lines else []
    data = [list(line.values()) for line in lines]
    return json.dumps({"columns": columns, "data": data}, indent=1, allow_nan=False) + "\n"


def _of_key(values: Sequence[Kept], key: tuple[str, str, str]) -> float | None:
    return next((_rounded(one.value) for one in values if one.key == key), None)


def _rounded(percent: float | None) -> float | None:
    return None if percent is None else round(percent, DECIMALS)


def _picture(rows: Sequence[ResultRow]) -> bytes:
    """The rows as a PNG, attackers of one place together, the strongest EER of each place bold."""
    places: dict[tuple[str, str, str], list[ResultRow]] = {}
    for row in rows:
        places.setdefault((row.system, row.scenario, row.split), []).append(row)
    ordered = [row for place in places.values() for row in place]
    lowest = [min(row.mean.percent for row in place) for place in places.values() for _ in place]
    lines = [[*TEXTS, *NUMBERS], *map(_cells, ordered)]
    widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)]
    size = POINTS * min(1.0, LINE_CHARACTERS / sum(widths))
    ends = np.cumsum(widths) / sum(widths)
    with drawing.styled(ROW_INCHES * (len(lines) + 1)) as figure:
        axes = figure.subplots()
        axes.set_axis_off()
        axes.set(xlim=(0, 1), ylim=(len(rows) + 0.6, -0.6))
        axes.axhline(0.5, color=drawing.INK, linewidth=0.6)
        for number, line in enumerate(lines):
            for column, text in enumerate(line):
                is_text = column < len(TEXTS)
                bold = number == 0 or (
                    column == len(TEXTS) and ordered[number - 1].mean.percent == lowest[number - 1]
                )
                axes.text(
                    ends[column] - (widths[column] / sum(widths) if is_text else 0),
                    number,
                    text,
                    horizontalalignment="left" if is_text else "right",
                    verticalalignment="center",
                    fontsize=size,
                    weight="bold" if bold else "normal",
                )
    return drawing.png(figure)


def _cells(row: ResultRow) -> list[str]:
    mean = row.mean
    interval = "" if mean.low is None or mean.high is None else f"{mean.low:.1f} – {mean.high:.1f}"
    numbers = [f"{mean.percent:.2f}", interval, row.published or ""]
    return [row.system, row.attacker, row.scenario, row.split, *numbers]
