from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import soundfile

from harness.corpora.check import Problem, check
from harness.corpora.manifest import read_manifest, to_text, write_manifest
from harness.corpora.store import Made, Utterance, build, encode, partition
from harness.runtime.files import sha256_bytes
from harness.runtime.pool import Pool

SAMPLES = 4_000


def make(utterance: Utterance) -> Made:
    seed = int(utterance.utterance[1:])
    samples = np.random.default_rng(seed).integers(-9000, 9000, SAMPLES)
    return Made(samples.astype(np.int16), {"note": ""})


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    names = [f"u{number:03d}" for number in range(6)]
    made = [Utterance(n, f"s{i % 2}", "fm"[i % 2], "", SAMPLES, None) for i, n in enumerate(names)]
    build(tmp_path / "c", partition(made, 0.75), make, work=tmp_path / "w", pool=Pool(1))
    return tmp_path / "c"


def change(corpus: Path, edit: Callable[[pd.DataFrame], object]) -> None:
    manifest = read_manifest(corpus / "manifest.tsv")
    edit(manifest)
    # Not write_manifest, which would sort it.
    (corpus / "manifest.tsv").write_text(to_text(manifest), encoding="utf-8")


def codes(problems: list[Problem]) -> list[str]:
    return [problem.code for problem in problems]


def put(column: str, value: object, *rows: int) -> Callable[[pd.DataFrame], None]:
    def edit(manifest: pd.DataFrame) -> None:
        manifest.loc[list(rows), column] = value

    return edit


@pytest.mark.parametrize("decode", [False, True])
def test_sound_corpus_has_no_problem(corpus: Path, decode: bool) -> None:
    assert check(corpus, decode) == []


def test_missing_corpus_is_a_problem(tmp_path: Path) -> None:
    (problem,) = check(tmp_path / "none")
    assert problem.code == "manifest"
    assert "no such manifest" in str(problem)


def test_malformed_manifest_is_a_problem(corpus: Path) -> None:
    (corpus / "manifest.tsv").write_text("utterance\tspeaker\na\tb\n")
    (problem,) = check(corpus)
    assert (problem.code, problem.where) == ("manifest", str(corpus / "manifest.tsv"))


@pytest.mark.parametrize(
    ("column", "value", "rows", "code", "message"),
    [
        ("gender", "x", (1, 2), "gender", "neither f nor m"),
        ("gender", "m", (0,), "gender", "utterances of both genders"),
        ("speaker", "", (3,), "speaker", "no speaker's name"),
        ("speaker", "a b", (0,), "speaker", "no speaker's name"),
        ("utterance", "z/../z", (5,), "id", "cannot be a file's name"),
        ("utterance", "z", (2,), "order", "not in C order"),
        ("sample_rate", 44_100, (1,), "rate", "the rate is not 16000 Hz"),
        ("samples", 0, (1,), "rate", "no samples"),
        ("sha256", "1234", (1,), "hash", "not 64 hexadecimal digits"),
        ("offset", -1, (0,), "place", "lies outside its shard"),
        ("nbytes", 10**9, (2,), "place", "lies outside its shard"),
        ("nbytes", 0, (1,), "place", "lies outside its shard"),
        ("offset", 2**63 - 1, (5,), "place", "lies outside its shard"),
        ("nbytes", 2**63 - 1, (5,), "place", "lies outside its shard"),
        ("nbytes", 9_000, (0,), "place", "overlaps"),
    ],
)
def test_faults_of_metadata_are_found_without_decoding(
    corpus: Path, column: str, value: object, rows: tuple[int, ...], code: str, message: str
) -> None:
    change(corpus, put(column, value, *rows))
    problem, *others = check(corpus)
    assert problem.code == code
    assert message in problem.message
    # A file in the shard still has the name that the manifest had.
    assert set(codes(others)) == ({"member"} if column == "utterance" else set())
    assert problem.count == (3 if "both" in message else len(rows))


def test_missing_and_foreign_shards_are_problems(corpus: Path) -> None:
    (corpus / "c-000000.tar").rename(corpus / "c-000009.tar")
    problems = check(corpus, decode=True)
    assert [(one.code, Path(one.where).name) for one in problems] == [
        ("shard", "c-000000.tar"),
        ("shard", "c-000009.tar"),
    ]


@pytest.mark.parametrize("decode", [False, True])
def test_rows_that_are_missing_from_the_manifest(corpus: Path, decode: bool) -> None:
    path = corpus / "manifest.tsv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:1] + lines[2:3] + lines[4:]), encoding="utf-8")
    (problem,) = check(corpus, decode)
    assert (problem.code, problem.count) == ("member", 2)
    assert problem.where == f"{corpus / 'c-000000.tar'}: 'u000.flac'"
    assert problem.message == "is not in the manifest as it is stored"
    path.write_text(lines[0], encoding="utf-8")
    (problem,) = check(corpus, decode)
    assert (problem.code, problem.message) == (
        "manifest",
        "names no utterance; make the corpus again",
    )


