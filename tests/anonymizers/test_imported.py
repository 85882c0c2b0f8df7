"""Imported speech as a system: what was exported comes back, sample by sample."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from corpora.anonymized_tree import ENROLS, TRIALS, originals, tree

from harness.anonymizers.base import Anonymizer, Job
from harness.anonymizers.imported import Imported
from harness.anonymizers.stage import anonymize
from harness.corpora.anonymized_check import examine
from harness.corpora.anonymized_store import accepted_problems, digest, store
from harness.corpora.export import export
from harness.corpora.importing import Recording, import_utterances
from harness.corpora.librispeech import index_subset
from harness.corpora.store import Corpus, Samples
from harness.errors import ConfigError, DataError, IntegrityError
from harness.runtime.events import Events
from harness.runtime.pool import Pool

JOB = Job("u0000", 0)


@pytest.fixture(autouse=True)
def _in_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def imported(path: Path, corpora: dict[str, Corpus], target: Path) -> Imported:
    found = examine(path, corpora, pool=Pool(1))
    assert found.problems == []
    store(corpora, found.files, found.hashes, target, pool=Pool(1))
    return Imported(folder=str(target), sha256=digest(target, list(corpora)))


def run(system: Anonymizer, corpora: dict[str, Corpus], target: Path) -> dict[str, bytes]:
    """The stage's output: every file by its path."""
    sources = [corpus.path for corpus in corpora.values()]
    by_set = {path.name: system for path in sources}
    anonymize(by_set, "s", sources, target, seed=1, pool=Pool(1), events=Events())
    return {p.relative_to(target).as_posix(): p.read_bytes() for p in target.rglob("*.*")}


@pytest.fixture
def real(test_data: Path, tmp_path: Path) -> dict[str, Corpus]:
    """Two sets of a few real utterances."""
    found = index_subset(test_data / "speech/LibriSpeech", "test-clean")
    rows = list(found[found["speaker"].isin(["1089", "121"])].itertuples(index=False))
    corpora = {}
    for name, some in ((ENROLS, rows[:6]), (TRIALS, rows[6:12])):
        recordings = [
            Recording(r.utterance, r.speaker, r.gender, r.text, Path(r.path)) for r in some
        ]
        import_utterances(tmp_path / "real" / name, recordings, pool=Pool(1))
        corpora[name] = Corpus(tmp_path / "real" / name)
    return corpora


class Backwards:
    """A stand-in for a system: it keeps the length and every sample."""

    name = "backwards"
    level = "utterance"

    def alphas(self, sources: list[object], seeds: list[int]) -> list[None]:
        return [None] * len(sources)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        return samples[::-1].copy()


def nest(root: Path) -> Path:
    """The same export with each file in a folder of its own."""
    for path in list(root.rglob("*.wav")):
        folder = path.with_suffix("")
        folder.mkdir()
        path.rename(folder / path.name)
    return root


@pytest.mark.parametrize("layout", ["flat", "nested", "flac", "data", "no suffix"])
def test_an_export_comes_back_byte_for_byte(
    real: dict[str, Corpus], tmp_path: Path, layout: str
) -> None:
    # The same bytes give every attacker the same input, and so the same EER.
    expected = run(Backwards(), real, tmp_path / "own")
    root = tmp_path / "in" / ("data" if layout == "data" else "")
    for name in real:
        folder = root / (name if layout == "no suffix" else f"{name}_T10-2")
        export(Corpus(tmp_path / "own" / name), folder, "flac" if layout == "flac" else "wav")
    if layout == "nested":
        nest(root)
    system = imported(tmp_path / "in", real, tmp_path / "imported")
    assert run(system, real, tmp_path / "again") == expected


