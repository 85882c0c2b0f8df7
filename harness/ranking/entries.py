"""Submissions to contestants: one entry for each system, and whether it is official.

*refuted*: a claim of this system does not hold, or its attacker, run again, did not give its
scores. *not checkable*: a list of the edition lacks an EER or a claim, a claim could not be
compared, or a fault touches the whole submission. *late*: received after the deadline.
*unofficial*: an attack on the team's own anonymizer, or data or a model that was not declared or
listed. Whatever else was found is shown and changes nothing; beside the entry stands what makes its
scores suspicious, and what is wrong with its speech.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from harness.metrics.det import det
from harness.metrics.draws import Pairs
from harness.metrics.eer import EqualErrorRate
from harness.metrics.speakers import speaker_error_rates
from harness.protocols.protocol import Protocol
from harness.ranking.contest import Contestant, ScoredList
from harness.ranking.model import ListRate, Status
from harness.ranking.speakers import pairs_of
from harness.submissions.codes import PRECEDENCE
from harness.submissions.contents.layout import UNNAMED
from harness.submissions.contents.naming import ORIGINAL
from harness.submissions.model import Check, ListResult, SubmissionResult, average_name
from harness.submissions.reference import Reference, ReferenceList

Scores = npt.NDArray[np.float32]

# Checks that name no score file and are of one system's list all the same: it lacks an EER.
OF_A_LIST = ("list-missing", "claim-without-scores")
# Labels follow from the names of trials, so that scores can be made of them, or be copied.
SUSPICIOUS = (
    "enrolment-ignored",
    "scores-shared",
    "perfect-separation",
    "label-precision",
    "label-order",
)
# What is wrong with the speech changes no EER, and people have to see it.
OF_AUDIO = ("audio-unreadable", "audio-rate", "audio-silent", "audio-names")
UNOFFICIAL_AS_A_WHOLE = ("resource-undeclared", "resource-unlisted")
# About half of these are kept: beyond its finite part a curve has no points.
DET_STEPS = 60
# Rates of 0 and 1 have no probit: they are taken for this one. All others are farther from 0 and 1,
# because no list has a million trials of a class.
LEAST_RATE = 1e-6
DET_DECIMALS = 5
MOST_REASONS = 3


def contestants_of(
    result: SubmissionResult,
    team: str,
    protocol: Protocol,
    reference: Reference,
    pairs: Mapping[str, Pairs | None],
    refuted: Mapping[str, str],
) -> list[Contestant]:
    """The entries of a submission.

    pairs: of each list, see `all_pairs`. refuted: by system, why a rerun refutes it.
    """
    contestants = []
    for system in systems_of(result, protocol):
        status, reasons = status_of(result, system, protocol, refuted.get(system))
        lists = {
            one.list: _scored(one, one.scores.first, one.eer, held, pairs[one.list])
            for one in result.lists
            if one.system == system
            and one.scores is not None
            and one.eer is not None
            # Draws go over the trials of all entries: a list that one states itself is in none.
            and one.list in reference.lists
            for held in [reference.lists[one.list]]
        }
        contestants.append(Contestant(team, result.name, system, status, reasons, lists))
    return contestants


def all_pairs(reference: Reference) -> dict[str, Pairs | None]:
    """The speakers of the trials of each list, None where names do not tell them."""
    pairs = {}
    for name, one in reference.lists.items():
        enrolled, utterances = zip(*(key.decode().split(" ") for key in one.keys), strict=True)
        pairs[name] = pairs_of(enrolled, utterances, one.target)
    return pairs


def systems_of(result: SubmissionResult, protocol: Protocol) -> list[str]:
    """The systems that a submission has scores or claims of; of the edition's, where it has any.

    Original speech is no system, nor is what a claim without scores leaves unnamed.
    """
    with_scores = list(result.score_files.values())
    claimed = [one.system for one in result.claims if one.system != UNNAMED]
    return [
        name
        for name in dict.fromkeys([*with_scores, *claimed])
        if name != ORIGINAL and (not protocol.systems or name in protocol.systems)
    ]


def status_of(
    result: SubmissionResult, system: str, protocol: Protocol, refuted: str | None
) -> tuple[Status, tuple[str, ...]]:
    """What an entry counts as, and why. refuted: why a rerun refutes it."""
    false = [
        f"{one.list}: {one.claimed:.6g} is claimed, and its scores give {one.recomputed:.3f}"
        for one in result.claims
        if one.system == system and one.verdict == "refuted" and one.recomputed is not None
    ]
    if refuted is not None:
        false.append(refuted)
    if false:
        return "refuted", _few(false)
    if hindrances := [*_gaps(result, system, protocol), *_faults(result, system)]:
        return "not checkable", _few(hindrances)
    late = [check.message for check in result.checks if check.code == "late"]
    unofficial = [
        one.message for one in result.checks if _unofficial(one, result, system, protocol)
    ]
    odd = (*_suspicions(result, system), *_of_audio(result))
    if late or unofficial:
        return ("late" if late else "unofficial"), (*_few([*late, *unofficial]), *odd)
    return "official", odd


def _gaps(result: SubmissionResult, system: str, protocol: Protocol) -> Iterable[str]:
    """Lists without an EER or a claim, and claims without a verdict."""
    # That it is claimed does not matter where nobody knows of which system.
    claims = [one for one in result.claims if one.system in (system, UNNAMED)]
    rated = {one.list for one in result.lists if one.system == system and one.eer is not None}
    claimed = {one.list for one in claims if one.estimator == "official" and one.system == system}
    for listed in protocol.lists:
        if listed.trials not in rated:
            yield f"{listed.trials}: no EER"
        elif claimed.isdisjoint((listed.trials, average_name(listed.split))):
            yield f"{listed.trials}: no claim"
    for one in claims:
        if one.verdict == "not checkable":
            yield f"{one.list}: the claim {one.claimed:.6g} could not be compared"


def _faults(result: SubmissionResult, system: str) -> list[str]:
    """What is unscorable and not of another system's scores alone."""
    checks = [
        check
        for check in result.checks
        if check.severity == "unscorable"
        and check.code not in OF_A_LIST
        and result.score_files.get(check.file or "", system) == system
    ]
    checks.sort(key=lambda check: PRECEDENCE[check.code])
    return [f"{check.code}: {check.message}" for check in checks]


