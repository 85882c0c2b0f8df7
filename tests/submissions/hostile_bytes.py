"""Files that are no archives, were damaged on their way, or say untrue things about themselves."""

from __future__ import annotations

import gzip
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from packed import COMPRESS, FILES, TAR_BLOCK, hostile, info, save, tarred, zipped

# No archives.


def _stranger(name: str, content: bytes, said: str) -> None:
    def write(folder: Path) -> Path:
        return save(folder, content)

    write.__name__ = name
    hostile("archive-unreadable", said)(write)


_stranger("seven_zip", b"7z\xbc\xaf\x27\x1c\0\4" + bytes(100), "no archive but a 7z archive")
_stranger("rar", b"Rar!\x1a\x07\x01\x00" + bytes(100), "no archive but a RAR archive")
_stranger("pdf", b"%PDF-1.7\n" + bytes(100), "no archive but a PDF")
_stranger("web_page", b"<!DOCTYPE html><html></html>\n", "a web page")
_stranger("one_score_file", FILES["team/exp/a/scores"], "a text file, perhaps the scores")
_stranger("one_compressed_file", gzip.compress(FILES["team/EER"]), "one compressed file")
_stranger("random_bytes", bytes((7 * i * i + 3) % 251 for i in range(5000)), "unknown kind")
_stranger("word_document", zipped({"[Content_Types].xml": b"<a/>"}), "a document")
_stranger("divided_zip", b"PK\x07\x08" + zipped(), "one part of a divided zip")


# What the transfer did.


@hostile("archive-unreadable", "truncated: its directory is missing")
def cut_zip(folder: Path) -> Path:
    return save(folder, zipped()[:-30])


@hostile("archive-unreadable", "bytes follow it")
def zip_with_bytes_behind(folder: Path) -> Path:
    return save(folder, zipped() + b"\r\n")


@hostile("archive-unreadable", "truncated in the middle of a file")
def cut_tar(folder: Path) -> Path:
    return save(folder, tarred()[:3000])


