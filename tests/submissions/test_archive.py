"""Archives and folders give their members, and hostile ones their codes."""

from __future__ import annotations

import gzip
import hashlib
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import pytest
from hostile import HOSTILE
from packed import COMPRESS, FILES, SOUND, USUAL, info, save, tarred, unpack, zipped

from harness.errors import DataError, HarnessError, SubmissionError
from harness.submissions.archives.archive import open_submission
from harness.submissions.limits import MIB, Limits
from harness.submissions.model import Check

MOST = 1 << 30


def contents(path: Path, limits: Limits = USUAL) -> dict[str, bytes]:
    with open_submission(path, limits) as submission:
        assert submission.checks == ()
        return {member.path: member.read(MOST) for member in submission.members}


def refusal(path: Path, limits: Limits = USUAL) -> list[tuple[str, str]]:
    """Codes and lines of what is wrong, on opening or on reading."""
    try:
        with open_submission(path, limits) as submission:
            for member in submission.members:
                member.read(MOST)
            return [(c.code, f"{c.file}: {c.message}") for c in submission.checks]
    except SubmissionError as error:
        return [(error.code, str(error))]


@pytest.mark.parametrize("name", SOUND)
def test_every_kind_gives_the_same(name: str, tmp_path: Path) -> None:
    assert contents(save(tmp_path, SOUND[name]())) == FILES


def test_a_folder_gives_the_same(tmp_path: Path) -> None:
    assert contents(unpack(tmp_path)) == FILES


def test_name_hash_and_order(tmp_path: Path) -> None:
    content = zipped({"b": b"1", "B": b"", "a/é": b"", "a.b": b"22"}).replace(b"B", b"C")
    path = save(tmp_path, content)
    with open_submission(path, USUAL) as submission:
        assert submission.name == "submission"
        assert submission.sha256 == hashlib.sha256(content).hexdigest()
        assert [(m.path, m.nbytes) for m in submission.members] == [
            ("C", 0),
            ("a.b", 2),
            ("a/é", 0),
            ("b", 1),
        ]
    with open_submission(unpack(tmp_path / "folder"), USUAL) as submission:
        assert submission.sha256 is None


def test_a_member_is_read_again_and_by_lines(tmp_path: Path) -> None:
    with open_submission(save(tmp_path, SOUND["tar-zstd"]()), USUAL) as submission:
        member = next(m for m in submission.members if m.path == "team/exp/a/scores")
        with member.open() as one, member.open() as other:
            assert one.readline() == b"f1 f1-0000 0.5\n"
            assert other.read() == FILES[member.path]
            assert sum(1 for _ in one) == 499
        with pytest.raises(SubmissionError, match=r"team/exp/a/scores: more than 10 bytes"):
            member.read(10)


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_long_names_of_tar(form: int, tmp_path: Path) -> None:
    files = {f"{'f' * 90}/{'ü' * 45}/scores": b"1\n", f"{'d/' * 20}scores": b"2\n"}
    assert contents(save(tmp_path, tarred(files, form=form))) == files


def test_what_the_tar_command_writes(tmp_path: Path) -> None:
    root = unpack(tmp_path)
    for form in ("v7", "ustar", "oldgnu", "gnu", "pax"):
        path = tmp_path / f"{form}.tar"
        subprocess.run(["tar", f"--format={form}", "-cf", path, "-C", root, "."], check=True)
        assert contents(path) == FILES


def test_a_zip_of_unknown_sizes(tmp_path: Path) -> None:
    """Written to a pipe: the sizes stand behind the content."""
    with (tmp_path / "submission").open("wb") as file:
        file.seekable = lambda: False  # type: ignore[method-assign]
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in FILES.items():
                packed.writestr(name, content)
    assert contents(tmp_path / "submission") == FILES


