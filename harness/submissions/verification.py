"""Verification: from the paths of submissions to verdicts, checks and explanations.

    open → find score files and claims → trial lists → read scores → official EERs
         → claims judged → what looks odd → explanations

Nothing of a stranger is run, imported or written under its own name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from harness.errors import ConfigError, SubmissionError
from harness.metrics.eer import equal_error_rate
from harness.metrics.estimators import ESTIMATORS
from harness.protocols.protocol import Protocol, TrialList
from harness.submissions.archive import open_submission
from harness.submissions.claims import read_claims, read_reported
from harness.submissions.description import Description, parse
from harness.submissions.explanation import Explainer
from harness.submissions.layout import UNNAMED, Found, ScoreFile, find
from harness.submissions.limits import MIB, Limits
from harness.submissions.members import Member, Submission
from harness.submissions.model import (
    Check,
    Claim,
    ClaimResult,
    ListResult,
    SubmissionResult,
    Verification,
    average_name,
)
from harness.submissions.reading import iterate_lines, read_scores
from harness.submissions.reference import (
    Reference,
    ReferenceList,
    count_names,
    from_folder,
    generate,
)
from harness.submissions.rules import check_files, examine_rules
from harness.submissions.suspicion import examine, shared
from harness.submissions.verdict import LARGEST_UNIT, judge, whole, worst


@dataclass(frozen=True)
class Options:
    """What a person may choose.

    trials: folder with the edition's lists; None: they are generated from the names in the scores.
    system: name of the one system, where the submission does not tell. reported: a file of claims
    from outside. explain_seconds: most time spent on explanations, per submission. received: when
    the submission came, with a time zone. listed_resources: the edition's list of data and models.
    """

    trials: Path | None = None
    system: str | None = None
    reported: Path | None = None
    limits: Limits = field(default_factory=Limits)
    explain_seconds: float = 10.0
    received: datetime | None = None
    listed_resources: frozenset[str] | None = None


@dataclass
class Opened:
    """A submission that could be opened, and what was found in it."""

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
        for path, name in zip(paths, _names(paths), strict=True):
            result = SubmissionResult(name)
            results.append(result)
            try:
                submission = stack.enter_context(open_submission(path, options.limits))
            except SubmissionError as error:
                result.checks.append(_refusal(error))
                continue
            result.sha256 = submission.sha256
            result.checks += submission.checks
            if not submission.checks:
                found = find(submission, protocol, options.system)
                opened.append(Opened(submission, found, result))
        reference = _reference(protocol, opened, options)
        for one in opened:
            _verify_one(one, protocol, reference, options)
    for check in shared((result.name, one) for result in results for one in result.lists):
        for result in results:
            if result.name == check.submission:
                result.checks.append(check)
    for result in results:
        result.verdict = whole(result.claims, result.checks)
        _name(result)
    return Verification(protocol, reference, results, worst(result.verdict for result in results))


def _names(paths: Sequence[Path]) -> list[str]:
    """What the submissions are called: the file's name, or the whole path where two are alike."""
    names = [path.resolve().name for path in paths]
    return [n if names.count(n) == 1 else str(p) for n, p in zip(names, paths, strict=True)]


def _reference(protocol: Protocol, opened: Iterable[Opened], options: Options) -> Reference:
    """The lists from the folder, or as many as the names in the score files give."""
    if options.trials is not None:
        return from_folder(protocol, options.trials)
    lists: dict[str, ReferenceList] = {}
    files = [score_file for one in opened for score_file in one.found.score_files]
    # First one file for each list; the others only where files stand in each other's place.
    for every in (False, True):
        for score_file in files:
            missing = [listed for listed in protocol.lists if listed.trials not in lists]
            if missing and (every or score_file.listed in missing):
                lists |= _generated(score_file, missing, options.limits)
    order = [listed.trials for listed in protocol.lists if listed.trials in lists]
    return Reference({name: lists[name] for name in order})


def _generated(
    score_file: ScoreFile, missing: Sequence[TrialList], limits: Limits
) -> dict[str, ReferenceList]:
    """Those of the missing lists that the names in a score file make."""
    most = 2 * max(listed.target + listed.nontarget for listed in missing)
    try:
        with score_file.member.open() as stream:
            names = count_names(iterate_lines(stream, limits, score_file.member.path), most)
    except SubmissionError:
        return {}  # it is read again, and the fault told, with the scores
    made = {listed.trials: generate(listed, names) for listed in missing}
    return {name: one for name, one in made.items() if one is not None}


def _verify_one(one: Opened, protocol: Protocol, reference: Reference, options: Options) -> None:
    result, found = one.result, one.found
    result.checks += found.checks
    for score_file in found.score_files:
        _score(score_file, reference, options.limits, result)
    result.checks += _missing_lists(found, protocol)

    description = _description(found.description, result.checks)
    systems = list(dict.fromkeys(score_file.system for score_file in found.score_files))
    if description is not None:
        result.checks += check_files(description, one.submission)
    result.checks += examine_rules(
        description, systems, protocol, options.received, options.listed_resources
    )

    claims, faults = read_claims(found, protocol)
    if options.reported is not None:
        reported, more = read_reported(options.reported, protocol, options.system)
        claims, faults = [*claims, *reported], [*faults, *more]
    result.checks += faults
    _judge(claims, systems, protocol, reference, result, options.explain_seconds)


