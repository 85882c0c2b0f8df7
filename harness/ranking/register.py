"""What the organizer knows of each submission: whose it is, and when it came.

A CSV file with the columns `submission` (the archive's name), `team` and `received` (ISO 8601 with
a time zone); the last two may be absent, or empty in a row. Case does not matter in names of
columns, and rows without any content are passed over.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePath

from harness.errors import ConfigError
from harness.protocols.texts import read_text
from harness.protocols.typed import did_you_mean, shown
from harness.ranking.names import folded
from harness.submissions.contents.rules import parse_time
from harness.submissions.model import SubmissionResult

COLUMNS = ("submission", "team", "received")
SUFFIX = re.compile(r"(\.zip|\.t[abglx]z2?|\.tzst|\.tar(\.\w+)?)$", re.IGNORECASE)


@dataclass(frozen=True)
class Registered:
    """team: None where the register does not tell; received: likewise."""

    team: str | None
    received: datetime | None


def read_register(path: Path, submissions: Collection[str]) -> dict[str, Registered]:
    """The register by submission; submissions: the names of those that there are.

    Raises ConfigError, naming the line, for what is malformed, stands twice, or is none of these.
    """
    lines = csv.reader(io.StringIO(read_text(path, "a CSV file"), newline=""), strict=True)
    registered: dict[str, Registered] = {}
    try:
        header = _header(next(lines, []), f"{path}:1")
        for values in lines:
            where = f"{path}:{lines.line_num}"
            if not any(value.strip() for value in values):
                continue
            if len(values) > len(header):
                raise ConfigError(
                    f"{len(values)} values below {len(header)} columns",
                    where=where,
                    fix="quote a value with a comma in it",
                )
            row = dict(zip(header, (value.strip() for value in values), strict=False))
            name = row["submission"]
            if name not in submissions or name in registered:
                known = name in submissions
                raise ConfigError(
                    f"{shown(name)} {'stands twice' if known else 'is no submission here'}",
                    where=where,
                    fix="leave one row" if known else did_you_mean(name, submissions),
                )
            registered[name] = Registered(
                _team(row.get("team"), where), _received(row.get("received"), where)
            )
    except csv.Error as error:
        raise ConfigError(
            f"not CSV ({error})", where=f"{path}:{lines.line_num}", fix="mend that line"
        ) from error
    return registered


def times_of(register: Mapping[str, Registered] | None) -> dict[str, datetime]:
    """When submissions came, by name; without those whose time nobody knows."""
    return {
        name: one.received for name, one in (register or {}).items() if one.received is not None
    }


def own_name(submission: str) -> str:
    """What a submission is called, without the ending of an archive."""
    return SUFFIX.sub("", PurePath(submission).name) or submission


def teams_of(
    results: Iterable[SubmissionResult], register: Mapping[str, Registered] | None
) -> dict[str, str]:
    """The team of each submission, by name: as registered, else as it says of itself, else as its
    archive is called.

    Names that `folded` holds to be one are one team, in the register's spelling; of several, in the
    first in C order. Nobody joins a registered team by saying so: where there is a register, what
    has no row there, or says of itself the name of a team there, is a team of its own, with the
    archive's name in its own. register: None where there is none.
    """
    official = _spellings(one.team for one in (register or {}).values() if one.team is not None)
    teams, stated = {}, {}
    for result in results:
        registered = (register or {}).get(result.name)
        if registered is not None and registered.team is not None:
            teams[result.name] = official[folded(registered.team)]
            continue
        team = " ".join((result.team or own_name(result.name)).split())
        if register is not None and (registered is None or folded(team) in official):
            teams[result.name] = f"{team} ({result.name})"
        else:
            stated[result.name] = team
    spellings = _spellings(stated.values())
    return teams | {name: spellings[folded(team)] for name, team in stated.items()}


def _spellings(names: Iterable[str]) -> dict[str, str]:
    """How each team is spelt, by what its spellings share."""
    spellings: dict[str, str] = {}
    for name in names:
        key = folded(name)
        spellings[key] = min(spellings.get(key, name), name)
    return spellings


def _header(names: list[str], where: str) -> list[str]:
    names = [name.strip().casefold() for name in names]
    if "submission" not in names or len(set(names)) < len(names):
        raise ConfigError(
            f"the first line is {shown(','.join(names))}",
            where=where,
            fix=f"begin with the columns {','.join(COLUMNS)}",
        )
    for name in names:
        if name not in COLUMNS:
            raise ConfigError(
                f"no column is called {shown(name)}", where=where, fix=did_you_mean(name, COLUMNS)
            )
    return names


def _team(text: str | None, where: str) -> str | None:
    """Refused is what nobody sees: two teams would look like one."""
    team = " ".join((text or "").split())
    if not team.isprintable():
        raise ConfigError(
            f"{shown(team)} has characters that nobody sees", where=where, fix="write it without"
        )
    return team or None


def _received(text: str | None, where: str) -> datetime | None:
    if not text:
        return None
    try:
        return parse_time(text)
    except ConfigError as error:
        raise ConfigError(error.what, where=where, fix=error.fix) from error
