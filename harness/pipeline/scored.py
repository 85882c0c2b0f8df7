"""What the stages `score` and `evaluate` share: scenarios with their models, scored lists."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from harness.pipeline.context import Context
from harness.protocols.lists import trials_path
from harness.protocols.scenarios import Scenario, of_system
from harness.protocols.scores import score_path
from harness.reports.evaluation import RUN_COLUMNS, Scored, averages, read_list
from harness.runtime.parameters import ORIGINAL


def scenario_models(
    context: Context, system: str, attacker: str, seed: int
) -> dict[Scenario, Path]:
    """The scenarios of a system, each with the model that scores it."""
    models = {
        "original": context.layout.model(ORIGINAL, attacker, seed),
        "anonymized": context.layout.model(system, attacker, seed),
    }
    return {scenario: models[scenario.train] for scenario in of_system(system == ORIGINAL)}


def read_scored(context: Context, scenarios: Iterable[Scenario], folder: Path) -> list[Scored]:
    """Every list in every scenario, from the score files in `folder`."""
    return [
        read_list(
            scenario,
            listed,
            trials_path(context.layout.corpus, listed.trials),
            score_path(folder, scenario.name, listed),
        )
        for scenario in scenarios
        for listed in context.protocol.lists
    ]


def run_columns(context: Context, system: str, attacker: str, seed: int) -> dict[str, Any]:
    """The columns of the tables that name a run."""
    values = (context.benchmark.name, system, attacker, seed)
    return dict(zip(RUN_COLUMNS, values, strict=True))


def means(
    context: Context, system: str, attacker: str, seed: int, scored: list[Scored]
) -> pd.DataFrame:
    """The averages of a run."""
    return averages(context.protocol, run_columns(context, system, attacker, seed), scored)


def figures(table: pd.DataFrame) -> str:
    """Averages in one line."""
    rows = zip(table["scenario"], table["split"], table["eer_percent"], strict=True)
    return ", ".join(f"{scenario} {split} EER {eer:.2f} %" for scenario, split, eer in rows)