def test_a_zip_with_fields_of_64_bits(tmp_path: Path) -> None:
    path = tmp_path / "submission"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in FILES.items():
            with packed.open(name, "w", force_zip64=True) as member:
                member.write(content)
    assert contents(path) == FILES
    content = path.read_bytes()
    # The end record of 64 bits, its locator, and a plain end record that refers to them.
    end = zipfile.ZipFile(path)
    start, nbytes = end.start_dir, len(content) - 22 - end.start_dir
    end.close()
    large = struct.pack(
        "<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, len(FILES), len(FILES), nbytes, start
    )
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, len(content) - 22, 1)
    small = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(content[:-22] + large + locator + small)
    with zipfile.ZipFile(path) as oracle:
        assert oracle.namelist() == list(FILES)
    assert contents(path) == FILES


def test_a_member_with_sizes_of_64_bits(tmp_path: Path) -> None:
    content = zipped({"team/EER": FILES["team/EER"]}, zipfile.ZIP_STORED)
    start = content.index(b"PK\1\2")
    record = bytearray(content[start:-22])
    # Both sizes and the place of the member; a field of another kind stands before theirs.
    record[20:28] = b"\xff" * 8
    record[42:46] = b"\xff" * 4
    extra = struct.pack("<2HI", 0x7875, 4, 7) + struct.pack("<2H3Q", 1, 24, 7, 7, 0)
    record[30:32] = struct.pack("<H", len(extra))
    record += extra
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(record), start, 0)
    path = save(tmp_path, content[:start] + bytes(record) + end)
    with zipfile.ZipFile(path) as oracle:
        assert oracle.read("team/EER") == FILES["team/EER"]
    assert contents(path) == {"team/EER": FILES["team/EER"]}


def test_a_zip_that_looks_far_back(tmp_path: Path) -> None:
    files = {"team/a": 2 * hashlib.shake_256(b"far").digest(100_000)}
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        assert contents(save(tmp_path, zipped(files, method))) == files


def test_names_of_old_zips(tmp_path: Path) -> None:
    """Without the mark of UTF-8, a name that is none is in the first IBM PC's characters."""
    content = zipped({"team/xx": b"1\n"})
    assert list(contents(save(tmp_path, content.replace(b"xx", "é".encode())))) == ["team/é"]
    assert list(contents(save(tmp_path, content.replace(b"xx", b"x\x82")))) == ["team/xé"]


def test_what_systems_leave_behind_is_skipped(tmp_path: Path) -> None:
    left = {
        "__MACOSX/team/._EER": b"1",
        "team/.DS_Store": b"1",
        "team/._scores": b"1",
        "team/Thumbs.db": b"1",
        "team/desktop.ini": b"1",
    }
    assert contents(save(tmp_path, zipped(left | FILES))) == FILES
    assert contents(unpack(tmp_path / "folder", left | FILES)) == FILES


def test_padding_and_joined_streams(tmp_path: Path) -> None:
    content = tarred()
    for compress in COMPRESS.values():
        joined = compress(content[:1000]) + compress(content[1000:]) + bytes(100)
        assert contents(save(tmp_path, joined)) == FILES
    skipped = struct.pack("<2I", 0x184D2A50, 4) + b"skip"
    assert contents(save(tmp_path, skipped + COMPRESS["zstd"](content))) == FILES


def test_archives_in_archives_are_opened_like_folders(tmp_path: Path) -> None:
    outer = {"team/a.bin": SOUND["tar-xz"](), "team/b.bin": zipped(), "team/c.bin": tarred()}
    expected = {f"{name}/{path}": c for name in outer for path, c in FILES.items()}
    assert contents(save(tmp_path, zipped(outer))) == expected
    assert contents(save(tmp_path, tarred(outer))) == expected
    assert contents(save(tmp_path, gzip.compress(tarred(outer)))) == expected
    assert contents(unpack(tmp_path / "folder", outer)) == expected
    deeper = zipped({"x": zipped({"y": tarred({"z": b"1"})})})
    assert contents(save(tmp_path, deeper), Limits(nesting=2)) == {"x/y/z": b"1"}


