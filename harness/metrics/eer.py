"""Equal error rate, the official one.

Goal: exactly `speechbrain.utils.metric_stats.EER` (VoicePrivacy 2024, Attacker Challenge 2025), to
the last bit of the rate and of the threshold, in the time that sorting takes instead of O(N²).

Conventions: scores are 1-D arrays, higher means more likely the same speaker; they are cast to
float32, as the official scripts do. A target is missed when its score <= threshold; a nontarget is
a false alarm when its score > threshold. Rates are fractions in [0, 1].
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError

Scores = npt.NDArray[np.float32]
DoubleScores = npt.NDArray[np.float64]

# The official rates are float32. Of two points whose differences are farther apart than this, the
# rounded differences are in the same order.
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
        scores = _single_precision(name, values)
        _refuse_non_finite(name, scores)
        arrays.append(scores)
    return arrays[0], arrays[1]


def in_double(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> tuple[DoubleScores, DoubleScores]:
    """As `validate`, refusing the same, but in the precision that measures beside the EER use.

    Their official scripts read scores as double and never round them to single precision.
    """
    validate(target, nontarget)
    return np.asarray(target).astype(np.float64), np.asarray(nontarget).astype(np.float64)


def sorted_scores(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> tuple[Scores, Scores]:
    """As `validate`, each array in ascending order; the input is left as it is."""
    arrays = []
    for name, values in (("target", target), ("nontarget", nontarget)):
        scores = _single_precision(name, values)
        scores.sort()
        # NaN is sorted to the end, so the ends tell whether all between is finite.
        if not np.isfinite(scores[[0, -1]]).all():
            _refuse_non_finite(name, scores)
        arrays.append(scores)
    return arrays[0], arrays[1]


def equal_error_rate(target: npt.ArrayLike, nontarget: npt.ArrayLike) -> EqualErrorRate:
    """The official EER.

    target, nontarget: shapes (n_target,), (n_nontarget,), finite. Constant scores give 0.5.
    Raises ScoreError for empty, non-finite or not one-dimensional input.
    Source: SpeechBrain 1.1.2, `speechbrain.utils.metric_stats.EER`.
    """
    points = _OperatingPoints(*sorted_scores(target, nontarget))
    crossing = points.first(0)
    # The point before it may be nearer by far, and few scores are to be looked at.
    nearest = min(abs(points.difference(score)) for score in (crossing, points.before(crossing)))
    return points.nearest(nearest + ROUNDING)


def _single_precision(name: str, values: npt.ArrayLike) -> Scores:
    """A new float32 array, one-dimensional and not empty."""
    with np.errstate(over="ignore"):  # what overflows becomes infinite, and is refused later
        scores = np.asarray(values).astype(np.float32)
    if scores.ndim != 1:
        raise ScoreError(
            f"{name} scores have shape {scores.shape}",
            fix="give one number per trial (a 1-D array)",
        )
    if not len(scores):
        raise ScoreError(f"there is no {name} score", fix="check the labels of the trial list")
    return scores


def _refuse_non_finite(name: str, scores: Scores) -> None:
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


class _OperatingPoints:
    """Both kinds of error at any threshold, of scores in ascending order.

    The difference, miss rate minus false-alarm rate, rises from each score to the next and is 1 at
    the highest. So it is bisected, and the scores of the two classes need not be merged.
    """

    def __init__(self, target: Scores, nontarget: Scores) -> None:
        self._target, self._nontarget = target, nontarget

    def counts(self, threshold: np.float32) -> tuple[int, int]:
        """Misses and false alarms."""
        misses = self._target.searchsorted(threshold, "right")
        rejected = self._nontarget.searchsorted(threshold, "right")
        return int(misses), len(self._nontarget) - int(rejected)

    def rates(self, threshold: np.float32) -> tuple[np.float32, np.float32]:
        """Miss rate and false-alarm rate, rounded as they officially are."""
        misses, false_alarms = self.counts(threshold)
        return (
            np.float32(misses) / np.float32(len(self._target)),
            np.float32(false_alarms) / np.float32(len(self._nontarget)),
        )

    def difference(self, threshold: np.float32) -> float:
        misses, false_alarms = self.counts(threshold)
        return misses / len(self._target) - false_alarms / len(self._nontarget)

    def first(self, least: float) -> np.float32:
        """The lowest score of either class where the difference is at least `least`, at most 1."""
        return min(
            scores[index]
            for scores in (self._target, self._nontarget)
            if (index := self._bisect(scores, least)) < len(scores)
        )

    def _bisect(self, scores: Scores, least: float) -> int:
        def difference(index: int) -> float:
            return self.difference(scores[index])

        return bisect_left(range(len(scores)), least, key=difference)

    def before(self, score: np.float32) -> np.float32:
        """The next lower score; the score itself where it is the lowest."""
        lower = [
            scores[index - 1]
            for scores in (self._target, self._nontarget)
            if (index := scores.searchsorted(score))
        ]
        return max(lower, default=score)

    def thresholds(self, score: np.float32) -> Iterator[np.float32]:
        """The official thresholds from a score upwards: each score, then the middle to the next.

        A middle that rounds to a score is left out: it is no new threshold. So is one that
        overflows: it lies beyond all scores, where all targets are missed or all nontargets
        accepted, and at the highest or the lowest score the difference is no larger.
        """
        while True:
            yield score
            higher = [
                scores[index]
                for scores in (self._target, self._nontarget)
                if (index := scores.searchsorted(score, "right")) < len(scores)
            ]
            if not higher:
                return
            following = min(higher)
            with np.errstate(over="ignore"):
                middle = (score + following) / np.float32(2)
            if score < middle < following:
                yield middle
            score = following

    def nearest(self, limit: float) -> EqualErrorRate:
        """What the official loop finds. limit: above the smallest difference by ROUNDING."""
        best = self.first(-limit)
        smallest = np.inf
        for threshold in self.thresholds(best):
            if self.difference(threshold) > limit:
                break
            miss_rate, false_alarm_rate = self.rates(threshold)
            # Officially a float32 difference is compared with the float64 difference of the best
            # point so far, so that a middle may replace the score below it, whose rates it has.
            if float(abs(false_alarm_rate - miss_rate)) < smallest:
                smallest = abs(float(false_alarm_rate) - float(miss_rate))
                best = threshold
        miss_rate, false_alarm_rate = self.rates(best)
        misses, false_alarms = self.counts(best)
        return EqualErrorRate(
            rate=(float(false_alarm_rate) + float(miss_rate)) / 2,
            threshold=float(best),
            misses=misses,
            false_alarms=false_alarms,
            n_target=len(self._target),
            n_nontarget=len(self._nontarget),
        )
