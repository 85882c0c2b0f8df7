from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.corpora.importing import import_utterances
from harness.corpora.librispeech import find_audio, index_subset, recordings
from harness.corpora.store import Corpus
from harness.errors import DataError, ListError
from harness.runtime.pool import Pool

SPEAKERS = (
    "; reader_id | gender ...\n"
    ";ID  |SEX| SUBSET           |MINUTES| NAME\n"
    "14   | F | dev-clean        | 25.03 | A | B\n"
    "7    | M | dev-clean        | 25.11 | reader\n"
)


def add(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    soundfile.write(str(folder / name), np.arange(800, dtype=np.int16), 16_000)
    return folder / name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "LibriSpeech"
    add(root / "dev-clean/7/91", "7-91-0000.flac")
    add(root / "dev-clean/14/208", "14-208-0001.flac")
    add(root / "dev-clean/14/208", "14-208-0000.flac")
    (root / "dev-clean/14/208/14-208.trans.txt").write_text(
        "14-208-0000 CHAPTER ONE\n14-208-0001 I'M SURE\n14-208-0002 NOT HERE\n"
    )
    (root / "SPEAKERS.TXT").write_text(SPEAKERS)
    return root


def test_index_is_in_c_order_with_genders_and_texts(root: Path) -> None:
    index = index_subset(root, "dev-clean")
    assert list(index.columns) == ["utterance", "speaker", "gender", "path", "text"]
    assert index.to_dict("records") == [
        {
            "utterance": "14-208-0000",
            "speaker": "14",
            "gender": "f",
            "path": str(root / "dev-clean/14/208/14-208-0000.flac"),
            "text": "CHAPTER ONE",
        },
        {
            "utterance": "14-208-0001",
            "speaker": "14",
            "gender": "f",
            "path": str(root / "dev-clean/14/208/14-208-0001.flac"),
            "text": "I'M SURE",
        },
        {
            "utterance": "7-91-0000",
            "speaker": "7",
            "gender": "m",
            "path": str(root / "dev-clean/7/91/7-91-0000.flac"),
            "text": "",
        },
    ]


def test_root_may_be_the_folder_above(root: Path) -> None:
    above = index_subset(root.parent, "dev-clean")
    assert above.equals(index_subset(root, "dev-clean"))


def test_find_audio_looks_in_every_subset(root: Path) -> None:
    path = add(root / "test-clean/9/1", "9-1-0003.flac")
    assert find_audio(root.parent, "9-1-0003") == path
    assert find_audio(root, "9-1-0004") is None
    assert find_audio(root, "no_such_form") is None


def test_missing_root_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none: no such folder"):
        index_subset(tmp_path / "none", "dev-clean")


def test_missing_speakers_file_is_named(root: Path) -> None:
    (root / "SPEAKERS.TXT").unlink()
    with pytest.raises(DataError, match=r"no SPEAKERS\.TXT, neither here nor in LibriSpeech/"):
        index_subset(root, "dev-clean")


@pytest.mark.parametrize("subset", ["dev-other", "", "..", "dev-clean/14", "SPEAKERS.TXT"])
def test_missing_subset_lists_the_choices(root: Path, subset: str) -> None:
    with pytest.raises(DataError, match=r"no subset .*; choose one of: dev-clean"):
        index_subset(root, subset)


def test_subset_without_audio_is_named(root: Path) -> None:
    (root / "dev-other").mkdir()
    with pytest.raises(DataError, match="dev-other: no FLAC file"):
        index_subset(root, "dev-other")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("14 F dev-clean 25.03 reader", r"SPEAKERS\.TXT:5: not `id \| F or M"),
        ("14 | X | dev-clean | 25.03 | reader", r"SPEAKERS\.TXT:5: not `id"),
        (" | F | dev-clean | 25.03 | reader", r"SPEAKERS\.TXT:5: not `id"),
        ("14 | F | dev-clean | 25.03 | reader", r"SPEAKERS\.TXT:5: speaker 14 stands twice"),
    ],
)
def test_malformed_speaker_line_is_named(root: Path, line: str, message: str) -> None:
    (root / "SPEAKERS.TXT").write_text(SPEAKERS + line + "\n")
    with pytest.raises(ListError, match=message):
        index_subset(root, "dev-clean")


def test_speaker_without_gender_is_named(root: Path) -> None:
    add(root / "dev-clean/8/1", "8-1-0000.flac")
    with pytest.raises(ListError, match=r"8-1-0000\.flac: speaker 8 is not in SPEAKERS\.TXT"):
        index_subset(root, "dev-clean")


@pytest.mark.parametrize(
    "place", ["7/91/7-92-0000.flac", "7/91/14-91-0000.flac", "7/91/7-91.flac", "7/7-91-0001.flac"]
)
def test_file_in_a_foreign_folder_is_named(root: Path, place: str) -> None:
    path = root / "dev-clean" / place
    add(path.parent, path.name)
    with pytest.raises(DataError, match=f"{path.name}: the file's name does not match its folder"):
        index_subset(root, "dev-clean")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"14-208-0000 ONE\n14-208-0001\n", r"trans\.txt:2: not `utterance TEXT`"),
        (b"14-208-0000 ONE\n", r"trans\.txt: no line for 14-208-0001"),
        (b"14-208-0000 \xff\n", r"trans\.txt: not UTF-8"),
    ],
)
def test_malformed_transcripts_are_named(root: Path, content: bytes, message: str) -> None:
    (root / "dev-clean/14/208/14-208.trans.txt").write_bytes(content)
    with pytest.raises(ListError, match=message):
        index_subset(root, "dev-clean")


@pytest.mark.parametrize(
    ("subset", "speakers", "utterances", "transcribed"),
    [
        ("train-clean-100", 220, 220, 0),
        ("test-clean", 40, 400, 400),
        ("test-other", 10, 100, 100),
    ],
)
def test_real_excerpt(
    test_data: Path, subset: str, speakers: int, utterances: int, transcribed: int
) -> None:
    index = index_subset(test_data / "speech", subset)
    assert len(index) == utterances
    assert (index["text"] != "").sum() == transcribed
    by_gender = index.drop_duplicates("speaker")["gender"].value_counts()
    assert by_gender.to_dict() == {"f": speakers // 2, "m": speakers // 2}


def test_real_excerpt_is_imported_bit_exactly(test_data: Path, tmp_path: Path) -> None:
    chosen = recordings(test_data / "speech", "test-other")[::25]
    import_utterances(tmp_path / "c", chosen, pool=Pool(1), work_root=tmp_path / "work")
    corpus = Corpus(tmp_path / "c")
    for recording in chosen:
        original, rate = soundfile.read(str(recording.path), dtype="int16")
        assert rate == 16_000
        np.testing.assert_array_equal(corpus.read(recording.utterance), original)


def test_name_that_is_not_utf8_is_named(root: Path) -> None:
    folder = root / "dev-clean/7/91"
    (folder / "7-91-0000.flac").rename(folder / os.fsdecode(b"7-91-\xff.flac"))
    with pytest.raises(DataError, match=r"7-91-.udcff\.flac': the file's name is not .*UTF-8"):
        index_subset(root, "dev-clean")
