"""Archives that depend on nothing but the names and contents of their files.

Members are sorted; time, owner and mode are the same for all; the compression is fixed. So the same
files make the same bytes, whenever and wherever they are packed (with the same zlib).
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.errors import ConfigError

# The first moment that zip can express.
DATE = (1980, 1, 1, 0, 0, 0)
MTIME = 315_532_800  # the same in UTC, as seconds since 1970
MODE = 0o644
REGULAR = 0o100000
UNIX = 3
LEVEL = 6

Files = Mapping[str, bytes]


def write_zip(path: Path, files: Files) -> None:
    """A zip of files: content by path."""
    with zipfile.ZipFile(path, "w") as archive:
        for name in _sorted(files):
            member = zipfile.ZipInfo(name, DATE)
            member.create_system = UNIX
            member.external_attr = (REGULAR | MODE) << 16
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, files[name], zipfile.ZIP_DEFLATED, LEVEL)


def write_tar_gz(path: Path, files: Files) -> None:
    """A tar, compressed by gzip, of files: content by path."""
    with (
        path.open("wb") as stream,
        gzip.GzipFile("", "wb", LEVEL, stream, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in _sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            member.mtime = MTIME
            member.mode = MODE
            archive.addfile(member, io.BytesIO(files[name]))


WRITERS: dict[str, Callable[[Path, Files], None]] = {
    ".zip": write_zip,
    ".tar.gz": write_tar_gz,
    ".tgz": write_tar_gz,
}


def writer(path: Path) -> Callable[[Path, Files], None]:
    """What writes an archive of the path's suffix. Raises ConfigError for another suffix."""
    for suffix, write in WRITERS.items():
        if path.name.lower().endswith(suffix) and len(path.name) > len(suffix):
            return write
    raise ConfigError(
        "not a known kind of archive", where=path, fix=f"end its name in {' or '.join(WRITERS)}"
    )


def _sorted(files: Files) -> list[str]:
    return sorted(files, key=lambda name: name.encode())
