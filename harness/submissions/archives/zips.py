"""Members of a zip file, read in place.

Source of the format: PKWARE, APPNOTE.TXT 6.3.10. The standard library's reader is not used: it
holds a directory of any size in memory, and decompresses bzip2 and LZMA without a limit.

A file that two readers could understand differently is refused: bytes behind the end, a directory
not where it should be, names that differ between the directory and the member, members that
overlap.
"""

from __future__ import annotations

import bz2
import io
import lzma
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from harness.submissions.archives.decoders import Decoder, Zlib, decode
from harness.submissions.archives.entries import Entry, kind_of_mode
from harness.submissions.archives.streams import Content, Read, Source, unreadable, window

LOCAL_MAGIC = b"PK\x03\x04"
END_MAGIC = b"PK\x05\x06"
DIRECTORY_MAGIC = b"PK\x01\x02"
LOCAL = struct.Struct("<4s5H3I2H")
DIRECTORY = struct.Struct("<4s6H3I5H2I")
END = struct.Struct("<4s4H2IH")
LOCATOR = struct.Struct("<4sIQI")
END64 = struct.Struct("<4sQ2H2I4Q")
MOST_COMMENT_BYTES = 65_535
# In a field of 16 or 32 bits: see the one of 64 bits.
MANY, LARGE = 0xFFFF, 0xFFFF_FFFF
ZIP64 = 1  # the extra field that has those

ENCRYPTED = 1 << 0 | 1 << 6 | 1 << 13
UTF8 = 1 << 11
STORED, DEFLATED, BZIP2, LZMA = 0, 8, 12, 14
OTHER_METHODS = {9: "Deflate64", 93: "Zstandard", 95: "XZ", 98: "PPMd", 99: "AES encryption"}
LZMA_HEADER = struct.Struct("<2xHBI")
# Documents and arrays that are zip files too, by the name of their first member.
DOCUMENTS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"mimetype", b"META-INF/")
ARRAY = b".npy"


@dataclass(frozen=True)
class Record:
    """A member as the directory has it. place: of its local header; data: of its content."""

    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    nbytes: int
    mode: int
    place: int
    data: int = 0


def is_archive(head: bytes) -> bool:
    """Whether a file that begins so is a zip file, and not a document in the form of one."""
    if head.startswith(END_MAGIC):
        return True
    if not head.startswith(LOCAL_MAGIC) or len(head) < LOCAL.size:
        return False
    name_bytes = LOCAL.unpack_from(head)[-2]
    first = head[LOCAL.size : LOCAL.size + name_bytes]
    return not first.startswith(DOCUMENTS) and not first.endswith(ARRAY)


def entries(source: Source, where: str) -> Iterator[Entry]:
    """The members in the directory's order. Raises SubmissionError as the module says."""
    start, end, count = _directory(source, where)
    spans = []
    place = start
    while place < end:
        record, place = _record(source, place, end, where)
        data = _data(source, record, start, where)
        spans.append((record.place, data + record.packed))
        yield _entry(source, record, data, where)
    # Where the count has no field of 64 bits, it may have lost its upper bits.
    if len(spans) & MANY != count & MANY:
        raise unreadable("corrupt: its directory has another number of members", where)
    spans.sort()
    if any(stop > after for (_, stop), (after, _) in pairwise(spans)):
        raise unreadable("corrupt: two members share the same bytes", where)


def _directory(source: Source, where: str) -> tuple[int, int, int]:
    """Where the central directory begins and ends, and the number of members in it."""
    tail_start = max(0, source.size - END.size - MOST_COMMENT_BYTES)
    tail = source.read_at(tail_start, source.size - tail_start)
    found = tail.rfind(END_MAGIC)
    while found >= 0:
        record = tail[found : found + END.size]
        if len(record) == END.size and found + END.size + END.unpack(record)[-1] == len(tail):
            break
        found = tail.rfind(END_MAGIC, 0, found)
    else:
        raise unreadable("truncated: its directory is missing, or bytes follow it", where)
    _, disk, _, _, count, nbytes, start, _ = END.unpack(record)
    place = tail_start + found
    locator = source.read_at(place - LOCATOR.size, LOCATOR.size) if place >= LOCATOR.size else b""
    if locator.startswith(b"PK\x06\x07"):
        place = LOCATOR.unpack(locator)[2]
        record = source.read_at(place, END64.size)
        if len(record) < END64.size or not record.startswith(b"PK\x06\x06"):
            raise unreadable("corrupt: no directory where it says", where)
        _, _, _, _, disk, _, _, count, nbytes, start = END64.unpack(record)
    if disk not in (0, MANY):
        raise unreadable("one part of a divided archive", where, "send it in one piece")
    if start + nbytes != place:
        raise unreadable("corrupt: its directory is not where it says", where)
    return start, place, count


