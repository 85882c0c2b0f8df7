"""What the writing of a score file tells about the labels: length of numbers, order of lines.

Whoever knows no labels prints every score with one function, and puts the lines in an order that is
made without them. Thresholds are set so that no such file crosses them by chance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from harness.submissions.model import Check
from harness.submissions.reference import ReferenceList

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
Indices = npt.NDArray[np.intp]

# Trials of similar score, in which the characters of targets and nontargets are compared; at least
# so many targets must be among nontargets, and differ by so many standard errors and characters.
SIMILAR = 20
MIXED_TARGETS = 5
PRECISION_ERRORS = 6.0
PRECISION_CHARACTERS = 0.5
# How surely a target stands before a nontarget, from 0.5. Orders by name reach 0.68 where the
# speakers that are never enrolled (up to 7 of 20) come last; chance reaches 0.6 on small lists.
ORDER_AREA = 0.8


def areas(
    values: npt.NDArray[np.generic], target: Bools, group: Indices
) -> npt.NDArray[np.float64]:
    """How often a target has a higher value than a nontarget of its group, for each group.

    Ties count half; groups of one class only are left out.
    """
    order = np.lexsort((values, group))
    values, target, group = values[order], target[order], group[order]
    begins = np.flatnonzero(np.r_[True, (group[1:] != group[:-1]) | (values[1:] != values[:-1])])
    lengths = np.diff(np.r_[begins, len(values)])
    ranks = np.repeat(begins + (lengths + 1) / 2, lengths)
    n_all = np.bincount(group).astype(np.float64)
    n_target = np.bincount(group, target)
    pairs = n_target * (n_all - n_target)
    # Ranks run on from group to group: take off what comes before, and targets among themselves.
    before = np.cumsum(n_all) - n_all
    sums = np.bincount(group, ranks * target) - n_target * before - n_target * (n_target + 1) / 2
    area: npt.NDArray[np.float64] = sums[pairs > 0] / pairs[pairs > 0]
    return area


def label_precision(
    file: str, scores: Floats, digits: npt.NDArray[np.uint8], target: Bools
) -> Check | None:
    """Compares trials of similar score only: the length of a number depends on its size.

    Nothing can be told where the classes do not overlap.
    """
    if digits.min() == digits.max():
        return None
    order = np.argsort(scores, kind="stable")
    stratum = np.arange(len(scores)) // SIMILAR
    label, length = target[order].astype(np.float64), digits[order].astype(np.float64)
    n = np.bincount(stratum)
    n_target = np.bincount(stratum, label)
    mean = np.bincount(stratum, length) / n
    variance = np.maximum(np.bincount(stratum, length**2) / n - mean**2, 0)
    # Labels drawn anew within a stratum give the targets' sum this mean and variance.
    excess = (np.bincount(stratum, length * label) - n_target * mean).sum()
    opposed = n_target * (n - n_target)
    error = np.sqrt((opposed / np.maximum(n - 1, 1) * variance).sum())
    weight = (opposed / n).sum()
    if weight < MIXED_TARGETS or abs(excess) < max(
        PRECISION_ERRORS * error, PRECISION_CHARACTERS * weight
    ):
        return None
    return Check(
        "label-precision",
        f"target scores are printed {abs(excess) / weight:.1f} characters "
        f"{'longer' if excess > 0 else 'shorter'} than nontarget scores of the same size",
        file,
    )


def line_order(
    file: str, scores: Floats, order: npt.NDArray[np.int64], listed: ReferenceList
) -> list[Check]:
    """Are lines in another order than the list, and does their order tell the labels?

    order: line of each trial. The official order, orders by name, by chance and by score do not.
    """
    behind = np.flatnonzero(np.diff(order) < 0)
    if not len(behind):
        return []
    line = int(order[behind + 1].min())
    checks = []
    for what, group in (
        ("", np.zeros(len(scores), np.intp)),
        (" of a speaker", listed.enrolment),
        (" of an utterance", listed.utterance),
    ):
        found = areas(order, listed.target, group)
        area = float(found.mean()) if len(found) else 0.5
        if max(area, 1 - area) < ORDER_AREA or _sorted_by_score(scores, order, group):
            continue
        message = (
            f"{100 * max(area, 1 - area):.0f} % of target lines stand "
            f"{'after' if area > 0.5 else 'before'} the nontarget lines{what}"
        )
        checks.append(Check("label-order", message, file))
        break
    message = "lines are not in the order of the list; scores are read all the same"
    return [*checks, Check("order", message, file, line, len(behind))]


def _sorted_by_score(scores: Floats, order: npt.NDArray[np.int64], group: Indices) -> bool:
    """Do scores only rise, or only fall, from line to line of each group?"""
    lines = np.lexsort((order, group))
    steps = np.diff(scores[lines])[np.diff(group[lines]) == 0]
    return bool((steps >= 0).all() or (steps <= 0).all())
