"""Files and folders that are either absent or whole.

A reader never sees a half-written file: content goes to a temporary name in the same folder, is
flushed to disk, and renamed. A long piece of work builds its folder under `.work/`, keyed by a
fingerprint of everything that determines it, so that a run that was killed finds what it finished.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.errors import ResourceError

CHUNK_BYTES = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """SHA-256 of some bytes, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's content, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def fingerprint(value: Any) -> str:
    """SHA-256 of a JSON-serialisable value, independent of the order of its keys."""
    return sha256_bytes(json.dumps(value, sort_keys=True, ensure_ascii=True).encode())


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn a full disk, a limit or a missing permission into one clear line.

    path: what was to be written; named unless the system names the file that failed, which may be
    one that was read.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise ResourceError(
                "no space left on the disk", where=path, fix="free some space and run again"
            ) from error
        if error.errno == errno.EFBIG:
            raise ResourceError(
                "larger than the disk or `ulimit -f` allows", where=path, fix="raise the limit"
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise ResourceError(
                "no permission", where=error.filename or path, fix="check its owner and mode"
            ) from error
        raise


def require_space(path: Path, nbytes: int) -> None:
    """Raise ResourceError now, not after hours, when the disk of `path` lacks `nbytes`."""
    existing = path.absolute()
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    if free < nbytes:
        raise ResourceError(
            f"{_readable(free)} free, {_readable(nbytes)} needed",
            where=path,
            fix="free some space and run again",
        )


def _readable(nbytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= size:
            return f"{nbytes / size:.1f} {unit}"
    return f"{nbytes} B"


def fsync_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path; rename it to `path` when the block ends without an error."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            yield temporary
            with temporary.open("rb+") as stream:
                os.fsync(stream.fileno())
            temporary.replace(path)
            fsync_folder(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text with LF line ends, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


@contextmanager
def working(work: Path) -> Iterator[None]:
    """Keep other processes out of the folder `work` while the block runs.

    Raises ResourceError at once when another process is in such a block. The lock, a file beside
    `work`, is gone at the end, and open to all when its holder is killed.
    """
    lock = work.with_name(f".{work.name}.lock")
    lock.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _locked(lock, work)
    try:
        yield
    finally:
        # Deleted while it is held: whoever has it open already finds it deleted, see `_locked`.
        lock.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(lock: Path, work: Path) -> int:
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                return descriptor
        except BlockingIOError as error:
            os.close(descriptor)
            raise ResourceError(
                "another process is doing this work", where=work, fix="wait for it or stop it"
            ) from error
        except FileNotFoundError:
            pass
        # Its holder deleted it between our opening and our locking it: take a new one.
        os.close(descriptor)


@contextmanager
def finished_folder(target: Path, work: Path) -> Iterator[Path]:
    """Yield the folder `work` to build in; move it to `target` when the block ends without error.

    What the block finds in `work` is what an earlier run, killed, had finished; files that it left
    half-written (`.*.part`, see `whole_file`) are deleted at the end. `target` is replaced as a
    whole. Raises ResourceError when another process is building in `work`.
    """
    with disk_errors(target), working(work):
        work.mkdir(parents=True, exist_ok=True)
        yield work
        for leftover in work.rglob(".*.part"):
            leftover.unlink()
        target.parent.mkdir(parents=True, exist_ok=True)
        if work.stat().st_dev != target.parent.stat().st_dev:
            # Between file systems a move is a copy: make it one under another name first.
            staged = target.with_name(f".{target.name}.moving")
            shutil.rmtree(staged, ignore_errors=True)
            work = Path(shutil.move(work, staged))
        if target.is_symlink() or target.is_file():
            target.unlink()
        elif target.exists():
            shutil.rmtree(target)
        work.rename(target)
        fsync_folder(target.parent)


def work_folder(stage: str, identity: Any, root: Path = Path(".work")) -> Path:
    """Folder for the unfinished work of a stage; another identity gets another folder."""
    return root / stage / fingerprint(identity)[:16]


def folder_fingerprint(folder: Path) -> str:
    """SHA-256 over the names and contents of all files below a folder."""
    return fingerprint(
        {
            path.relative_to(folder).as_posix(): sha256_file(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    )


def code_fingerprint() -> str:
    """SHA-256 over the package's source: unfinished work of other code is not continued."""
    package = Path(__file__).resolve().parent.parent
    return fingerprint(
        {
            str(path.relative_to(package)): sha256_file(path)
            for path in sorted(package.rglob("*"))
            if path.suffix in (".py", ".yaml", ".tsv")
        }
    )