def _record(source: Source, place: int, end: int, where: str) -> tuple[Record, int]:
    """The member whose record in the directory is at `place`, and the place of the next one."""
    fixed = source.read_at(place, DIRECTORY.size)
    if len(fixed) < DIRECTORY.size or not fixed.startswith(DIRECTORY_MAGIC):
        raise unreadable("corrupt: its directory cannot be read", where)
    fields = DIRECTORY.unpack(fixed)
    flags, method = fields[3:5]
    crc, packed, nbytes, name_bytes, extra_bytes, comment_bytes = fields[7:13]
    attributes, local = fields[15:]
    place += DIRECTORY.size
    rest = source.read_at(place, name_bytes + extra_bytes)
    place += name_bytes + extra_bytes + comment_bytes
    if place > end or len(rest) < name_bytes + extra_bytes:
        raise unreadable("corrupt: its directory ends within a member", where)
    name, extra = rest[:name_bytes], rest[name_bytes:]
    nbytes, packed, local = _large(extra, (nbytes, packed, local), where)
    return Record(name, flags, method, crc, packed, nbytes, attributes >> 16, local), place


def _large(extra: bytes, fields: tuple[int, ...], where: str) -> list[int]:
    """Size, packed size and place, each from the field of 64 bits where it says so."""
    if LARGE not in fields:
        return list(fields)
    large = b""
    place = 0
    while place + 4 <= len(extra) and not large:
        kind, nbytes = struct.unpack_from("<2H", extra, place)
        place += 4 + nbytes
        if kind == ZIP64:
            large = extra[place - nbytes : place]
    values = []
    for value in fields:
        if value == LARGE:
            if len(large) < 8:
                raise unreadable("corrupt: a size is missing", where)
            value, large = int.from_bytes(large[:8], "little"), large[8:]
        values.append(value)
    return values


def _data(source: Source, record: Record, end: int, where: str) -> int:
    """Where a member's content begins, by its local header, which must tell the same name."""
    header = source.read_at(record.place, LOCAL.size)
    if len(header) < LOCAL.size or not header.startswith(LOCAL_MAGIC):
        raise unreadable("corrupt: no member where the directory says", where)
    _, _, flags, method, *_, name_bytes, extra_bytes = LOCAL.unpack(header)
    name = source.read_at(record.place + LOCAL.size, name_bytes)
    data: int = record.place + LOCAL.size + name_bytes + extra_bytes
    if (name, method) != (record.name, record.method) or (flags ^ record.flags) & ENCRYPTED:
        raise unreadable("corrupt: directory and member say different things", where)
    if data + record.packed > end:
        raise unreadable("corrupt: a member reaches beyond its place", where)
    return data


def _entry(source: Source, record: Record, data: int, where: str) -> Entry:
    name = _text(record)
    kind = "folder" if name.endswith("/") else kind_of_mode(record.mode)
    if kind == "file":
        if record.flags & ENCRYPTED or record.method == 99:
            raise unreadable("encrypted", where, "send it without a password")
        if record.method not in (STORED, DEFLATED, BZIP2, LZMA):
            method = OTHER_METHODS.get(record.method, f"method {record.method}")
            raise unreadable(
                f"packed by {method}, which is not read here", where, "pack it by Deflate"
            )
        if record.method == STORED and record.packed != record.nbytes:
            raise unreadable("corrupt: two sizes for one member", where)
    return Entry(
        name, kind, record.nbytes, partial(_open, source, record, data), max(record.packed, 1)
    )


def _text(record: Record) -> str:
    """A name: UTF-8, as many write without saying so, or else the first IBM PC's characters."""
    try:
        return record.name.decode()
    except UnicodeDecodeError:
        if record.flags & UTF8:
            return record.name.decode("utf-8", "surrogateescape")
        return record.name.decode("cp437")


def _open(source: Source, record: Record, data: int, where: str) -> io.RawIOBase:
    packed = window(source, data, record.packed)
    if record.method == STORED:
        return Content(packed, record.nbytes, where, record.crc)
    decoder = _decoder(record, packed, where)
    return Content(
        lambda most: decode(decoder, packed, most, where), record.nbytes, where, record.crc
    )


def _decoder(record: Record, packed: Read, where: str) -> Decoder:
    if record.method == DEFLATED:
        return Zlib(-15)
    if record.method == BZIP2:
        return bz2.BZ2Decompressor()
    header = packed(LZMA_HEADER.size)
    if len(header) < LZMA_HEADER.size:
        raise unreadable("truncated", where)
    nbytes, properties, dictionary = LZMA_HEADER.unpack(header)
    properties, lc = divmod(properties, 9)
    pb, lp = divmod(properties, 5)
    if nbytes != 5 or pb > 4 or lc + lp > 4:
        raise unreadable("corrupt: unknown properties of LZMA", where)
    # A dictionary larger than the content is never looked into.
    size = max(min(dictionary, record.nbytes), 4096)
    filters = [{"id": lzma.FILTER_LZMA1, "lc": lc, "lp": lp, "pb": pb, "dict_size": size}]
    return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