def test_row_that_is_not_as_stored(corpus: Path) -> None:
    size = int(read_manifest(corpus / "manifest.tsv")["nbytes"][4])
    change(corpus, put("nbytes", size - 1, 4))
    missing, surplus = check(corpus)
    assert missing.where == surplus.where == f"{corpus / 'c-000001.tar'}: 'u004.flac'"
    assert missing.message == "is not in the shard as the manifest says"


def test_shard_that_is_no_archive(corpus: Path) -> None:
    shard = corpus / "c-000001.tar"
    shard.write_bytes(bytes(range(256)) * (shard.stat().st_size // 256))
    (problem,) = check(corpus)
    assert (problem.code, problem.where) == ("member", str(shard))
    assert "not a whole tar archive" in problem.message


def test_absurd_place_is_not_read(corpus: Path) -> None:
    change(corpus, put("nbytes", 2**62, 5))
    assert codes(check(corpus, decode=True)) == ["place", "audio"]


def test_number_beyond_64_bits_is_a_problem(corpus: Path) -> None:
    path = corpus / "manifest.tsv"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    fields = lines[1].split("\t")
    fields[4] = "99999999999999999999"
    path.write_text("".join([lines[0], "\t".join(fields), *lines[2:]]), encoding="utf-8")
    (problem,) = check(corpus)
    assert problem.code == "manifest"
    assert "not a manifest" in problem.message


def test_shard_outside_the_corpus_is_not_read(corpus: Path) -> None:
    outside = (corpus / "c-000001.tar").rename(corpus.parent / "outside.tar")
    assert outside.is_file()
    change(corpus, put("shard", "../outside.tar", 3, 4, 5))
    (problem,) = check(corpus, decode=True)
    assert problem.code == "manifest"
    assert problem.message == "'../outside.tar' is no shard beside it; make the corpus again"


def test_cut_shard_is_found_without_decoding(corpus: Path) -> None:
    shard = corpus / "c-000001.tar"
    shard.write_bytes(shard.read_bytes()[:12_000])
    (problem,) = check(corpus)
    assert problem.code == "place"
    assert "u004" in problem.where


def test_changed_byte_is_found_by_decoding_only(corpus: Path) -> None:
    row = read_manifest(corpus / "manifest.tsv").iloc[4]
    shard = corpus / row["shard"]
    content = bytearray(shard.read_bytes())
    content[row["offset"] + 1_000] ^= 1
    shard.write_bytes(content)
    assert check(corpus) == []
    (problem,) = check(corpus, decode=True)
    assert problem.code == "audio"
    assert "c-000001.tar: utterance 'u004'" in problem.where
    assert "stored audio differs" in problem.message


@pytest.mark.parametrize(("workers"), [1, 2])
def test_number_of_workers_changes_nothing(corpus: Path, workers: int) -> None:
    change(corpus, put("samples", 4_001, 1, 4))
    with Pool(workers) as pool:
        problems = check(corpus, decode=True, pool=pool)
    assert [(one.code, one.where[-6:], one.message) for one in problems] == [
        ("audio", "'u001'", "4000 samples of 1 channels at 16000 Hz, not 4001 of 1 at 16000 Hz"),
        ("audio", "'u004'", "4000 samples of 1 channels at 16000 Hz, not 4001 of 1 at 16000 Hz"),
    ]


def store_bytes(folder: Path, data: bytes) -> Path:
    """A corpus of one utterance whose bytes are what they are, correctly recorded."""
    folder.mkdir()
    info = tarfile.TarInfo("u.flac")
    info.size = len(data)
    with tarfile.open(folder / "c.tar", "w", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(info, io.BytesIO(data))
    row = ("u", "s", "f", "c.tar", 512, len(data), SAMPLES, 16_000, sha256_bytes(data), "")
    columns = "utterance speaker gender shard offset nbytes samples sample_rate sha256 text"
    write_manifest(pd.DataFrame([row], columns=columns.split()), folder / "manifest.tsv")
    return folder


def test_recorded_bytes_that_are_not_the_recorded_audio(tmp_path: Path) -> None:
    good = encode(np.zeros(SAMPLES, dtype=np.int16))
    assert check(store_bytes(tmp_path / "good", good), decode=True) == []
    soundfile.write(str(tmp_path / "a.flac"), np.zeros((SAMPLES, 2)), 8_000)
    stereo = store_bytes(tmp_path / "stereo", (tmp_path / "a.flac").read_bytes())
    (problem,) = check(stereo, decode=True)
    assert "4000 samples of 2 channels at 8000 Hz" in problem.message
    (problem,) = check(store_bytes(tmp_path / "text", b"no audio at all"), decode=True)
    assert "does not decode" in problem.message
    (problem,) = check(store_bytes(tmp_path / "cut", good[:-5]), decode=True)
    assert "does not decode" in problem.message


def test_all_problems_are_reported_at_once(corpus: Path) -> None:
    change(corpus, put("gender", "x", 0))
    change(corpus, put("sha256", "f" * 64, 5))
    change(corpus, put("sample_rate", 8_000, 3))
    assert codes(check(corpus, decode=True)) == ["gender", "rate", "audio", "audio"]
