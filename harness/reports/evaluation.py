"""From score files to EERs: the stages `evaluate` and `compare`.

`eer.csv` has one row per list; the columns and their names are fixed (see COLUMNS). Means of lists
stand in a file of their own, `averages.csv`, so that no row of `eer.csv` is anything but one list.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri

from harness.errors import DataError
from harness.metrics.det import det
from harness.metrics.eer import EqualErrorRate, equal_error_rate
from harness.protocols.lists import Trial, read_trials, require
from harness.protocols.protocol import Protocol, TrialList
from harness.protocols.scenarios import Scenario
from harness.protocols.scores import read_scores

EER_FILE = "eer.csv"
AVERAGES_FILE = "averages.csv"
DET_FILE = "det.csv"
SUMMARY_FILE = "summary.json"

COLUMNS = (
    "benchmark",
    "system",
    "attacker",
    "seed",
    "scenario",
    "enrolment",
    "trial",
    "train",
    "dataset",
    "split",
    "gender",
    "n_target",
    "n_nontarget",
    "eer_percent",
    # Beyond the fixed table: where the EER lies, and on which list exactly.
    "threshold",
    "misses",
    "false_alarms",
    "trials_sha256",
)
RUN_COLUMNS = ("benchmark", "system", "attacker", "seed")
# Text, even where it looks like a number: a system may be called 007.
NAME_COLUMNS = (
    "benchmark",
    "system",
    "attacker",
    "scenario",
    "enrolment",
    "trial",
    "train",
    "dataset",
    "split",
    "gender",
    "trials_sha256",
    "curve",
)
AVERAGE_COLUMNS = (*RUN_COLUMNS, "scenario", "dataset", "split", "eer_percent")
DET_POINTS = 200
DECIMALS = 3


@dataclass(frozen=True)
class Scored:
    """A list scored in a scenario: its trials, scores (in list order) and EER."""

    scenario: Scenario
    listed: TrialList
    trials: Sequence[Trial]
    scores: npt.NDArray[np.float32]
    eer: EqualErrorRate

    @property
    def name(self) -> str:
        """`<scenario>/<split>/<gender>`."""
        return f"{self.scenario.name}/{self.listed.split}/{self.listed.gender}"

    def of(self, target: bool) -> npt.NDArray[np.float32]:
        """Scores of the target or of the nontarget trials."""
        chosen = np.array([trial.target == target for trial in self.trials], dtype=np.bool_)
        return self.scores[chosen]


def read_list(scenario: Scenario, listed: TrialList, trials_file: Path, score_file: Path) -> Scored:
    """Read a list and its scores, and compute the EER.

    Raises ListError, DataError (the list is not the protocol's) or ScoreError.
    """
    trials = read_trials(trials_file)
    require(listed, trials)
    scores = read_scores(score_file, trials)
    labels = np.array([trial.target for trial in trials])
    return Scored(
        scenario, listed, trials, scores, equal_error_rate(scores[labels], scores[~labels])
    )


def eer_rows(run: dict[str, Any], scored: Sequence[Scored]) -> pd.DataFrame:
    """One row per list. run: values of RUN_COLUMNS."""
    rows = []
    for one in scored:
        rows.append(
            {
                **run,
                "scenario": one.scenario.name,
                "enrolment": one.scenario.enrolment,
                "trial": one.scenario.trial,
                "train": one.scenario.train,
                "dataset": one.listed.dataset,
                "split": one.listed.split,
                "gender": one.listed.gender,
                "n_target": one.eer.n_target,
                "n_nontarget": one.eer.n_nontarget,
                "eer_percent": one.eer.percent,
                "threshold": one.eer.threshold,
                "misses": one.eer.misses,
                "false_alarms": one.eer.false_alarms,
                "trials_sha256": one.listed.sha256,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def averages(protocol: Protocol, run: dict[str, Any], scored: Sequence[Scored]) -> pd.DataFrame:
    """Means over the lists of a split by the edition's weights, of unrounded EERs, in percent."""
    rows = []
    for scenario in dict.fromkeys(one.scenario for one in scored):
        for average in protocol.averages:
            members = [
                one
                for one in scored
                if one.scenario == scenario and one.listed.split == average.split
            ]
            rates = {one.listed.trials: one.eer.rate for one in members}
            mean = protocol.average(average.split, rates)
            rows.append(
                {
                    **run,
                    "scenario": scenario.name,
                    "dataset": members[0].listed.dataset,
                    "split": average.split,
                    "eer_percent": round(100 * mean, DECIMALS),
                }
            )
    return pd.DataFrame(rows, columns=list(AVERAGE_COLUMNS))


def published_average(eers_percent: Sequence[float], decimals: int) -> float:
    """The mean of EERs each cut (truncated, not rounded) to `decimals`, and cut again; in percent.

    What the Attacker Challenge's plan prints for B4 in Table 3, one unit of the last digit below
    the mean at full precision.
    """
    unit = Decimal(1).scaleb(-decimals)

    def cut(value: Decimal) -> Decimal:
        return value.quantize(unit, rounding=ROUND_DOWN)

    # 29.37 may come as 29.369999999999997, from which cutting would take a whole unit.
    cuts = [cut(Decimal(str(round(eer, decimals + DECIMALS)))) for eer in eers_percent]
    return float(cut(sum(cuts, Decimal(0)) / len(cuts)))


def det_rows(run: dict[str, Any], scored: Sequence[Scored]) -> pd.DataFrame:
    """DET curves of all lists as one table, rates also on the probit scale."""
    tables = []
    for one in scored:
        curve = det(one.of(True), one.of(False), DET_POINTS)
        inside = (
            (curve.miss_rate > 0)
            & (curve.miss_rate < 1)
            & (curve.false_alarm_rate > 0)
            & (curve.false_alarm_rate < 1)
        )
        table = pd.DataFrame(
            {
                "curve": f"{run['system']} {run['attacker']} {run['seed']} {one.name}",
                "false_alarm_rate": curve.false_alarm_rate[inside].round(6),
                "miss_rate": curve.miss_rate[inside].round(6),
            }
        )
        for rate in ("false_alarm", "miss"):
            table[f"{rate}_probit"] = ndtri(table[f"{rate}_rate"]).round(6)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def to_csv(table: pd.DataFrame) -> str:
    """A table as CSV text with LF line ends; numbers read back exactly."""
    return str(table.to_csv(index=False, lineterminator="\n"))


def read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """A table written by `to_csv`. Raises DataError when it is missing or lacks a column."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(
            f"cannot read the table ({error.strerror})", where=path, fix="run `dvc repro`"
        ) from error
    return parse_table(data, columns, path)


def parse_table(data: bytes, columns: Sequence[str], where: object) -> pd.DataFrame:
    """The table in the bytes of a file of `to_csv`; `where` names it in errors."""
    try:
        table = pd.read_csv(
            io.BytesIO(data), keep_default_na=False, dtype=dict.fromkeys(NAME_COLUMNS, str)
        )
    except ValueError as error:
        raise DataError(f"not a table ({error})", where=where, fix="run `dvc repro`") from error
    missing = set(columns) - set(table.columns)
    if missing:
        raise DataError(
            f"columns missing: {', '.join(sorted(missing))}", where=where, fix="run `dvc repro`"
        )
    return table


def summary(averages_table: pd.DataFrame) -> dict[str, Any]:
    """Mean over seeds of each average, nested by system, attacker, scenario and split."""
    result: dict[str, Any] = {}
    keys = ["system", "attacker", "scenario", "split"]
    means: Any = averages_table.groupby(keys, sort=True)["eer_percent"].mean()
    for (system, attacker, scenario, split), value in means.items():
        place = result.setdefault(system, {}).setdefault(attacker, {}).setdefault(scenario, {})
        place[split] = round(float(value), DECIMALS)
    return result


def summary_text(averages_table: pd.DataFrame) -> str:
    """The summary as the JSON text that DVC reads as metrics."""
    return json.dumps(summary(averages_table), indent=2, sort_keys=True) + "\n"
