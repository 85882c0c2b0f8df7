from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.corpora.importing import Recording, import_utterances, refuse_filled
from harness.corpora.manifest import COLUMNS
from harness.corpora.store import Corpus
from harness.errors import AudioError, DataError
from harness.runtime.pool import Pool


def speech(samples: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9000, 9000, samples).astype(np.int16)


def record(folder: Path, utterance: str, samples: np.ndarray, rate: int = 16_000) -> Recording:
    path = folder / f"file-of-{utterance}.wav"
    soundfile.write(str(path), samples, rate)
    return Recording(utterance, f"s-{utterance[0]}", "f", "ONE TWO", path)


def store(tmp_path: Path, recordings: list[Recording], seconds: float | None = None) -> Corpus:
    import_utterances(
        tmp_path / "c",
        recordings,
        pool=Pool(1),
        segment_seconds=seconds,
        work_root=tmp_path / "work",
    )
    return Corpus(tmp_path / "c")


def test_order_of_recordings_changes_nothing(tmp_path: Path) -> None:
    recordings = [record(tmp_path, name, speech(900, n)) for n, name in enumerate("zéBa")]
    store(tmp_path, recordings)
    first = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    corpus = store(tmp_path, recordings[::-1])
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert corpus.manifest["utterance"].tolist() == ["B", "a", "z", "é"]


def test_segments_join_to_the_whole(tmp_path: Path) -> None:
    long, short = speech(130_000, 1), speech(20_000, 2)
    corpus = store(tmp_path, [record(tmp_path, "a", long), record(tmp_path, "b", short)], 3.0)
    names = ["a-00", "a-01", "a-02", "b-00"]
    assert corpus.manifest["utterance"].tolist() == names
    assert corpus.manifest["speaker"].tolist() == ["s-a", "s-a", "s-a", "s-b"]
    # Which words fall into a part is not known; a whole utterance keeps its words.
    assert corpus.manifest["text"].tolist() == ["", "", "", "ONE TWO"]
    np.testing.assert_array_equal(np.concatenate([corpus.read(n) for n in names[:3]]), long)
    np.testing.assert_array_equal(corpus.read("b-00"), short)


def test_labels_become_columns(tmp_path: Path) -> None:
    long = replace(
        record(tmp_path, "a", speech(130_000, 1)), labels={"emotion": "sad", "fold": "03"}
    )
    short = replace(record(tmp_path, "b", speech(900, 2)), labels={"emotion": "", "fold": "1"})
    table = store(tmp_path, [long, short]).manifest
    assert table["emotion"].tolist() == ["sad", ""]
    assert table["fold"].tolist() == ["03", "1"]
    # Each segment is of the same speaker, and as sad.
    table = store(tmp_path, [long, short], 3.0).manifest
    assert table["emotion"].tolist() == ["sad"] * 3 + [""]
    assert table["fold"].tolist() == ["03"] * 3 + ["1"]
    assert list(store(tmp_path, [record(tmp_path, "a", speech(900, 0))]).manifest.columns) == [
        *COLUMNS,
        "note",
    ]


def test_what_was_done_to_the_audio_is_noted(tmp_path: Path) -> None:
    stereo = np.stack([speech(4_410, 1), speech(4_410, 2)], axis=1)
    corpus = store(
        tmp_path, [record(tmp_path, "a", stereo, 44_100), record(tmp_path, "b", speech(999, 3))]
    )
    assert corpus.manifest["note"].tolist() == ["resampled:44100;downmixed:2", ""]
    assert corpus.manifest["samples"].tolist() == [1_600, 999]


def test_all_headers_are_read_before_any_work(tmp_path: Path) -> None:
    recordings = [record(tmp_path, name, speech(900, 0)) for name in "abc"]
    recordings[2].path.unlink()
    with pytest.raises(AudioError, match=r"file-of-c\.wav: no such audio file"):
        store(tmp_path, recordings)
    assert not (tmp_path / "work").exists()


def test_file_that_changed_since_voids_the_earlier_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = [record(tmp_path, name, speech(900, 0)) for name in "ab"]
    # More than a shard: the first is finished when the second fails.
    monkeypatch.setattr("harness.corpora.importing.partition", lambda all_: [[one] for one in all_])
    soundfile.write(str(recordings[1].path), np.full(900, np.nan), 16_000, subtype="FLOAT")
    with pytest.raises(AudioError, match="NaN"):
        store(tmp_path, recordings)
    # Both change, and neither changes its size.
    soundfile.write(str(recordings[1].path), np.full(900, 0.5), 16_000, subtype="FLOAT")
    record(tmp_path, "a", speech(900, 7))
    np.testing.assert_array_equal(store(tmp_path, recordings).read("a"), speech(900, 7))


def test_labels_that_changed_since_void_the_earlier_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recordings = [
        replace(record(tmp_path, name, speech(900, 0)), labels={"fold": "1"}) for name in "ab"
    ]
    whole = recordings[1].path.read_bytes()
    monkeypatch.setattr("harness.corpora.importing.partition", lambda all_: [[one] for one in all_])
    soundfile.write(str(recordings[1].path), np.full(900, np.nan), 16_000, subtype="FLOAT")
    status = recordings[1].path.stat()
    with pytest.raises(AudioError, match="NaN"):
        store(tmp_path, recordings)
    # The same file for all that is seen of it, but for its size.
    recordings[1].path.write_bytes(whole.ljust(status.st_size, b"\0"))
    os.utime(recordings[1].path, ns=(status.st_atime_ns, status.st_mtime_ns))
    table = store(tmp_path, [replace(one, labels={"fold": "2"}) for one in recordings]).manifest
    assert table["fold"].tolist() == ["2", "2"]


def test_ids_that_cannot_be_file_names_are_refused(tmp_path: Path) -> None:
    recording = record(tmp_path, "a", speech(900, 0))
    bad = Recording("../a", "s", "f", "", recording.path)
    with pytest.raises(DataError, match=r"utterance '\.\./a': white space, a `/`"):
        store(tmp_path, [bad])


def test_repeated_ids_are_refused_before_any_work(tmp_path: Path) -> None:
    one = record(tmp_path, "a", speech(900, 0))
    other = Recording("a", "s-b", "m", "", record(tmp_path, "b", speech(900, 1)).path)
    with pytest.raises(DataError, match="a: two utterances have this id"):
        store(tmp_path, [one, other])
    assert not (tmp_path / "work").exists()


def test_nothing_to_import_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="c: nothing to import"):
        store(tmp_path, [])


def test_filled_target_is_refused(tmp_path: Path) -> None:
    refuse_filled(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    refuse_filled(tmp_path / "empty")
    with pytest.raises(DataError, match="is there already and not empty"):
        refuse_filled(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="file: is there already"):
        refuse_filled(tmp_path / "file")
