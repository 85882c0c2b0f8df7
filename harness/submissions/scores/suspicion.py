"""What looks odd about scores that can be scored: remarks, and a few faults that nobody intends.

Thresholds are set so that no honest attacker crosses them by chance; each says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.metrics.eer import equal_error_rate
from harness.submissions.model import Check, ListResult
from harness.submissions.reference import ReferenceList
from harness.submissions.scores.lines import quote
from harness.submissions.scores.reading import Reading
from harness.submissions.scores.writing import areas, label_precision, line_order

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]

# An attacker that guesses has EERs around 50 %, with a standard deviation of 1.2 points on 449
# targets if trials were independent. They are not: the trials of one speaker go up and down
# together, and 26 of 240 simulated guessers (one random vector for each speaker) were above 55 %.
# So the speakers must also agree, beyond this many standard errors of their mean: none of the 240,
# and by Student's distribution 2 of 10,000 with 13 speakers.
REVERSED_EER = 0.55
REVERSED_ERRORS = 5.0
# An attacker that uses the enrolment spreads an utterance's scores about as far as those of all
# trials; batches computed in another order differ by a few float32 steps, below 1e-5 of that.
SAME_SPREAD = 1e-4
SAME_SHARE = 0.95
# Half of the last digit that is officially printed, as a fraction: an EER that ties move further is
# no longer one number.
MOVED = 0.0005 / 100
# Honest cosine scores with six decimals have 2 to 13 % of trials tied on an official list, and one
# tie at the threshold by chance; so six decimals are never held against a file.
COARSE_DECIMALS = 5
FINE_DECIMALS = 6
ROUNDED_SHARE = 0.05
TIED_SHARE = 0.1
# The same order of so many different scores is no chance.
SHARED_DISTINCT = 100


def examine(file: str, reading: Reading, listed: ReferenceList) -> list[Check]:
    """Checks of the scores of one file, in the order of the list; file: its path.

    None for a reading that cannot be scored.
    """
    if reading.scores is None or not reading.scorable:
        return []
    scores = reading.scores.first
    if scores.min() == scores.max():
        message = f"all {len(scores):,} scores are {scores[0]}: the EER says nothing"
        return [Check("scores-constant", message, file, count=len(scores))]
    ignored = _enrolment_ignored(file, scores, listed)
    checks = [
        _sign_reversed(file, scores, listed),
        ignored,
        # Scores that ignore the enrolment are all tied: that is one fault, not two.
        None if ignored else _ties(file, scores, listed.target),
        _perfect_separation(file, scores, listed.target),
        label_precision(file, scores, reading.digits, listed.target),
        *line_order(file, scores, reading.order, listed),
    ]
    return [check for check in checks if check is not None]


def _sign_reversed(file: str, scores: Floats, listed: ReferenceList) -> Check | None:
    target = listed.target
    # An EER above 50 % needs more than half of the targets below more than half of the nontargets.
    # In double precision: the middle of two large float32 is infinite in their own.
    exact = scores.astype(np.float64)
    if np.median(exact[target]) >= np.median(exact[~target]):
        return None
    rate = equal_error_rate(scores[target], scores[~target]).rate
    if rate <= REVERSED_EER:
        return None
    by_speaker = areas(scores, target, listed.enrolment)
    n_speakers, n_target, n_nontarget = len(by_speaker), target.sum(), (~target).sum()
    if n_speakers < 2:
        return None
    between_speakers = by_speaker.std(ddof=1) / np.sqrt(n_speakers)
    independent = np.sqrt((n_target + n_nontarget + 1) / (12 * n_target * n_nontarget))
    if 0.5 - by_speaker.mean() < REVERSED_ERRORS * max(between_speakers, independent):
        return None
    return Check(
        "sign-reversed",
        f"the EER is {100 * rate:.3f} %, and {100 - 100 * rate:.1f} % or so with the sign changed: "
        "higher scores must mean the same speaker",
        file,
    )


def _enrolment_ignored(file: str, scores: Floats, listed: ReferenceList) -> Check | None:
    order = np.argsort(listed.utterance, kind="stable")
    utterance = listed.utterance[order]
    begins = np.flatnonzero(np.r_[True, utterance[1:] != utterance[:-1]])
    several = np.diff(np.r_[begins, len(utterance)]) > 1
    grouped = scores[order].astype(np.float64)
    spread = (np.maximum.reduceat(grouped, begins) - np.minimum.reduceat(grouped, begins))[several]
    same = int((spread <= SAME_SPREAD * grouped.std()).sum())
    if not len(spread) or same < SAME_SHARE * len(spread):
        return None
    return Check(
        "enrolment-ignored",
        f"{same:,} of {len(spread):,} trial utterances have the same score for every enrolled "
        "speaker: the score must compare the two",
        file,
        count=same,
    )


def _ties(file: str, scores: Floats, target: Bools) -> Check | None:
    distinct, counts = np.unique(scores, return_counts=True)
    tied = int(counts[counts > 1].sum())
    share = tied / len(scores)
    if share < ROUNDED_SHARE:
        return None
    decimals = _decimals(distinct)
    least, most = _untied_rate(scores, target, target), _untied_rate(scores, target, ~target)
    rates = f"the EER is between {100 * least:.3f} and {100 * most:.3f} % by how ties are broken"
    if decimals is not None and decimals <= COARSE_DECIMALS and most - least > MOVED:
        message = (
            f"scores are rounded to {decimals} after the point, and {tied:,} of {len(scores):,} "
            f"trials share theirs: {rates}; write all digits"
        )
        return Check("scores-rounded", message, file, count=tied)
    if decimals is None and share >= TIED_SHARE:
        message = f"{tied:,} of {len(scores):,} trials share their score with others: {rates}"
        return Check("scores-tied", message, file, count=tied)
    return None


def _untied_rate(scores: Floats, target: Bools, upper: Bools) -> float:
    """The EER if, of trials with the same score, those of `upper` had a higher one."""
    place = np.empty(len(scores))
    place[np.lexsort((upper, scores))] = np.arange(len(scores))
    return equal_error_rate(place[target], place[~target]).rate


def _decimals(distinct: Floats) -> int | None:
    """The fewest decimals that all scores can be written with; None for more than are looked at."""
    exact = distinct.astype(np.float64)
    for decimals in range(FINE_DECIMALS + 1):
        if np.array_equal(np.round(exact, decimals).astype(np.float32), distinct):
            return decimals
    return None


def _perfect_separation(file: str, scores: Floats, target: Bools) -> Check | None:
    lowest, highest = scores[target].min(), scores[~target].max()
    if lowest <= highest:
        return None
    return Check(
        "perfect-separation",
        f"every target scores above every nontarget (the lowest {lowest}, the highest {highest})",
        file,
    )


@dataclass(frozen=True)
class _Place:
    submission: str
    result: ListResult

    def named(self, besides: str) -> str:
        """For people; a submission is named where it is another."""
        # Of a name that is not UTF-8, Python holds the bytes as surrogates.
        system = quote(self.result.system.encode(errors="surrogateescape"))
        owner = quote(self.submission.encode(errors="surrogateescape"))
        name = f"{system} {self.result.list}"
        return name if self.submission == besides else f"{name} of {owner}"


def shared(entries: Iterable[tuple[str, ListResult]]) -> list[Check]:
    """Lists that have the same scores, or scores in the same order: a check per submission of each.

    entries: submission and list. The same order of 100 different scores over the trials is a copy,
    whatever was added or multiplied.
    """
    groups: dict[bytes, list[_Place]] = {}
    for submission, result in entries:
        if result.scores is None or result.eer is None:
            continue
        distinct, rank = np.unique(result.scores.first, return_inverse=True)
        if len(distinct) >= SHARED_DISTINCT:
            key = hashlib.sha256(rank.astype(np.int64).tobytes()).digest()
            groups.setdefault(key, []).append(_Place(submission, result))
    return [
        _shared(next(place for place in places if place.submission == submission), places)
        for places in groups.values()
        if len(places) > 1
        for submission in dict.fromkeys(place.submission for place in places)
    ]


def _shared(first: _Place, places: list[_Place]) -> Check:
    others = ", ".join(place.named(first.submission) for place in places if place is not first)
    values = {place.result.scores.first.tobytes() for place in places if place.result.scores}
    how = "has the same scores as" if len(values) == 1 else "has its scores in the same order as"
    return Check(
        "scores-shared",
        f"{first.named(first.submission)} {how} {others}",
        first.result.file,
        count=len(places),
        submission=first.submission,
    )
