"""Inputs of an image that its user brings: are they there, and are they what they were?

usage: python docker/inputs.py record|check LOCK FOLDER --system NAME

LOCK is a YAML file with an entry for each input: its name in FOLDER, in words where it comes from,
the systems that need it, and its SHA-256. Where a hash is null, `record` writes that of the file
that is there: trust on first use, which vouches for nothing but that it stays the same. A hash that
is written is never overwritten. Where all is well, the names are printed, one a line.

Exit status: 0 all are there and what they were, 3 one is missing, 4 one has another hash, 5 the
hash of one was never recorded, 1 something else, 64 wrong usage. The fault is one line.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import yaml

from harness.cli.main import Parser
from harness.errors import ConfigError, HarnessError, IntegrityError
from harness.protocols.typed import read_yaml
from harness.runtime.files import sha256_file, write_text

HEADER = """\
# Inputs of this image, which its user brings; see docker/inputs.py, which also writes the hashes.
# sha256: null is not known yet.
"""
MISSING, DIFFERENT, UNRECORDED = 3, 4, 5
FIELDS = {"from", "systems", "sha256"}


class InputError(IntegrityError):
    """An input that cannot be used. status: the exit status that says why."""

    def __init__(self, what: str, *, status: int, where: object, fix: str) -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status


def read_lock(path: Path) -> dict[str, dict[str, Any]]:
    """The entries of a lock by the name of the file. Raises ConfigError where it is malformed."""
    content = read_yaml(path)
    for name, entry in content.items():
        hashed = entry.get("sha256") if isinstance(entry, dict) else ""
        known = hashed is None or re.fullmatch("[0-9a-f]{64}", str(hashed))
        if not isinstance(entry, dict) or set(entry) != FIELDS or not known:
            fix = "give from, systems, and sha256 (64 digits, or null)"
            raise ConfigError(f"the entry {name!r} is malformed", where=path, fix=fix)
    return content


def needed(entries: dict[str, dict[str, Any]], system: str) -> list[str]:
    """Names of the inputs of a system. Raises ConfigError where it has none."""
    names = [name for name, entry in entries.items() if system in entry["systems"]]
    if not names:
        known = sorted({known for entry in entries.values() for known in entry["systems"]})
        raise ConfigError(f"no system {system!r}", fix=f"use one of {', '.join(known)}")
    return names


def checked(lock: Path, folder: Path, system: str, *, record: bool = False) -> list[str]:
    """Names of a system's inputs in `folder`, all there and of the hashes in `lock`.

    record: write hashes that are not known yet into the lock instead of refusing them; each is
    told on standard error. Raises InputError for the first fault, and then writes nothing.
    """
    entries = read_lock(lock)
    names = needed(entries, system)
    absent = [name for name in names if not (folder / name).is_file()]
    if absent:
        more = f" (and {len(absent) - 1} more: {', '.join(absent[1:])})" if absent[1:] else ""
        raise InputError(
            f"is missing{more}",
            status=MISSING,
            where=folder / absent[0],
            fix=f"it is: {entries[absent[0]]['from']}",
        )
    new = []
    for name in names:
        known, found = entries[name]["sha256"], sha256_file(folder / name)
        if known is None and not record:
            raise InputError(
                "its hash was never recorded",
                status=UNRECORDED,
                where=folder / name,
                fix=f"if you trust it: python docker/inputs.py record {lock} {folder} "
                f"--system {system}",
            )
        if known is None:
            entries[name]["sha256"] = found
            new.append(f"recorded on first use, vouched for by nobody but you: {name} {found}")
        elif known != found:
            raise InputError(
                f"has sha256 {found}, but {known} was recorded",
                status=DIFFERENT,
                where=folder / name,
                fix="put back the file that was recorded, or find out why it changed",
            )
    if new:
        text = yaml.safe_dump(
            entries, sort_keys=False, allow_unicode=True, default_flow_style=None, width=1000
        )
        write_text(lock, HEADER + text)
        print("\n".join(new), file=sys.stderr)
    return names


def main() -> int:
    parser = Parser(prog="docker/inputs.py", description="Check the inputs that a user brings.")
    parser.add_argument("verb", choices=("record", "check"))
    parser.add_argument("lock", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--system", required=True)
    given = parser.parse_args()
    try:
        names = checked(given.lock, given.folder, given.system, record=given.verb == "record")
    except HarnessError as error:
        print(f"docker/inputs.py: {error}", file=sys.stderr)
        return error.status if isinstance(error, InputError) else 1
    print("\n".join(names))
    return 0


if __name__ == "__main__":
    sys.exit(main())
