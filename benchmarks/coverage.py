"""How often intervals cover the truth, where the truth is known because it is simulated.

    python benchmarks/coverage.py [--lists N] [--draws N] [--eers PERCENT ...]
        [--enrolled N] [--speakers N] [--utterances N]

A list has 13 enrolled of 20 trial speakers and 38 utterances each, as the smallest official one has
(the limits of `harness.metrics.bootstrap` come from other sizes and EERs). A score is the sum of a
mean, an effect of the enrolled speaker, one of the trial speaker and noise, with variances 0.3, 0.3
and 0.4; a speaker who is both has two effects. So the EER over all possible speakers follows from
the distance of the means.

Rows: intervals of 95 % by speakers (the default) and by trials; the difference of two attackers who
are equal, and who share most of their speaker effects; the strongest of three attackers, when they
are equal, against the EER that each has; and, where they come up, intervals by speakers from lists
in which the missed targets are of fewer speakers than an interval is given for. `below` and `above`
tell on which side of the interval the truth lies where it is not covered; `half` is half a width,
in points. Wanted: speakers 92 to 98 %, trials about 44 to 54 %.
The default is a quick run, whose figures are uncertain by three points. 1000 lists and 400 draws
gave, at EERs of 13, 20 and 26 %: speakers 92.5, 96.9, 98.4; trials 44.8, 48.3, 54.9; difference
98.2, 99.1, 99.7; strongest 73.0, 85.7, 89.9.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from harness.metrics.bootstrap import FEWEST_MISSED_SPEAKERS, Interval, percentile_interval
from harness.metrics.draws import Pairs
from harness.metrics.resampling import Sampling, resample

# Variances of the effects of the enrolled and of the trial speaker; with the noise they sum to 1.
ENROLLED, TRIAL = 0.3, 0.3
# Correlation of two attackers' scores.
SHARED = 0.8
ATTACKERS = 3

Floats = npt.NDArray[np.float64]


def simulated_list(enrolled: int, speakers: int, utterances: int) -> Pairs:
    trial = np.repeat(np.arange(speakers), utterances)
    return Pairs(np.repeat(np.arange(enrolled), len(trial)), np.tile(trial, enrolled))


def simulated_scores(pairs: Pairs, eer: float, rng: np.random.Generator) -> list[Floats]:
    """Of attackers that all have the same EER over all speakers."""
    distance = -2 * NormalDist().inv_cdf(eer)

    def part(variance: float, size: int) -> Floats:
        own = rng.standard_normal((ATTACKERS, size))
        mixed = SHARED**0.5 * rng.standard_normal(size) + (1 - SHARED) ** 0.5 * own
        scaled: Floats = variance**0.5 * mixed
        return scaled

    speakers = max(pairs.enrolled.max(), pairs.trial.max()) + 1
    enrolled, trial = part(ENROLLED, speakers), part(TRIAL, speakers)
    noise = part(1 - ENROLLED - TRIAL, len(pairs.target))
    return list(
        distance * pairs.target + enrolled[:, pairs.enrolled] + trial[:, pairs.trial] + noise
    )


def intervals(
    pairs: Pairs, eer: float, draws: int, rng: np.random.Generator
) -> Iterator[tuple[str, Interval, float]]:
    """Of one simulated evaluation: a row's name, the interval, and the truth."""
    scores = simulated_scores(pairs, eer, rng)
    seed = int(rng.integers(2**32))
    sampling = Sampling(draws, seed=seed)
    resamples = resample([pairs], [[one] for one in scores], sampling)
    observed, drawn = resamples.observed[:, 0], resamples.drawn[..., 0]
    by_trials = resample([pairs], [[scores[0]]], replace(sampling, unit="trials"))
    rows = [
        ("speakers", observed[0], drawn[:, 0], eer),
        ("trials", observed[0], by_trials.drawn[:, 0, 0], eer),
        ("difference of equals", observed[0] - observed[1], drawn[:, 0] - drawn[:, 1], 0.0),
        ("strongest of three equals", observed.min(), drawn.min(axis=1), eer),
    ]
    if (missed := resamples.missed_speakers[0, 0]) < FEWEST_MISSED_SPEAKERS:
        rows.append((f"speakers, missed of {missed}", observed[0], drawn[:, 0], eer))
    for name, estimate, values, truth in rows:
        found = percentile_interval(float(estimate), values, sampling.level, None)
        if found.reason is None:
            yield name, found, truth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lists", type=int, default=60, help="evaluations simulated per EER")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--eers", type=float, nargs="+", default=[13, 20, 26], help="in percent")
    parser.add_argument("--enrolled", type=int, default=13, help="speakers, of the trial speakers")
    parser.add_argument("--speakers", type=int, default=20)
    parser.add_argument("--utterances", type=int, default=38, help="in trials, of each speaker")
    arguments = parser.parse_args()
    pairs = simulated_list(arguments.enrolled, arguments.speakers, arguments.utterances)
    rng = np.random.default_rng(1)
    print(f"{'EER %':>6}  {'interval':26}{'covered %':>10}{'below %':>9}{'above %':>9}{'half':>7}")
    for eer in arguments.eers:
        rows: dict[str, list[tuple[bool, bool, float]]] = {}
        for _ in range(arguments.lists):
            for name, found, truth in intervals(pairs, eer / 100, arguments.draws, rng):
                assert found.low is not None
                assert found.high is not None
                rows.setdefault(name, []).append(
                    (truth < found.low, truth > found.high, (found.high - found.low) / 2)
                )
        for name, row in rows.items():
            below, above, half = 100 * np.mean(row, axis=0)
            print(
                f"{eer:6g}  {name:26}{100 - below - above:10.1f}{below:9.1f}{above:9.1f}{half:7.1f}"
            )


if __name__ == "__main__":
    main()