def _suspicions(result: SubmissionResult, system: str) -> Iterable[str]:
    """What looks odd about the scores of a system; of each kind the first."""
    for code in SUSPICIOUS:
        found = [
            check
            for check in result.checks
            if check.code == code and result.score_files.get(check.file or "") == system
        ]
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            yield f"{code}: {found[0].message}{more}"


def _of_audio(result: SubmissionResult) -> Iterable[str]:
    """What is wrong with the speech, whichever system it is of."""
    for check in result.checks:
        if check.code in OF_AUDIO:
            more = f" (and {check.count - 1:,} more)" if check.count > 1 else ""
            yield f"{check.code}: {check.message}{more}"


def _unofficial(check: Check, result: SubmissionResult, system: str, protocol: Protocol) -> bool:
    if check.code != "own-anonymizer":
        return check.code in UNOFFICIAL_AS_A_WHOLE
    own = {name.casefold() for name in result.own_anonymizers}
    known = {name.casefold() for name in (*protocol.systems, *result.score_files.values())}
    # Of a name that neither the edition nor any scores have nobody knows which system it is.
    return system.casefold() in own or not own <= known


def _scored(
    one: ListResult, scores: Scores, eer: EqualErrorRate, held: ReferenceList, pairs: Pairs | None
) -> ScoredList:
    target = held.target
    rate = ListRate(
        list=one.list,
        split=held.listed.split,
        gender=held.listed.gender,
        percent=100 * eer.rate,
        misses=eer.misses,
        false_alarms=eer.false_alarms,
        n_target=eer.n_target,
        n_nontarget=eer.n_nontarget,
        file=one.file,
        sha256=one.sha256,
        det=_curve(scores[target], scores[~target]),
        speakers=None if pairs is None else _by_speaker(pairs, scores),
    )
    return ScoredList(held.listed, target, pairs, scores[np.newaxis], (rate,))


def _curve(target: Scores, nontarget: Scores) -> tuple[tuple[float, float], ...]:
    """Points of the DET curve, false alarms first, evenly spread on the probit scale."""
    curve = det(target, nontarget)
    miss, false_alarm = (
        ndtri(np.clip(rate, LEAST_RATE, 1 - LEAST_RATE))
        for rate in (curve.miss_rate, curve.false_alarm_rate)
    )
    along = miss - false_alarm
    kept = np.unique(np.searchsorted(along, np.linspace(along[0], along[-1], DET_STEPS)))
    points = np.stack([curve.false_alarm_rate, curve.miss_rate], axis=1)[kept]
    return tuple((x, y) for x, y in points.round(DET_DECIMALS).tolist())


def _by_speaker(pairs: Pairs, scores: Scores) -> dict[str, float | None]:
    rates = speaker_error_rates(pairs.enrolled, pairs.target, scores)
    return {one.speaker: None if one.eer is None else 100 * one.eer.rate for one in rates}


def _few(reasons: Sequence[str]) -> tuple[str, ...]:
    more = len(reasons) - MOST_REASONS
    return tuple(chain(reasons[:MOST_REASONS], [f"and {more} more"] if more > 0 else []))
