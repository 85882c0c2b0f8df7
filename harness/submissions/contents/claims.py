"""What a submission claims: EERs from its own files, or from a file that reports them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, SubmissionError
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.protocol import Protocol
from harness.protocols.typed import did_you_mean, parse_untrusted_yaml
from harness.submissions.contents.description import parse
from harness.submissions.contents.layout import ClaimFile, Found
from harness.submissions.contents.measures import Measures
from harness.submissions.contents.naming import ORIGINAL, Names
from harness.submissions.contents.places import RESULTS
from harness.submissions.contents.results_files import Reader
from harness.submissions.contents.stated import MOST_CLAIMS, Statements, percent
from harness.submissions.limits import MIB, read_small
from harness.submissions.members import Member
from harness.submissions.model import Check, Claim, MeasureClaim

FIX = "give a table with the columns system, list and EER (in percent)"
# Of all files of results; those of one system have a few thousand, and a row takes time.
MOST_BYTES = 4 * MIB
LABEL = re.compile(r"^EER\s*[:=]?\s*", re.IGNORECASE)


def read_claims(found: Found, protocol: Protocol) -> tuple[list[Claim], list[Check]]:
    """All EERs that the files of a submission state, and a check for each that cannot be read.

    A claim whose file does not name the system is the one system's, where there is just one. EERs
    of original speech, which the challenges' own scripts print beside the others, are claims only
    with scores of it. What is wrong with `submission.yaml` is told by whoever reads it as a whole.
    """
    names = Names(protocol)
    claims: list[Claim] = []
    checks: list[Check] = []
    nbytes = 0
    for file in found.claim_files:
        statements = Statements(file.member.path, MOST_CLAIMS - len(claims))
        nbytes += file.member.nbytes
        try:
            if nbytes > MOST_BYTES:
                statements.fault(f"results of more than {MOST_BYTES:,} bytes in all")
            else:
                _read(file, names, statements)
        except SubmissionError as error:
            # A file of this kind above the limit is none; anything else is the archive's fault.
            code = "claim-unreadable" if error.code == "archive-limit" else error.code
            checks.append(Check(code, error.what, file=file.member.path))
        claims += statements.claims
        checks += statements.checks()
    if found.description is not None:
        statements = _described(found.description, names)
        claims += statements.claims
        checks += statements.checks()
    systems = {one.system for one in found.score_files}
    if systems and ORIGINAL not in systems:
        claims = [claim for claim in claims if claim.system != ORIGINAL]
    only = (systems - {ORIGINAL}) or systems
    if len(only) == 1:
        system = next(iter(only))
        claims = [replace(claim, system=claim.system or system) for claim in claims]
    return claims, checks


def read_measures(
    found: Found, protocol: Protocol, rules: AnonymizerRanking
) -> tuple[list[MeasureClaim], list[Check]]:
    """What the files of results state of the edition's other measures, and a check for each file
    with a value that cannot be read. Files that cannot be read at all are told by `read_claims`.

    A claim whose file does not name the system is the one system's, where there is just one.
    """
    measures = Measures(Names(protocol), rules)
    nbytes = 0
    for file in found.claim_files:
        nbytes += file.member.nbytes
        if file.kind != "results" or nbytes > MOST_BYTES:
            continue
        try:
            text = _decode(file.member.read(MIB))
        except SubmissionError:
            continue
        if text is not None:
            measures.read(
                text,
                file.member.path,
                file.system,
                original_only=file.original_only,
                anonymized_only=file.anonymized_only,
            )
    needs = {measure.name: measure.needs for measure in rules.measures}
    only = {one.system for one in found.score_files} - {ORIGINAL}
    system = next(iter(only)) if len(only) == 1 else None
    return [
        replace(one, system=one.system or system, needs=needs[one.measure])
        for one in measures.claims
    ], measures.checks


def read_reported(
    path: Path, protocol: Protocol, system: str | None
) -> tuple[list[Claim], list[Check]]:
    """EERs from a file beside the submission: any form that a submission's own may have, a table
    with the columns system, list (or split and gender) and EER in percent, or YAML, `{system:
    {list: "12.91"}}`.

    system: whose claims are meant; the file's own name tells it otherwise, or nothing does (None).
    Raises ConfigError for a file that cannot be read or states no EER of the edition.
    """
    data = read_small(path, MIB, FIX)
    names = Names(protocol)
    wanted = (names.system(system) or system) if system else None
    statements = Statements(path.name)
    if path.suffix.casefold() in (".yaml", ".yml"):
        content = parse_untrusted_yaml(data, path)
        _state_mapping(content.get("claims", content), names, statements)
    else:
        text = _decode(data)
        if text is None:
            raise ConfigError("not text in UTF-8 or UTF-16", where=path, fix=FIX)
        _state_reported(path, text, names, statements, wanted)
    checks = statements.checks()
    claims = statements.claims
    if wanted and any(claim.system == wanted for claim in claims):
        claims = [claim for claim in claims if claim.system == wanted]
    elif wanted and claims:
        known = sorted({claim.system or "" for claim in claims})
        raise ConfigError(f"no EER of {wanted}", where=path, fix=did_you_mean(wanted, known))
    if not claims:
        what = checks[0].message if checks else f"no EER of a list of {protocol.name}"
        line = f":{checks[0].line}" if checks and checks[0].line else ""
        raise ConfigError(what, where=f"{path}{line}", fix=FIX)
    return claims, checks


def _read(file: ClaimFile, names: Names, statements: Statements) -> None:
    text = _decode(file.member.read(MIB))
    if text is None:
        statements.fault("not text in UTF-8 or UTF-16")
    elif file.kind == "results":
        Reader(names, statements, file.system, file.original_only, file.anonymized_only).read(text)
    elif file.listed is not None:
        _state_one(text, file.system, file.listed.trials, statements)


def _state_one(text: str, system: str | None, name: str, statements: Statements) -> None:
    """What an `EER` file says: one number, a fraction."""
    filled = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(filled) != 1:
        statements.fault(f"{len(filled)} lines instead of one number")
        return
    line, stated = filled[0]
    number = LABEL.sub("", stated.strip(), count=1)
    statements.state(system, name, number, line, fraction=True)


def _state_reported(
    path: Path, text: str, names: Names, statements: Statements, system: str | None
) -> None:
    if percent(LABEL.sub("", text.strip(), count=1), fraction=True) is not None:
        pair = names.pair(path.resolve().parent.name, guess=True)
        if pair is None:
            raise ConfigError("one number, and nothing tells its list", where=path, fix=FIX)
        own = names.system(pair.label) or pair.label or None
        _state_one(text, system or own, pair.listed.trials, statements)
        return
    suffix = RESULTS.fullmatch(path.stem) or RESULTS.fullmatch(path.name)
    own = names.system(suffix[1]) if suffix else None
    Reader(names, statements, system or own).read(text)


def _described(member: Member, names: Names) -> Statements:
    """The claims of `submission.yaml`; none where it cannot be read."""
    statements = Statements(member.path)
    try:
        description = parse(member.read(MIB), member.path)
    except (ConfigError, SubmissionError):
        return statements
    _state_mapping(description.claims, names, statements)
    return statements


def _state_mapping(content: Any, names: Names, statements: Statements) -> None:
    """Claims by system and list, as YAML holds them. Numbers are text, so that digits are kept."""
    for stated, lists in content.items() if isinstance(content, Mapping) else ():
        system = names.system(str(stated)) or str(stated)
        if not isinstance(lists, Mapping):
            statements.fault(f"{system[:60]!r} is not followed by lists and their EERs")
            continue
        for name, number in lists.items():
            known = names.list_named(str(name))
            if known is None:
                statements.fault(f"{str(name)[:60]!r} is no list of {names.protocol.name}")
            elif not isinstance(number, str):
                statements.fault(f"put the EER of {known} in quotes, so that its digits are kept")
            else:
                statements.state(system, known, number, None)


def _decode(data: bytes) -> str | None:
    """Text in UTF-8 or, with a byte order mark, UTF-16; None for anything else."""
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