def test_what_is_only_like_an_archive_stays_a_member(tmp_path: Path) -> None:
    files = {
        "scores.gz": gzip.compress(b"f1 f1-1 1.5\n"),
        "broken.gz": b"\x1f\x8b\x08 broken",
        "description.docx": zipped({"[Content_Types].xml": b"<a/>", "word/a.zip": zipped()}),
        "embeddings.npz": zipped({"x.npy": b"\x93NUMPY"}),
    }
    assert contents(save(tmp_path, zipped(files))) == files


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name: str, tmp_path: Path) -> None:
    one = HOSTILE[name]
    found = refusal(one.write(tmp_path), one.limits)
    assert [code for code, _ in found] == [one.code]
    assert one.said in found[0][1]
    assert found[0][1].isprintable()


def test_faults_are_counted_and_nothing_is_trusted(tmp_path: Path) -> None:
    bad = [info(name) for name in ("../x", "/y", "team/ok")]
    links = [info(f"team/l{i}", kind=tarfile.SYMTYPE) for i in range(3)]
    with open_submission(save(tmp_path, tarred(FILES, *bad, *links)), USUAL) as submission:
        assert submission.members == ()
        assert submission.checks == (
            Check("archive-path", "a name that leaves the archive by ..", "../x", count=2),
            Check("archive-link", "a link", "team/l0", count=3),
        )


def test_folders_that_differ_in_case_are_no_fault(tmp_path: Path) -> None:
    files = {"asv_B3/scores": b"1\n", "ASV_b3/EER": b"2\n"}
    assert contents(save(tmp_path, zipped(files))) == files


def test_limits_are_raised_by_their_options(tmp_path: Path) -> None:
    path = save(tmp_path, zipped({"team/a": bytes(2 * MIB)}))
    assert refusal(path)[0][0] == "archive-limit"
    assert contents(path, Limits(ratio=2000)) == {"team/a": bytes(2 * MIB)}
    # Beyond all numbers of places in a file, whatever somebody allows.
    huge = HOSTILE["tar_with_a_size_beyond_numbers"].write(tmp_path)
    assert (
        "truncated"
        in refusal(huge, Limits(file_mib=1 << 80, total_mib=1 << 80, ratio=1 << 80))[0][1]
    )
    # Little is no bomb, however much it grows.
    assert contents(save(tmp_path, zipped({"team/a": bytes(MIB)}))) == {"team/a": bytes(MIB)}


