"""Bounded reading of a stranger's bytes: windows of a file, and a member's content."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Protocol

from harness.errors import SubmissionError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Read = Callable[[int], bytes]


class Source(Protocol):
    """Bytes that can be read at any place. size: in bytes."""

    @property
    def size(self) -> int:
        """In bytes."""

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end."""


class FileSource:
    """An open file. where: its name in messages."""

    def __init__(self, file: IO[bytes], where: str) -> None:
        self.where = where
        self._file = file
        self.size = os.fstat(file.fileno()).st_size

    def read_at(self, offset: int, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end."""
        if offset >= self.size:
            return b""
        try:
            return os.pread(self._file.fileno(), count, offset)
        except OSError as error:
            raise unreadable(f"cannot be read ({error.strerror})", self.where) from error


def unreadable(
    what: str, where: str, fix: str = "pack it again, or send it again"
) -> SubmissionError:
    """The error for bytes that are not what they should be."""
    return SubmissionError(what, code="archive-unreadable", where=where, fix=fix)


class Content(io.RawIOBase):
    """A member's content: exactly `nbytes` bytes, and of that CRC-32 where one is stated.

    read: gives the next bytes, at most as many as asked for. close: releases what it reads from.
    """

    def __init__(
        self,
        read: Read,
        nbytes: int,
        where: str,
        crc: int | None = None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._read = read
        self._left = nbytes
        self._where = where
        self._stated = crc
        self._crc = 0
        self._close = close

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill the buffer with the next bytes. Raises SubmissionError: longer, shorter, corrupt."""
        view = memoryview(buffer).cast("B")
        most = min(len(view), self._left)
        if not most:
            if len(view):
                self._check_end()
            return 0
        data = self._read(most)
        if not data:
            raise unreadable(f"truncated: {self._left:,} bytes are missing", self._where)
        view[: len(data)] = data
        self._left -= len(data)
        if self._stated is not None:
            self._crc = zlib.crc32(data, self._crc)
        return len(data)

    def _check_end(self) -> None:
        if self._read(1):
            raise unreadable("more bytes than stated", self._where)
        if self._stated is not None and self._crc != self._stated:
            raise unreadable("corrupt: its checksum is wrong", self._where)

    def close(self) -> None:
        """Release what it reads from."""
        if not self.closed:
            self._close()
        super().close()


def window(source: Source, start: int, nbytes: int) -> Read:
    """Reads through `nbytes` bytes of a source, once."""
    place, end = start, start + nbytes

    def read(most: int) -> bytes:
        nonlocal place
        data = source.read_at(place, min(most, end - place))
        place += len(data)
        return data

    return read
