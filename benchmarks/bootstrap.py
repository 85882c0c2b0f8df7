"""How long intervals take: beside making each resample and calling the official EER on it.

    python benchmarks/bootstrap.py [--draws N] [--plain N] [--workers N] [--rounds N]

Lists as large as the four official ones (50,360 trials; simulated scores). Both ways take the same
draws of speakers; the plain one is timed on fewer and scaled up, in the same run, so that the ratio
means something on a busy machine; the absolute times do not. Each EER of the plain way has to be
exactly that of the other. Budget: 2,000 draws in under 5 s, and at least 8 times faster.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import numpy.typing as npt

from harness.metrics.draws import Pairs, SpeakerDraws
from harness.metrics.eer import equal_error_rate
from harness.metrics.resampling import Sampling, resample

# Enrolled speakers, trial utterances, target trials of libri_dev_trials_f, dev m, test f, test m.
OFFICIAL = ((15, 1018), (14, 960), (16, 734), (13, 762))
TRIAL_SPEAKERS = 20

Scores = npt.NDArray[np.float32]


def simulated() -> tuple[list[Pairs], list[Scores]]:
    """Lists whose speakers are apart, and scores with EERs of about 23 %."""
    rng = np.random.default_rng(1)
    lists, scores = [], []
    for number, (n_enrolled, n_utterances) in enumerate(OFFICIAL):
        first = TRIAL_SPEAKERS * number
        enrolled = np.repeat(first + np.arange(n_enrolled), n_utterances)
        trial = np.tile(first + np.arange(n_utterances) % TRIAL_SPEAKERS, n_enrolled)
        lists.append(Pairs(enrolled, trial))
        scores.append(
            (1.5 * (enrolled == trial) + rng.standard_normal(len(trial))).astype(np.float32)
        )
    return lists, scores


def plain(lists: list[Pairs], scores: list[Scores], sampling: Sampling) -> npt.NDArray[np.float64]:
    """Resamples of the first block, made and scored: shape (n_draws, n_lists)."""
    draws = SpeakerDraws(lists)
    seed = np.random.SeedSequence(sampling.seed).spawn(1)[0]
    drawn = draws.weights(np.random.default_rng(seed), draws.block)
    rates = np.empty((sampling.draws, len(lists)))
    for number, (pairs, of_list) in enumerate(zip(lists, scores, strict=True)):
        for draw in range(sampling.draws):
            times = drawn[number][draws.cells[number], draw].astype(np.int64)
            repeated, target = np.repeat(of_list, times), np.repeat(pairs.target, times)
            rates[draw, number] = equal_error_rate(repeated[target], repeated[~target]).rate
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument(
        "--plain", type=int, default=50, help=f"draws, at most {SpeakerDraws.block}"
    )
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    lists, scores = simulated()
    few = Sampling(arguments.plain)
    many = {n: Sampling(arguments.draws, workers=n) for n in sorted({1, arguments.workers})}

    best: dict[str, float] = {}
    for _ in range(arguments.rounds):
        start = time.perf_counter()
        slow = plain(lists, scores, few)
        took = {"plain": (time.perf_counter() - start) * arguments.draws / arguments.plain}
        for workers, sampling in many.items():
            start = time.perf_counter()
            fast = resample(lists, [scores], sampling)
            took[f"resample, workers: {workers}"] = time.perf_counter() - start
        best = {name: min(seconds, best.get(name, seconds)) for name, seconds in took.items()}

    shared = min(arguments.plain, arguments.draws)
    print(f"{arguments.draws} draws of {len(lists)} lists; the best of {arguments.rounds} rounds")
    for name, seconds in best.items():
        print(f"{name:24}{seconds:8.2f} s{best['plain'] / seconds:8.1f} times as fast as plain")
    print(f"the first {shared} EERs equal: {np.array_equal(fast.drawn[:shared, 0], slow[:shared])}")


if __name__ == "__main__":
    main()
