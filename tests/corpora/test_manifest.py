from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from harness.corpora.manifest import ROWS_AT_ONCE, is_file_name, read_manifest, write_manifest
from harness.errors import DataError

HEADER = (
    "utterance\tspeaker\tgender\tshard\toffset\tnbytes\tsamples\tsample_rate\tsha256\ttext\tnote\n"
)
ROWS = (
    "007\t03\tf\tc.tar\t512\t10\t4\t16000\t1e5\tNA\t\n"
    "ä-1\t1.0\tm\tc.tar\t1536\t11\t5\t16000\tff\tnull\tdc\n"
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.tsv"
    path.write_text(HEADER + ROWS, encoding="utf-8")
    return path


def test_text_stays_text_and_numbers_are_numbers(path: Path) -> None:
    manifest = read_manifest(path)
    # Names that pandas would take for numbers or for missing values.
    assert manifest["utterance"].tolist() == ["007", "ä-1"]
    assert manifest["speaker"].tolist() == ["03", "1.0"]
    assert manifest["sha256"].tolist() == ["1e5", "ff"]
    assert manifest["text"].tolist() == ["NA", "null"]
    assert manifest["note"].tolist() == ["", "dc"]
    assert manifest["offset"].tolist() == [512, 1536]
    assert (manifest[["offset", "nbytes", "samples", "sample_rate"]].dtypes == "int64").all()


def test_many_rows_are_read_in_pieces(path: Path) -> None:
    count = 2 * ROWS_AT_ONCE + 1
    # A column may look numeric in one piece and not in another.
    names = [f"{n:06d}" for n in range(count - 1)] + ["z"]
    row = "\ts\tf\tc.tar\t1\t1\t1\t16000\tff\t\t\n"
    path.write_text(HEADER + "".join(name + row for name in names))
    manifest = read_manifest(path)
    assert manifest["utterance"].tolist() == names
    assert manifest.index.tolist() == list(range(count))


def test_manifest_without_rows_is_read(path: Path) -> None:
    path.write_text(HEADER)
    manifest = read_manifest(path)
    assert len(manifest) == 0
    assert list(manifest.columns) == HEADER.split()


def test_written_again_it_is_the_same_file(path: Path, tmp_path: Path) -> None:
    write_manifest(read_manifest(path), tmp_path / "again.tsv")
    assert (tmp_path / "again.tsv").read_bytes() == path.read_bytes()


def test_rows_are_written_in_c_order(path: Path, tmp_path: Path) -> None:
    manifest = read_manifest(path)
    names = ["a-10", "a-1", "B", "a_1", "é", "z"]
    shuffled = pd.concat([manifest.head(1)] * len(names), ignore_index=True)
    shuffled["utterance"] = pd.Series(names, dtype="str")
    write_manifest(shuffled, tmp_path / "c.tsv")
    # As `LC_ALL=C sort` puts them.
    assert read_manifest(tmp_path / "c.tsv")["utterance"].tolist() == [
        "B",
        "a-1",
        "a-10",
        "a_1",
        "z",
        "é",
    ]


@pytest.mark.parametrize("column", ["utterance", "speaker", "text", "note"])
@pytest.mark.parametrize("bad", ["a\tb", "a\nb", "a\rb", 'a"b'])
def test_what_would_break_the_table_is_refused(
    path: Path, tmp_path: Path, column: str, bad: str
) -> None:
    manifest = read_manifest(path)
    manifest.loc[1, column] = bad
    with pytest.raises(DataError, match=f"the {column} holds a tab, a quote or a line end"):
        write_manifest(manifest, tmp_path / "bad.tsv")
    assert not (tmp_path / "bad.tsv").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a manifest: No columns"),
        (HEADER.replace("\tsha256", "").encode(), "columns missing: sha256"),
        (HEADER.encode() + b"a\ts\tf\tc.tar\tx\t1\t1\t16000\tff\t\t\n", "not a manifest"),
        (HEADER.encode() + b"a\ts\tf\tc.tar\t\t1\t1\t16000\tff\t\t\n", "not a manifest"),
        (
            HEADER.encode() + b"a\ts\tf\tc.tar\t1\t1\t1\t16000\tff\t\t\ttoo\tmany\n",
            "not a manifest",
        ),
        (HEADER.encode() + b"a\ts\tf\tc.tar\t1\t1\t1\t16000\tff\t\xff\t\n", "not a manifest"),
        (HEADER.encode() + b"a\ts\tf\tc.tar\t1\t1\t1\t16000\tff\t\t", "the last line is cut off"),
        ((HEADER + 2 * ROWS).encode(), "utterance '007' stands twice"),
    ],
)
def test_malformed_manifests_are_refused(path: Path, content: bytes, message: str) -> None:
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"manifest\.tsv: {message}"):
        read_manifest(path)


def test_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv: no such manifest"):
        read_manifest(tmp_path / "none.tsv")


@pytest.mark.parametrize("name", ["1089-134686-0000", "é.1", "语音", "a" * 200])
def test_names_that_files_can_have(name: str) -> None:
    assert is_file_name(name)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".a", "-a", "a/b", "/a", "a b", "a\tb", "a\nb", "a\0b", "a\u00a0b", "é" * 101],
)
def test_names_that_files_cannot_have(name: str) -> None:
    assert not is_file_name(name)


@pytest.mark.parametrize("shard", ["../../etc/passwd", "/etc/passwd", "", ".."])
def test_a_shard_is_a_file_beside_the_manifest(shard: str, path: Path) -> None:
    path.write_text(HEADER + ROWS.replace("c.tar", shard), encoding="utf-8")
    with pytest.raises(DataError, match="is no shard beside it"):
        read_manifest(path)
