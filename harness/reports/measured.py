"""What a benchmark's own runs gave: EERs over all trainings, with intervals, beside the published.

Rates are in percent here, as pages show them. Intervals are over speakers: the noise of training
again is told apart from them, by the deviation over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np
import pandas as pd

from harness.errors import DataError
from harness.metrics.bootstrap import LOW, LOW_NOTE, Interval, eer_intervals
from harness.metrics.det import det
from harness.metrics.resampling import Sampling
from harness.metrics.speakers import SpeakerErrorRate, speaker_error_rates
from harness.protocols.protocol import Protocol
from harness.ranking.boards import NO_SPEAKERS
from harness.ranking.contest import ScoredList
from harness.ranking.model import Estimate, ListRate
from harness.ranking.speakers import pairs_of
from harness.reports.evaluation import DECIMALS, DET_POINTS, Scored
from harness.reports.page import ResultRow
from harness.reports.published import published_beside

# In the column `list` of the mean over the lists of a split.
MEAN = "mean"
INTERVAL_COLUMNS = (
    *("system", "attacker", "scenario", "split", "list", "seeds"),
    *("eer_percent", "deviation", "low", "high", "reason"),
)


@dataclass(frozen=True)
class Training:
    """One list as one training of an attacker scored it. file: of the scores, relative to the
    repository; sha256: of its bytes."""

    seed: int
    scored: Scored
    file: str
    sha256: str

    @property
    def speakers(self) -> tuple[SpeakerErrorRate, ...]:
        """The EER of each enrolled speaker."""
        trials = self.scored.trials
        return speaker_error_rates(
            [trial.enrolment for trial in trials],
            np.array([trial.target for trial in trials]),
            self.scored.scores,
        )


@dataclass(frozen=True)
class Measured:
    """One attacker against one system in one scenario.

    lists: of each list its trainings, one per seed, in the same order for every list.
    """

    system: str
    attacker: str
    scenario: str
    lists: tuple[tuple[Training, ...], ...]

    @property
    def name(self) -> str:
        """For people."""
        return f"{self.system}, {self.attacker}, {self.scenario}"

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of the trainings."""
        return tuple(training.seed for training in self.lists[0])

    def of_split(self, split: str) -> list[tuple[Training, ...]]:
        """The lists of a split."""
        return [one for one in self.lists if one[0].scored.listed.split == split]


def scored_list(trainings: Sequence[Training]) -> ScoredList:
    """One list with the scores of all its trainings, as rankings take it."""
    first = trainings[0].scored
    target = np.array([trial.target for trial in first.trials])
    enrolled = [trial.enrolment for trial in first.trials]
    return ScoredList(
        listed=first.listed,
        target=target,
        pairs=pairs_of(enrolled, [trial.utterance for trial in first.trials], target),
        scores=np.stack([training.scored.scores for training in trainings]),
        rates=tuple(map(_rate, trainings)),
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
            eers = [_mean_percent(trainings) for trainings in lists]
            beside = published_beside(protocol, one.system, one.scenario, average.split, eers)
            genders = dict.fromkeys(trainings[0].scored.listed.gender for trainings in lists)
            mean, of_lists = _estimates(lists, sampling)
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
    lists: Sequence[Sequence[Training]], sampling: Sampling
) -> tuple[Estimate, dict[str, Estimate]]:
    """The mean over lists and trainings, and each list's by name, with intervals over speakers."""
    scored = [scored_list(trainings) for trainings in lists]
    names = [one.listed.trials for one in scored]
    pairs = [one.pairs for one in scored if one.pairs is not None]
    if len(pairs) < len(scored):
        percents = list(map(_mean_percent, lists))
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


def _rate(training: Training) -> ListRate:
    scored = training.scored
    curve = det(scored.of(True), scored.of(False), DET_POINTS)
    rates = zip(curve.false_alarm_rate.tolist(), curve.miss_rate.tolist(), strict=True)
    return ListRate(
        list=scored.listed.trials,
        split=scored.listed.split,
        gender=scored.listed.gender,
        percent=100 * scored.eer.rate,
        misses=scored.eer.misses,
        false_alarms=scored.eer.false_alarms,
        n_target=scored.eer.n_target,
        n_nontarget=scored.eer.n_nontarget,
        file=training.file,
        sha256=training.sha256,
        seed=training.seed,
        det=tuple((round(x, 6), round(y, 6)) for x, y in rates),
        speakers={
            one.speaker: None if one.eer is None else one.eer.percent for one in training.speakers
        },
    )


def _mean_percent(trainings: Sequence[Training]) -> float:
    return 100 * fmean(training.scored.eer.rate for training in trainings)


def _rounded(percent: float) -> float:
    return round(percent, DECIMALS)
