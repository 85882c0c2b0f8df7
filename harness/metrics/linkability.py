"""Linkability: how often and how surely a score tells that two utterances share a speaker.

Goal: D_sys exactly as the script of VoicePrivacy 2022 computes it, its bins included. The local
measure of a score s is D(s) = 2 w LR / (1 + w LR) - 1, where LR = p(s | target) / p(s | nontarget)
and w is the prior ratio, here 1; it is 0 where w LR <= 1. D_sys is the integral of
D(s) p(s | target). Unlike the EER it also counts scores that tell by being low or in the middle,
and it is not invariant under bending the score axis, since the bins are of one width.

Conventions as in `harness.metrics.calibration`: 1-D arrays of finite scores, double precision.

Source: Gomez-Barrero et al., "General framework to evaluate unlinkability in biometric template
protection systems", IEEE TIFS 13(6), 2018; Maouche et al., "A comparative study of speech
anonymization metrics", Interspeech 2020, for the estimate by histograms.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.metrics.eer import in_double

TARGETS_PER_BIN = 10
MOST_BINS = 100
# For two bins: the integral runs between the centres of bins, and one bin alone has none.
FEWEST_TARGETS = 2 * TARGETS_PER_BIN


def linkability(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """D_sys, a fraction: 0 where no score tells, towards 1 where every score does.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite; official texts call the classes
    mated and non-mated. There are n_target / TARGETS_PER_BIN bins, rounded down and at most
    MOST_BINS, of one width from the lowest to the highest score of both classes; a score on an edge
    is in the upper bin, the highest score in the last one. A bin with targets alone counts as
    D = 1. The trapezoidal rule between the centres of the bins gives the first and the last bin
    half their weight, so that perfectly separated scores give less than 1 (0.5 if all targets share
    the last bin). It is biased upwards: normally distributed scores without information give about
    0.06 on lists of VoicePrivacy 2024.
    Constant scores, which share the last bin, give 0, where the script gives NaN. Raises ScoreError
    as the EER does, and for fewer than FEWEST_TARGETS targets: from one bin the script gives 0,
    whatever the scores. Source: `linkability` of the VoicePrivacy 2022 scripts.
    """
    target, nontarget = in_double(target, nontarget)
    if len(target) < FEWEST_TARGETS:
        raise ScoreError(
            f"linkability of {len(target)} targets",
            fix=f"give at least {FEWEST_TARGETS}, or use another measure",
        )
    bins = min(len(target) // TARGETS_PER_BIN, MOST_BINS)
    low, high = min(target.min(), nontarget.min()), max(target.max(), nontarget.max())
    edges = np.linspace(low, high, bins + 1)
    of_target, of_nontarget = (
        np.histogram(scores, edges)[0] / len(scores) for scores in (target, nontarget)
    )
    # (w LR - 1) / (w LR + 1) without dividing by zero; bins without targets have no part.
    told = np.maximum(of_target - of_nontarget, 0)
    seen = of_target > 0
    parts = np.zeros(bins)
    parts[seen] = of_target[seen] * told[seen] / (of_target[seen] + of_nontarget[seen])
    return float(parts.sum() - (parts[0] + parts[-1]) / 2)


def caution(n_target: int, n_nontarget: int) -> str:
    """What to print beside D_sys of a list of that size: what scores without information give.

    From normally distributed scores, 300 simulated lists of each of several sizes.
    """
    return (
        f"D_sys of {n_target:,} targets and {n_nontarget:,} nontargets is above 0 whatever the "
        "scores: without any information they give about 0.06 on lists of 60 to 700 targets, and "
        "one list in twenty gives 0.07 (700 targets) to 0.10 (60)."
    )
