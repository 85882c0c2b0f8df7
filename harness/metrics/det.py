"""Detection error trade-off: the miss rate against the false-alarm rate over all thresholds.

Conventions as in `harness.metrics.eer`. Source: Martin et al., "The DET curve in assessment of
detection task performance", Eurospeech 1997; axes are drawn on a probit scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.metrics.eer import validate

Rates = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Det:
    """Rates at each threshold, shape (n,), as fractions; the false-alarm rate never rises."""

    thresholds: Rates
    miss_rate: Rates
    false_alarm_rate: Rates


def det(target: npt.ArrayLike, nontarget: npt.ArrayLike, points: int | None = None) -> Det:
    """The DET curve at every distinct score, or at about `points` of them, evenly spread.

    target, nontarget: shapes (n_target,), (n_nontarget,). Raises ScoreError as the EER does.
    """
    target, nontarget = validate(target, nontarget)
    thresholds = np.unique(np.concatenate([target, nontarget]))
    if points is not None and len(thresholds) > points:
        thresholds = thresholds[
            np.unique(np.linspace(0, len(thresholds) - 1, points).round().astype(int))
        ]
    misses = np.searchsorted(np.sort(target), thresholds, side="right")
    false_alarms = len(nontarget) - np.searchsorted(np.sort(nontarget), thresholds, side="right")
    return Det(
        thresholds=thresholds.astype(np.float64),
        miss_rate=misses / len(target),
        false_alarm_rate=false_alarms / len(nontarget),
    )
