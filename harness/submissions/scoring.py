"""Score files to EERs: the trial lists that they are held against, their reading, their gaps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import SubmissionError
from harness.metrics.eer import EqualErrorRate
from harness.metrics.estimators import OPERATING_POINTS
from harness.protocols.protocol import Protocol, TrialList
from harness.submissions.contents.layout import ScoreFile
from harness.submissions.limits import Limits
from harness.submissions.model import Check, ListResult, Scores
from harness.submissions.reference import (
    STATED,
    Reference,
    ReferenceList,
    count_names,
    from_folder,
    generate,
    size_of,
    stated,
)
from harness.submissions.scores.reading import iterate_lines, read_scores
from harness.submissions.scores.suspicion import examine


@dataclass
class Scored:
    """What score files gave. instead: scores that stand in the place of others, by their system.

    A file whose columns are swapped, or that holds another list, is not checkable; what it would
    give if it were read so is known all the same, for the explanation.
    """

    lists: list[ListResult] = field(default_factory=list)
    instead: dict[tuple[str, str], ListResult] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)


def reference_of(
    files: Sequence[ScoreFile], protocol: Protocol, trials: Path | None, limits: Limits
) -> Reference:
    """The lists from the folder, or as many as the names in the score files give.

    They are the edition's, whichever submission's scores give them.
    """
    if trials is not None:
        return from_folder(protocol, trials)
    lists: dict[str, ReferenceList] = {}
    # First one file for each list; the others only where files stand in each other's place.
    for every in (False, True):
        for score_file in files:
            missing = [
                listed
                for listed in protocol.lists
                if listed.sha256 is not None and listed.trials not in lists
            ]
            if missing and (every or score_file.listed in missing):
                lists |= _generated(score_file, missing, limits)
    order = [listed.trials for listed in protocol.lists if listed.trials in lists]
    return Reference({name: lists[name] for name in order})


def stated_lists(
    files: Sequence[ScoreFile], reference: Reference, limits: Limits
) -> dict[str, ReferenceList]:
    """The lists whose hash nobody knows, as the score files of one submission state them.

    Each is that of the first file that states one, and holds for no other submission.
    """
    lists: dict[str, ReferenceList] = {}
    for score_file in files:
        listed = score_file.listed
        if listed.sha256 is None and listed.trials not in lists:
            others = [*reference.lists.values(), *lists.values()]
            lists |= _stated(score_file, others, limits)
    return lists


def _generated(
    score_file: ScoreFile, missing: Sequence[TrialList], limits: Limits
) -> dict[str, ReferenceList]:
    """Those of the missing lists that the names in a score file make."""
    most = 2 * max(map(size_of, missing))
    try:
        with score_file.member.open() as stream:
            names = count_names(iterate_lines(stream, limits, score_file.member.path), most)
    except SubmissionError:
        return {}  # it is read again, and the fault told, with the scores
    made = {listed.trials: generate(listed, names) for listed in missing}
    return {name: one for name, one in made.items() if one is not None}


def _stated(
    score_file: ScoreFile, others: Iterable[ReferenceList], limits: Limits
) -> dict[str, ReferenceList]:
    """The list that a score file states, unless it has a pair of another list."""
    try:
        with score_file.member.open() as stream:
            found = stated(score_file.listed, iterate_lines(stream, limits, score_file.member.path))
    except SubmissionError:
        return {}  # it is read again, and the fault told, with the scores
    if found is None or not all(set(found.keys).isdisjoint(other.keys) for other in others):
        return {}
    return {found.name: found}


def score(
    files: Sequence[ScoreFile], protocol: Protocol, reference: Reference, limits: Limits
) -> Scored:
    """Read all score files of a submission, in the edition's order of systems and lists."""
    scored = Scored()
    systems = {name: place for place, name in enumerate(protocol.systems)}
    lists = list(protocol.lists)
    for score_file in sorted(
        files,
        key=lambda one: (
            systems.get(one.system, len(systems)),
            one.system,
            lists.index(one.listed),
        ),
    ):
        _score(score_file, protocol, reference, limits, scored)
    return scored


def _score(
    score_file: ScoreFile, protocol: Protocol, reference: Reference, limits: Limits, scored: Scored
) -> None:
    """Read one score file into the result: its scores, its EER, its checks."""
    name, path = score_file.listed.trials, score_file.member.path
    listed = reference.lists.get(name)
    if listed is None:
        scored.checks.append(_unlisted(score_file, limits))
        return
    try:
        reading = read_scores(score_file.member, listed, reference, limits)
    except SubmissionError as error:
        scored.checks.append(refusal(error))
        return
    scored.checks += reading.checks
    eer = None
    if reading.scorable and reading.scores is not None:
        eer = _eer(reading.scores, listed, protocol)
        scored.checks += examine(path, reading, listed)
    scored.lists.append(
        ListResult(score_file.system, name, path, reading.sha256, reading.scores, eer)
    )
    if reading.as_list is not None and reading.as_scores is not None:
        held = reference.lists[reading.as_list]
        scored.instead[score_file.system, held.name] = ListResult(
            score_file.system,
            held.name,
            path,
            reading.sha256,
            reading.as_scores,
            _eer(reading.as_scores, held, protocol),
        )


def _eer(scores: Scores, listed: ReferenceList, protocol: Protocol) -> EqualErrorRate:
    """The edition's own."""
    return OPERATING_POINTS[protocol.eer](scores.first[listed.target], scores.first[~listed.target])


def _unlisted(score_file: ScoreFile, limits: Limits) -> Check:
    """Why a score file gives no list: there is nothing in it, it ends nowhere, or other names."""
    path = score_file.member.path
    try:
        with score_file.member.open() as stream:
            # All are read, to meet a line or a size above its limit.
            if not sum(bool(line.strip()) for line in iterate_lines(stream, limits, path)):
                return Check("file-empty", "no score in it", file=path)
    except SubmissionError as error:
        return refusal(error)
    return Check(
        "trials-unknown",
        f"the names in it do not make the edition's list {score_file.listed.trials}: give the "
        "lists with --trials",
        file=path,
    )


def unproven_lists(lists: Iterable[ListResult], reference: Reference) -> list[Check]:
    """One check where lists that nothing shows to be the edition's were scored."""
    stated_lists = {
        one.list: one.file for one in lists if reference.lists[one.list].origin == STATED
    }
    if not stated_lists:
        return []
    names = ", ".join(stated_lists)
    return [
        Check(
            "list-unproven",
            "no hash of the edition's list is known: EERs are those of the pairs in the scores, "
            f"for {names}; give the lists with --trials",
            count=len(stated_lists),
        )
    ]


def missing_lists(files: Sequence[ScoreFile], protocol: Protocol) -> list[Check]:
    """One check per system that lacks lists of the edition."""
    scored: dict[str, set[str]] = {}
    for score_file in files:
        scored.setdefault(score_file.system, set()).add(score_file.listed.trials)
    checks = []
    for system, names in scored.items():
        absent = [listed.trials for listed in protocol.lists if listed.trials not in names]
        if absent:
            checks.append(
                Check(
                    "list-missing",
                    f"{system} has no scores for {', '.join(absent)}: a submission has all lists",
                    count=len(absent),
                )
            )
    return checks


def refusal(error: SubmissionError) -> Check:
    """The check that a refused archive or file becomes."""
    message = error.what if error.fix is None else f"{error.what}; {error.fix}"
    return Check(error.code, message, file=error.where)
