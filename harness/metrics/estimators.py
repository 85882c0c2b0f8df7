"""Equal error rates as other scripts estimate them, each under a name of its own.

Goal: to name the cause of a number that is not the official EER. The official one stays
`harness.metrics.eer`; none of these replaces it.

Conventions as there: 1-D arrays of finite scores, higher means more likely the same speaker, cast
to float32; rates are fractions in [0, 1]; every function raises ScoreError as the official one
does and takes O(N log N). An operating point is a pair of error counts: misses (targets not above
the threshold) and false alarms (nontargets above it).

Estimators:
    official           the official EER
    kaldi              Kaldi's `compute-eer` (VoicePrivacy 2020 and 2022)
    rocch              where the convex hull of the ROC meets the diagonal (VoicePrivacy 2022)
    linear             where the ROC, its points joined by lines, meets the diagonal
    max, min           the larger and the smaller error rate at the official threshold
    sklearn-fpr        false-alarm rate at the point of scikit-learn's ROC nearest the diagonal
    sklearn-fnr        miss rate there
    sklearn-mean       mean of both
    grid-1000          the official rule on 1000 evenly spaced thresholds
    ties-favourable    trials taken one by one, among equal scores nontargets are rejected first
    ties-unfavourable  the same, but targets are rejected first
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from harness.metrics.eer import EqualErrorRate, Scores, equal_error_rate, sorted_scores

Counts = npt.NDArray[np.int64]
Rates = npt.NDArray[np.float64]

GRID = 1000


def official(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """The official EER. Source: `harness.metrics.eer`."""
    return equal_error_rate(target, nontarget).rate


def kaldi(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Kaldi's EER: the share of targets below the first that exceeds its paired nontarget.

    The pair of the target at position p is the nontarget with a share p / n_target above it. It is
    0 to (n_target - 1) / n_target, the walk's end, which constant scores give; so one target alone
    gives 0. Source: Kaldi, `ivectorbin/compute-eer.cc`.
    """
    return kaldi_error_rate(target, nontarget).rate


