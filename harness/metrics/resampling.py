"""EERs of attackers in resamples of their trial lists: what intervals and comparisons stand on.

All lists and all attackers see the same draws. These depend on the seed, the number of draws, the
unit and the lists alone: each block of draws has a seed of its own, so that neither the number of
workers nor the attackers beside one change an EER, observed or drawn. The EER of each resample is
exactly that of its trials (`harness.metrics.weights`). What `harness.metrics.comparison.retrained`
adds for training again does depend on the attackers before one.

Conventions: rates are fractions. An attacker is one array of scores per list, in the lists' order:
of shape (n_trials,), or, where it was trained several times, of shape (n_trainings, n_trials), with
the same trainings in every list. Its EER on a list is then the mean of its trainings' EERs, as
observed and in each draw.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError, ScoreError
from harness.metrics.draws import UNITS, Draws, Pairs
from harness.metrics.eer import EqualErrorRate, equal_error_rate
from harness.metrics.weights import OrderedTrials

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Attacker = Sequence[npt.ArrayLike]

# Of 1 - level, such that (1 - 0.9) * 10 is 1.
ROUNDING = 1e-9
# The same as of seeds in params.yaml, so that one number may serve for both; `harness.runtime` has
# its own, because metrics import nothing of it.
SEED_LIMIT = 2**32


@dataclass(frozen=True)
class Sampling:
    """How to resample, and how sure to be.

    draws: number of resamples. level: of intervals, and of what is told apart; a fraction.
    unit: what is drawn, a key of `harness.metrics.draws.UNITS`. seed: below SEED_LIMIT. workers:
    threads.
    Raises ConfigError for values that are out of range, or draws too few for the level.
    """

    draws: int = 2000
    level: float = 0.95
    unit: str = "speakers"
    seed: int = 1986
    workers: int = 1

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ConfigError(
                f"{self.unit!r} cannot be drawn",
                where="unit",
                fix=f"give one of {', '.join(UNITS)}",
            )
        for name, least in (("draws", 1), ("seed", 0), ("workers", 1)):
            if getattr(self, name) < least:
                raise ConfigError(
                    f"{getattr(self, name)} is too low", where=name, fix=f"give {least} or more"
                )
        if self.seed >= SEED_LIMIT:
            raise ConfigError(
                "the seed is too high", where="seed", fix=f"give one below {SEED_LIMIT}"
            )
        if not 0 < self.level < 1:
            raise ConfigError(
                f"{self.level} is no level", where="level", fix="give a fraction, such as 0.95"
            )
        if not tail(self.draws, self.level):
            raise ConfigError(
                f"{self.draws} draws are too few for a level of {self.level}",
                where="draws",
                fix=f"give {math.ceil(2 / (1 - self.level) - ROUNDING) - 1} or more",
            )


def tail(draws: int, level: float) -> int:
    """Which of the draws in ascending order is the low end of an interval, from 1; 0 for none."""
    return math.floor((1 - level) / 2 * (draws + 1) + ROUNDING)


SAMPLING = Sampling()


@dataclass(frozen=True)
class Averages:
    """Of each attacker the mean EER of lists, by weight.

    observed: of the lists as they are, shape (n_attackers,). drawn: in each draw, shape (n_draws,
    n_attackers); draws that leave a list without targets or without nontargets are left out.
    target_speakers: with target trials, of the list that has fewest. missed_speakers: shape
    (n_attackers,), speakers with a target trial at or below the threshold, of the list, and of the
    training, that has fewest.
    """

    observed: Floats
    drawn: Floats
    target_speakers: int
    missed_speakers: Integers


@dataclass(frozen=True)
class Resamples:
    """Of each attacker on each list the EER, observed and in each draw.

    observed: shape (n_attackers, n_lists). drawn: shape (n_draws, n_attackers, n_lists), NaN where
    a draw leaves the list without a class. target_speakers: shape (n_lists,) and missed_speakers:
    shape (n_attackers, n_lists), as in `Averages`.
    """

    observed: Floats
    drawn: Floats
    target_speakers: Integers
    missed_speakers: Integers

    def averages(self, weights: Sequence[float] | None = None) -> Averages:
        """The mean of the lists' EERs. weights: one per list, of any sum; None for equal ones.

        A list of weight 0 is as if not there. Raises ConfigError for weights that give no mean.
        """
        shares = shares_of(weights, self.observed.shape[1])
        used = shares > 0
        shares = shares[used]
        drawn = mean_by_share(self.drawn[..., used], shares)
        return Averages(
            observed=mean_by_share(self.observed[:, used], shares),
            drawn=drawn[~np.isnan(drawn).any(axis=1)],
            target_speakers=int(self.target_speakers[used].min()),
            missed_speakers=self.missed_speakers[:, used].min(axis=1),
        )


def mean_by_share(eers: Floats, shares: Floats) -> Floats:
    """The mean of EERs, shape (..., n_lists), along the last axis. shares: of `shares_of`.

    Not a matrix product, which may round equal rows differently: equal attackers stay equal.
    """
    mean: Floats = (eers * shares).sum(axis=-1)
    return mean


def shares_of(weights: Sequence[float] | None, n_lists: int) -> Floats:
    """The weights of lists in an average as shares of 1; None for equal ones.

    Raises ConfigError for weights that give no mean.
    """
    given = np.ones(n_lists) if weights is None else np.asarray(weights, np.float64)
    if given.shape != (n_lists,) or not (np.isfinite(given) & (given >= 0)).all():
        raise ConfigError(
            f"{weights} are no weights of {n_lists} lists",
            where="weights",
            fix="give one number for each list, none negative",
        )
    if not given.any():
        raise ConfigError("all weights are 0", where="weights", fix="weigh at least one list")
    shares: Floats = given / given.sum()
    return shares


def resample(
    lists: Sequence[Pairs], attackers: Sequence[Attacker], sampling: Sampling
) -> Resamples:
    """The EERs of all attackers on all lists, in the same draws.

    Raises ScoreError for scores that the official EER refuses, or that are missing.
    """
    if not lists or not attackers:
        raise ScoreError(
            f"{len(lists)} lists and {len(attackers)} attackers", fix="give at least one of each"
        )
    trained = [by_training(lists, attacker) for attacker in attackers]
    official = [official_eers(lists, attacker) for attacker in attackers]
    draws = UNITS[sampling.unit](lists)
    trials = [
        [
            [OrderedTrials(scores, pairs.target, cells) for scores in trainings]
            for trainings, pairs, cells in zip(attacker, lists, draws.cells, strict=True)
        ]
        for attacker in trained
    ]
    missed = [
        [_missed_speakers(*one) for one in zip(lists, attacker, row, strict=True)]
        for attacker, row in zip(trained, official, strict=True)
    ]
    return Resamples(
        observed=np.array(
            [[np.mean([eer.rate for eer in of_list]) for of_list in row] for row in official]
        ),
        drawn=_drawn(draws, trials, sampling),
        target_speakers=np.array([len(np.unique(pairs.trial[pairs.target])) for pairs in lists]),
        missed_speakers=np.array(missed),
    )


def by_training(lists: Sequence[Pairs], attacker: Attacker) -> list[npt.NDArray[Any]]:
    """An attacker's scores of each list, shape (n_trainings, n_trials).

    Raises ScoreError for scores that are not one for each trial, or for trainings that some lists
    lack.
    """
    if len(attacker) != len(lists):
        raise ScoreError(
            f"scores of {len(attacker)} lists, where there are {len(lists)}",
            fix="give the scores of every list, in the lists' order",
        )
    given = [np.asarray(scores) for scores in attacker]
    for scores, pairs in zip(given, lists, strict=True):
        if scores.ndim not in (1, 2) or not len(scores) or scores.shape[-1:] != pairs.target.shape:
            raise ScoreError(
                f"scores of shape {scores.shape} for {len(pairs.target)} trials",
                fix="give one score for each trial, in the list's order",
            )
    trained = [np.atleast_2d(scores) for scores in given]
    numbers = [len(scores) for scores in trained]
    if len(set(numbers)) != 1:
        raise ScoreError(
            f"the lists have scores of {', '.join(map(str, numbers))} trainings",
            fix="score every list with every training",
        )
    return trained


def official_eers(lists: Sequence[Pairs], attacker: Attacker) -> list[list[EqualErrorRate]]:
    """On each list the official EER of each training of an attacker.

    Raises ScoreError for scores that it refuses, or that are not one for each trial.
    """
    return [
        [equal_error_rate(scores[pairs.target], scores[~pairs.target]) for scores in trainings]
        for pairs, trainings in zip(lists, by_training(lists, attacker), strict=True)
    ]


def _missed_speakers(
    pairs: Pairs, trainings: npt.NDArray[Any], eers: Sequence[EqualErrorRate]
) -> int:
    """How many speakers have a target trial missed at the official threshold; of the training that
    misses fewest."""
    missed = [
        pairs.target & (scores.astype(np.float32) <= eer.threshold)
        for scores, eer in zip(trainings, eers, strict=True)
    ]
    return min(len(np.unique(pairs.trial[one])) for one in missed)


def _drawn(
    draws: Draws, trials: Sequence[Sequence[Sequence[OrderedTrials]]], sampling: Sampling
) -> Floats:
    """EERs in each draw, shape (n_draws, n_attackers, n_lists), from the trainings of each attacker
    on each list."""
    sizes = [
        min(draws.block, sampling.draws - start) for start in range(0, sampling.draws, draws.block)
    ]
    seeds = np.random.SeedSequence(sampling.seed).spawn(len(sizes))

    def block(seed: np.random.SeedSequence, n_draws: int) -> Floats:
        weights = draws.weights(np.random.default_rng(seed), n_draws)
        rates = [
            [
                np.mean([one.equal_error_rates(of_list) for one in trainings], axis=0)
                for trainings, of_list in zip(row, weights, strict=True)
            ]
            for row in trials
        ]
        return np.moveaxis(np.array(rates), -1, 0)

    with ThreadPoolExecutor(sampling.workers) as executor:
        return np.concatenate(list(executor.map(block, seeds, sizes)))
