"""Files are absent or whole, whatever happens while they are written."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import AudioError, ResourceError
from harness.runtime.files import (
    code_fingerprint,
    disk_errors,
    fingerprint,
    finished_folder,
    require_space,
    sha256_bytes,
    sha256_file,
    whole_file,
    work_folder,
    working,
    write_bytes,
    write_text,
)

# FIPS 180-2, appendix B.1.
SHA256_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
# Writes all of a file or folder and dies just before the rename.
DYING = """
import os, signal, sys
from pathlib import Path
from harness.runtime import files
target = Path(sys.argv[2])
if sys.argv[1] == "file":
    with files.whole_file(target) as temporary:
        temporary.write_text("new")
        os.kill(os.getpid(), signal.SIGKILL)
with files.finished_folder(target, Path(sys.argv[3])) as work:
    files.write_text(work / "first", "1")
    with files.whole_file(work / "second") as temporary:
        temporary.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
"""
# Stays in the work until its input ends.
HOLDING = """
import sys
from pathlib import Path
from harness.runtime import files
with files.finished_folder(Path(sys.argv[1]), Path(sys.argv[2])) as work:
    print("working", flush=True)
    sys.stdin.read()
    files.write_text(work / "new", "new")
"""


def killed(*arguments: object) -> None:
    done = subprocess.run([sys.executable, "-c", DYING, *map(str, arguments)], timeout=60)
    assert done.returncode == -signal.SIGKILL


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_hashes(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    assert sha256_bytes(b"abc") == sha256_file(path) == SHA256_ABC
    large = bytes(range(256)) * 10_000
    path.write_bytes(large)
    assert sha256_file(path) == hashlib.sha256(large).hexdigest()


def test_fingerprint_ignores_the_order_of_keys_only() -> None:
    assert fingerprint({"a": 1, "b": [2, 3]}) == fingerprint({"b": [2, 3], "a": 1})
    assert fingerprint({"a": [2, 3]}) != fingerprint({"a": [3, 2]})
    assert fingerprint("abc") == sha256_bytes(b'"abc"')


def test_write_replaces_and_makes_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "f.txt"
    write_text(path, "é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    write_bytes(path, b"2")
    assert content(tmp_path) == {"a/b/f.txt": "2"}


def test_reader_of_the_old_file_is_not_disturbed(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with path.open() as reader:
        write_text(path, "new")
        assert reader.read() == "old"
    assert path.read_text() == "new"


def test_error_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with pytest.raises(AudioError, match="told to fail"), whole_file(path) as temporary:
        temporary.write_text("half")
        assert path.read_text() == "old"
        raise AudioError("told to fail")
    assert content(tmp_path) == {"f": "old"}


def test_kill_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    killed("file", path)
    assert path.read_text() == "old"
    write_text(path, "newer")
    assert path.read_text() == "newer"


def test_killed_folder_goes_on_with_what_is_whole(tmp_path: Path) -> None:
    target, work = tmp_path / "out", tmp_path / "work"
    killed("folder", target, work)
    assert not target.exists()
    assert (work / "first").read_text() == "1"
    assert not (work / "second").exists()
    with finished_folder(target, work) as folder:
        assert (folder / "first").read_text() == "1"
        write_text(folder / "sub" / "second", "2")
        (folder / "sub" / ".third.7.part").write_text("half")
    assert content(target) == {"first": "1", "sub/second": "2"}
    assert not work.exists()


@pytest.mark.parametrize("old", ["folder", "file", "link"])
def test_target_is_replaced_as_a_whole(tmp_path: Path, old: str) -> None:
    target, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("kept")
    if old == "folder":
        shutil.copytree(elsewhere, target)
    elif old == "file":
        target.write_text("x")
    else:
        target.symlink_to(elsewhere)
    with finished_folder(target, tmp_path / "work") as work:
        write_text(work / "new", "new")
    assert content(target) == {"new": "new"}
    assert not target.is_symlink()
    assert content(elsewhere) == {"kept": "kept"}


def test_error_leaves_the_old_folder(tmp_path: Path) -> None:
    target, work = tmp_path / "out", tmp_path / "work"
    write_text(target / "old", "old")
    with pytest.raises(AudioError, match="told to fail"), finished_folder(target, work) as folder:
        write_text(folder / "first", "1")
        raise AudioError("told to fail")
    assert content(target) == {"old": "old"}
    assert content(work) == {"first": "1"}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no second file system")
def test_work_on_another_file_system(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        if os.stat(other).st_dev == tmp_path.stat().st_dev:
            pytest.skip("no second file system")
        write_text(tmp_path / "out" / "old", "old")
        with finished_folder(tmp_path / "out", Path(other, "work")) as work:
            write_text(work / "new", "new")
        assert content(tmp_path) == {"out/new": "new"}
        assert not Path(other, "work").exists()


def test_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with (
        pytest.raises(ResourceError, match=f"{path}: no space left on the disk; free some space"),
        whole_file(path) as temporary,
    ):
        # Every write to this device fails as on a full disk.
        temporary.symlink_to("/dev/full")
        temporary.write_bytes(b"new")
    assert content(tmp_path) == {"f": "old"}


def test_limit_on_the_size_of_files(tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from pathlib import Path\n"
        "from harness.errors import ResourceError\n"
        "from harness.runtime.files import write_bytes\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n"
        "    write_bytes(Path(sys.argv[1]), bytes(2000))\n"
        "except ResourceError as error:\n"
        "    sys.exit(str(error))\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, tmp_path / "f"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    expected = f"{tmp_path / 'f'}: larger than the disk or `ulimit -f` allows; raise the limit"
    assert done.stderr.strip() == expected
    assert content(tmp_path) == {}


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A folder that this process may not write to, for root not either."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65_534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_read_only_folder(read_only: Path) -> None:
    with pytest.raises(ResourceError, match=r"f\..*part: no permission; check its owner and mode"):
        write_text(read_only / "f", "x")
    with pytest.raises(ResourceError, match=f"{read_only / 'sub'}: no permission"):
        write_text(read_only / "sub" / "f", "x")


def test_file_that_cannot_be_read_is_named_not_the_output(tmp_path: Path) -> None:
    denied = PermissionError(errno.EACCES, "Permission denied", "/speech/a.flac")
    with (
        pytest.raises(ResourceError, match=r"^/speech/a\.flac: no permission"),
        finished_folder(tmp_path / "out", tmp_path / "work"),
    ):
        raise denied


def test_other_system_errors_pass_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="gone"), disk_errors(tmp_path):
        (tmp_path / "gone").read_bytes()


def test_work_folder_belongs_to_what_is_made() -> None:
    one = work_folder("train", {"seed": 1})
    assert one == work_folder("train", {"seed": 1})
    assert one.parent == Path(".work/train")
    assert one != work_folder("train", {"seed": 2})


def test_code_fingerprint_follows_the_package() -> None:
    assert code_fingerprint() == code_fingerprint()
    assert len(code_fingerprint()) == 64


@pytest.mark.parametrize("end", ["finished", "killed"])
def test_one_process_at_a_time_works_in_a_folder(tmp_path: Path, end: str) -> None:
    target, work = tmp_path / "out", tmp_path / "unfinished" / "work"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING, target, work],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "working\n"
        with (
            pytest.raises(
                ResourceError,
                match=f"^{work}: another process is doing this work; wait for it or stop it$",
            ),
            finished_folder(target, work),
        ):
            pytest.fail("two processes are in the same work")
        # Other work beside it, and work inside it, go on.
        with working(work.with_name("other")), working(work / "part"):
            assert not target.exists()
        if end == "killed":
            other.kill()
        else:
            other.communicate("")
    if end == "finished":
        assert content(tmp_path) == {"out/new": "new"}
    with finished_folder(target, work) as folder:
        write_text(folder / "newer", "newer")
    assert content(tmp_path) == {"out/newer": "newer"}, "a lock is left behind"
    assert not list((tmp_path / "unfinished").iterdir())


def test_a_lock_deleted_while_it_was_opened_is_not_taken_for_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / ".work.lock"
    opened = os.open
    times = []

    def open_and_lose(path: Path, *arguments: int) -> int:
        descriptor = opened(path, *arguments)
        times.append(path)
        if len(times) < 3:
            lock.unlink()
        if len(times) == 2:
            os.close(opened(lock, os.O_RDWR | os.O_CREAT))
        return descriptor

    monkeypatch.setattr("harness.runtime.files.os.open", open_and_lose)
    with working(tmp_path / "work"):
        assert times == [lock] * 3
        with pytest.raises(ResourceError, match="another process"), working(tmp_path / "work"):
            pytest.fail("the lock was taken twice")
    assert not lock.exists()


@pytest.mark.parametrize(
    ("free", "needed", "text"),
    [
        (1_500_000_000, 20_000_000_000, "1.5 GB free, 20.0 GB needed"),
        (999, 2_000_000, "999 B free, 2.0 MB needed"),
        (4_200, 5_000, "4.2 kB free, 5.0 kB needed"),
    ],
)
def test_too_little_space_is_told_in_units_that_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, needed: int, text: str
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr("harness.runtime.files.shutil.disk_usage", lambda path: usage)
    with pytest.raises(ResourceError, match=f"{text}; free some space"):
        require_space(tmp_path / "later", needed)
    require_space(tmp_path / "later", free)
