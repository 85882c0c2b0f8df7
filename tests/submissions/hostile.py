"""Archives that nobody means well by, or that came to harm on their way, each with its code.

A generator writes into an empty folder and gives the path of the submission. Most begin with a
sound archive and change it as little as needed.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import socket
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from harness.errors import SubmissionError
from harness.submissions.archive import open_submission
from harness.submissions.codes import SEVERITY
from harness.submissions.limits import Limits

# Two score files, as anybody would pack them.
FILES = {
    "team/exp/a/scores": b"".join(b"f1 f1-%04d %d.5\n" % (i, i) for i in range(500)),
    "team/exp/b/scores": b"".join(b"m1 m2-%04d -%d.25\n" % (i, i) for i in range(500)),
    "team/EER": b"0.2792\n",
}
TAR_BLOCK = 512
USUAL = Limits()


@dataclass(frozen=True)
class Hostile:
    """code: what the fault is called. limits: what it is opened with. said: part of the message."""

    write: Callable[[Path], Path]
    code: str
    said: str
    limits: Limits = USUAL


HOSTILE: dict[str, Hostile] = {}


def hostile(
    code: str, said: str, limits: Limits = USUAL
) -> Callable[[Callable[[Path], Path]], Callable[[Path], Path]]:
    """Register a generator under its name."""

    def register(write: Callable[[Path], Path]) -> Callable[[Path], Path]:
        HOSTILE[write.__name__] = Hostile(write, code, said, limits)
        return write

    return register


# Sound archives.


def zipped(files: dict[str, bytes] = FILES, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name), content, method)
    return buffer.getvalue()


def info(name: str, nbytes: int = 0, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.type, member.linkname = nbytes, kind, "team/EER"
    return member


def tarred(
    files: dict[str, bytes] = FILES,
    *extra: tarfile.TarInfo,
    form: int = tarfile.PAX_FORMAT,
) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as packed:
        for name, content in files.items():
            packed.addfile(info(name, len(content)), io.BytesIO(content))
        for member in extra:
            packed.addfile(member)
    return buffer.getvalue()


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, 1, mtime=0),
    "bzip2": bz2.compress,
    "xz": lambda data: lzma.compress(data, preset=0),
    "zstd": lambda data: zstandard.ZstdCompressor(1).compress(data),
}
SOUND: dict[str, Callable[[], bytes]] = {
    "zip-stored": lambda: zipped(method=zipfile.ZIP_STORED),
    "zip-deflated": zipped,
    "zip-bzip2": lambda: zipped(method=zipfile.ZIP_BZIP2),
    "zip-lzma": lambda: zipped(method=zipfile.ZIP_LZMA),
    "tar-pax": tarred,
    "tar-gnu": lambda: tarred(form=tarfile.GNU_FORMAT),
    "tar-ustar": lambda: tarred(form=tarfile.USTAR_FORMAT),
    **{
        f"tar-{name}": lambda compress=compress: compress(tarred())  # type: ignore[misc]
        for name, compress in COMPRESS.items()
    },
    "zip-gzip": lambda: gzip.compress(zipped(), mtime=0),
}


def save(folder: Path, content: bytes) -> Path:
    """Under a name that says nothing."""
    path = folder / "submission"
    path.write_bytes(content)
    return path


def unpack(folder: Path, files: dict[str, bytes] = FILES) -> Path:
    """The files as a folder."""
    root = folder / "submission"
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def outcome(path: Path, limits: Limits = USUAL) -> dict[str, bytes] | str:
    """The members' contents, or the code of the refusal; asserts what holds for any input."""
    try:
        with open_submission(path, limits) as submission:
            assert not (submission.checks and submission.members)
            paths = [member.path for member in submission.members]
            assert paths == sorted(set(paths))
            for check in submission.checks:
                return check.code
            contents = {member.path: member.read(1 << 28) for member in submission.members}
            assert all(len(contents[m.path]) == m.nbytes for m in submission.members)
            return contents
    except SubmissionError as error:
        refused = error
    assert str(refused).isprintable()
    assert refused.code in SEVERITY
    return refused.code


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


