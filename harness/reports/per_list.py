"""What each list and training gave beside the EER: further measures, speakers, histograms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from harness.metrics import zebra
from harness.metrics.measures import MEASURES, Measure, Needs
from harness.reports.histogram import histogram
from harness.reports.measured import Measured, Training
from harness.reports.page import MeasureRow

DECIMALS = 6
# Significant ones, of scores: they may be of any size.
DIGITS = 6
# Scores of attackers have any scale; those that mean log-likelihood ratios do not say so.
SHOWN = {name: one for name, one in MEASURES.items() if one.needs is not Needs.RATIOS}
# A column's name says its unit, as `eer_percent` does elsewhere.
COLUMNS = {name: f"{name}_{one.unit}" for name, one in MEASURES.items()}
LEFT_OUT = (
    f"In measures.csv alone, since scores of attackers need not be log-likelihood ratios: "
    f"{', '.join(one.title for name, one in MEASURES.items() if name not in SHOWN)}."
)


def measures_table(measured: Iterable[Measured]) -> pd.DataFrame:
    """One row per list and training, with COLUMNS of measures; empty for too few targets."""
    rows = []
    for place, training in _trainings(measured):
        scored = training.scored
        target, nontarget = scored.of(True), scored.of(False)
        values = {
            COLUMNS[name]: round(one.function(target, nontarget), DECIMALS)
            for name, one in MEASURES.items()
            if len(target) >= one.fewest_targets
        }
        sizes = {"n_target": len(target), "n_nontarget": len(nontarget)}
        rows.append({**place, **sizes, **values, "file": training.file, "sha256": training.sha256})
    table = pd.DataFrame(rows)
    return table.reindex(columns=[*place, *sizes, *COLUMNS.values(), "file", "sha256"])


def measure_rows(table: pd.DataFrame) -> tuple[MeasureRow, ...]:
    """The rows of `measures_table` for people, in percent where the measure is an error rate."""
    rows = []
    for row in table.to_dict("records"):
        there = {
            COLUMNS[name]: one for name, one in SHOWN.items() if not math.isnan(row[COLUMNS[name]])
        }
        said = {
            one.title: one.caution(row["n_target"], row["n_nontarget"]) for one in there.values()
        }
        rows.append(
            MeasureRow(
                system=row["system"],
                attacker=row["attacker"],
                scenario=row["scenario"],
                seed=row["seed"],
                list=row["list"],
                values={one.title: _text(one, row[column]) for column, one in there.items()},
                cautions={title: caution for title, caution in said.items() if caution},
                file=row["file"],
            )
        )
    return tuple(rows)


def speakers_table(measured: Iterable[Measured]) -> pd.DataFrame:
    """One row per list, training and enrolled speaker; no EER where trials are of one class."""
    return pd.DataFrame(
        [
            {
                **place,
                "split": training.scored.listed.split,
                "gender": training.scored.listed.gender,
                "speaker": one.speaker,
                "n_target": one.n_target,
                "n_nontarget": one.n_nontarget,
                "eer_percent": None if one.eer is None else one.eer.percent,
            }
            for place, training in _trainings(measured)
            for one in training.speakers
        ]
    )


def histograms_table(measured: Iterable[Measured]) -> pd.DataFrame:
    """One row per list, training, class and bin.

    score: the bin's centre; density: share of the class per unit of score. panel: what tells one
    histogram from another, in one column for plots.
    """
    rows: list[dict[str, Any]] = []
    for place, training in _trainings(measured):
        found = histogram(training.scored)
        centres = (found.edges[:-1] + found.edges[1:]) / 2
        for kind, densities in (("target", found.target), ("nontarget", found.nontarget)):
            rows += (
                {
                    **place,
                    "panel": " ".join(map(str, place.values())),
                    "trials": kind,
                    "score": float(f"{centre:.{DIGITS}g}"),
                    "density": float(f"{density:.{DIGITS}g}"),
                }
                for centre, density in zip(centres, densities, strict=True)
            )
    return pd.DataFrame(rows)


def _trainings(measured: Iterable[Measured]) -> Iterator[tuple[dict[str, Any], Training]]:
    """Every list of every training, with the columns that name it."""
    for one in measured:
        for trainings in one.lists:
            for training in trainings:
                yield (
                    {
                        "system": one.system,
                        "attacker": one.attacker,
                        "scenario": one.scenario,
                        "seed": training.seed,
                        "list": training.scored.listed.trials,
                    },
                    training,
                )


def _text(measure: Measure, value: float) -> str:
    if measure.unit == "fraction" and measure.needs is Needs.ORDER:
        # Of the fractions, those that the order of the scores determines are error rates.
        return f"{100 * value:.2f} %"
    if measure.unit == "bit":
        return f"{value:.3f} bit"
    if measure.unit == "log10":
        return f"{value:.3f} ({zebra.tag(value)})"
    return f"{value:.3f}"
