"""Equal error rates of single enrolled speakers.

Goal: whom an anonymizer protects least. The EER of a list pools all speakers under one threshold
and may hide that a few are found every time; here each enrolled speaker's own trials give an EER at
the speaker's own threshold, so that the mean of these is not the EER of the list.

Conventions as in `harness.metrics.eer`, which does the arithmetic. Source: the menagerie of
Doddington et al., "Sheep, goats, lambs and wolves", ICSLP 1998.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.metrics.eer import EqualErrorRate, equal_error_rate, validate


@dataclass(frozen=True)
class SpeakerErrorRate:
    """The trials against one enrolled speaker. eer is None where one of the two numbers is 0."""

    speaker: str
    n_target: int
    n_nontarget: int
    eer: EqualErrorRate | None


def speaker_error_rates(
    enrolled: npt.ArrayLike, is_target: npt.ArrayLike, scores: npt.ArrayLike
) -> tuple[SpeakerErrorRate, ...]:
    """One entry per enrolled speaker, in the order of their names.

    enrolled: names of the enrolled speakers, is_target: booleans, scores: finite numbers; one of
    each per trial, all of shape (n_trials,). A speaker without target or without nontarget trials
    has no EER; few targets make it coarse, in steps of about 1 / n_target. Raises ScoreError for
    arrays of different shapes, labels that are not boolean, and, as the EER does, for scores of
    which one class is empty or that are not finite.
    """
    enrolled, is_target, scores = np.asarray(enrolled), np.asarray(is_target), np.asarray(scores)
    if not enrolled.shape == is_target.shape == scores.shape or scores.ndim != 1:
        raise ScoreError(
            f"speakers, labels and scores have shapes {enrolled.shape}, {is_target.shape} and "
            f"{scores.shape}",
            fix="give one of each per trial",
        )
    if is_target.dtype != np.bool_:
        raise ScoreError(
            f"labels of type {is_target.dtype}", fix="give True for target and False for nontarget"
        )
    validate(scores[is_target], scores[~is_target])
    speakers, speaker = np.unique(enrolled, return_inverse=True)
    order = np.argsort(speaker, kind="stable")
    ends = np.cumsum(np.bincount(speaker))[:-1]
    rates = []
    for name, trials in zip(speakers, np.split(order, ends), strict=True):
        target = scores[trials[is_target[trials]]]
        nontarget = scores[trials[~is_target[trials]]]
        both = len(target) > 0 and len(nontarget) > 0
        rates.append(
            SpeakerErrorRate(
                speaker=str(name),
                n_target=len(target),
                n_nontarget=len(nontarget),
                eer=equal_error_rate(target, nontarget) if both else None,
            )
        )
    return tuple(rates)