# Names.


def _bad_name(kind: str, said: str, *names: str, code: str = "archive-path") -> None:
    """As a zip and as a tar."""

    def write_zip(folder: Path) -> Path:
        # The standard library mends some names, so others of their length hold their places.
        places = [chr(ord("p") + i) * len(name.encode()) for i, name in enumerate(names)]
        content = zipped({**FILES, **dict.fromkeys(places, b"1\n")})
        for place, name in zip(places, names, strict=True):
            content = content.replace(place.encode(), name.encode())
        return save(folder, content)

    def write_tar(folder: Path) -> Path:
        return save(folder, tarred(FILES, *[info(n) for n in names]))

    write_zip.__name__, write_tar.__name__ = f"zip_{kind}", f"tar_{kind}"
    hostile(code, said)(write_zip)
    hostile(code, said)(write_tar)


_bad_name("absolute", "an absolute path", "/etc/passwd")
_bad_name("that_leaves", "leaves the archive by ..", "team/../../passwd")
_bad_name("of_a_drive", "an absolute path", "C:/Windows/x")
_bad_name("with_backslashes", "a backslash", "team\\..\\x")
_bad_name("with_an_empty_part", "an empty part", "team//x")
_bad_name("with_a_control_character", "an unprintable character", "team/\x1b[2Jx")
_bad_name("that_turns_the_writing", "an unprintable character", "team/\u202etxt.x")
_bad_name("too_long", "more than 255 bytes", "team/" + "x" * 256)
_bad_name("of_a_path_too_long", "more than 1024 bytes", "/".join(["x" * 200] * 6))
_bad_name("too_deep", "more than 32 parts", "x/" * 32 + "x")
_bad_name("twice", "two members of this name", "team/x", "team/x", code="archive-duplicate")
_bad_name(
    "twice_with_a_dot", "two members of this name", "team/x1", "team/./x1", code="archive-duplicate"
)
_bad_name("in_two_cases", "take for that of team/EER", "team/Eer", code="archive-name-clash")
_bad_name(
    "in_two_forms", "take for that of", "team/\u00e9", "team/e\u0301", code="archive-name-clash"
)
_bad_name(
    # Marks in two orders; one of them becomes a letter where case is ignored.
    "in_two_orders",
    "take for that of",
    "team/\u03b1\u0301\u0345",
    "team/\u03b1\u0345\u0301",
    code="archive-name-clash",
)
_bad_name(
    "of_file_and_folder",
    "in the place of the file team/EER",
    "team/EER/x",
    code="archive-name-clash",
)
_bad_name(
    "of_file_and_folder_in_two_cases",
    "in the place of the file team/EER",
    "team/eer/x",
    code="archive-name-clash",
)


@hostile("archive-path", "an unprintable character")
def zip_name_with_nul(folder: Path) -> Path:
    return save(folder, zipped({"team/scores.txt": b"1\n"}).replace(b"scores.txt", b"scores\0txt"))


@hostile("archive-path", "not UTF-8")
def tar_name_not_utf8(folder: Path) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(
        fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT, encoding="latin-1"
    ) as packed:
        packed.addfile(info("team/\u00e9"))
    return save(folder, buffer.getvalue())


# Kinds.


def _bad_kind(name: str, kind: bytes, code: str, said: str) -> None:
    def write(folder: Path) -> Path:
        return save(folder, tarred(FILES, info("team/x", kind=kind)))

    write.__name__ = f"tar_{name}"
    hostile(code, said)(write)


_bad_kind("symbolic_link", tarfile.SYMTYPE, "archive-link", "a link")
_bad_kind("hard_link", tarfile.LNKTYPE, "archive-link", "a link")
_bad_kind("character_device", tarfile.CHRTYPE, "archive-device", "a device")
_bad_kind("block_device", tarfile.BLKTYPE, "archive-device", "a device")
_bad_kind("pipe", tarfile.FIFOTYPE, "archive-device", "a device")


