"""How much of a stranger's input is read. Every limit has an option of `harness verify`."""

from __future__ import annotations

from dataclasses import dataclass

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
