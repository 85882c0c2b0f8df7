"""Decompression, piece by piece.

Every piece of output is asked for with a size, and input goes in by small chunks, so that memory
does not depend on what the bytes say.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

from harness.errors import SubmissionError
from harness.submissions.archives.streams import Read, unreadable
from harness.submissions.limits import MIB

CHUNK_BYTES = 64 << 10
# A Zstandard block of 4 bytes can stand for 128 KiB, and that decoder has no limit of its own.
ZSTD_CHUNK_BYTES = 256
# Enough for `xz -9` (65 MiB) and `zstd --long` (128 MiB).
MOST_DECODER_MEMORY = 128 * MIB
# Parallel packers make a stream for every 100 KB and more; starting one takes time.
MOST_STREAMS = 100_000

COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\0": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
# A frame that decoders skip; some packers begin with one.
ZSTD_SKIPPABLE = bytes(range(0x50, 0x60)), b"\x2a\x4d\x18"


class Decoder(Protocol):
    """What `bz2` and `lzma` decoders have in common."""

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was seen."""

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out without more input."""

    @property
    def unused_data(self) -> bytes:
        """Input behind the end of the stream."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """At most `max_length` bytes."""


class Zlib:
    """A decoder of zlib's formats. bits: which, as zlib counts them."""

    def __init__(self, bits: int) -> None:
        self._decoder = zlib.decompressobj(bits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        """Whether the end of the stream was seen."""
        return self._decoder.eof

    @property
    def unused_data(self) -> bytes:
        """Input behind the end of the stream."""
        return self._decoder.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most `max_length` bytes."""
        tail = self._decoder.unconsumed_tail
        output = self._decoder.decompress(tail + data if tail else data, max_length)
        self.needs_input = len(output) < max_length and not self._decoder.unconsumed_tail
        return output


class Zstandard:
    """A decoder of one Zstandard frame. What a chunk of input gives beyond `max_length` waits."""

    def __init__(self) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        decompressor = zstandard.ZstdDecompressor(max_window_size=MOST_DECODER_MEMORY)
        self._decoder = decompressor.decompressobj()
        self._input = b""
        self._output = memoryview(b"")

    @property
    def eof(self) -> bool:
        """Whether all that the frame holds was given out."""
        return self._decoder.eof and not self._output

    @property
    def needs_input(self) -> bool:
        """Whether nothing more comes out without more input."""
        return not self._output and not self._input

    @property
    def unused_data(self) -> bytes:
        """Input behind the end of the frame."""
        return bytes(self._decoder.unused_data) + self._input

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """At most `max_length` bytes."""
        self._input += data
        while not self._output and self._input and not self._decoder.eof:
            piece, self._input = self._input[:ZSTD_CHUNK_BYTES], self._input[ZSTD_CHUNK_BYTES:]
            try:
                self._output = memoryview(self._decoder.decompress(piece))
            except self._error as error:
                raise ValueError(str(error)) from error
        output, self._output = self._output[:max_length], self._output[max_length:]
        return bytes(output)


DECODERS: dict[str, Callable[[], Decoder]] = {
    "gzip": lambda: Zlib(31),
    "bzip2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_DECODER_MEMORY),
    "zstd": Zstandard,
}


def compression(head: bytes) -> str | None:
    """What the first bytes are compressed by; None if by nothing known here."""
    for magic, name in COMPRESSIONS.items():
        if head.startswith(magic):
            return name
    first, rest = ZSTD_SKIPPABLE
    return "zstd" if head[:1] and head[0] in first and head[1:4] == rest else None


def decode(decoder: Decoder, read: Read, most: int, where: str) -> bytes:
    """The next bytes of a stream, 1 to `most`; none where the stream or its input ends."""
    while not decoder.eof:
        data = read(CHUNK_BYTES) if decoder.needs_input else b""
        ended = not data and decoder.needs_input
        try:
            output = decoder.decompress(data, most)
        except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            if "memory" in str(error).lower():
                raise SubmissionError(
                    f"decompression takes more than {MOST_DECODER_MEMORY // MIB} MiB of memory",
                    code="archive-limit",
                    where=where,
                    fix="pack it with the usual level of compression",
                ) from error
            raise unreadable(f"corrupt ({error})", where) from error
        if output or ended:
            return output
    return b""


class Decompressed:
    """The decompressed bytes of streams that stand one behind the other, as such files may hold."""

    def __init__(self, kind: str, read: Read, where: str) -> None:
        self._start = DECODERS[kind]
        self._decoder = self._start()
        self._raw = read
        self._rest = b""
        self._where = where
        self._streams = 1

    def _read(self, most: int) -> bytes:
        if self._rest:
            data, self._rest = self._rest, b""
            return data
        return self._raw(most)

    def read(self, most: int) -> bytes:
        """The next bytes, 1 to `most`; none at the end."""
        while True:
            output = decode(self._decoder, self._read, most, self._where)
            if output:
                return output
            if not self._decoder.eof:
                raise unreadable("truncated: its end is missing", self._where)
            # Tapes and some tools pad with zeros.
            self._rest = self._decoder.unused_data.lstrip(b"\0")
            while not self._rest:
                data = self._raw(CHUNK_BYTES)
                if not data:
                    return b""
                self._rest = data.lstrip(b"\0")
            self._streams += 1
            if self._streams > MOST_STREAMS:
                raise unreadable(f"more than {MOST_STREAMS:,} compressed streams", self._where)
            self._decoder = self._start()
