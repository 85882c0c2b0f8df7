"""Names of members: which are none, which say the same, which nobody asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.submissions import shown

# Of most file systems, per part; the others are far above any real submission.
MOST_PART_BYTES = 255
MOST_PATH_BYTES = 1024
MOST_PARTS = 32

DRIVE = re.compile(r"[A-Za-z]:")
# Control, format (such as those that turn the direction of writing), surrogate and private
# characters, and separators of lines.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
LEFT_OVER_FOLDERS = {"__MACOSX", ".Spotlight-V100", ".Trashes", ".fseventsd"}
LEFT_OVER_FILES = {".ds_store", "thumbs.db", "desktop.ini"}
LONGEST_SHOWN = 120


@dataclass(frozen=True)
class Name:
    """A member's path, sound, and whether it is a folder."""

    path: str
    folder: bool


def printable(name: str) -> str:
    """A name that can be shown: unprintable characters escaped, long names cut."""
    cut = name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"
    return shown.printable(cut)


def fault(name: str) -> str | None:
    """Why a name is no path within an archive; None if it is one. See `normal`."""
    for wrong, what in (
        (not name, "an empty name"),
        (name.startswith("/") or DRIVE.match(name), "an absolute path"),
        ("\\" in name, "a backslash in a name: archives have / between folders"),
    ):
        if wrong:
            return what
    try:
        nbytes = len(name.encode())
    except UnicodeEncodeError:
        return "a name that is not UTF-8"
    parts = name.removesuffix("/").split("/")
    for wrong, what in (
        (not all(parts), "an empty part in a name"),
        (".." in parts, "a name that leaves the archive by .."),
        (any(unicodedata.category(c) in UNPRINTABLE for c in name), "an unprintable character"),
        (nbytes > MOST_PATH_BYTES, f"a path of more than {MOST_PATH_BYTES} bytes"),
        (len(parts) > MOST_PARTS, f"a path of more than {MOST_PARTS} parts"),
        (
            any(len(part.encode()) > MOST_PART_BYTES for part in parts),
            f"a part of a name of more than {MOST_PART_BYTES} bytes",
        ),
    ):
        if wrong:
            return what
    return None


def normal(name: str) -> str:
    """A sound name without `.` parts and without the slash that marks a folder; may be empty."""
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def left_over(path: str) -> bool:
    """Whether an operating system left it behind."""
    *folders, name = path.split("/")
    return (
        not LEFT_OVER_FOLDERS.isdisjoint([*folders, name])
        or name.startswith("._")
        or name.lower() in LEFT_OVER_FILES
    )


def _folded(path: str) -> tuple[str, ...]:
    """What a file system that ignores case and Unicode form takes a path for."""
    composed = unicodedata.normalize("NFC", path).casefold()
    return tuple(unicodedata.normalize("NFC", composed).split("/"))


def same(names: Iterable[Name]) -> Iterator[tuple[str, str, str]]:
    """Code, path and reason of every file that takes the place of another, or of a folder.

    Folders that differ in case only are no fault: files beneath them are told apart by more.
    """
    # In order of their parts, what stands beneath a file follows it at once.
    ordered = sorted((_folded(name.path), name.folder, name.path) for name in names)
    for (parts, folder, path), (next_parts, next_folder, next_path) in pairwise(ordered):
        if parts == next_parts and path == next_path and not folder and not next_folder:
            yield "archive-duplicate", next_path, "two members of this name"
        elif not folder and next_parts[: len(parts)] == parts:
            yield (
                "archive-name-clash",
                next_path,
                f"a name that many computers take for that of {printable(path)}"
                if parts == next_parts and not next_folder
                else f"a folder in the place of the file {printable(path)}",
            )
