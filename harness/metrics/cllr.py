"""Cost of log-likelihood ratios: what is lost when scores are taken as evidence, in bits.

Goal: one number over all priors and costs that a user of the scores could have. It splits in two:
min Cllr is what the scores do not disclose, and the rest, Cllr - min Cllr, is lost by scores that
are no log-likelihood ratios (LLRs). Of two attackers with one min Cllr, the better calibrated one
has the lower Cllr; a cosine is no LLR, so its Cllr says nothing of the speech.

Conventions as in `harness.metrics.calibration`: 1-D arrays, double precision, natural logarithms.
Costs are in bits per trial, each class with half the weight.

Source: Brümmer and du Preez, "Application-independent evaluation of speaker detection", Computer
Speech and Language 20, 2006. VoicePrivacy 2020 and 2022 print both as "Cllr (min/act)".
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from harness.metrics.calibration import Ratios, calibrate
from harness.metrics.eer import in_double


def cllr(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Actual Cllr of scores taken as natural LLRs, in bits, from 0 upwards.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite. 0 is perfect, 1 is what scores
    without information cost (all LLRs 0), and above 1 they mislead. It has no upper limit, but is
    finite: official scripts give infinity where an LLR beyond about 709 points the wrong way.
    Raises ScoreError as the EER does.
    """
    return _cost(*in_double(target, nontarget))


def min_cllr(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Cllr after the best possible calibration, in bits, from 0 to 1; never above `cllr`.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite. Only their order matters. 0 when
    all targets score above all nontargets; 1 when no threshold tells anything, as for constant
    scores and when all targets score below all nontargets. Raises ScoreError as the EER does.
    """
    return _cost(*calibrate(target, nontarget))


def _cost(target: Ratios, nontarget: Ratios) -> float:
    """-inf for a nontarget and +inf for a target cost nothing."""
    surprise = np.logaddexp(0, -target).mean() + np.logaddexp(0, nontarget).mean()
    return float(surprise) / (2 * math.log(2))
