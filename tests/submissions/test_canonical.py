"""Archives whose bytes are those of their files, and of nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.submissions.packing.canonical import write_tar_gz, write_zip, writer

FILES = {"b/é": b"2" * 5000, "a": b"1", "b/B": b"", "B": bytes(range(256)) * 300}


@pytest.mark.parametrize("name", ["s.zip", "s.tar.gz", "s.tgz", "S.ZIP"])
def test_order_and_name_do_not_matter(tmp_path: Path, name: str) -> None:
    first, second = tmp_path / name, tmp_path / f"other{name}"
    writer(first)(first, FILES)
    writer(second)(second, dict(reversed(FILES.items())))
    assert first.read_bytes() == second.read_bytes()


def test_zip(tmp_path: Path) -> None:
    write_zip(tmp_path / "z", FILES)
    with zipfile.ZipFile(tmp_path / "z") as archive:
        assert archive.namelist() == ["B", "a", "b/B", "b/é"]  # C order
        assert {name: archive.read(name) for name in archive.namelist()} == FILES
        for member in archive.infolist():
            assert member.date_time == (1980, 1, 1, 0, 0, 0)
            assert (member.external_attr >> 16, member.create_system) == (0o100644, 3)


def test_tar(tmp_path: Path) -> None:
    write_tar_gz(tmp_path / "t", FILES)
    # RFC 1952: magic, deflate, no flags (so no name), modification time 0.
    assert (tmp_path / "t").read_bytes()[:8] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00"
    with tarfile.open(tmp_path / "t") as archive:
        assert archive.getnames() == ["B", "a", "b/B", "b/é"]
        for member in archive:
            stream = archive.extractfile(member)
            assert stream is not None
            assert stream.read() == FILES[member.name]
            assert (member.mode, member.mtime) == (0o644, 315532800)
            assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", "")


def test_another_process_on_another_day_writes_the_same(tmp_path: Path) -> None:
    code = (
        "import time, sys, pathlib; time.time = lambda: 2e9\n"
        "from harness.submissions.packing.canonical import write_zip, write_tar_gz\n"
        "for write, path in zip((write_zip, write_tar_gz), map(pathlib.Path, sys.argv[1:])):\n"
        "    write(path, {'a': b'1' * 1000, 'b': b'2'})\n"
    )
    theirs = [str(tmp_path / "zip"), str(tmp_path / "tar")]
    environment = os.environ | {"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code, *theirs], check=True, env=environment)
    for write, path in zip((write_zip, write_tar_gz), theirs, strict=True):
        write(tmp_path / "ours", {"b": b"2", "a": b"1" * 1000})
        assert (tmp_path / "ours").read_bytes() == Path(path).read_bytes()


@pytest.mark.parametrize("name", ["s.rar", "s.tar", "zip", ".zip", "s"])
def test_kinds_of_archives(name: str) -> None:
    with pytest.raises(ConfigError, match="not a known kind of archive; end its name in .zip or"):
        writer(Path(name))
