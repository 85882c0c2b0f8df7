"""What a container left: regular files are copied, everything else is refused."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from harness.errors import ContainerError
from harness.runtime.containers.fence import SAID_LENGTH, printable
from harness.runtime.files import CHUNK_BYTES, disk_errors

NAME_BYTES = 200
KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISREG, "a hard link"),
)


def take(written: Path, output: Path) -> None:
    """Copy the regular files of a container that is gone into `output`; nothing is followed.

    output: an empty folder, or none; it is filled at once or not at all. Raises ContainerError for
    links, devices, and names that are too long or cannot be printed.
    """
    files, folders = _listed(written)
    part = output.with_name(f".{output.name}.part")
    with disk_errors(output):
        # What a killed run left.
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            for folder in folders:
                (part / folder).mkdir()
            for place in files:
                _copy(written / place, part / place)
            part.replace(output)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    descriptor = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream, target.open("xb") as copy:
        shutil.copyfileobj(stream, copy, CHUNK_BYTES)


def _listed(written: Path) -> tuple[list[Path], list[Path]]:
    """Files and folders below a folder, parents first."""
    files, folders = [], []
    for root, below, names in os.walk(written, followlinks=False):
        for name in sorted((*below, *names)):
            path = Path(root, name)
            place = path.relative_to(written)
            found = path.lstat()
            if not name.isprintable() or len(os.fsencode(name)) > NAME_BYTES:
                raise _refused("a name that is too long or cannot be printed", place)
            if stat.S_ISDIR(found.st_mode):
                folders.append(place)
            elif stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                files.append(place)
            else:
                kinds = [kind for is_kind, kind in KINDS if is_kind(found.st_mode)]
                raise _refused((*kinds, "a device")[0], place)
    return files, folders


def _refused(what: str, place: Path) -> ContainerError:
    where = printable(os.fsencode(Path("/out", place))).replace("\n", r"\n")[:SAID_LENGTH]
    return ContainerError(f"the container left {what}", where=where, fix="plain files only")
