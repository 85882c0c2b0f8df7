"""What a machine can hold a submission against: dates, declarations, hashes.

What a team does not say cannot be known: without `submission.yaml` there is no check of resources.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from pathlib import Path

from harness.errors import ConfigError, SubmissionError
from harness.protocols.protocol import Protocol
from harness.protocols.texts import read_text
from harness.protocols.typed import did_you_mean, shown
from harness.submissions.contents.description import (
    FILE_NAME,
    Description,
    Resource,
    nearest,
    require_date,
)
from harness.submissions.contents.naming import ORIGINAL
from harness.submissions.members import Member, Submission
from harness.submissions.model import Check

# Plans give deadlines as days without a time zone: a day has ended when it has everywhere on Earth.
LAST_ZONE = timezone(timedelta(hours=-12))
SUBMISSION = "submission"
DECLARATION = "declaration"
CHUNK_BYTES = 1 << 20
NAMES_SHOWN = 3


def parse_time(text: str) -> datetime:
    """A moment as ISO 8601 with a time zone. Raises ConfigError for any other text."""
    fix = "write it as 2024-12-05T18:30:00+01:00, or with Z for UTC"
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ConfigError(f"{shown(text)} is no time", where="--received", fix=fix) from error
    _require_zone(moment)
    return moment


def read_resources(path: Path) -> frozenset[str]:
    """An edition's published list of data and models: a name a line; `#` begins a remark.

    Raises ConfigError when the file cannot be read as text, or names nothing.
    """
    lines = read_text(path, "a file of text").splitlines()
    names = {line.partition("#")[0].strip() for line in lines} - {""}
    if not names:
        raise ConfigError("no name in it", where=path, fix="write one name a line")
    return frozenset(names)


def examine_rules(
    description: Description | None,
    systems: Sequence[str],
    protocol: Protocol,
    received: datetime | None,
    listed_resources: frozenset[str] | None,
) -> list[Check]:
    """What breaks the edition's rules.

    description: None where the submission has none. systems: those with scores. received: when the
    submission came, None where that is not asked. listed_resources: the edition's published list,
    None where it is not known.
    Raises ConfigError for a time without a zone, or one for an edition without a deadline.
    """
    checks = []
    if received is not None:
        checks += _late(received, protocol)
    if description is not None:
        checks += _named(description, systems, protocol)
        checks += _own_anonymizers(description, protocol)
        checks += _resources(description, protocol, listed_resources)
    return checks


def end_of_day(day: date) -> datetime:
    """The first moment at which a day has ended everywhere on Earth."""
    return datetime(day.year, day.month, day.day, tzinfo=LAST_ZONE) + timedelta(days=1)


def check_files(description: Description, submission: Submission) -> list[Check]:
    """Each file against the hash that `submission.yaml` gives for its path.

    A file that is not there or differs is a `hash-mismatch`; one more is a `file-unknown`.
    """
    own = nearest(submission.members)
    place = FILE_NAME if own is None else own.path
    folder = place.removesuffix(FILE_NAME)
    members = {one.path: one for one in submission.members}
    checks = []
    for path, expected in description.files.items():
        member = members.pop(folder + path, None)
        if member is None:
            checks.append(
                Check("hash-mismatch", f"not there, yet {FILE_NAME} lists it", file=folder + path)
            )
        else:
            checks += _compare(member, expected)
    members.pop(place, None)
    checks += [Check("file-unknown", f"{FILE_NAME} does not list it", file=one) for one in members]
    return checks


def _compare(member: Member, expected: str) -> list[Check]:
    digest = hashlib.sha256()
    try:
        with member.open() as stream:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
    except SubmissionError as error:
        return [Check(error.code, error.what, file=member.path)]
    if digest.hexdigest() == expected:
        return []
    message = f"its sha256 is {digest.hexdigest()}, in {FILE_NAME} it is {expected}"
    return [Check("hash-mismatch", message, file=member.path)]


def _late(received: datetime, protocol: Protocol) -> list[Check]:
    _require_zone(received)
    deadline = _deadline(protocol)
    if received < deadline:
        return []
    return [
        Check(
            "late",
            f"received {received.isoformat()}; the deadline, the end of "
            f"{protocol.dates[SUBMISSION]} everywhere on Earth, was {deadline.isoformat()}",
        )
    ]


def _named(description: Description, systems: Sequence[str], protocol: Protocol) -> list[Check]:
    """Does the description speak of this edition, and of the systems that have scores?"""
    faults = []
    if description.benchmark != protocol.name:
        faults.append(
            f"it is made for {shown(description.benchmark)}, and verified for {protocol.name}"
        )
    # Original speech is scored to show that an environment is right: it is no system.
    scored = {name.casefold() for name in systems}
    described = {name.casefold() for name in description.systems} | {ORIGINAL}
    known = {name.casefold() for name in protocol.systems} | {ORIGINAL}
    for name in description.systems:
        if protocol.systems and name.casefold() not in known:
            hint = did_you_mean(name, protocol.systems)
            faults.append(f"{protocol.name} has no system {shown(name)}, {hint}")
        elif name.casefold() not in scored:
            faults.append(f"it names the system {shown(name)}, which has no scores")
    faults += [
        f"there are scores of {shown(name)}, which it does not name"
        for name in systems
        if name.casefold() not in described
    ]
    return _one_check("description-differs", faults)


def _own_anonymizers(description: Description, protocol: Protocol) -> list[Check]:
    last, released = _declaration(protocol), description.own_code_released
    if not description.own_anonymizers or last is None:
        return []
    names = _listing(description.own_anonymizers)
    if released is None:
        fault = f"the team's own {names} without a date (own_code_released) when its code came out"
    elif require_date(released, f"{FILE_NAME}.own_code_released") > last:
        fault = f"the code of the team's own {names} came out on {released}, after {last}"
    else:
        return []
    count = len(description.own_anonymizers)
    return [Check("own-anonymizer", f"{fault}: not official", file=FILE_NAME, count=count)]


def _resources(
    description: Description, protocol: Protocol, listed: frozenset[str] | None
) -> list[Check]:
    """Declarations of data and models; the edition's own training data need none."""
    own = {
        _spelling(name)
        for one in protocol.sets
        if one.role == "train"
        for name in (one.name, one.subset)
        if name is not None
    }
    foreign = [one for one in description.resources if _spelling(one.name) not in own]
    if not foreign:
        return []
    last = _declaration(protocol)
    checks = [] if last is None else _one_check("resource-undeclared", _undeclared(foreign, last))
    if listed is not None:
        spellings = {_spelling(name) for name in listed}
        absent = [one.name for one in foreign if _spelling(one.name) not in spellings]
        faults = [f"{shown(name)} is not on the edition's list" for name in absent]
        checks += _one_check("resource-unlisted", faults)
    return checks


