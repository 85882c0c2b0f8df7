"""Sound archives of all kinds, and the register of those that are not (see `hostile`)."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from harness.errors import SubmissionError
from harness.submissions.archives.archive import open_submission
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
