"""Detection error trade-off: the miss rate against the false-alarm rate over all thresholds.

Conventions as in `harness.metrics.eer`: single precision, a target is missed when its score <= the
threshold. Equal scores are decided together, so there is one point per distinct score. Source:
Martin et al., "The DET curve in assessment of detection task performance", Eurospeech 1997. There
the axes are on a probit scale, where normally distributed scores give a straight line; a rate of 0
or 1 lies at infinity on it, so that the ends of the curve are not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.metrics.eer import validate

Rates = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Det:
    """Rates at each threshold, shapes (n,), as fractions from 0 to 1.

    thresholds ascend strictly, from -inf, where every trial is accepted (miss rate 0, false-alarm
    rate 1), to the highest score, where none is (1 and 0). The miss rate never falls, the
    false-alarm rate never rises.
    """

    thresholds: Rates
    miss_rate: Rates
    false_alarm_rate: Rates


def det(target: npt.ArrayLike, nontarget: npt.ArrayLike, points: int | None = None) -> Det:
    """The DET curve at -inf and every distinct score, or at about `points` of them, evenly spread.

    target, nontarget: shapes (n_target,), (n_nontarget,). Constant scores give the two ends alone.
    Raises ScoreError as the EER does.
    """
    target, nontarget = validate(target, nontarget)
    thresholds = np.unique(np.concatenate([target, nontarget]))
    if points is not None and len(thresholds) > points:
        thresholds = thresholds[
            np.unique(np.linspace(0, len(thresholds) - 1, points).round().astype(int))
        ]
    thresholds = np.concatenate([[-np.inf], thresholds])
    misses = np.searchsorted(np.sort(target), thresholds, side="right")
    false_alarms = len(nontarget) - np.searchsorted(np.sort(nontarget), thresholds, side="right")
    return Det(
        thresholds=thresholds,
        miss_rate=misses / len(target),
        false_alarm_rate=false_alarms / len(nontarget),
    )
