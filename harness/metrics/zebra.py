"""ZEBRA: how much the scores disclose, to a population on average and of one person at worst.

Goal: the numbers that VoicePrivacy 2020 and 2022 print as "Population: 0.492 bit" and
"Individual: 3.829 (C)". Both are computed from optimally calibrated log-likelihood ratios (LLRs),
so only the order of the scores matters. As in the official script, the first takes them as they
are, infinite ones included, and the second takes those of the Laplace rule, which are finite.

Conventions as in `harness.metrics.calibration`.

Read `caution` before comparing: the second number, and its tag, grow with the number of trials.

Source: Nautsch et al., "The Privacy ZEBRA: Zero Evidence Biometric Recognition Assessment",
Interspeech 2020.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.metrics.calibration import Ratios, calibrate

# Categories of the strength of evidence, with the largest |log10 LR| of each.
TAGS = {
    "0": float(np.finfo(float).eps),
    "A": 1.0,
    "B": 2.0,
    "C": 4.0,
    "D": 5.0,
    "E": 6.0,
    "F": math.inf,
}
# |LLR| up to which a series is exact to 1e-11; the closed form loses as much above it.
SMALL = 1e-5


def population(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Expected disclosure in bits, from 0 (no evidence) to 1 / log(4), about 0.7213.

    It is how much the calibrated scores lower the entropy of the question "same speaker?", as the
    mean over all priors from 0 to 1; for scores that separate the classes, all of that entropy.
    target, nontarget: shapes (n_target,), (n_nontarget,), finite. 0 for constant scores. Raises
    ScoreError as the EER does.
    """
    of_target, of_nontarget = calibrate(target, nontarget)
    return (_disclosed(of_target) + _disclosed(-of_nontarget)) / math.log(2)


def individual(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Worst-case disclosure: the largest |log10 LR| of any trial, from 0 to `attainable`.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite. Constant scores give nearly 0:
    the rule of Laplace leaves log10 of (n_target + 1) n_nontarget / (n_target (n_nontarget + 1)).
    Raises ScoreError as the EER does.
    """
    ratios = np.concatenate(calibrate(target, nontarget, laplace=1))
    return float(np.abs(ratios).max()) / math.log(10)


def tag(value: float) -> str:
    """The category of an `individual` disclosure: 0, A, B, C, D, E, or F for the strongest.

    value: |log10 LR|; a limit belongs to the weaker category, as in the official script. Raises
    ScoreError for a negative value or NaN.
    """
    if not value >= 0:
        raise ScoreError(f"{value} is no disclosure", fix="give |log10 LR|, from 0 upwards")
    return next(name for name, most in TAGS.items() if value <= most)


def attainable(n_target: int, n_nontarget: int) -> float:
    """The `individual` disclosure of perfectly separated scores: the most that a list can show.

    It follows from the numbers of trials, from 1 upwards, alone. Raises ScoreError when a class is
    empty.
    """
    if min(n_target, n_nontarget) < 1:
        raise ScoreError(
            f"{n_target} targets and {n_nontarget} nontargets", fix="give at least one of each"
        )
    above = (n_target + 1) * n_nontarget / n_target
    below = (n_nontarget + 1) * n_target / n_nontarget
    return math.log10(max(above, below))


def caution(n_target: int, n_nontarget: int) -> str:
    """What to print beside an `individual` disclosure and its tag. Raises as `attainable` does."""
    most = attainable(n_target, n_nontarget)
    return (
        "The individual disclosure is the evidence of the outermost group of trials, and what a "
        "group of one class shows depends on its size alone: scores that separate "
        f"{n_target:,} targets and {n_nontarget:,} nontargets perfectly give {most:.3f} "
        f"({tag(most)}), and larger lists more. Compare it on lists of one size only."
    )


def _disclosed(ratios: Ratios) -> float:
    """Mean over trials and priors of the nats by which an LLR lowers the entropy of its class.

    ratios: natural LLRs in favour of the true class, above -inf. With x = LR - 1 the integral over
    all priors is 1/4 + (LLR - x) / (2 x²): 0 at LLR 0, and 1/4 at +inf.
    """
    integral = np.zeros_like(ratios)
    small = np.abs(ratios) <= SMALL
    integral[small] = ratios[small] / 3 - 0.5
    large = ~small & np.isfinite(ratios)
    excess = np.expm1(ratios[large])
    integral[large] = (ratios[large] - excess) / excess**2
    return 0.25 + float(integral.mean()) / 2
