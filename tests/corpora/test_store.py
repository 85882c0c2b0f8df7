"""The store: deterministic, kill-safe, read by seeking, and never silently corrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.corpora.importing import Place, ReadAudio
from harness.corpora.manifest import read_manifest
from harness.corpora.store import (
    Corpus,
    Made,
    Utterance,
    build,
    decode,
    encode,
    partition,
    read_stored,
)
from harness.errors import AudioError, DataError, IntegrityError, ResourceError
from harness.runtime.pool import Pool

SAMPLES = 4_000


def samples_of(utterance: str) -> np.ndarray:
    seed = int.from_bytes(utterance.encode()[-4:], "big")
    return np.random.default_rng(seed).integers(-9000, 9000, SAMPLES).astype(np.int16)


class Synthetic:
    """Makes utterances from their names and remembers which; may be told to fail."""

    def __init__(self, fail_at: str = "") -> None:
        self.made: list[str] = []
        self.fail_at = fail_at

    def __call__(self, utterance: Utterance) -> Made:
        if utterance.utterance == self.fail_at:
            raise AudioError("told to fail", where=utterance.utterance)
        self.made.append(utterance.utterance)
        return Made(samples_of(utterance.utterance), {"note": ""})


def utterances(count: int) -> list[Utterance]:
    return [
        Utterance(f"u{n:03d}", f"s{n % 2}", "fm"[n % 2], "", SAMPLES, None) for n in range(count)
    ]


def shards(count: int = 9, each: int = 3) -> list[list[Utterance]]:
    return partition(utterances(count), each * SAMPLES / 16_000)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    build(tmp_path / "c", shards(), Synthetic(), work=tmp_path / "work", pool=Pool(1))
    return tmp_path / "c"


def files(folder: Path, count: int) -> list[Utterance]:
    folder.mkdir()
    made = []
    for number in range(count):
        path = folder / f"u{number:03d}.wav"
        soundfile.write(str(path), samples_of(path.stem), 16_000)
        made.append(Utterance(path.stem, "s", "f", "WORDS", SAMPLES, Place(path)))
    return made


def test_what_is_read_is_what_was_made(corpus: Path) -> None:
    stored = Corpus(corpus)
    assert len(stored) == 9
    for utterance in ("u008", "u000", "u004"):
        np.testing.assert_array_equal(stored.read(utterance), samples_of(utterance))


def test_manifest_agrees_with_what_tarfile_finds(corpus: Path) -> None:
    manifest = read_manifest(corpus / "manifest.tsv").set_index("utterance")
    found = {}
    for shard in sorted(corpus.glob("*.tar")):
        with tarfile.open(shard) as tar:
            for member in tar:
                found[member.name] = (shard.name, member.offset_data, member.size)
    assert len(found) == 9
    for name, place in found.items():
        row = manifest.loc[name.removesuffix(".flac")]
        assert (row["shard"], row["offset"], row["nbytes"]) == place


@pytest.mark.parametrize("name", ["n" * 150, "ü" * 90, "Grüße"])
def test_long_and_foreign_names_are_placed_right(tmp_path: Path, name: str) -> None:
    made = [Utterance(name, "s", "f", "", SAMPLES, None), *utterances(2)]
    build(tmp_path / "c", [made], Synthetic(), work=tmp_path / "w", pool=Pool(1))
    stored = Corpus(tmp_path / "c")
    for utterance in (name, "u000", "u001"):
        np.testing.assert_array_equal(stored.read(utterance), samples_of(utterance))


def test_finished_corpus_holds_manifest_and_shards_only(corpus: Path) -> None:
    expected = ["c-000000.tar", "c-000001.tar", "c-000002.tar", "manifest.tsv"]
    assert sorted(contents(corpus)) == expected
    assert not (corpus.parent / "work").exists()


def test_twice_is_byte_identical(corpus: Path, tmp_path: Path) -> None:
    build(tmp_path / "again" / "c", shards(), Synthetic(), work=tmp_path / "w", pool=Pool(1))
    assert contents(tmp_path / "again" / "c") == contents(corpus)


def test_number_of_workers_changes_nothing(tmp_path: Path) -> None:
    made = files(tmp_path / "audio", 30)
    for workers in (1, 2):
        with Pool(workers) as pool:
            target = tmp_path / str(workers) / "c"
            build(target, partition(made, 4), ReadAudio(), work=tmp_path / "w", pool=pool)
    assert len(contents(tmp_path / "1" / "c")) == 3
    assert contents(tmp_path / "1" / "c") == contents(tmp_path / "2" / "c")


def test_error_leaves_no_corpus_and_keeps_finished_shards(corpus: Path, tmp_path: Path) -> None:
    target, work = tmp_path / "b" / "c", tmp_path / "w"
    with pytest.raises(AudioError, match="u004: told to fail"):
        build(target, shards(), Synthetic("u004"), work=work, pool=Pool(1))
    assert not target.exists()
    assert sorted(contents(work)) == ["c-000000.tar", "c-000000.tar.tsv"]
    second = Synthetic()
    build(target, shards(), second, work=work, pool=Pool(1))
    assert second.made == ["u003", "u004", "u005", "u006", "u007", "u008"]
    assert contents(target) == contents(corpus)


def test_shard_without_its_part_of_the_manifest_is_made_again(corpus: Path, tmp_path: Path) -> None:
    work = tmp_path / "w"
    work.mkdir()
    (work / "c-000000.tar").write_bytes(b"killed between shard and part")
    maker = Synthetic()
    build(tmp_path / "b" / "c", shards(), maker, work=work, pool=Pool(1))
    assert len(maker.made) == 9
    assert contents(tmp_path / "b" / "c") == contents(corpus)


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from test_store import Synthetic, shards
from harness.corpora.store import build
from harness.runtime.pool import Pool

class Killed(Synthetic):
    def __call__(self, utterance):
        if utterance.utterance == sys.argv[4]:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(utterance)

build(Path(sys.argv[2]), shards(), Killed(), work=Path(sys.argv[3]), pool=Pool(1))
"""