@hostile("archive-unreadable", "the mark of its end is missing")
def tar_cut_between_members(folder: Path) -> Path:
    nbytes = len(FILES["team/exp/a/scores"])
    return save(folder, tarred()[: TAR_BLOCK + -(-nbytes // TAR_BLOCK) * TAR_BLOCK])


@hostile("archive-unreadable", "corrupt: no header at byte")
def tar_with_a_wrong_checksum(folder: Path) -> Path:
    content = bytearray(tarred())
    content[content.index(b"team/exp/b")] ^= 1
    return save(folder, bytes(content))


for _name, _compress in COMPRESS.items():

    def _cut(folder: Path, compress: Callable[[bytes], bytes] = _compress) -> Path:
        content = compress(tarred())
        return save(folder, content[: len(content) - 40])

    _cut.__name__ = f"cut_tar_{_name}"
    hostile("archive-unreadable", "truncated")(_cut)


@hostile("archive-unreadable", "corrupt")
def gzip_with_a_wrong_checksum(folder: Path) -> Path:
    content = bytearray(gzip.compress(tarred(), mtime=0))
    content[-6] ^= 1
    return save(folder, bytes(content))


@hostile("archive-unreadable", "corrupt: its checksum is wrong")
def zip_with_a_wrong_checksum(folder: Path) -> Path:
    content = bytearray(zipped(method=zipfile.ZIP_STORED))
    content[content.index(b"0.2792")] ^= 1
    return save(folder, bytes(content))


@hostile("archive-empty", "an empty file")
def empty_file(folder: Path) -> Path:
    return save(folder, b"")


@hostile("archive-empty", "no file in it")
def empty_zip(folder: Path) -> Path:
    return save(folder, zipped({}))


@hostile("archive-empty", "no file in it")
def empty_tar(folder: Path) -> Path:
    return save(folder, tarred({}))


@hostile("archive-empty", "no file in it")
def empty_folder(folder: Path) -> Path:
    root = folder / "submission"
    (root / "team" / "__MACOSX").mkdir(parents=True)
    (root / "team" / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    return root


# Zips that say untrue things.


def directory_record(content: bytes, name: bytes) -> int:
    """Place of a member's record in the directory of a zip."""
    return content.rindex(b"PK\x01\x02", 0, content.rindex(name))


def patched(content: bytes, place: int, form: str, value: int) -> bytes:
    data = bytearray(content)
    struct.pack_into(form, data, place, value)
    return bytes(data)


def _zip_lie(name: str, said: str, offset: int, form: str, value: int) -> None:
    """A field of the directory's record of `team/EER`, a stored member, has another value."""

    def write(folder: Path) -> Path:
        content = zipped(method=zipfile.ZIP_STORED)
        place = directory_record(content, b"team/EER")
        return save(folder, patched(content, place + offset, form, value))

    write.__name__ = name
    hostile("archive-unreadable", said)(write)


_zip_lie("zip_with_two_methods", "say different things", 10, "<H", 8)
_zip_lie("zip_encrypted_in_one_place", "say different things", 8, "<H", 1)
_zip_lie("zip_beyond_its_place", "reaches beyond its place", 20, "<I", 1 << 20)
_zip_lie("zip_with_two_sizes", "two sizes for one member", 24, "<I", 6)
_zip_lie("zip_with_a_member_nowhere", "no member where the directory says", 42, "<I", 5)
_zip_lie("zip_without_a_large_size", "a size is missing", 24, "<I", 0xFFFF_FFFF)
_zip_lie("zip_with_a_record_too_long", "ends within a member", 32, "<H", 60_000)


@hostile("archive-unreadable", "corrupt: its checksum is wrong")
def zip_with_another_checksum(folder: Path) -> Path:
    content = zipped()
    place = directory_record(content, b"team/exp/a/scores")
    return save(folder, patched(content, place + 16, "<I", 1))


@hostile("archive-unreadable", "more bytes than stated")
def zip_with_a_size_too_small(folder: Path) -> Path:
    content = zipped()
    place = directory_record(content, b"team/exp/a/scores")
    return save(folder, patched(content, place + 24, "<I", 100))


@hostile("archive-unreadable", "bytes are missing")
def zip_with_a_size_too_large(folder: Path) -> Path:
    content = zipped()
    place = directory_record(content, b"team/exp/a/scores")
    return save(folder, patched(content, place + 24, "<I", 100_000))


@hostile("archive-unreadable", "encrypted")
def encrypted_zip(folder: Path) -> Path:
    content = zipped({"team/EER": b"0.2792\n"})
    content = patched(content, 6, "<H", 1)
    return save(folder, patched(content, directory_record(content, b"team/EER") + 8, "<H", 1))


@hostile("archive-unreadable", "Deflate64")
def zip_of_another_method(folder: Path) -> Path:
    content = zipped({"team/EER": b"0.2792\n"})
    content = patched(content, 8, "<H", 9)
    return save(folder, patched(content, directory_record(content, b"team/EER") + 10, "<H", 9))


@hostile("archive-unreadable", "two members share the same bytes")
def zip_of_one_member_seen_twice(folder: Path) -> Path:
    """As the densest zip bombs are made: many records, one content."""
    content = zipped({"team/EER": b"0.2792\n", "team/exp": b"0.2792\n"})
    content = content.replace(b"team/exp", b"team/EER")
    place = directory_record(content, b"team/EER")
    return save(folder, patched(content, place + 42, "<I", 0))


@hostile("archive-unreadable", "another number of members")
def zip_with_a_wrong_count(folder: Path) -> Path:
    content = zipped()
    return save(folder, patched(content, len(content) - 12, "<H", 2))


@hostile("archive-unreadable", "directory is not where it says")
def zip_with_bytes_before(folder: Path) -> Path:
    """Another archive before it: a reader that goes from the start sees that one."""
    return save(folder, zipped({"team/EER": b"0.1\n"}) + zipped())


# Tars that say untrue things.


def header(name: str, nbytes: int, kind: bytes = tarfile.REGTYPE, field: bytes = b"") -> bytes:
    """A header of a tar with the right checksum. field: bytes of the size, if it is no number."""
    block = bytearray(info(name, nbytes, kind).tobuf(tarfile.GNU_FORMAT)[-TAR_BLOCK:])
    if field:
        block[124:136] = field.ljust(12, b"\0")
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def block(data: bytes) -> bytes:
    return data + bytes(-len(data) % TAR_BLOCK)


def _tar_lie(name: str, code: str, said: str, content: Callable[[], bytes]) -> None:
    def write(folder: Path) -> Path:
        return save(folder, content() + tarred())

    write.__name__ = name
    hostile(code, said)(write)


_UNREADABLE = "archive-unreadable"
_tar_lie(
    "tar_with_a_size_of_letters",
    _UNREADABLE,
    "size that is no number",
    lambda: header("a", 0, field=b"12_0x"),
)
_tar_lie(
    "tar_with_a_negative_size",
    _UNREADABLE,
    "size that is no number",
    lambda: header("a", 0, field=b"\xff" * 12),
)
_tar_lie("tar_of_a_sparse_file", _UNREADABLE, "a sparse file", lambda: header("a", 0, b"S"))
_tar_lie("tar_of_an_unknown_type", _UNREADABLE, "unknown type b'Q'", lambda: header("a", 0, b"Q"))
_tar_lie(
    "tar_with_garbage_in_pax",
    _UNREADABLE,
    "pax header that cannot be read",
    lambda: header("p", 9, b"x") + block(b"9 garbage"),
)
_tar_lie(
    "tar_with_pax_that_never_ends",
    _UNREADABLE,
    "pax header that cannot be read",
    lambda: header("p", 9, b"x") + block(b"99 a=bcd\n"),
)
_tar_lie(
    "tar_with_letters_in_pax",
    _UNREADABLE,
    "length that is no number",
    lambda: header("p", 8, b"x") + block(b"1_1 a=b\n"),
)
_tar_lie(
    "tar_with_pax_for_pax",
    _UNREADABLE,
    "two headers of a kind",
    lambda: 2 * (header("p", 8, b"x") + block(b"8 a=bc\n\n")),
)
_tar_lie(
    "tar_with_one_name_for_all",
    _UNREADABLE,
    "stated for all members",
    lambda: header("p", 11, b"g") + block(b"11 path=ab\n"),
)
_tar_lie(
    "tar_of_a_sparse_pax_file",
    _UNREADABLE,
    "a sparse file",
    lambda: header("p", 22, b"x") + block(b"22 GNU.sparse.major=1\n"),
)
_tar_lie(
    "tar_with_a_size_beyond_numbers",
    "archive-limit",
    "--max-file",
    lambda: header("a", 0, field=b"\x80" + b"\xff" * 11),
)
_tar_lie(
    "tar_with_a_size_of_10_gb", "archive-limit", "--max-file", lambda: header("a", 10_000_000_000)
)
_tar_lie(
    "tar_with_a_name_of_2_gb",
    "archive-limit",
    "a header of 2,147,483,648 bytes",
    lambda: header("a", 1 << 31, b"L"),
)
_tar_lie(
    "tar_with_pax_of_2_gb",
    "archive-limit",
    "a header of 2,147,483,648 bytes",
    lambda: header("a", 1 << 31, b"x"),
)
