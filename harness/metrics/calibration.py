"""Optimal calibration: scores to log-likelihood ratios by pooling adjacent violators (PAV).

Goal: the best log-likelihood ratios (LLRs) that any rising function of the scores can give for
these very trials. Measures of them (min Cllr, ZEBRA) say what the scores disclose, whatever their
scale. The labels are used, so they are bounds and no calibration that an attacker could have.

Conventions: 1-D arrays of finite scores, higher means more likely the same speaker; double
precision, as in the official scripts; LLRs are natural logarithms of p(score | target) /
p(score | nontarget). Only the order of the scores matters.

Ties: equal scores get equal LLRs, as a function of the score must give. For min Cllr and with the
rule of Laplace, the scripts of VoicePrivacy 2020 and 2022 order equal scores with nontargets first,
as if they were told apart; and they add up to 1e-6 to the LLRs to keep them distinct. Without ties
there is no other difference.

Source: Brümmer and du Preez, "Application-independent evaluation of speaker detection", Computer
Speech and Language 20, 2006; Zadrozny and Elkan, KDD 2002.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from harness.metrics.eer import in_double

Ratios = npt.NDArray[np.float64]


def calibrate(
    target: npt.ArrayLike, nontarget: npt.ArrayLike, *, laplace: int = 0
) -> tuple[Ratios, Ratios]:
    """PAV-calibrated LLRs of the targets and of the nontargets, each in the order given.

    target, nontarget: shapes (n_target,), (n_nontarget,), and the same for the LLRs. Scores below
    all targets get -inf and those above all nontargets +inf: never a target the first, never a
    nontarget the second. Constant scores get 0.
    laplace: put so many targets and nontargets, not told apart, below all scores and as many above
    (a form of Laplace's rule of succession), while the prior stays that of the trials. The official
    number is one; where each trial is there twice, two give the same LLRs. With one, every LLR is
    finite, at most log of (n_target + 1) * n_nontarget / n_target and at least minus log of
    (n_nontarget + 1) * n_target / n_nontarget; constant scores get log of (n_target + 1) *
    n_nontarget / (n_target * (n_nontarget + 1)), 0 for classes of one size.
    O(N log N). Raises ScoreError as the EER does. Source of the rule: `optimal_llr` of the
    VoicePrivacy scripts.
    """
    target, nontarget = in_double(target, nontarget)
    levels, level = np.unique(np.concatenate([target, nontarget]), return_inverse=True)
    of_classes = level[: len(target)], level[len(target) :]
    counts = [np.bincount(one, minlength=len(levels)) for one in of_classes]
    if laplace:
        counts = [np.pad(one, 1, constant_values=laplace) for one in counts]

    trials = np.sum(counts, axis=0)
    starts = isotonic_regression(counts[0] / trials, weights=trials).blocks
    # From whole numbers, so that rounding within the regression does not matter.
    in_blocks = [np.add.reduceat(one, starts[:-1]) for one in counts]
    with np.errstate(divide="ignore"):  # a block of one class alone
        odds = np.log(in_blocks[0] / in_blocks[1])
    ratios = np.repeat(odds - np.log(len(target) / len(nontarget)), np.diff(starts))
    if laplace:
        ratios = ratios[1:-1]
    return ratios[of_classes[0]], ratios[of_classes[1]]
