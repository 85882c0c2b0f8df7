"""Is one attacker stronger than another, or did other speakers only happen to be drawn?

Two attackers are compared on the same trials and in the same resamples, so that what is hard for
both cancels. The noise of training is a further component, which no resample of trials shows: an
attacker trained again on the same data moves by one to two points of EER. Of an attacker with
several trainings it is known, from how these differ. Of one with a single training it is not, and
then a difference that is told apart is one of two trainings, not of two attackers. The test errs on
the careful side: of two attackers that are equal over all speakers, 0 to 2 of 100 simulated pairs
are told apart at a level of 95 % (`benchmarks/coverage.py`).

Conventions as in `harness.metrics.resampling`; a difference is first minus second, so that it is
negative where the first attacker is the stronger.
Source: Efron and Tibshirani, "An introduction to the bootstrap", 1993; Davison and Hinkley,
"Bootstrap methods and their application", 1997 (p-values); Holm, "A simple sequentially rejective
multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harness.metrics.bootstrap import Interval, percentile_interval, too_few_speakers
from harness.metrics.draws import Pairs
from harness.metrics.resampling import (
    ROUNDING,
    SAMPLING,
    Attacker,
    Averages,
    Sampling,
    mean_by_share,
    official_eers,
    resample,
    shares_of,
)

Floats = npt.NDArray[np.float64]

# Official error rates are float32. Below 50 % each is off by at most 1.5e-8, and so is any mean of
# them: differences of equal EERs are at most 3e-8, and become 0.
DECIMALS = 7


@dataclass(frozen=True)
class SeedSpread:
    """How an attacker's EER, or average of EERs, varies from training to training.

    mean, deviation: fractions; the deviation of one training (n - 1 in the denominator), None where
    there is only one. trainings: their number.
    """

    mean: float
    deviation: float | None
    trainings: int


@dataclass(frozen=True)
class Comparison:
    """First minus second.

    difference: of their mean EERs. p_value: two-sided, None where there is no interval. first,
    second: each attacker over its trainings; where one has no deviation, the noise of its training
    is not in the interval.
    """

    difference: Interval
    p_value: float | None
    first: SeedSpread
    second: SeedSpread


def compare(
    lists: Sequence[Pairs],
    first: Attacker,
    second: Attacker,
    *,
    weights: Sequence[float] | None = None,
    sampling: Sampling = SAMPLING,
) -> Comparison:
    """The difference of two attackers' mean EERs, each of one training or of several.

    lists, first, second, weights: as in `harness.metrics.bootstrap`. The noise of training is in
    the draws (`retrained`).
    Raises ScoreError for scores that the official EER refuses, ConfigError for weights that
    give no mean.
    """
    averages = resample(lists, [first, second], sampling).averages(weights)
    spreads = [seed_spread(lists, attacker, weights=weights) for attacker in (first, second)]
    drawn = differences(*retrained(averages, spreads, sampling.seed).drawn.T)
    observed = float(differences(*averages.observed))
    difference = percentile_interval(observed, drawn, sampling.level, too_few_speakers(averages))
    return Comparison(difference, None if difference.reason else p_value(drawn), *spreads)


def retrained(averages: Averages, spreads: Sequence[SeedSpread], seed: int) -> Averages:
    """With the noise of training in each draw, of the attackers whose deviation is known.

    spreads: one per attacker. seed: of the noise; each attacker has its own by its position, so
    that another attacker before it changes that. A mean of k trainings has 1/√k of the deviation of
    one, which is itself an estimate: what is added to the draws follows Student's t with k - 1
    degrees of freedom. Of two trainings it is wide.
    """
    drawn = averages.drawn.copy()
    for position, spread in enumerate(spreads):
        if spread.deviation is not None:
            generator = np.random.default_rng([seed, position])
            noise = generator.standard_t(spread.trainings - 1, len(drawn))
            drawn[:, position] += spread.deviation / math.sqrt(spread.trainings) * noise
    return replace(averages, drawn=drawn)


def differences(first: npt.ArrayLike, second: npt.ArrayLike) -> Floats:
    """EERs of the first minus those of the second, element by element; 0 for equal ones, whatever
    float32 left of them."""
    rounded: Floats = (np.asarray(first) - np.asarray(second)).round(DECIMALS)
    return rounded


def p_value(drawn: npt.ArrayLike) -> float:
    """Two-sided, of no difference, from `differences` in draws, shape (n_draws,).

    Twice the share of draws on the rarer side of 0, the sample itself counted in; a draw without
    difference is on both sides. Never below 2 / (n_draws + 1).
    """
    drawn = np.asarray(drawn)
    rarer = min(np.count_nonzero(drawn <= 0), np.count_nonzero(drawn >= 0))
    return min(1.0, 2 * (1 + rarer) / (len(drawn) + 1))


def holm(p_values: npt.ArrayLike) -> Floats:
    """p-values adjusted for all being looked at together, shape as given, (n,).

    Those at most alpha are what Holm's procedure rejects at alpha.
    """
    p_values = np.asarray(p_values, np.float64)
    order = np.argsort(p_values, kind="stable")
    raised = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1)
    return adjusted


def fewest_draws(comparisons: int, level: float) -> int:
    """From how many draws on one of so many comparisons can be told from no difference.

    With fewer, no p-value is at most 1 - level after Holm's adjustment. level: a fraction.
    """
    return math.ceil(2 * comparisons / (1 - level + ROUNDING)) - 1


def seed_spread(
    lists: Sequence[Pairs], attacker: Attacker, *, weights: Sequence[float] | None = None
) -> SeedSpread:
    """How one attacker's mean EER varies when it is trained again with other seeds.

    lists, attacker, weights: as in `harness.metrics.bootstrap`. Raises as `compare` does.
    """
    eers = np.array([[eer.rate for eer in row] for row in official_eers(lists, attacker)])
    means = mean_by_share(eers.T, shares_of(weights, len(lists)))
    deviation = float(means.std(ddof=1)) if len(means) > 1 else None
    return SeedSpread(float(means.mean()), deviation, len(means))