def test_no_submission_at_all(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing: no submission can be read here \(No such file"):
        contents(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe: a submission is a file or a folder"):
        contents(tmp_path / "pipe")
    with pytest.raises(DataError, match="null byte"):
        contents(tmp_path / "a\0b")


@pytest.mark.parametrize("change", ["longer", "gone", "link", "pipe", "other"])
def test_a_folder_that_changes(change: str, tmp_path: Path) -> None:
    root = unpack(tmp_path)
    file = root / "team" / "EER"
    with open_submission(root, USUAL) as submission:
        member = next(m for m in submission.members if m.path == "team/EER")
        file.rename(root / "before")
        if change == "longer":
            (root / "before").rename(file)
            with file.open("ab") as more:
                more.write(b"1\n")
        elif change == "link":
            file.symlink_to("/etc/passwd")
        elif change == "pipe":
            os.mkfifo(file)
        elif change == "other":
            file.write_bytes(FILES["team/EER"])
        with pytest.raises(SubmissionError, match=r"team/EER: (changed|cannot be read)"):
            member.read(MOST)


def test_a_folder_replaced_by_a_link(tmp_path: Path) -> None:
    root = unpack(tmp_path)
    with open_submission(root, USUAL) as submission:
        (root / "team").rename(tmp_path / "elsewhere")
        (root / "team").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(SubmissionError, match="team/EER: cannot be read"):
            submission.members[0].read(MOST)


def test_an_archive_cut_while_it_is_read(tmp_path: Path) -> None:
    path = save(tmp_path, tarred())
    with open_submission(path, USUAL) as submission:
        os.truncate(path, 600)
        with pytest.raises(SubmissionError, match="truncated: [0-9,]+ bytes are missing"):
            submission.members[-1].read(MOST)


def test_files_without_permission() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = unpack(Path(folder))
        os.chmod(folder, 0o755)
        os.chmod(root / "team" / "EER", 0)
        # Root may read everything, so be somebody else for a while.
        before = os.geteuid()
        os.seteuid(before or 65534)
        try:
            found = refusal(root)
            os.seteuid(before)
            os.chmod(root / "team", 0)
            os.seteuid(before or 65534)
            found += refusal(root)
        finally:
            os.seteuid(before)
            os.chmod(root / "team", 0o755)
    assert [code for code, _ in found] == ["archive-unreadable"] * 2
    assert "team/EER: cannot be read (Permission denied)" in found[0][1]
    assert "submission/team/: cannot be read (Permission denied)" in found[1][1]


def test_nothing_is_written_but_one_file_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, scratch, sent = tmp_path / "here", tmp_path / "scratch", tmp_path / "sent"
    for folder in (here, scratch, sent):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    writers = [(one.write, one.limits) for one in HOSTILE.values()]
    writers += [(lambda f, c=c: save(f, c()), USUAL) for c in SOUND.values()]
    for i, (write, limits) in enumerate(writers):
        place = sent / str(i)
        place.mkdir()
        path = write(place)
        before = sorted(place.rglob("*"))
        try:
            with open_submission(path, limits) as submission:
                assert list(scratch.iterdir()) == []
                for member in submission.members:
                    member.read(MOST)
        except HarnessError:
            pass
        assert sorted(place.rglob("*")) == before
    assert list(here.iterdir()) == []
    assert list(scratch.iterdir()) == []
    assert sorted(tmp_path.iterdir()) == sorted([here, scratch, sent])


MEASURE = """
import sys
from pathlib import Path
from harness.errors import SubmissionError
from harness.submissions.archives.archive import open_submission
from harness.submissions.limits import Limits

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) >> 10

import bz2, lzma, zstandard
before = peak()
limits = Limits(*map(int, sys.argv[1].split(",")))
for path in map(Path, sys.argv[2:]):
    try:
        with open_submission(path, limits) as submission:
            for member in submission.members:
                with member.open() as stream:
                    while stream.read(1 << 16):
                        pass
    except SubmissionError as error:
        assert error.code == "archive-limit", error
    assert peak() - before < 48, f"{path} takes {peak() - before} MiB"
print(peak() - before)
"""


def measure(limits: tuple[int, ...], paths: list[Path]) -> None:
    """In a process of its own: its peak is that of these archives. Raises if it is too high."""
    given = [",".join(map(str, limits)), *map(str, paths)]
    done = subprocess.run([sys.executable, "-c", MEASURE, *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_memory_of_what_is_refused(tmp_path: Path) -> None:
    paths = []
    for name, one in HOSTILE.items():
        if one.code == "archive-limit" and one.limits == USUAL:
            (tmp_path / name).mkdir()
            paths.append(one.write(tmp_path / name))
    assert len(paths) > 12
    measure((USUAL.members, USUAL.total_mib, USUAL.file_mib, USUAL.ratio), paths)


def test_memory_of_what_is_read(tmp_path: Path) -> None:
    """With limits as high as somebody may set them, memory does not follow."""
    zeros = bytes(96 << 20)
    paths = []
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        paths.append(tmp_path / f"zip{method}")
        paths[-1].write_bytes(zipped({"team/a": zeros}, method))
    for name, compress in COMPRESS.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(compress(tarred({"team/a": zeros})))
    measure((10_000, 4096, 4096, 1_000_000_000), paths)
