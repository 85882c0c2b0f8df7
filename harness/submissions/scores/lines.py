"""Lines of a stranger's text file, read as a stream: memory is bounded by a block and a line.

What can be read in one way only is made plain on the way (UTF-16, byte order mark, line ends) and
recorded as a fault; what is larger than a limit ends the reading.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

from harness.errors import SubmissionError
from harness.submissions.limits import MIB, Limits

BLOCK = 1 << 18
QUOTED = 60
# A line takes time however short it is, so it counts as one of a score file: 25 to 50 bytes.
LINE = 32
UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass
class Fault:
    """line: where it is first, from 1. example: what stands there. count: how often it occurs."""

    line: int
    example: bytes
    count: int


class Faults(dict[str, Fault]):
    """The faults of one file by code: the first place and the number of each, whatever its size."""

    def add(self, code: str, line: int, example: bytes = b"", count: int = 1) -> None:
        """Count a fault; calls come in the order of the lines."""
        if code in self:
            self[code].count += count
        else:
            self[code] = Fault(line, example[: 4 * QUOTED], count)

    def count(self, code: str) -> int:
        """How often a fault occurs."""
        return self[code].count if code in self else 0


def quote(text: bytes) -> str:
    """A stranger's text for a message: cut, in quotation marks, control characters escaped."""
    shown = text.decode("utf-8", "backslashreplace")
    return repr(shown) if len(shown) <= QUOTED else repr(shown[:QUOTED]) + "…"


class Lines:
    """A text file as blocks of lines. faults and sha256 are complete once all blocks are read."""

    def __init__(self, stream: BinaryIO, limits: Limits, where: str) -> None:
        self.faults = Faults()
        self._stream = stream
        self._limits = limits
        self._where = where
        self._sha256 = hashlib.sha256()
        self._done = 0

    @property
    def sha256(self) -> str:
        """Of the bytes as they are stored."""
        return self._sha256.hexdigest()

    def blocks(self) -> Iterator[tuple[int, list[bytes]]]:
        """Number of the first line (from 1) and some lines, UTF-8 without their ends.

        Raises SubmissionError (file-limit) for a file or a line above its limit.
        """
        begun: list[bytes] = []
        for text in self._unix_text():
            cut = text.rfind(b"\n")
            if cut < 0:
                begun.append(text)
                self._require_short(sum(map(len, begun)))
                continue
            lines = b"".join([*begun, text[:cut]]).split(b"\n")
            begun = [text[cut + 1 :]]
            longest = max(map(len, lines))
            if longest > self._limits.line:
                self._done += next(i for i, line in enumerate(lines) if len(line) == longest)
            self._require_short(longest)
            yield self._done + 1, lines
            self._done += len(lines)
            if LINE * self._done > self._limits.file_mib * MIB:
                self._refuse_file(f"{self._done:,} lines and more")
        last = b"".join(begun)
        if last:
            self._require_short(len(last))
            self.faults.add("final-newline", self._done + 1)
            yield self._done + 1, [last]

    def _unix_text(self) -> Iterator[bytes]:
        """UTF-8 with line ends LF."""
        held = b""
        for chunk in self._utf8():
            text = held + chunk
            held = b""
            if text.endswith(b"\r"):  # perhaps the first half of CR LF
                text, held = text[:-1], b"\r"
            if b"\r" in text:
                self._record_line_ends(text)
                text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            if text:
                yield text
        if held:
            self._record_line_ends(held)
            yield b"\n"

    def _record_line_ends(self, text: bytes) -> None:
        first = text.index(b"\r")
        line = self._done + 1 + text.count(b"\n", 0, first)
        self.faults.add("line-ends", line, count=text.count(b"\r"))

    def _utf8(self) -> Iterator[bytes]:
        """The content without byte order mark; what UTF-16 cannot decode becomes U+FFFD."""
        chunks = self._chunks()
        start = b""
        for chunk in chunks:
            start += chunk
            if len(start) >= len(codecs.BOM_UTF8):
                break
        if start.startswith(UTF16_MARKS):
            self.faults.add("encoding-utf16", 1)
            decoder = codecs.getincrementaldecoder("utf-16")("replace")
            yield decoder.decode(start).encode()
            for chunk in chunks:
                yield decoder.decode(chunk).encode()
            yield decoder.decode(b"", final=True).encode()
            return
        if start.startswith(codecs.BOM_UTF8):
            self.faults.add("encoding-bom", 1)
            start = start.removeprefix(codecs.BOM_UTF8)
        yield start
        yield from chunks

    def _chunks(self) -> Iterator[bytes]:
        """The content as it is stored."""
        nbytes = 0
        while chunk := self._stream.read(BLOCK):
            nbytes += len(chunk)
            if nbytes > self._limits.file_mib * MIB:
                self._refuse_file(f"larger than {self._limits.file_mib:,} MiB")
            self._sha256.update(chunk)
            yield chunk

    def _refuse_file(self, what: str) -> NoReturn:
        raise SubmissionError(
            what,
            code="file-limit",
            where=self._where,
            fix="raise the limit with --max-file, or send one line per trial",
        )

    def _require_short(self, nbytes: int) -> None:
        """Of the line after those that are done."""
        if nbytes > self._limits.line:
            raise SubmissionError(
                f"line {self._done + 1} is longer than {self._limits.line:,} bytes",
                code="file-limit",
                where=self._where,
                fix="raise the limit with --max-line, or write one line per trial",
            )


def iterate_lines(stream: BinaryIO, limits: Limits, where: str) -> Iterator[bytes]:
    """Lines of a text file, UTF-8 without their ends; where: its path for messages.

    Raises SubmissionError (file-limit) for a file or a line above its limit.
    """
    for _, lines in Lines(stream, limits, where).blocks():
        yield from lines
