"""What a benchmark's own runs scored: by system, attacker and scenario, list and training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np

from harness.metrics.det import det
from harness.metrics.speakers import SpeakerErrorRate, speaker_error_rates
from harness.ranking.contest import ScoredList
from harness.ranking.model import ListRate
from harness.ranking.speakers import pairs_of
from harness.reports.evaluation import DET_POINTS, Scored


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

    @cached_property
    def scored(self) -> tuple[ScoredList, ...]:
        """The lists with the scores of all trainings, as rankings and intervals take them."""
        return tuple(map(scored_list, self.lists))

    def of_split(self, split: str) -> list[tuple[Training, ...]]:
        """The lists of a split."""
        return [one for one in self.lists if one[0].scored.listed.split == split]


def mean_percent(trainings: Sequence[Training]) -> float:
    """The EER of one list in percent, mean over its trainings, unrounded."""
    return 100 * fmean(training.scored.eer.rate for training in trainings)


def scored_list(trainings: Sequence[Training]) -> ScoredList:
    """One list with the scores of all its trainings."""
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
