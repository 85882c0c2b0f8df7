"""Verification: from the paths of submissions to verdicts, checks and explanations.

    open → find score files and claims → trial lists → read scores → official EERs
         → claims judged → what looks odd → explanations

Nothing of a stranger is run, imported or written under its own name.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from harness.errors import ConfigError, SubmissionError
from harness.protocols import ranking
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.protocol import Protocol
from harness.submissions.archives.archive import open_submission
from harness.submissions.contents.audio import examine_audio
from harness.submissions.contents.claims import read_claims, read_measures, read_reported
from harness.submissions.contents.description import Description, parse
from harness.submissions.contents.layout import Found, find
from harness.submissions.contents.naming import ORIGINAL
from harness.submissions.contents.rules import check_files, examine_rules
from harness.submissions.judging import judge_claims
from harness.submissions.limits import MIB, Limits
from harness.submissions.members import Member, Submission
from harness.submissions.model import (
    Check,
    Claim,
    MeasureClaim,
    SubmissionResult,
    Verification,
)
from harness.submissions.reference import ReferenceList
from harness.submissions.scores.suspicion import shared
from harness.submissions.scoring import (
    missing_lists,
    reference_of,
    refusal,
    score,
    stated_lists,
    unproven_lists,
)
from harness.submissions.verdict import whole, worst


@dataclass(frozen=True)
class Options:
    """What a person may choose.

    trials: folder with the edition's lists; None: they are generated from the names in the scores.
    system: name of the one system, where the submission does not tell. reported: a file of claims
    from outside. explain_seconds: most time spent on explanations, per submission. received: when
    the submission came, with a time zone; where there are several, by name. listed_resources: the
    edition's list of data and models.
    """

    trials: Path | None = None
    system: str | None = None
    reported: Path | None = None
    limits: Limits = field(default_factory=Limits)
    explain_seconds: float = 10.0
    received: datetime | Mapping[str, datetime] | None = None
    listed_resources: frozenset[str] | None = None

    def received_of(self, name: str) -> datetime | None:
        """When the submission of that name came."""
        return self.received.get(name) if isinstance(self.received, Mapping) else self.received


NOTHING = Found((), (), None, ())


@dataclass
class Opened:
    """A submission, and what was found in it."""

    submission: Submission
    found: Found
    result: SubmissionResult


def verify(
    paths: Sequence[Path], protocol: Protocol, options: Options | None = None
) -> Verification:
    """Verify submissions, each by itself, and look for scores that two of them share.

    Raises ConfigError or ListError for what the caller gave (a wrong folder of lists, a file of
    claims that is none), DataError for a path that cannot be read. What is wrong with a submission
    is a check of its result instead.
    """
    options = options or Options()
    results = []
    with ExitStack() as stack:
        opened = []
        for path, name in zip(paths, names_of(paths), strict=True):
            result = SubmissionResult(name)
            results.append(result)
            try:
                submission = stack.enter_context(open_submission(path, options.limits))
            except SubmissionError as error:
                submission = Submission(name, None, (), (refusal(error),))
            result.sha256 = submission.sha256
            result.checks += submission.checks
            # Of what is refused nothing is read, yet it may be late, and claims be reported of it.
            refused = bool(submission.checks)
            found = NOTHING if refused else find(submission, protocol, options.system)
            opened.append(Opened(submission, found, result))
        files = [score_file for one in opened for score_file in one.found.score_files]
        reference = reference_of(files, protocol, options.trials, options.limits)
        done = Verification(protocol, reference, results)
        kept: dict[tuple[str, str], ReferenceList] = {}
        for one in opened:
            if options.trials is None:
                own = stated_lists(one.found.score_files, reference, options.limits)
                # The same list of many submissions is held once.
                one.result.stated = {
                    name: kept.setdefault((name, listed.sha256), listed)
                    for name, listed in own.items()
                }
            _verify_one(one, done, options)
    for check in shared((result.name, one) for result in results for one in result.lists):
        for result in results:
            if result.name == check.submission:
                result.checks.append(check)
    for result in results:
        result.verdict = whole(result.claims, result.checks)
        _name(result)
    done.verdict = worst(result.verdict for result in results)
    return done


def names_of(paths: Sequence[Path]) -> list[str]:
    """What the submissions are called: the file's name, or the whole path where two are alike."""
    names = [path.resolve().name for path in paths]
    return [n if names.count(n) == 1 else str(p) for n, p in zip(names, paths, strict=True)]


