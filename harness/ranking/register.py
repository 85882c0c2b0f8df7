"""What the organizer knows of each submission: whose it is, and when it came.

A CSV file with the columns `submission` (the archive's name), `team` and `received` (ISO 8601 with
a time zone); the last two may be absent, or empty in a row.
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
from harness.protocols.typed import did_you_mean, shown
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
    lines = csv.reader(io.StringIO(_text(path)), strict=True)
    registered: dict[str, Registered] = {}
    try:
        header = _header(next(lines, []), f"{path}:1")
        for values in lines:
            where = f"{path}:{lines.line_num}"
            if not values:
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
                row.get("team") or None, _received(row.get("received"), where)
            )
    except csv.Error as error:
        raise ConfigError(
            f"not CSV ({error})", where=f"{path}:{lines.line_num}", fix="mend that line"
        ) from error
    return registered


def teams_of(
    results: Iterable[SubmissionResult], register: Mapping[str, Registered]
) -> dict[str, str]:
    """The team of each submission, by name: as registered, else as it says of itself, else as its
    archive is called.

    Names that differ only in case or white space are one team, in the first spelling in C order.
    """
    stated = {}
    for result in results:
        registered = register.get(result.name)
        own = SUFFIX.sub("", PurePath(result.name).name) or result.name
        team = (registered and registered.team) or result.team or own
        stated[result.name] = " ".join(team.split())
    spellings: dict[str, str] = {}
    for team in stated.values():
        key = team.casefold()
        spellings[key] = min(spellings.get(key, team), team)
    return {name: spellings[team.casefold()] for name, team in stated.items()}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=path, fix="name a CSV file"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError("not UTF-8", where=path, fix="save it as UTF-8") from error


def _header(names: list[str], where: str) -> list[str]:
    names = [name.strip() for name in names]
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


def _received(text: str | None, where: str) -> datetime | None:
    if not text:
        return None
    try:
        return parse_time(text)
    except ConfigError as error:
        raise ConfigError(error.what, where=where, fix=error.fix) from error
