"""`submission.yaml`: what a team says of its submission."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import yaml

from harness.errors import ConfigError
from harness.protocols.typed import build, did_you_mean, parse_untrusted_yaml, shown
from harness.submissions.members import Member

FILE_NAME = "submission.yaml"
ALMOST = re.compile(r"submission\.ya?ml", re.IGNORECASE)
# Teams and systems become folders.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
LONGEST_NAME = 64
SHA256 = re.compile(r"[0-9a-f]{64}")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# One line of YAML, however long: a wrapped text is harder to read, and to compare.
YAML_WIDTH = 1 << 16


@dataclass(frozen=True)
class Resource:
    """Data or a model from outside the challenge. declared: date of the declaration, YYYY-MM-DD."""

    name: str
    kind: Literal["data", "model"]
    source: str
    declared: str | None = None


@dataclass(frozen=True)
class Description:
    """The file as a whole.

    claims: EER in percent as text (so that its digits are kept), by system and list or average.
    description: path of the system description within the submission. own_anonymizers: systems
    that the team itself made; own_code_released: date (YYYY-MM-DD) when their code became public.
    files: SHA-256 of every other file, by its path beside submission.yaml.
    """

    format: Literal[1]
    benchmark: str
    team: str
    description: str
    systems: tuple[str, ...]
    claims: dict[str, dict[str, str]]
    files: dict[str, str]
    resources: tuple[Resource, ...] = ()
    own_anonymizers: tuple[str, ...] = ()
    own_code_released: str | None = None
    notes: dict[str, str] = field(default_factory=dict)


REQUIRED = {
    one.name
    for one in dataclasses.fields(Description)
    if one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
}


def folder_name(team: str) -> str:
    """A team's name as a folder: each run of other characters is one `_`; empty where none is left.

    A system is a folder by its own name, which must match NAME.
    """
    return NOT_IN_NAMES.sub("_", team).strip("_.-")[:LONGEST_NAME]


def nearest(members: Iterable[Member]) -> Member | None:
    """The description of a submission: the file of its name that is nearest to the top."""
    return min(
        (one for one in members if one.path.rpartition("/")[2] == FILE_NAME),
        key=lambda one: (one.path.count("/"), one.path),
        default=None,
    )


def parse(data: bytes, where: str) -> Description:
    """The description in a file's content; `where` names the file in errors.

    Raises ConfigError, naming the field, for whatever is not as `Description` says.
    """
    content = parse_untrusted_yaml(data, where)
    _require_quotes(content.get("claims"), f"{where}.claims")
    description = build(Description, content, where)
    check(description, where)
    return description


def to_text(description: Description) -> str:
    """The description as YAML: the same text for the same description, in the order of fields."""
    content = {
        one.name: getattr(description, one.name)
        for one in dataclasses.fields(description)
        # What is optional and empty is left out.
        if getattr(description, one.name) not in (None, (), {}) or one.name in REQUIRED
    }
    return yaml.safe_dump(
        _plain(content), sort_keys=False, allow_unicode=True, width=YAML_WIDTH, indent=2
    )


def check(description: Description, where: str) -> None:
    """What the types cannot say. Raises ConfigError, naming the field."""
    _require_text(description.team, f"{where}.team")
    if not description.systems:
        raise ConfigError("no system", where=f"{where}.systems", fix="name those with scores")
    _require_once(description.systems, f"{where}.systems")
    _require_once([one.name for one in description.resources], f"{where}.resources")
    for part, names in (
        ("claims", description.claims),
        ("own_anonymizers", description.own_anonymizers),
    ):
        for name in names:
            if name not in description.systems:
                raise ConfigError(
                    f"{shown(name)} is none of the systems",
                    where=f"{where}.{part}",
                    fix=did_you_mean(name, description.systems),
                )
    for number, resource in enumerate(description.resources):
        place = f"{where}.resources[{number}]"
        _require_text(resource.name, f"{place}.name")
        if resource.declared is not None:
            require_date(resource.declared, f"{place}.declared")
    if description.own_code_released is not None:
        require_date(description.own_code_released, f"{where}.own_code_released")
    for path, digest in description.files.items():
        _require_path(path, f"{where}.files")
        if not SHA256.fullmatch(digest):
            raise ConfigError(
                f"{shown(digest)} is no SHA-256",
                where=f"{where}.files.{path}",
                fix="write 64 hexadecimal digits in lower case",
            )
    if description.description not in description.files:
        raise ConfigError(
            f"{shown(description.description)} is none of the files",
            where=f"{where}.description",
            fix=did_you_mean(description.description, description.files),
        )


def require_date(text: str, where: str) -> date:
    """A day written as YYYY-MM-DD. Raises ConfigError for any other text."""
    try:
        if DATE.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:
        pass  # such as 30 February
    raise ConfigError(f"{shown(text)} is no date", where=where, fix="write it as YYYY-MM-DD")


def _require_quotes(claims: Any, where: str) -> None:
    """A number loses its last zeros when YAML reads it, and with them what it claims."""
    if not isinstance(claims, dict):
        return
    for system, lists in claims.items():
        for name, value in lists.items() if isinstance(lists, dict) else ():
            if isinstance(value, int | float):
                raise ConfigError(
                    f"{shown(value)} is a number without quotes",
                    where=f"{where}.{system}.{name}",
                    fix="quote it, so that its digits are kept",
                )


def _require_text(text: str, where: str) -> None:
    if not text.strip():
        raise ConfigError("is empty", where=where, fix="write a name")


def _require_once(names: Iterable[str], where: str) -> None:
    seen = set()
    for name in names:
        if name in seen:
            raise ConfigError(f"{shown(name)} stands twice", where=where, fix="name each once")
        seen.add(name)


def _require_path(path: str, where: str) -> None:
    if path == FILE_NAME:
        raise ConfigError(f"{path} cannot hold its own hash", where=where, fix="leave it out")
    if "\\" in path or any(part in ("", ".", "..") for part in path.split("/")):
        raise ConfigError(
            f"{shown(path)} is no path below this file's folder",
            where=where,
            fix="use relative paths with `/` between parts",
        )


def _plain(value: Any) -> Any:
    """As YAML has it: tuples are lists, dataclasses are mappings of what they say."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(one) for name, one in vars(value).items() if one is not None}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value