def _score(
    score_file: ScoreFile, reference: Reference, limits: Limits, result: SubmissionResult
) -> None:
    """Read one score file into the result: its scores, its EER, its checks."""
    name, path = score_file.listed.trials, score_file.member.path
    listed = reference.lists.get(name)
    if listed is None:
        result.checks.append(_unlisted(score_file, limits))
        return
    try:
        reading = read_scores(score_file.member, listed, reference, limits)
    except SubmissionError as error:
        result.checks.append(_refusal(error))
        return
    result.checks += reading.checks
    eer = None
    if reading.scorable and reading.scores is not None:
        scores = reading.scores.first
        eer = equal_error_rate(scores[listed.target], scores[~listed.target])
        result.checks += examine(path, reading, listed)
    result.lists.append(
        ListResult(score_file.system, name, path, reading.sha256, reading.scores, eer)
    )


def _unlisted(score_file: ScoreFile, limits: Limits) -> Check:
    """Why a score file gives no list: there is nothing in it, it ends nowhere, or other names."""
    path = score_file.member.path
    try:
        with score_file.member.open() as stream:
            # All are read, to meet a line or a size above its limit.
            if not sum(bool(line.strip()) for line in iterate_lines(stream, limits, path)):
                return Check("file-empty", "no score in it", file=path)
    except SubmissionError as error:
        return _refusal(error)
    return Check(
        "trials-unknown",
        f"the names in it do not make the edition's list {score_file.listed.trials}: give the "
        "lists with --trials",
        file=path,
    )


def _missing_lists(found: Found, protocol: Protocol) -> list[Check]:
    """One check per system that lacks lists of the edition."""
    scored: dict[str, set[str]] = {}
    for score_file in found.score_files:
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


def _description(member: Member | None, checks: list[Check]) -> Description | None:
    if member is None:
        return None
    try:
        return parse(member.read(MIB), member.path)
    except (ConfigError, SubmissionError) as error:
        checks.append(Check("description-unreadable", str(error), file=member.path))
        return None


def _judge(
    claims: Sequence[Claim],
    systems: Sequence[str],
    protocol: Protocol,
    reference: Reference,
    result: SubmissionResult,
    explain_seconds: float,
) -> None:
    """Every claim against its EER; explanations for those that do not hold."""
    lists = {(one.system, one.list): one for one in result.lists}
    scored = [one for one in result.lists if one.eer is not None]
    named = [
        (claim.system or (systems[0] if len(systems) == 1 else UNNAMED), claim) for claim in claims
    ]
    explainer = Explainer(
        lists, reference, protocol, {(system, claim.list): claim for system, claim in named}
    )
    deadline = time.monotonic() + explain_seconds
    claimed = set()
    for system, claim in named:
        recomputed = recompute(claim, system, lists, protocol, reference)
        verdict, remark = judge(claim, recomputed)
        result.claims.append(
            ClaimResult(
                system=system,
                list=claim.list,
                claimed=claim.percent,
                recomputed=recomputed,
                verdict=verdict,
                file=claim.file,
                line=claim.line,
                estimator=claim.estimator,
                remark=remark,
            )
        )
        claimed.add((system, claim.list))
        if verdict != "verified":
            result.explanations.append(explainer.explain(claim, system, deadline))
        if system not in systems or _lists_of(claim.list, protocol) - _files_of(system, result):
            result.checks.append(
                Check(
                    "claim-without-scores",
                    f"{system} {claim.list}: {claim.percent} is claimed, and there are no scores",
                    file=claim.file,
                    line=claim.line,
                )
            )
        if claim.unit >= LARGEST_UNIT:
            result.checks.append(
                Check(
                    "claim-coarse",
                    f"{system} {claim.list}: {claim.percent} has no decimal, so much would fit",
                    file=claim.file,
                    line=claim.line,
                )
            )
    for one in scored:
        split = next(listed.split for listed in protocol.lists if listed.trials == one.list)
        if not {(one.system, one.list), (one.system, average_name(split))} & claimed:
            result.checks.append(
                Check("claim-missing", f"{one.system} {one.list} has no claimed EER", one.file)
            )


def _lists_of(name: str, protocol: Protocol) -> set[str]:
    """The lists that a claim is about: one, or those that are averaged."""
    return {
        listed.trials
        for listed in protocol.lists
        if name in (listed.trials, average_name(listed.split))
    }


def _files_of(system: str, result: SubmissionResult) -> set[str]:
    return {one.list for one in result.lists if one.system == system}


def recompute(
    claim: Claim,
    system: str,
    lists: Mapping[tuple[str, str], ListResult],
    protocol: Protocol,
    reference: Reference,
) -> float | None:
    """The EER that a claim is about, in percent; None where it cannot be computed."""
    names = sorted(_lists_of(claim.list, protocol))
    found = [lists.get((system, name)) for name in names]
    rates = [_rate(one, claim, reference) for one in found]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) < len(rates):
        return None
    return 100 * sum(known) / len(known)


def _rate(one: ListResult | None, claim: Claim, reference: Reference) -> float | None:
    if one is None or one.eer is None or one.scores is None:
        return None
    if claim.estimator == "official":
        return one.eer.rate
    target = reference.lists[one.list].target
    estimate: Callable[..., float] = ESTIMATORS[claim.estimator]
    return estimate(one.scores.first[target], one.scores.first[~target])


def _refusal(error: SubmissionError) -> Check:
    message = error.what if error.fix is None else f"{error.what}; {error.fix}"
    return Check(error.code, message, file=error.where)


def _name(result: SubmissionResult) -> None:
    """Say in every part of a result which submission it belongs to."""
    result.claims = [replace(one, submission=result.name) for one in result.claims]
    result.checks = [replace(one, submission=result.name) for one in result.checks]
    result.explanations = [replace(one, submission=result.name) for one in result.explanations]