def test_stored_is_what_the_files_hold(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    imported(tree(tmp_path / "in", corpora), corpora, tmp_path / "imported")
    for name, corpus in corpora.items():
        stored = Corpus(tmp_path / "imported" / name)
        same = ["utterance", "speaker", "gender", "text", "samples"]
        assert stored.manifest[same].equals(corpus.manifest[same])
        for utterance in corpus.manifest["utterance"]:
            path = tmp_path / f"in/{name}_anon/wav/{utterance}.wav"
            np.testing.assert_array_equal(
                stored.read(utterance), soundfile.read(str(path), dtype="int16")[0]
            )
    assert not any((tmp_path / ".work/import-anonymized").iterdir())


def test_speech_that_is_not_what_was_imported(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    system = imported(tree(tmp_path / "in", corpora), corpora, tmp_path / "imported")
    original = corpora[TRIALS].read("1-1-0")
    np.testing.assert_array_equal(system.anonymize(original, JOB), original[::-1])
    with pytest.raises(DataError, match="^nothing in .*/imported is of this utterance; run"):
        system.anonymize(original[1:], JOB)
    other = Imported(folder=system.folder, sha256="0" * 64)
    with pytest.raises(IntegrityError, match=f"/imported is {system.sha256}, not 0000"):
        other.anonymize(original, JOB)
    shutil.rmtree(tmp_path / "imported" / ENROLS)
    moved = (tmp_path / "imported").rename(tmp_path / "moved")
    with pytest.raises(IntegrityError, match="the sha256 of .*/moved is"):
        Imported(folder=str(moved), sha256=system.sha256).anonymize(original, JOB)


def test_shard_that_was_changed(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    system = imported(tree(tmp_path / "in", corpora), corpora, tmp_path / "imported")
    shard = tmp_path / "imported" / TRIALS / f"{TRIALS}-000000.tar"
    content = bytearray(shard.read_bytes())
    content[1_000] ^= 1
    shard.write_bytes(content)
    message = f"{shard.name}: stored audio differs from its manifest; restore it, or run `harness"
    with pytest.raises(IntegrityError, match=message):
        system.anonymize(corpora[TRIALS].read("1-1-0"), JOB)
    shard.unlink()
    with pytest.raises(DataError, match="tar: no such shard; restore it, or run `harness corpus"):
        system.anonymize(corpora[TRIALS].read("1-1-0"), JOB)


def test_a_stray_folder_is_no_set(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    system = imported(tree(tmp_path / "in", corpora), corpora, tmp_path / "imported")
    (tmp_path / "imported/.ipynb_checkpoints").mkdir()
    original = corpora[TRIALS].read("1-1-0")
    np.testing.assert_array_equal(system.anonymize(original, JOB), original[::-1])


def test_the_hash_covers_what_was_accepted(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    system = imported(tree(tmp_path / "in", corpora), corpora, tmp_path / "imported")
    note, original = tmp_path / "imported/accepted.json", corpora[TRIALS].read("1-1-0")
    assert accepted_problems(tmp_path / "imported") == {}
    note.write_text('{"duration": 3}\n')
    with pytest.raises(IntegrityError, match="the sha256 of"):
        system.anonymize(original, JOB)
    assert accepted_problems(tmp_path / "imported") == {"duration": 3}
    note.write_text("[]")
    with pytest.raises(DataError, match="imported: accepted.json is damaged"):
        accepted_problems(tmp_path / "imported")
    note.unlink()
    with pytest.raises(DataError, match="^no accepted.json in .*/imported; run"):
        system.anonymize(original, JOB)


def test_the_stage_names_the_folder_that_is_not_there(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    nothing = Imported(folder="data/none", sha256="1" * 64)
    with pytest.raises(DataError, match="^1-1-0: no imported speech in data/none; run `harness"):
        run(nothing, corpora, tmp_path / "out")


def test_settings_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'12' is no SHA-256"):
        Imported(folder="x", sha256="12")
    nothing = Imported(folder=str(tmp_path / "none"), sha256="1" * 64)
    assert nothing.alphas([], []) == []
    with pytest.raises(
        DataError, match="^no imported speech in .*/none; run `harness corpus import"
    ):
        nothing.anonymize(np.zeros(3, np.int16), JOB)


def test_digest_names_a_missing_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no imported set 'a' in"):
        digest(tmp_path, ["a"])
