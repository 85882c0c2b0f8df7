"""What a submission has taken of the limits, and the one temporary file that it may fill."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from harness.errors import SubmissionError
from harness.runtime.files import disk_errors
from harness.submissions.archives.decoders import CHUNK_BYTES
from harness.submissions.archives.paths import printable
from harness.submissions.archives.streams import Read
from harness.submissions.limits import MIB, Limits

# Little files of zeros are no bombs.
LEAST_BOMB_BYTES = MIB


def beyond(what: str, option: str, where: str) -> SubmissionError:
    """The error for a limit that an option of `harness verify` raises."""
    return SubmissionError(
        what, code="archive-limit", where=where, fix=f"if that is meant, raise {option}"
    )


class Budget:
    """Counts members and bytes over all levels of a submission.

    packed: bytes of the archive as it was sent; None for a folder, which is as large as its files.
    """

    def __init__(self, limits: Limits, where: str, packed: int | None) -> None:
        self.limits = limits
        self._where = where
        self._packed = packed
        self._members = 0
        self._nbytes = 0

    def take(self, name: str, nbytes: int, packed: int | None) -> None:
        """Count a member. packed: its bytes in the archive, where it has its own compression."""
        limits, where = self.limits, printable(name)
        self._members += 1
        self._nbytes += nbytes
        if self._members > limits.members:
            raise beyond(f"more than {limits.members:,} members", "--max-members", self._where)
        if nbytes > limits.file_mib * MIB:
            raise beyond(f"a file of more than {limits.file_mib:,} MiB", "--max-file", where)
        if packed is not None:
            self.check_ratio(nbytes, packed, where)
        self.check_total(self._nbytes)

    def check_total(self, nbytes: int) -> None:
        """Raises SubmissionError where that many bytes in all are too many."""
        most = self.limits.total_mib
        if nbytes > most * MIB:
            raise beyond(f"more than {most:,} MiB in all", "--max-total", self._where)
        if self._packed is not None:
            self.check_ratio(nbytes, self._packed, self._where)

    def check_ratio(self, nbytes: int, packed: int, where: str) -> None:
        """Raises SubmissionError where so many bytes from so few are a bomb."""
        most = self.limits.ratio
        if nbytes > LEAST_BOMB_BYTES and nbytes > most * packed:
            raise beyond(f"it grows more than {most:,} times when unpacked", "--max-ratio", where)

    def bounded(self, read: Read, packed: int, where: str) -> Read:
        """Reads the same, which was `packed` bytes, and refuses to go on where it is too much."""
        taken = 0

        def bounded(most: int) -> bytes:
            nonlocal taken
            data = read(most)
            taken += len(data)
            self.check_total(taken)
            self.check_ratio(taken, packed, where)
            return data

        return bounded


class Spooled:
    """A source that is filled from a stream, as far as it is asked for."""

    def __init__(self, spool: Spool, read: Read) -> None:
        self._spool = spool
        self._read = read
        self._start = spool.length
        self._length = 0
        self._ended = False

    def fill(self, length: int | None = None) -> None:
        """Read so many bytes of the stream, or all."""
        while not self._ended and (length is None or self._length < length):
            data = self._read(CHUNK_BYTES)
            self._ended = not data
            self._spool.append(data)
            self._length += len(data)

    @property
    def size(self) -> int:
        """In bytes; reads the stream to its end."""
        self.fill()
        return self._length

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end."""
        self.fill(offset + count)
        return self._spool.read_at(self._start + offset, min(count, self._length - offset))


class Spool:
    """One anonymous temporary file, made when needed, for all that must be read at any place."""

    def __init__(self, stack: ExitStack, budget: Budget) -> None:
        self.length = 0
        self._stack = stack
        self._budget = budget
        self._file: IO[bytes] | None = None

    def source(self, read: Read) -> Spooled:
        """What `read` gives, at any place. Only the last one may still be filled."""
        return Spooled(self, read)

    def append(self, data: bytes) -> None:
        """Write behind all that is there."""
        self._budget.check_total(self.length + len(data))
        with disk_errors(Path(tempfile.gettempdir())):
            if self._file is None:
                file = tempfile.TemporaryFile()  # noqa: SIM115
                self._file = self._stack.enter_context(file)
            self._file.write(data)
        self.length += len(data)

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end."""
        if self._file is None or count <= 0:
            return b""
        with disk_errors(Path(tempfile.gettempdir())):
            self._file.flush()
        return os.pread(self._file.fileno(), count, offset)
