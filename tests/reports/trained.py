"""Scores of attackers on small lists, for tests of what is told of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.metrics.eer import equal_error_rate
from harness.metrics.resampling import Sampling
from harness.protocols.lists import Trial
from harness.protocols.protocol import Average, Protocol, Published, Source, TrialList
from harness.protocols.scenarios import SCENARIOS
from harness.reports.evaluation import Scored
from harness.reports.measured import Measured, Training

SAMPLING = Sampling(draws=200)
SCENARIO = {scenario.name: scenario for scenario in SCENARIOS}


def trials_of(speakers: Sequence[str], each: int = 2) -> list[Trial]:
    """Every speaker against `each` utterances of every speaker."""
    return [
        Trial(enrolled, f"{speaker}-1-{number}", enrolled == speaker)
        for enrolled in speakers
        for speaker in speakers
        for number in range(each)
    ]


def listed(split: str, gender: str, trials: Sequence[Trial]) -> TrialList:
    target = sum(trial.target for trial in trials)
    return TrialList(
        trials=f"{split}_trials_{gender}",
        enrolments=f"{split}_enrolls",
        dataset="libri",
        split=split,
        gender=gender,  # type: ignore[arg-type]
        target=target,
        nontarget=len(trials) - target,
        sha256="",
    )


def training(
    seed: int,
    gender: str,
    trials: Sequence[Trial],
    scores: Sequence[float],
    split: str = "test",
    scenario: str = "semi-informed",
) -> Training:
    values = np.array(scores, np.float32)
    target = np.array([trial.target for trial in trials])
    scored = Scored(
        SCENARIO[scenario],
        listed(split, gender, trials),
        list(trials),
        values,
        equal_error_rate(values[target], values[~target]),
    )
    return Training(seed, scored, f"results/{seed}/{split}-{gender}/scores", "ab" * 32)


# Two speakers, two utterances each: 4 targets and 4 nontargets.
TRIALS = trials_of(["a", "b"])
TARGETS = [trial.target for trial in TRIALS]


def scores(misses: int) -> list[float]:
    """As many targets below all nontargets as nontargets above all targets: the EER is misses/4."""
    low = iter([-9.0] * misses + [2.0] * (4 - misses))
    high = iter([9.0] * misses + [1.0] * (4 - misses))
    return [next(low) if target else next(high) for target in TARGETS]


def by_hand(seed: int, gender: str, misses: int) -> Training:
    """A training with these misses, and as many false alarms, on the list of TRIALS."""
    return training(seed, gender, TRIALS, scores(misses))


def drawn(seed: int, gender: str, distance: float, **other: str) -> Training:
    """12 speakers, 2 utterances each; normal scores whose means are so many deviations apart."""
    trials = trials_of([f"{gender}{number:02d}" for number in range(12)])
    target = np.array([trial.target for trial in trials])
    noise = np.random.default_rng([seed, ord(gender)]).normal(size=len(trials))
    return training(seed, gender, trials, noise + distance * target, **other)


def measured(
    *lists: Sequence[Training],
    system: str = "B4",
    attacker: str = "ecapa",
    scenario: str = "semi-informed",
) -> Measured:
    return Measured(system, attacker, scenario, tuple(map(tuple, lists)))


def protocol(*published: Published, printed_from: int | None = None) -> Protocol:
    lists = tuple(listed("test", gender, trials_of(["a", "b"])) for gender in "fm")
    return Protocol(
        name="made-up",
        title="Made up",
        source=Source("lists"),
        sets=(),
        lists=lists,
        averages=(Average("test", "Average", printed_from),),
        published=published,
    )
