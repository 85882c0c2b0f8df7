"""Members of a tar file (POSIX ustar and pax, GNU, old Unix), read in place.

Source of the format: POSIX.1-2024, pax, "ustar interchange format"; GNU tar manual, "Basic Tar
Format". The standard library's reader is not used: it holds headers of any size in memory, and
takes quadratic time for some.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial

from harness.errors import SubmissionError
from harness.submissions.archives.entries import Entry, Kind
from harness.submissions.archives.streams import Content, Source, unreadable, window

BLOCK_BYTES = 512
END = bytes(BLOCK_BYTES)
KINDS: dict[bytes, Kind] = {
    b"\0": "file",
    b"0": "file",
    b"7": "file",
    b"5": "folder",
    b"1": "link",
    b"2": "link",
    b"3": "device",
    b"4": "device",
    b"6": "device",
}
# Headers about the next member: GNU long name and long link target, pax of one and of all members.
LONG_NAME, LONG_LINK, PAX, PAX_GLOBAL = b"L", b"K", b"x", b"g"
SPARSE = b"S"
MOST_HEADER_BYTES = 1 << 20


def is_header(block: bytes) -> bool:
    """Whether a block has the right checksum of a header; some writers sum signed bytes."""
    if len(block) != BLOCK_BYTES or block == END:
        return False
    stated = _octal(block[148:156])
    rest = block[:148] + b" " * 8 + block[156:]
    unsigned = sum(rest)
    return stated == unsigned or stated == unsigned - 256 * sum(byte > 127 for byte in rest)


def entries(source: Source, where: str) -> Iterator[Entry]:
    """The members in their order. Raises SubmissionError: truncated, corrupt, sparse."""
    place = 0
    extra: dict[bytes, bytes] = {}
    while (block := source.read_at(place, BLOCK_BYTES)) != END:
        if len(block) < BLOCK_BYTES:
            raise unreadable("truncated: the mark of its end is missing", where)
        if not is_header(block):
            raise unreadable(f"corrupt: no header at byte {place:,}", where)
        place += BLOCK_BYTES
        kind, nbytes = block[156:157], _number(block[124:136], where)
        if kind in (LONG_NAME, LONG_LINK, PAX, PAX_GLOBAL):
            if kind in extra:
                raise unreadable("corrupt: two headers of a kind for one member", where)
            extra[kind] = _header(source, place, nbytes, where)
            place += _padded(nbytes)
            continue
        entry = _entry(source, place, block, extra, where)
        # First of all: whoever counts members refuses a size before any of it is unpacked.
        yield entry
        if entry.nbytes and not source.read_at(place + entry.nbytes - 1, 1):
            raise unreadable("truncated in the middle of a file", where)
        place += _padded(entry.nbytes)
        extra = {}


def _entry(
    source: Source, place: int, block: bytes, extra: dict[bytes, bytes], where: str
) -> Entry:
    """The member of a header, whose data begin at `place`."""
    code = block[156:157]
    if code not in KINDS:
        what = "a sparse file" if code == SPARSE else f"a member of unknown type {code!r}"
        raise unreadable(what, where, "pack it again with tar, without --sparse")
    pax = _pax(extra.get(PAX, b""), where)
    everywhere = _pax(extra.get(PAX_GLOBAL, b""), where)
    if not {b"path", b"size"}.isdisjoint(everywhere):
        raise unreadable("one name or size stated for all members", where)
    if any(key.startswith(b"GNU.sparse") for key in pax | everywhere):
        raise unreadable("a sparse file", where, "pack it again with tar, without --sparse")
    name = pax.get(b"path") or extra.get(LONG_NAME, b"").rstrip(b"\0") or _name(block)
    kind = KINDS[code]
    if code == b"\0" and name.endswith(b"/"):
        kind = "folder"
    nbytes = _number(block[124:136], where)
    if b"size" in pax:
        nbytes = _decimal(pax[b"size"], where)
    if kind != "file":
        nbytes = 0
    return Entry(
        name.decode("utf-8", "surrogateescape"), kind, nbytes, partial(_open, source, place, nbytes)
    )


def _open(source: Source, place: int, nbytes: int, where: str) -> io.RawIOBase:
    return Content(window(source, place, nbytes), nbytes, where)


def _name(block: bytes) -> bytes:
    name = block[:100].partition(b"\0")[0]
    if block[257:263] == b"ustar\0":
        prefix = block[345:500].partition(b"\0")[0]
        return prefix + b"/" + name if prefix else name
    return name


def _header(source: Source, place: int, nbytes: int, where: str) -> bytes:
    """The data of a header about the next member."""
    if nbytes > MOST_HEADER_BYTES:
        raise SubmissionError(
            f"a header of {nbytes:,} bytes",
            code="archive-limit",
            where=where,
            fix=f"at most {MOST_HEADER_BYTES:,} are read: pack it without extended attributes",
        )
    data = source.read_at(place, nbytes)
    if len(data) < nbytes:
        raise unreadable("truncated in the middle of a header", where)
    return data


def _pax(data: bytes, where: str) -> dict[bytes, bytes]:
    """The records `<length> <key>=<value>\\n` of a pax header."""
    records = {}
    place = 0
    while place < len(data):
        space = data.find(b" ", place, place + 12)
        length = _decimal(data[place:space], where) if space > 0 else 0
        record = data[space + 1 : place + length]
        key, equals, value = record.partition(b"=")
        if not equals or place + length > len(data) or not value.endswith(b"\n"):
            raise unreadable("corrupt: a pax header that cannot be read", where)
        records[key] = value[:-1]
        place += length
    return records


def _number(field: bytes, where: str) -> int:
    """A size: octal digits, or GNU's binary form."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    number = _octal(field)
    if number is None:
        raise unreadable("corrupt: a size that is no number", where)
    return number


def _octal(field: bytes) -> int | None:
    digits = field.strip(b" \0")
    if digits.strip(b"01234567"):
        return None
    return int(digits, 8) if digits else 0


def _decimal(digits: bytes, where: str) -> int:
    if not digits.isdigit() or len(digits) > 20:
        raise unreadable("corrupt: a length that is no number", where)
    return int(digits)


def _padded(nbytes: int) -> int:
    return -(-nbytes // BLOCK_BYTES) * BLOCK_BYTES