@pytest.mark.parametrize(("victim", "left"), [("u000", 9), ("u004", 6), ("u008", 3)])
def test_killed_build_goes_on_where_it_was(
    corpus: Path, tmp_path: Path, victim: str, left: int
) -> None:
    target, work = tmp_path / "b" / "c", tmp_path / "w"
    here = str(Path(__file__).parent)
    command: Sequence[str] = (sys.executable, "-c", KILLED, here, str(target), str(work), victim)
    killed = subprocess.run(command, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    whole = {path.name for path in work.iterdir() if not path.name.startswith(".")}
    # A shard under its final name has its part of the manifest, and the other way round.
    assert len(whole) == 2 * (9 - left) // 3
    maker = Synthetic()
    build(target, shards(), maker, work=work, pool=Pool(1))
    assert len(maker.made) == left
    assert contents(target) == contents(corpus)


def test_changed_byte_is_an_integrity_error(corpus: Path) -> None:
    manifest = read_manifest(corpus / "manifest.tsv").set_index("utterance")
    row = manifest.loc["u004"]
    shard = corpus / row["shard"]
    content = bytearray(shard.read_bytes())
    content[int(row["offset"]) + int(row["nbytes"]) // 2] ^= 1
    shard.write_bytes(content)
    stored = Corpus(corpus)
    with pytest.raises(IntegrityError, match=r"c-000001\.tar at byte \d+: stored audio differs"):
        stored.read("u004")
    # Its neighbours are untouched.
    np.testing.assert_array_equal(stored.read("u003"), samples_of("u003"))
    np.testing.assert_array_equal(stored.read("u005"), samples_of("u005"))


def test_what_is_no_audio_is_an_integrity_error() -> None:
    with pytest.raises(IntegrityError, match="does not decode .*; make the corpus again"):
        decode(b"fLaC, it says" * 9)


def test_cut_shard_is_an_integrity_error(corpus: Path) -> None:
    shard = corpus / "c-000002.tar"
    shard.write_bytes(shard.read_bytes()[:6_000])
    with pytest.raises(IntegrityError, match=r"c-000002\.tar at byte"):
        Corpus(corpus).read("u008")


def test_missing_shard_and_utterance_are_named(corpus: Path) -> None:
    (corpus / "c-000001.tar").unlink()
    stored = Corpus(corpus)
    with pytest.raises(DataError, match=r"c-000001\.tar: no such shard; run `dvc checkout`"):
        stored.read("u004")
    with pytest.raises(DataError, match="c: u999: no such utterance"):
        stored.read("u999")


def test_stored_bytes_are_a_plain_flac_without_tags(corpus: Path) -> None:
    row = read_manifest(corpus / "manifest.tsv").iloc[0]
    data = read_stored(corpus / row["shard"], row["offset"], row["nbytes"])
    assert data[:4] == b"fLaC"
    assert data == encode(samples_of("u000"))
    np.testing.assert_array_equal(decode(data), samples_of("u000"))


def test_maker_that_returns_anything_but_mono_16_bit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="utterance u000: audio is float64 of 1 dimensions"):
        build(
            tmp_path / "c",
            [utterances(1)],
            lambda utterance: Made(np.zeros(10)),  # type: ignore[arg-type]
            work=tmp_path / "w",
            pool=Pool(1),
        )


def test_partition_keeps_order_and_fills_shards() -> None:
    cut = partition(utterances(7), 3 * SAMPLES / 16_000)
    assert [len(shard) for shard in cut] == [3, 3, 1]
    assert [one.utterance for shard in cut for one in shard] == [f"u{n:03d}" for n in range(7)]
    # An utterance longer than a shard has one to itself.
    assert [len(shard) for shard in partition(utterances(3), 0.1)] == [1, 1, 1]


def test_digest_follows_the_audio(corpus: Path, tmp_path: Path) -> None:
    class Other(Synthetic):
        def __call__(self, utterance: Utterance) -> Made:
            made = super().__call__(utterance)
            made.samples[0] += utterance.utterance == "u008"
            return made

    build(tmp_path / "o" / "c", shards(), Other(), work=tmp_path / "w", pool=Pool(1))
    assert Corpus(tmp_path / "o" / "c").digest() != Corpus(corpus).digest()


def test_progress_counts_every_utterance(tmp_path: Path) -> None:
    seen: list[int] = []
    build(
        tmp_path / "c",
        shards(),
        Synthetic(),
        work=tmp_path / "w",
        pool=Pool(1),
        on_progress=seen.append,
    )
    assert sorted(set(seen)) == list(range(1, 10))
    assert seen == sorted(seen)


def test_a_disk_that_is_too_small_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    maker = Synthetic()
    huge = [[Utterance("u000", "s0", "f", "", 10**15, None)]]
    with Pool(1) as pool, pytest.raises(ResourceError, match=r"GB free, 1300000\.0 GB needed"):
        build(tmp_path / "c", huge, maker, work=tmp_path / "w", pool=pool)
    assert maker.made == []