def _undeclared(resources: Sequence[Resource], last: date) -> list[str]:
    faults = []
    for one in resources:
        if one.declared is None:
            faults.append(f"{shown(one.name)} has no date of declaration")
        elif require_date(one.declared, f"{FILE_NAME}.resources") > last:
            faults.append(f"{shown(one.name)} was declared on {one.declared}, after {last}")
    return faults


def _one_check(code: str, faults: Sequence[str]) -> list[Check]:
    if not faults:
        return []
    return [Check(code, _listing(faults, "; "), file=FILE_NAME, count=len(faults))]


def _listing(names: Sequence[str], between: str = ", ") -> str:
    more = len(names) - NAMES_SHOWN
    return between.join(names[:NAMES_SHOWN]) + (f"{between}and {more} more" if more > 0 else "")


def _spelling(name: str) -> str:
    """People write a name with other capitals and spaces than the list."""
    return " ".join(name.casefold().split())


def _deadline(protocol: Protocol) -> datetime:
    if SUBMISSION not in protocol.dates:
        raise ConfigError(
            f"{protocol.name} has no date of submission",
            where="--received",
            fix="leave it out, or name the edition with --benchmark",
        )
    return end_of_day(_day(protocol, SUBMISSION))


def _declaration(protocol: Protocol) -> date | None:
    """The last day of declarations; None for an edition that asks for none."""
    return _day(protocol, DECLARATION) if DECLARATION in protocol.dates else None


def _day(protocol: Protocol, name: str) -> date:
    return require_date(protocol.dates[name], f"protocol {protocol.name}: dates.{name}")


def _require_zone(moment: datetime) -> None:
    if moment.utcoffset() is None:
        raise ConfigError(
            f"{moment.isoformat()} has no time zone",
            where="--received",
            fix="add it, as in 2024-12-05T18:30:00+01:00, or Z for UTC",
        )