def kaldi_error_rate(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> EqualErrorRate:
    """The operating point of `kaldi`.

    Unlike the official one, its rate is that of the misses alone, and its threshold is the lowest
    score of a target that is accepted: false alarms are the nontargets not below it.
    """
    of_target, of_nontarget = sorted_scores(target, nontarget)
    n_target, n_nontarget = len(of_target), len(of_nontarget)
    positions = np.arange(n_target)
    pairs = np.maximum(n_nontarget - 1 - positions * n_nontarget // n_target, 0)
    exceeds = of_nontarget[pairs] < of_target
    exceeds[-1] = True  # the walk ends at the last target in any case
    misses = int(np.argmax(exceeds))
    return EqualErrorRate(
        rate=misses / n_target,
        threshold=float(of_target[misses]),
        misses=misses,
        false_alarms=n_nontarget - int(of_nontarget.searchsorted(of_target[misses])),
        n_target=n_target,
        n_nontarget=n_nontarget,
    )


def rocch(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """ROCCH-EER: where the convex hull of the operating points meets equal error rates.

    It is 0 to 0.5. Among equal scores nontargets are rejected first, so that constant
    scores give 0: what the VoicePrivacy 2022 scripts do; without ties the order does not matter.
    Source: Brümmer and de Villiers, "The BOSARIS toolkit", 2011 (`rocch2eer`, there by pooling
    adjacent violators).
    """
    of_target, of_nontarget = sorted_scores(target, nontarget)
    sizes = len(of_target), len(of_nontarget)
    # A corner that can lie on the hull: no target below this one's score is accepted, and all
    # nontargets up to it are rejected.
    misses = np.arange(sizes[0])
    false_alarms = sizes[1] - np.searchsorted(of_nontarget, of_target, "right")
    # Start with the two ends, accept all and reject all, and replace either by the point farthest
    # beyond the line between them; no point is beyond the edge that meets the diagonal. The counts
    # are whole numbers, so it is exact.
    low, high = (0, sizes[1]), (sizes[0], 0)
    while True:
        rise, run = low[1] - high[1], high[0] - low[0]
        distance = rise * misses + run * false_alarms
        farthest = int(np.argmin(distance))
        if distance[farthest] >= rise * low[0] + run * low[1]:
            return _meeting(low, high, sizes)
        point = int(misses[farthest]), int(false_alarms[farthest])
        if point[0] * sizes[1] < point[1] * sizes[0]:
            low = point
        else:
            high = point


def linear(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Where the ROC, drawn with straight lines between its points, meets equal error rates.

    There is one point for each distinct score, and the one that accepts all. It is 0 to 1, and 0.5
    for constant scores. Source: `brentq(lambda x: 1 - x - interp1d(fpr, tpr)(x), 0, 1)` on
    scikit-learn's `roc_curve`, as many scripts have it.
    """
    of_target, of_nontarget = sorted_scores(target, nontarget)
    sizes = len(of_target), len(of_nontarget)
    misses, false_alarms = _points(of_target, of_nontarget)
    # The difference of the rates rises from -1 to 1: the last point below 0 and the next.
    after = int(np.argmax(misses * sizes[1] >= false_alarms * sizes[0]))
    low = int(misses[after - 1]), int(false_alarms[after - 1])
    high = int(misses[after]), int(false_alarms[after])
    return _meeting(low, high, sizes)


def larger(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """The larger of miss rate and false-alarm rate at the official threshold.

    0 to 1, and 1 for constant scores. Source: `harness.metrics.eer`.
    """
    return max(_official_rates(target, nontarget))


def smaller(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """The smaller of miss rate and false-alarm rate at the official threshold.

    0 to 1, and 0 for constant scores. Source: `harness.metrics.eer`.
    """
    return min(_official_rates(target, nontarget))


def sklearn_false_alarm_rate(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """`fpr[nanargmin(|fnr - fpr|)]` of scikit-learn's `roc_curve` with its defaults.

    By default points within a straight piece are dropped, the nearest to the diagonal with them,
    so this is not just one of the two rates at the official threshold. 0 to 1; constant scores
    give 0, since of two points equally near the one that rejects all comes first.
    Source: scikit-learn, `sklearn.metrics.roc_curve`.
    """
    return _sklearn_rates(target, nontarget)[1]


def sklearn_miss_rate(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """`fnr[nanargmin(|fnr - fpr|)]`; see `sklearn_false_alarm_rate`. Constant scores give 1."""
    return _sklearn_rates(target, nontarget)[0]


def sklearn_mean(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Mean of `sklearn_miss_rate` and `sklearn_false_alarm_rate`. Constant scores give 0.5."""
    return sum(_sklearn_rates(target, nontarget)) / 2


def grid(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """The official rule on GRID evenly spaced thresholds, lowest to highest score.

    0 to 1, and 0.5 for constant scores. Source: scripts with thresholds `linspace(min, max, 1000)`.
    """
    of_target, of_nontarget = sorted_scores(target, nontarget)
    low = min(float(of_target[0]), float(of_nontarget[0]))
    high = max(float(of_target[-1]), float(of_nontarget[-1]))
    thresholds = np.linspace(low, high, GRID)
    miss_rates = np.searchsorted(of_target, thresholds, "right") / len(of_target)
    rejection_rates = np.searchsorted(of_nontarget, thresholds, "right") / len(of_nontarget)
    return sum(_nearest(miss_rates, 1 - rejection_rates)) / 2


def ties_favourable(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """Mean rate at the point nearest equal rates, when trials are sorted and rejected one by one.

    Among equal scores nontargets are rejected first, which favours the attacker: constant scores
    give 0. Without ties it is the official EER, but for the choice between two points equally
    near. Source: scripts that sort scores with their labels
    and add up, for example `compute_det_curve` of the ASVspoof challenges (targets first).
    """
    return _walk(*sorted_scores(target, nontarget), "right")


def ties_unfavourable(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    """As `ties_favourable`, but targets are rejected first: constant scores give 1."""
    return _walk(*sorted_scores(target, nontarget), "left")


# Those that are an edition's own, by the name that its protocol has for them.
OPERATING_POINTS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], EqualErrorRate]] = {
    "speechbrain": equal_error_rate,
    "kaldi": kaldi_error_rate,
}
ESTIMATORS: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], float]] = {
    "official": official,
    "kaldi": kaldi,
    "rocch": rocch,
    "linear": linear,
    "max": larger,
    "min": smaller,
    "sklearn-fpr": sklearn_false_alarm_rate,
    "sklearn-fnr": sklearn_miss_rate,
    "sklearn-mean": sklearn_mean,
    "grid-1000": grid,
    "ties-favourable": ties_favourable,
    "ties-unfavourable": ties_unfavourable,
}
# What a sentence calls the number: "27.61 is the ROCCH-EER of these scores".
PHRASES = {
    "official": "EER",
    "kaldi": "Kaldi EER",
    "rocch": "ROCCH-EER",
    "linear": "linearly interpolated EER",
    "max": "larger error rate at the official threshold",
    "min": "smaller error rate at the official threshold",
    "sklearn-fpr": "false-alarm rate at scikit-learn's ROC point nearest equal rates",
    "sklearn-fnr": "miss rate at scikit-learn's ROC point nearest equal rates",
    "sklearn-mean": "mean error rate at scikit-learn's ROC point nearest equal rates",
    "grid-1000": "EER on 1000 evenly spaced thresholds",
    "ties-favourable": "EER with ties broken for the attacker",
    "ties-unfavourable": "EER with ties broken against the attacker",
}


def _points(target: Scores, nontarget: Scores) -> tuple[Counts, Counts]:
    """Misses and false alarms: accepting all, then at each distinct score. Arguments ascending."""
    thresholds = np.unique(np.concatenate([target, nontarget]))
    misses = np.searchsorted(target, thresholds, "right")
    rejected = np.searchsorted(nontarget, thresholds, "right")
    return np.r_[0, misses], len(nontarget) - np.r_[0, rejected]


def _meeting(low: tuple[int, int], high: tuple[int, int], sizes: tuple[int, int]) -> float:
    """The rate where the line between two operating points meets equal error rates."""
    rise, run = low[1] - high[1], high[0] - low[0]
    return (rise * low[0] + run * low[1]) / (rise * sizes[0] + run * sizes[1])


def _nearest(miss_rates: Rates, false_alarm_rates: Rates) -> tuple[float, float]:
    """Both rates at the first point where they are nearest."""
    best = np.argmin(np.abs(false_alarm_rates - miss_rates))
    return float(miss_rates[best]), float(false_alarm_rates[best])


def _official_rates(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> tuple[float, float]:
    eer = equal_error_rate(target, nontarget)
    return eer.misses / eer.n_target, eer.false_alarms / eer.n_nontarget


def _sklearn_rates(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> tuple[float, float]:
    misses, false_alarms = _points(*sorted_scores(target, nontarget))
    # From the highest threshold down, as counts of accepted trials.
    hits, false_alarms = (misses[-1] - misses)[::-1], false_alarms[::-1]
    # Whether a point is dropped is asked before the one that rejects all is put in front.
    corner = np.ones(len(hits), np.bool_)
    corner[2:-1] = (np.diff(hits[1:], 2) != 0) | (np.diff(false_alarms[1:], 2) != 0)
    hits, false_alarms = hits[corner], false_alarms[corner]
    return _nearest(1 - hits / hits[-1], false_alarms / false_alarms[-1])


def _walk(target: Scores, nontarget: Scores, side: Literal["left", "right"]) -> float:
    """side: of the nontargets that equal a target, where the target stands. Arguments ascending."""
    is_target = np.zeros(len(target) + len(nontarget), np.bool_)
    is_target[np.arange(len(target)) + np.searchsorted(nontarget, target, side)] = True
    misses = np.r_[0, np.cumsum(is_target)]
    rejected = np.arange(len(misses)) - misses
    return sum(_nearest(misses / len(target), 1 - rejected / len(nontarget))) / 2
