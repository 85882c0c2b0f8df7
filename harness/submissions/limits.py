"""How much of a stranger's input is read. Every limit has an option of `harness verify`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.errors import ConfigError

MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """members: files in a submission. total, file: bytes after decompression, of all and of one.

    ratio: decompressed by compressed bytes. nesting: archives within archives. line: bytes.
    Real submissions of seven systems have 30 to 60 files of about 1 MB each.
    """

    members: int = 10_000
    total_mib: int = 256
    file_mib: int = 64
    ratio: int = 200
    nesting: int = 1
    line: int = 4096


def read_small(path: Path, limit: int, fix: str) -> bytes:
    """The whole of a small file that the caller named.

    fix: what kind of file to name. Raises ConfigError where it cannot be read, or has more than
    `limit` bytes.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read ({error.strerror})", where=path, fix=fix) from error
    if len(data) > limit:
        raise ConfigError(f"more than {limit:,} bytes", where=path, fix=fix)
    return data
