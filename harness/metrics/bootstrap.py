"""Intervals of EERs, and of averages of EERs, by resampling speakers.

Goal: where the EER would lie with other speakers of the same kind. The percentiles of the EERs in
resamples (`harness.metrics.resampling`) are the interval.

What an interval of 95 % is worth with 13 enrolled of 20 speakers, as the official lists have: at
EERs of 13 to 26 % it covers the truth in 92 to 98 of 100 simulated cases. Where it fails the truth
lies above: with few speakers an attacker looks stronger than it is. With 26 enrolled of 40 it
covers 99, so it is wider than need be; below an EER of 10 % it covers less: see LOW_NOTE, and
`benchmarks/coverage.py`.

Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.metrics.draws import Pairs
from harness.metrics.resampling import SAMPLING, Attacker, Averages, Sampling, resample, tail

# From fewer speakers with target trials, an interval of 95 % covers an EER of 13 % in 87 of 100
# simulated cases (8 speakers), 80 (5), 66 (3); from 10 on in 89 or more.
FEWEST_TARGET_SPEAKERS = 10
# Where the missed targets are of fewer speakers it covers the truth in 0 to 46 of 100 cases (no
# speaker), 54 to 97 (one), 68 to 100 (two); from 3 on in 82 to 100.
FEWEST_MISSED_SPEAKERS = 3
# Below this EER, a fraction, an interval is too narrow for its level, and LOW_NOTE goes with it.
LOW = 0.1
LOW_NOTE = (
    "Below an EER of 10 % an interval of 95 % is too narrow: on simulated lists of the official "
    "sizes it covers the truth in 79 of 100 cases at an EER of 2 %, in 81 to 86 at 5 % and in 88 "
    "at 8 %. Where it fails, the truth lies above it."
)


@dataclass(frozen=True)
class Interval:
    """An estimate, and where the truth is supposed to lie.

    estimate: a fraction, or a difference of fractions, from the lists as they are. level: a
    fraction. low, high: the ends, which belong to it; None where it would mislead, and then reason
    is one clause that says why.
    """

    estimate: float
    level: float
    low: float | None
    high: float | None
    reason: str | None = None


@dataclass(frozen=True)
class EerIntervals:
    """One attacker's EERs: each list, and their mean by weight."""

    lists: tuple[Interval, ...]
    average: Interval


def eer_intervals(
    lists: Sequence[Pairs],
    attacker: Attacker,
    *,
    weights: Sequence[float] | None = None,
    sampling: Sampling = SAMPLING,
) -> EerIntervals:
    """The EER of each list and the average of all, from the same draws.

    lists: both speakers of each trial. attacker: for each list the scores, shape (n_trials,) or
    (n_trainings, n_trials): then of the mean EER of these trainings, and what training again would
    change is not in it. weights: of the lists in the average, equal unless given.
    Raises ScoreError for scores that the official EER refuses, ConfigError for weights that
    give no mean.
    """
    resamples = resample(lists, [attacker], sampling)
    single = [resamples.averages(row) for row in np.eye(len(lists)).tolist()]
    return EerIntervals(
        lists=tuple(interval_of(one, 0, sampling.level) for one in single),
        average=interval_of(resamples.averages(weights), 0, sampling.level),
    )


def interval_of(averages: Averages, attacker: int, level: float) -> Interval:
    """Of one attacker, by its position."""
    reason = too_few_speakers(averages)
    missed = averages.missed_speakers[attacker]
    if reason is None and missed < FEWEST_MISSED_SPEAKERS:
        reason = f"the targets missed are of {missed} speakers, fewer than {FEWEST_MISSED_SPEAKERS}"
    return percentile_interval(
        float(averages.observed[attacker]), averages.drawn[:, attacker], level, reason
    )


def too_few_speakers(averages: Averages) -> str | None:
    """Why these lists tell nothing about other speakers; None if they do."""
    if averages.target_speakers >= FEWEST_TARGET_SPEAKERS:
        return None
    return (
        f"{averages.target_speakers} speakers have target trials, fewer than "
        f"{FEWEST_TARGET_SPEAKERS}"
    )


def percentile_interval(
    estimate: float, drawn: npt.ArrayLike, level: float, reason: str | None
) -> Interval:
    """The percentile interval, from values in draws, shape (n_draws,).

    Its ends are the draws k from below and from above, with k = (1 - level) / 2 of n_draws + 1,
    rounded down: so the interval of a difference leaves 0 out exactly where the p-value of
    `harness.metrics.comparison` is at most 1 - level. reason: why there is to be none.
    """
    if reason is not None:
        return Interval(estimate, level, None, None, reason)
    values = np.sort(np.asarray(drawn, np.float64))
    k = tail(len(values), level)
    if not k:
        reason = f"{len(values)} draws with an EER are too few"
        return Interval(estimate, level, None, None, reason)
    return Interval(estimate, level, float(values[k - 1]), float(values[-k]))
