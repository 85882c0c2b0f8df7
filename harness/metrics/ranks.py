"""Places of attackers on a leaderboard, and what other speakers would make of them.

All attackers are scored on the same trials and resampled in the same draws. Lower EER is the
stronger attacker and the better rank; equal EERs share the better rank. An attacker whose scores
are missing has no rank: it is never first, nor is it last. Of several trainings the mean of their
EERs counts, and what training again would change is in the intervals of ranks and in tiers, though
not in intervals of EERs; of a single training it is not known.

Conventions as in `harness.metrics.resampling`.
Source: Goldstein and Spiegelhalter, "League tables and their limitations", JRSS A 159, 1996
(intervals of ranks); `harness.metrics.comparison` for tiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError, ScoreError
from harness.metrics.bootstrap import (
    Interval,
    interval_of,
    percentile_interval,
    too_few_speakers,
)
from harness.metrics.comparison import (
    SeedSpread,
    differences,
    fewest_draws,
    holm,
    p_value,
    retrained,
    seed_spread,
)
from harness.metrics.draws import Pairs
from harness.metrics.resampling import ROUNDING, SAMPLING, Attacker, Averages, Sampling, resample

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

OF_A_MINIMUM = (
    "The interval of the strongest attacker's EER is one of a minimum. Among attackers that are "
    "about equal the lowest is low by chance: of three equal ones, such an interval of 95 % lies "
    "below the truth in 10 of 100 simulated cases at an EER of 26 %, in 27 at 13 % and in about "
    "half of them at 2 to 5 %."
)


@dataclass(frozen=True)
class Place:
    """Of one attacker.

    eer: its mean EER. rank: an interval whose estimate is the rank observed, from 1; the ends are
    whole numbers too; None for one that is not ranked. tier: from 1; None where it is not ranked,
    or where the lists have too few speakers, or too few draws an EER, to tell.
    """

    eer: Interval
    rank: Interval | None
    tier: int | None


@dataclass(frozen=True)
class Leaderboard:
    """places: of each attacker in the order given, None where scores are missing.

    strongest: the lowest mean EER of any attacker. Its interval is of the minimum, taken anew in
    each draw: how to read it says `OF_A_MINIMUM`.
    """

    places: tuple[Place | None, ...]
    strongest: Interval


def leaderboard(
    lists: Sequence[Pairs],
    attackers: Sequence[Attacker | None],
    *,
    ranked: Sequence[bool] | None = None,
    weights: Sequence[float] | None = None,
    sampling: Sampling = SAMPLING,
) -> Leaderboard:
    """Ranks of attackers with intervals, tiers, and the EER of the strongest.

    lists, weights: as in `harness.metrics.bootstrap`. attackers: the scores of each on each list,
    of one training or several; None for one that lacks any. ranked: which of them compete, None for
    all; the others take no place from these, and may be the strongest all the same.
    Raises ScoreError where no attacker has scores, or for scores that the official EER refuses;
    ConfigError for weights that give no mean, or draws too few to tell so many attackers apart.
    """
    present = [position for position, one in enumerate(attackers) if one is not None]
    if not present:
        raise ScoreError("no attacker has scores", fix="give the scores of at least one")
    level = sampling.level
    competing = [one for one, position in enumerate(present) if ranked is None or ranked[position]]
    fewest = fewest_draws(len(competing) - 1, level)
    if sampling.draws < fewest:
        raise ConfigError(
            f"{sampling.draws} draws cannot tell {len(competing)} attackers apart",
            where="draws",
            fix=f"draw {fewest} times or more",
        )
    scored = [one for one in attackers if one is not None]
    averages = resample(lists, scored, sampling).averages(weights)
    spreads = [seed_spread(lists, scored[one], weights=weights) for one in competing]
    standing = _standing(averages, competing, spreads, sampling)
    places: list[Place | None] = [None] * len(attackers)
    for one, position in enumerate(present):
        rank, tier = standing.get(one, (None, None))
        places[position] = Place(interval_of(averages, one, level), rank, tier)
    return Leaderboard(tuple(places), interval_of(strongest_of(averages), 0, level))


def _standing(
    averages: Averages,
    competing: Sequence[int],
    spreads: Sequence[SeedSpread],
    sampling: Sampling,
) -> dict[int, tuple[Interval, int | None]]:
    """Rank and tier, by the position, of those attackers that compete. spreads: of these."""
    if not competing:
        return {}
    among = replace(
        averages,
        observed=averages.observed[competing],
        drawn=averages.drawn[:, competing],
        missed_speakers=averages.missed_speakers[competing],
    )
    among = retrained(among, spreads, sampling.seed)
    reason = too_few_speakers(among)
    tiers = None if reason else tiers_of(among, sampling.level)
    ranks, drawn = ranks_of(among.observed), ranks_of(among.drawn)
    return {
        one: (
            percentile_interval(float(ranks[place]), drawn[:, place], sampling.level, reason),
            None if tiers is None else tiers[place],
        )
        for place, one in enumerate(competing)
    }


def ranks_of(eers: Floats) -> Integers:
    """Along the last axis: 1 and the number of lower values, so that ties share a rank."""
    lower = [differences(eers[..., [one]], eers) < 0 for one in range(eers.shape[-1])]
    ranks: Integers = 1 + np.sum(lower, axis=0)
    return ranks


def tiers_of(averages: Averages, level: float) -> list[int] | None:
    """The tier of each attacker, from 1.

    The first tier holds the attacker of the lowest EER and all that are not told apart from it, by
    p-values of the paired differences adjusted after Holm for all attackers beside it; the next
    tier is made likewise of the rest. So an attacker whose difference varies more may be in the
    tier above one of a lower EER: what is not told apart is no evidence of being equal.
    None where so many draws lack an EER that no p-value could be low enough.
    """
    n_draws, n_attackers = averages.drawn.shape
    if n_draws < fewest_draws(n_attackers - 1, level):
        return None
    tiers = [0] * n_attackers
    # By rank, so that of equal ones the first in order stands for all.
    rest = np.argsort(ranks_of(averages.observed), kind="stable")
    tier = 0
    while len(rest):
        tier += 1
        best = rest[0]
        drawn = differences(averages.drawn[:, rest[1:]], averages.drawn[:, [best]])
        adjusted = np.r_[1.0, holm([p_value(column) for column in drawn.T])]
        tied = ranks_of(averages.observed[rest]) == 1
        apart = (adjusted <= 1 - level + ROUNDING) & ~tied
        for member in rest[~apart]:
            tiers[member] = tier
        rest = rest[apart]
    return tiers


def strongest_of(averages: Averages) -> Averages:
    """As of a single attacker: the lowest EER, observed and in each draw."""
    strongest = int(np.argmin(ranks_of(averages.observed)))
    return Averages(
        observed=averages.observed[[strongest]],
        drawn=averages.drawn.min(axis=1, keepdims=True),
        target_speakers=averages.target_speakers,
        missed_speakers=averages.missed_speakers[[strongest]],
    )
