"""Members of names and kinds that have no place in a submission."""

from __future__ import annotations

import io
import os
import socket
import tarfile
import zipfile
from pathlib import Path

from packed import FILES, hostile, info, save, tarred, unpack, zipped

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
