"""How long the official EER takes: beside sorting, scikit-learn, and SpeechBrain's own function.

    python benchmarks/eer.py [--rounds N]

Everything is measured in turn in one process, so that the ratios mean something on a busy machine;
the absolute times do not. Budget: 10 million float32 scores within twice `numpy.sort` of the same
values. SpeechBrain's function takes seconds on one official list; it is measured once. A line is
left out where the package it needs is absent.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from harness.metrics.eer import equal_error_rate

ROUNDS = 7
# As many trials as the female development list of VoicePrivacy 2024 has, and larger.
OFFICIAL = (704, 14_566)
MILLION = (50_000, 950_000)
LARGE = {"balanced": (5_000_000, 5_000_000), "1 in 20": (500_000, 9_500_000)}

Scores = npt.NDArray[np.float32]
Work = Callable[[Scores, Scores], object]


def simulated(sizes: tuple[int, int]) -> tuple[Scores, Scores]:
    """Scores of targets and of nontargets with an EER of about 31 %."""
    rng = np.random.default_rng(1)
    n_target, n_nontarget = sizes
    target = rng.standard_normal(n_target, np.float32) + np.float32(1)
    return target, rng.standard_normal(n_nontarget, np.float32)


def seconds(work: Work, scores: tuple[Scores, Scores]) -> float:
    start = time.perf_counter()
    work(*scores)
    return time.perf_counter() - start


def compare(name: str, other: Work, sizes: tuple[int, int], rounds: int) -> None:
    """A line of the table: the best time of either, and the best of ours over the best other."""
    scores = simulated(sizes)
    pairs = [(seconds(equal_error_rate, scores), seconds(other, scores)) for _ in range(rounds)]
    ours, theirs = (min(times) for times in zip(*pairs, strict=True))
    print(f"{name:34}{sum(sizes):12,}{1000 * ours:11.2f}{1000 * theirs:12.2f}{ours / theirs:10.3g}")


def sort_all(sizes: tuple[int, int]) -> Work:
    """`numpy.sort` of all scores, as they come in a file: the classes mixed."""
    mixed = np.concatenate(simulated(sizes))
    np.random.default_rng(2).shuffle(mixed)
    return lambda target, nontarget: np.sort(mixed)


def scikit_learn(target: Scores, nontarget: Scores) -> float:
    from sklearn.metrics import roc_curve

    labels = np.r_[np.ones(len(target), np.int8), np.zeros(len(nontarget), np.int8)]
    fpr, tpr, _ = roc_curve(labels, np.concatenate([target, nontarget]))
    return float(fpr[np.nanargmin(np.abs(1 - tpr - fpr))])


def speechbrain(target: Scores, nontarget: Scores) -> float:
    import torch
    from speechbrain.utils.metric_stats import EER

    return float(EER(torch.from_numpy(target), torch.from_numpy(nontarget))[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    print(f"{'beside':34}{'scores':>12}{'harness ms':>11}{'other ms':>12}{'ratio':>10}")
    for shape, sizes in LARGE.items():
        compare(f"numpy.sort, {shape}", sort_all(sizes), sizes, rounds)
    if importlib.util.find_spec("sklearn"):
        scikit_learn(*simulated((10, 10)))  # imports
        compare("scikit-learn roc_curve", scikit_learn, MILLION, rounds)
    if importlib.util.find_spec("speechbrain"):
        speechbrain(*simulated((10, 10)))
        equal_error_rate(*simulated(OFFICIAL))
        compare("SpeechBrain EER, an official list", speechbrain, OFFICIAL, 1)


if __name__ == "__main__":
    main()
