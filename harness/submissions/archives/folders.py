"""Files of a folder, none of them reached through a link."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from functools import partial

from harness.submissions.archives.entries import Entry, kind_of_mode
from harness.submissions.archives.paths import fault
from harness.submissions.archives.streams import Content, unreadable

# A pipe in the place of a file must not make the reader wait.
FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
FOLDER_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def entries(root: int, where: str) -> Iterator[Entry]:
    """What lies in an open folder and beneath it, folders before what is in them.

    root: its descriptor, which must stay open as long as contents are read. Raises SubmissionError
    where a folder cannot be read, and on reading a file that is no longer what it was.
    """
    waiting = [""]
    while waiting:
        above = waiting.pop()
        for name, found in _listing(root, above, where):
            path = above + name
            kind = kind_of_mode(found.st_mode)
            nbytes = found.st_size if kind == "file" else 0
            yield Entry(path, kind, nbytes, partial(_open, root, path, found))
            # A name that is a fault may be too long to be followed.
            if kind == "folder" and fault(path) is None:
                waiting.append(f"{path}/")


def _listing(root: int, folder: str, where: str) -> Iterator[tuple[str, os.stat_result]]:
    """Names in a folder with what they are, as the system gives them."""
    try:
        descriptor = _beneath(root, folder, FOLDER_FLAGS)
        try:
            with os.scandir(descriptor) as found:
                for item in found:
                    yield item.name, item.stat(follow_symlinks=False)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unreadable(
            f"cannot be read ({error.strerror})", f"{where}/{folder}", "check its owner and mode"
        ) from error


def _beneath(root: int, path: str, flags: int) -> int:
    """Descriptor of a path beneath a folder; no part of it may be a link."""
    descriptor = os.dup(root)
    parts = [part for part in path.split("/") if part] or ["."]
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        try:
            below = os.open(part, flags if last else FOLDER_FLAGS, dir_fd=descriptor)
        finally:
            os.close(descriptor)
        descriptor = below
    return descriptor


def _open(root: int, path: str, listed: os.stat_result, where: str) -> io.RawIOBase:
    try:
        descriptor = _beneath(root, path, FILE_FLAGS)
    except OSError as error:
        raise unreadable(
            f"cannot be read ({error.strerror})", where, "check its owner and mode"
        ) from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or _identity(found) != _identity(listed):
        os.close(descriptor)
        raise unreadable("changed while it was read", where, "leave it alone and run again")
    return Content(
        partial(_read, descriptor, where), listed.st_size, where, close=lambda: os.close(descriptor)
    )


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _read(descriptor: int, where: str, most: int) -> bytes:
    try:
        return os.read(descriptor, most)
    except OSError as error:
        raise unreadable(f"cannot be read ({error.strerror})", where) from error