def _zip_kind(name: str, mode: int, code: str, said: str) -> None:
    def write(folder: Path) -> Path:
        buffer = io.BytesIO(zipped())
        member = zipfile.ZipInfo("team/x")
        member.external_attr = mode << 16
        with zipfile.ZipFile(buffer, "a") as packed:
            packed.writestr(member, "/etc/passwd")
        return save(folder, buffer.getvalue())

    write.__name__ = f"zip_{name}"
    hostile(code, said)(write)


_zip_kind("symbolic_link", 0o120777, "archive-link", "a link")
_zip_kind("pipe", 0o010644, "archive-device", "a device")
_zip_kind("socket", 0o140644, "archive-device", "a device")


@hostile("archive-link", "a link")
def folder_with_links(folder: Path) -> Path:
    root = unpack(folder)
    (root / "team" / "passwd").symlink_to("/etc/passwd")
    (root / "team" / "etc").symlink_to("/etc")
    return root


@hostile("archive-device", "a device")
def folder_with_a_pipe(folder: Path) -> Path:
    root = unpack(folder)
    os.mkfifo(root / "team" / "pipe")
    return root


@hostile("archive-device", "a device")
def folder_with_a_socket(folder: Path) -> Path:
    root = unpack(folder)
    here = os.open(root, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as listening:
        # A path of a socket is short; a folder of tests is not.
        listening.bind(f"/proc/self/fd/{here}/socket")
    os.close(here)
    return root


@hostile("archive-path", "not UTF-8")
def folder_with_a_name_not_utf8(folder: Path) -> Path:
    root = unpack(folder)
    with open(os.fsencode(root) + b"/team/\xff", "wb"):
        return root


@hostile("archive-path", "an unprintable character")
def folder_with_a_line_end_in_a_name(folder: Path) -> Path:
    return unpack(folder, {**FILES, "team/a\nb": b"1\n"})


# Limits.

ZEROS = 64 << 20
MANY = 300_000


@hostile(
    "archive-limit", "more than 2 members; if that is meant, raise --max-members", Limits(members=2)
)
def zip_of_three(folder: Path) -> Path:
    return save(folder, zipped())


@hostile("archive-limit", "--max-members", Limits(members=2))
def tar_of_three(folder: Path) -> Path:
    return save(folder, tarred())


@hostile("archive-limit", "--max-members", Limits(members=2))
def folder_of_three(folder: Path) -> Path:
    return unpack(folder)


@hostile("archive-limit", "more than 10,000 members")
def zip_of_hundred_thousands(folder: Path) -> Path:
    """A directory of 20 MB; one that is held as objects takes some hundred."""
    content = zipped({"x" * 20: b""})
    start = content.index(b"PK\x01\x02")
    record, end = content[start:-22], content[-22:]
    end = struct.pack(
        "<4s4H2IH", b"PK\5\6", 0, 0, MANY & 0xFFFF, MANY & 0xFFFF, MANY * len(record), start, 0
    )
    return save(folder, content[:start] + record * MANY + end)


@hostile(
    "archive-limit",
    "more than 1 MiB in all; if that is meant, raise --max-total",
    Limits(total_mib=1),
)
def archive_beyond_the_total(folder: Path) -> Path:
    return save(folder, zipped({"team/a": os.urandom(2 << 20)}, zipfile.ZIP_STORED))


@hostile("archive-limit", "--max-total", Limits(total_mib=1, file_mib=1))
def members_beyond_the_total(folder: Path) -> Path:
    return save(folder, zipped({f"team/{i}": b"f1 f1-1 1.5\n" * 60_000 for i in "abc"}))


@hostile("archive-limit", "--max-file", Limits(file_mib=1))
def zip_of_a_large_file(folder: Path) -> Path:
    return save(folder, zipped({"team/a": b"f1 f1-1 1.5\n" * 100_000}))


@hostile("archive-limit", "--max-file")
def folder_with_10_gb(folder: Path) -> Path:
    root = unpack(folder)
    with (root / "team" / "scores").open("wb") as file:
        file.truncate(10_000_000_000)
    return root


@hostile("archive-limit", "--max-ratio")
def zip_bomb(folder: Path) -> Path:
    return save(folder, zipped({"team/a": bytes(ZEROS)}))


@hostile("archive-limit", "--max-ratio")
def zip_bomb_beside_a_large_file(folder: Path) -> Path:
    return save(folder, zipped({"team/a": bytes(8 << 20), "team/b": os.urandom(1 << 20)}))


for _name, _compress in COMPRESS.items():

    def _bomb(folder: Path, compress: Callable[[bytes], bytes] = _compress) -> Path:
        return save(folder, compress(tarred({"team/a": bytes(ZEROS)})))

    _bomb.__name__ = f"tar_bomb_{_name}"
    hostile("archive-limit", "--max-ratio")(_bomb)


@hostile("archive-limit", "--max-ratio")
def bomb_within_a_bomb(folder: Path) -> Path:
    """Each layer grows by less than the limit, both together by more."""
    inner = gzip.compress(tarred({"a": os.urandom(16 << 10) + bytes(2 << 20)}), mtime=0)
    return save(folder, gzip.compress(tarred({f"team/{i}": inner for i in range(20)}), mtime=0))


@hostile("archive-limit", "--max-ratio")
def folder_with_a_bomb(folder: Path) -> Path:
    return unpack(folder, {**FILES, "team/more": gzip.compress(tarred({"a": bytes(ZEROS)}))})


@hostile("archive-limit", "archives in archives, more than 1 deep")
def archives_three_deep(folder: Path) -> Path:
    return save(folder, zipped({"a.zip": zipped({"b.tar": tarred()})}))


@hostile("archive-limit", "--max-nesting", Limits(nesting=0))
def archive_in_an_archive(folder: Path) -> Path:
    return save(folder, zipped({"a.zip": zipped()}))


@hostile("archive-limit", "compressed 3 times")
def compressed_three_times(folder: Path) -> Path:
    content = tarred()
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        content = compress(content)
    return save(folder, content)


@hostile("archive-limit", "MiB of memory")
def xz_of_a_large_dictionary(folder: Path) -> Path:
    """One of 4 GB, said in one byte, with the header's checksum."""
    content = bytearray(lzma.compress(tarred(), preset=0))
    start, nbytes = 12, (content[12] + 1) * 4
    place = content.index(b"\x21\x01", start) + 2
    content[place] = 40
    end = start + nbytes - 4
    content[end : end + 4] = struct.pack("<I", zlib.crc32(content[start:end]))
    return save(folder, bytes(content))


@hostile("archive-limit", "MiB of memory")
def zstd_of_a_large_window(folder: Path) -> Path:
    """A window of 2 GB: a frame header, and one block as it is."""
    content = tarred()
    frame = b"\x28\xb5\x2f\xfd\0" + bytes([21 << 3])
    return save(folder, frame + struct.pack("<I", len(content) << 3 | 1)[:3] + content)


@hostile("archive-unreadable", "compressed streams")
def gzip_of_too_many_streams(folder: Path) -> Path:
    return save(folder, gzip.compress(b"", mtime=0) * 100_001)


# What is in an archive in an archive.


@hostile("archive-unreadable", "team/inner.zip: truncated")
def nested_and_cut(folder: Path) -> Path:
    return unpack(folder, {"team/inner.zip": zipped()[:-5]})


@hostile("archive-path", "leaves the archive")
def nested_name_that_leaves(folder: Path) -> Path:
    return save(folder, tarred({"team/inner.zip": zipped({"../x": b"1\n"})}))
