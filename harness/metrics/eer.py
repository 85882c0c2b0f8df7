"""Equal error rate, the official one.

Goal: exactly `speechbrain.utils.metric_stats.EER` (VoicePrivacy 2024, Attacker Challenge 2025), to
the last bit of the rate and of the threshold, in O(N log N) instead of O(N²).

Conventions: scores are 1-D arrays, higher means more likely the same speaker; they are cast to
float32, as the official scripts do. A target is missed when its score <= threshold; a nontarget is
a false alarm when its score > threshold. Rates are fractions in [0, 1].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError

Scores = npt.NDArray[np.float32]

# Rates are float32: differences closer than this are decided by the official order of comparison.
ROUNDING = 1e-5


@dataclass(frozen=True)
class EqualErrorRate:
    """The operating point where the two error rates are nearest.

    rate: (miss rate + false-alarm rate) / 2, a fraction. threshold: the score there.
    misses of n_target targets and false_alarms of n_nontarget nontargets at that threshold.
    """

    rate: float
    threshold: float
    misses: int
    false_alarms: int
    n_target: int
    n_nontarget: int

    @property
    def percent(self) -> float:
        """The rate in percent, as printed by the official scripts: three decimals."""
        return round(100 * self.rate, 3)


def validate(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> tuple[Scores, Scores]:
    """Both arrays as float32. Raises ScoreError for what no error rate can be computed from.

    One NaN makes the official function return 0, in the attacker's favour: it is refused here.
    """
    arrays = []
    for name, values in (("target", target), ("nontarget", nontarget)):
        with np.errstate(over="ignore"):  # what overflows becomes infinite, and is refused below
            scores = np.asarray(values).astype(np.float32)
        if scores.ndim != 1:
            raise ScoreError(
                f"{name} scores have shape {scores.shape}",
                fix="give one number per trial (a 1-D array)",
            )
        if not len(scores):
            raise ScoreError(f"there is no {name} score", fix="check the labels of the trial list")
        if np.isnan(scores).any():
            raise ScoreError(
                f"{int(np.isnan(scores).sum())} {name} scores are NaN",
                fix="the attacker must give a number for every trial",
            )
        if np.isinf(scores).any():
            raise ScoreError(
                f"{int(np.isinf(scores).sum())} {name} scores are infinite in single precision",
                fix="scale the scores to finite float32 numbers",
            )
        arrays.append(scores)
    return arrays[0], arrays[1]


def equal_error_rate(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> EqualErrorRate:
    """The official EER.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite. Constant scores give 0.5.
    Raises ScoreError for empty, non-finite or not one-dimensional input.
    Source: SpeechBrain 1.1.2, `speechbrain.utils.metric_stats.EER`.
    """
    target, nontarget = validate(target, nontarget)
    unique = np.unique(np.concatenate([target, nontarget]))
    middles = (unique[:-1] + unique[1:]) / np.float32(2)
    thresholds = np.sort(np.concatenate([unique, middles]))

    misses = np.searchsorted(np.sort(target), thresholds, side="right")
    false_alarms = len(nontarget) - np.searchsorted(np.sort(nontarget), thresholds, side="right")
    miss_rate = misses.astype(np.float32) / np.float32(len(target))
    false_alarm_rate = false_alarms.astype(np.float32) / np.float32(len(nontarget))

    # The official loop compares a float32 difference with the float64 difference of the best point
    # so far. Far from the crossing both order points alike; near it the loop is replayed.
    rounded = np.abs(false_alarm_rate - miss_rate).astype(np.float64)
    exact = np.abs(false_alarm_rate.astype(np.float64) - miss_rate.astype(np.float64))
    near = np.flatnonzero(rounded <= rounded.min() + ROUNDING)
    best = near[0]
    for index in near[1:]:
        if rounded[index] < exact[best]:
            best = index
    return EqualErrorRate(
        rate=(float(false_alarm_rate[best]) + float(miss_rate[best])) / 2,
        threshold=float(thresholds[best]),
        misses=int(misses[best]),
        false_alarms=int(false_alarms[best]),
        n_target=len(target),
        n_nontarget=len(nontarget),
    )