def _verify_one(one: Opened, done: Verification, options: Options) -> None:
    result, found, protocol = one.result, one.found, done.protocol
    # Without lists of its own it shares what was looked up for the others.
    reference = done.reference_of(result) if result.stated else done.reference
    result.checks += found.checks
    scored = score(found.score_files, protocol, reference, options.limits)
    result.lists += scored.lists
    result.checks += scored.checks
    result.checks += missing_lists(found.scores, protocol)
    result.checks += unproven_lists(scored.lists, reference)
    result.checks += examine_audio(found.recordings, protocol, reference)

    description = _description(found.description, result.checks)
    systems = list(dict.fromkeys(score_file.system for score_file in found.scores))
    if description is not None:
        result.checks += check_files(description, one.submission)
        result.team, result.own_anonymizers = description.team, description.own_anonymizers
    result.score_files = {one.member.path: one.system for one in found.scores}
    received = options.received_of(result.name)
    result.checks += examine_rules(
        description, systems, protocol, received, options.listed_resources
    )

    claims, faults = read_claims(found, protocol)
    if options.reported is not None:
        reported, more = read_reported(options.reported, protocol, options.system)
        about, elsewhere = _about(reported, systems, protocol)
        claims, faults = [*claims, *about], [*faults, *more, *elsewhere]
    result.checks += faults
    result.checks += _unknown(systems, protocol)
    if isinstance(rules := _rules(protocol), AnonymizerRanking):
        result.measures, faults = read_measures(found, protocol, rules)
        result.checks += [*faults, *_unmeasured(result.measures)]
    deadline = time.monotonic() + options.explain_seconds
    present = {(one.system, one.listed.trials) for one in found.scores}
    judge_claims(claims, scored, present, protocol, reference, result, deadline)


def _about(
    reported: Sequence[Claim], systems: Sequence[str], protocol: Protocol
) -> tuple[list[Claim], list[Check]]:
    """Those of the systems that the submission has scores of, if there are any such.

    A file of claims from outside may be about every team's systems; that some of the edition's have
    no scores here is told.
    """
    about = [claim for claim in reported if claim.system is None or claim.system in systems]
    if not about:
        return list(reported), []
    others = {claim.system: claim for claim in reported if claim.system in protocol.systems}
    return about, [
        Check(
            "claim-elsewhere",
            f"{system} is claimed too, and there are no scores of it here",
            file=claim.file,
            line=claim.line,
        )
        for system, claim in others.items()
        if system not in systems
    ]


def _unknown(systems: Sequence[str], protocol: Protocol) -> list[Check]:
    """A check for each system that the edition does not have, where it has any."""
    known = {*protocol.systems, ORIGINAL}
    return [
        Check(
            "system-unknown",
            f"{system} is no system of {protocol.name} ({', '.join(protocol.systems)}): name it by "
            "its folder or with --system",
        )
        for system in systems
        if protocol.systems and system not in known
    ]


def _rules(protocol: Protocol) -> ranking.AttackerRanking | AnonymizerRanking | None:
    """How the edition ranks, where it says so."""
    return ranking.load(protocol.name) if protocol.name in ranking.names() else None


def _unmeasured(measures: Sequence[MeasureClaim]) -> list[Check]:
    """A note for each measure that is claimed and that no scores give."""
    checks = []
    for name in dict.fromkeys(one.measure for one in measures):
        of_measure = [one for one in measures if one.measure == name]
        first = of_measure[0]
        checks.append(
            Check(
                "measure-unchecked",
                f"{name} is claimed, and not checkable from scores: it takes {first.needs}",
                first.file,
                first.line,
                len(of_measure),
            )
        )
    return checks


def _description(member: Member | None, checks: list[Check]) -> Description | None:
    if member is None:
        return None
    try:
        return parse(member.read(MIB), member.path)
    except (ConfigError, SubmissionError) as error:
        checks.append(Check("description-unreadable", str(error), file=member.path))
        return None


def _name(result: SubmissionResult) -> None:
    """Say in every part of a result which submission it belongs to."""
    result.claims = [replace(one, submission=result.name) for one in result.claims]
    result.measures = [replace(one, submission=result.name) for one in result.measures]
    result.checks = [replace(one, submission=result.name) for one in result.checks]
    result.explanations = [replace(one, submission=result.name) for one in result.explanations]
