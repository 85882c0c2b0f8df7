"""Intervals of EERs, and of averages of EERs, by resampling speakers.

Goal: where the EER would lie with other speakers of the same kind. The percentiles of the EERs in
resamples (`harness.metrics.resampling`) are the interval.

What an interval of 95 % is worth with 13 enrolled of 20 speakers, as the official lists have: at
EERs of 13 to 26 % it covers the truth in 94 to 98 of 100 simulated cases. Where it fails the truth
lies above: with few speakers an attacker looks stronger than it is. At EERs of 1 to 5 %, and
speakers who differ as much, it covers 78 to 84. See `benchmarks/coverage.py`.

Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993, chapter 13.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError
from harness.metrics.draws import Pairs
from harness.metrics.resampling import SAMPLING, Attacker, Averages, Sampling, resample

Floats = npt.NDArray[np.float64]

LEVEL = 0.95
# From fewer speakers with target trials, an interval of 95 % covers an EER of 13 % in 87 of 100
# simulated cases (8 speakers), 80 (5), 66 (3); from 10 on in 89 or more.
FEWEST_TARGET_SPEAKERS = 10
# Where the missed targets are of fewer speakers it covers the truth in 0 to 46 of 100 cases (no
# speaker), 54 to 97 (one), 77 to 100 (two); from 3 on in 82 to 100.
FEWEST_MISSED_SPEAKERS = 3
# Of 1 - level, such that (1 - 0.9) * 10 is 1.
ROUNDING = 1e-9


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
    level: float = LEVEL,
    sampling: Sampling = SAMPLING,
) -> EerIntervals:
    """The EER of each list and the average of all, from the same draws.

    lists: both speakers of each trial. attacker: for each list the scores, shape (n_trials,).
    weights: of the lists in the average, equal unless given.
    Raises ScoreError for scores that the official EER refuses, ConfigError for a level or weights
    out of range.
    """
    resamples = resample(lists, [attacker], sampling)
    single = [resamples.averages(row) for row in np.eye(len(lists)).tolist()]
    return EerIntervals(
        lists=tuple(eer_interval(one, 0, level) for one in single),
        average=eer_interval(resamples.averages(weights), 0, level),
    )


def eer_interval(averages: Averages, attacker: int, level: float) -> Interval:
    """Of one attacker, by its position."""
    reason = too_few_speakers(averages)
    missed = averages.missed_speakers[attacker]
    if reason is None and missed < FEWEST_MISSED_SPEAKERS:
        reason = f"the targets missed are of {missed} speakers, fewer than {FEWEST_MISSED_SPEAKERS}"
    return interval(float(averages.observed[attacker]), averages.drawn[:, attacker], level, reason)


def too_few_speakers(averages: Averages) -> str | None:
    """Why these lists tell nothing about other speakers; None if they do."""
    if averages.target_speakers >= FEWEST_TARGET_SPEAKERS:
        return None
    return (
        f"{averages.target_speakers} speakers have target trials, fewer than "
        f"{FEWEST_TARGET_SPEAKERS}"
    )


def interval(estimate: float, drawn: npt.ArrayLike, level: float, reason: str | None) -> Interval:
    """The percentile interval, from values in draws, shape (n_draws,).

    Outside each end lies the same number of draws, k - 1 with k = (1 - level) / 2 of n_draws + 1,
    rounded down: so the interval of a difference leaves 0 out exactly where the p-value of
    `harness.metrics.comparison` is at most 1 - level.
    Raises ConfigError where the level is out of range or the draws too few for it.
    """
    if not 0 < level < 1:
        raise ConfigError(f"{level} is no level", where="level", fix="give a fraction, as 0.95")
    if reason is not None:
        return Interval(estimate, level, None, None, reason)
    values = np.sort(np.asarray(drawn, np.float64))
    k = math.floor((1 - level) / 2 * (len(values) + 1) + ROUNDING)
    if k < 1:
        raise ConfigError(
            f"{len(values)} draws are too few for a level of {level}",
            where="draws",
            fix=f"draw {math.ceil(2 / (1 - level) - ROUNDING) - 1} times or more",
        )
    return Interval(estimate, level, float(values[k - 1]), float(values[-k]))
