"""The rows of results: EERs over all trainings, with intervals, beside the published.

Rates are in percent. Intervals are over speakers: the noise of training again is told apart from
them, by the deviation over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, stdev

import pandas as pd

from harness.errors import DataError
from harness.metrics.bootstrap import LOW, LOW_NOTE, Interval, eer_intervals
from harness.metrics.resampling import Sampling
from harness.protocols.protocol import Protocol
from harness.ranking.boards import NO_SPEAKERS
from harness.ranking.model import Estimate
from harness.reports.evaluation import DECIMALS
from harness.reports.measured import Measured, mean_percent
from harness.reports.page import ResultRow
from harness.reports.published import published_beside

# In the column `list` of the mean over the lists of a split.
MEAN = "mean"
INTERVAL_COLUMNS = (
    *("system", "attacker", "scenario", "split", "list", "seeds"),
    *("eer_percent", "deviation", "low", "high", "reason"),
)


def result_rows(
    protocol: Protocol, measured: Iterable[Measured], sampling: Sampling, file: str
) -> tuple[ResultRow, ...]:
    """One row per system, attacker, scenario and average of the protocol.

    file: where the averages of each seed stand (`averages.csv`).
    """
    rows = []
    for one in measured:
        for average in protocol.averages:
            lists = one.of_split(average.split)
            seeds = {
                seed: fmean(training.scored.eer.rate for training in of_seed)
                for seed, of_seed in zip(one.seeds, zip(*lists, strict=True), strict=True)
            }
            eers = [mean_percent(trainings) for trainings in lists]
            beside = published_beside(protocol, one.system, one.scenario, average.split, eers)
            genders = dict.fromkeys(trainings[0].scored.listed.gender for trainings in lists)
            mean, of_lists = _estimates(one, average.split, sampling)
            rows.append(
                ResultRow(
                    system=one.system,
                    attacker=one.attacker,
                    scenario=one.scenario,
                    split=average.split,
                    by_gender={
                        gender: _rounded(
                            fmean(
                                eer
                                for eer, trainings in zip(eers, lists, strict=True)
                                if trainings[0].scored.listed.gender == gender
                            )
                        )
                        for gender in genders
                    },
                    mean=mean,
                    lists=of_lists,
                    deviation=_rounded(100 * stdev(seeds.values())) if len(seeds) > 1 else None,
                    seeds={seed: _rounded(100 * rate) for seed, rate in seeds.items()},
                    published=None if beside is None else beside.text,
                    source=None if beside is None else beside.source,
                    file=file,
                )
            )
    return tuple(rows)


def require_same(rows: Iterable[ResultRow], averages: pd.DataFrame) -> None:
    """Hold the rows against the table that they name as their file.

    Raises DataError where it has another value, or none: then it is not of these scores.
    """
    keys = ["system", "attacker", "scenario", "split", "seed"]
    stated = averages.set_index(keys)["eer_percent"].to_dict()
    for row in rows:
        for seed, percent in row.seeds.items():
            found = stated.get((row.system, row.attacker, row.scenario, row.split, seed))
            if found != percent:
                raise DataError(
                    f"{row.system}, {row.attacker}, seed {seed}, {row.scenario}, {row.split}: "
                    f"{'no value' if found is None else found}, but the scores give {percent}",
                    where=row.file,
                    fix="run `dvc repro`",
                )


def intervals_table(rows: Iterable[ResultRow]) -> pd.DataFrame:
    """The rows as a table, columns INTERVAL_COLUMNS: of each the mean, then its lists.

    Ends that there are not are empty, as is the deviation of a list.
    """
    return pd.DataFrame(
        [
            (
                *(row.system, row.attacker, row.scenario, row.split, name, len(row.seeds)),
                *(one.percent, row.deviation if name == MEAN else None, one.low, one.high),
                one.reason or "",
            )
            for row in rows
            for name, one in {MEAN: row.mean, **row.lists}.items()
        ],
        columns=list(INTERVAL_COLUMNS),
    )


def cautions(rows: Sequence[ResultRow]) -> tuple[str, ...]:
    """How to read the rows, one sentence each."""
    trainings = sorted({len(row.seeds) for row in rows})
    if trainings == [1]:
        said = [
            "Each attacker was trained once: by how much its EER changes when it is trained again "
            "is not known; one to two points are usual."
        ]
    else:
        numbers = " or ".join(map(str, trainings))
        said = [
            f"Means are over {numbers} trainings with other seeds, and the spread is the standard "
            "deviation from training to training; intervals are over speakers and hold nothing "
            "of it."
        ]
    reasons = dict.fromkeys(row.mean.reason for row in rows if row.mean.reason)
    said += [f"Where there is no interval, it would mislead: {reason}." for reason in reasons]
    if any(row.mean.low is not None and row.mean.percent < 100 * LOW for row in rows):
        said.append(LOW_NOTE)
    return tuple(said)


def _estimates(
    measured: Measured, split: str, sampling: Sampling
) -> tuple[Estimate, dict[str, Estimate]]:
    """The mean over lists and trainings, and each list's by name, with intervals over speakers."""
    scored = [one for one in measured.scored if one.listed.split == split]
    names = [one.listed.trials for one in scored]
    pairs = [one.pairs for one in scored if one.pairs is not None]
    if len(pairs) < len(scored):
        percents = list(map(mean_percent, measured.of_split(split)))
        mean, *single = (
            Estimate(_rounded(one), reason=NO_SPEAKERS) for one in (fmean(percents), *percents)
        )
        return mean, dict(zip(names, single, strict=True))
    intervals = eer_intervals(pairs, [one.scores for one in scored], sampling=sampling)
    single = [_estimate(one) for one in intervals.lists]
    return _estimate(intervals.average), dict(zip(names, single, strict=True))


def _estimate(interval: Interval) -> Estimate:
    low, high = (
        None if end is None else _rounded(100 * end) for end in (interval.low, interval.high)
    )
    return Estimate(_rounded(100 * interval.estimate), low, high, interval.reason)


def _rounded(percent: float) -> float:
    return round(percent, DECIMALS)
