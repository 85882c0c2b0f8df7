"""Sets of emotional speech: EmoDB by its names, Kaldi directories by their lists."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.corpora.emotional import build_emotional, emodb, labelled
from harness.corpora.importing import Recording
from harness.corpora.store import Corpus
from harness.errors import DataError, HarnessError, ListError
from harness.protocols.protocol import EmotionSet, load
from harness.runtime.events import Event, Events
from harness.runtime.pool import Pool

RATE = 16_000
# Who is a woman and what the letters stand for: emodb.bilderbar.info.
SPOKEN = {
    "03a01Wa": ("03", "m", "angry", "1"),
    "03b02Tc": ("03", "m", "sad", "1"),
    "08a05Wb": ("08", "f", "angry", "2"),
}
WANTED = EmotionSet(
    name="small",
    dataset="emodb",
    split="test",
    corpus="emodb",
    female=1,
    male=1,
    emotions={"angry": 2, "sad": 1},
    folds={"1": ("03",), "2": ("08",)},
)


def tone(number: int) -> np.ndarray:
    """A tenth of a second at a pitch of its own."""
    turns = 2 * np.pi * (200 + 40 * number) * np.arange(RATE // 10) / RATE
    return np.rint(9_000 * np.sin(turns)).astype(np.int16)


def write(path: Path, number: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(str(path), tone(number), RATE)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files of SPOKEN, as EmoDB has them."""
    for number, name in enumerate(SPOKEN):
        write(tmp_path / "emodb" / "wav" / f"{name}.wav", number)
    return tmp_path / "emodb"


def told(found: list[Recording]) -> dict[str, tuple[str, str, str, str]]:
    return {
        one.utterance: (one.speaker, one.gender, one.labels["emotion"], one.labels["fold"])
        for one in found
    }


def build(root: Path, wanted: EmotionSet = WANTED) -> tuple[Corpus, list[Event]]:
    heard: list[Event] = []
    count = build_emotional(
        wanted, root, Path("out", wanted.name), pool=Pool(1), events=Events(heard.append)
    )
    corpus = Corpus(Path("out", wanted.name))
    assert count == len(corpus)
    return corpus, heard


# EmoDB


def test_a_name_says_all(root: Path) -> None:
    found = emodb(root, WANTED)
    assert told(found) == SPOKEN
    assert {one.utterance: one.path for one in found} == {
        name: root / "wav" / f"{name}.wav" for name in SPOKEN
    }
    assert {one.text for one in found} == {""}


def test_files_may_lie_in_the_root_and_in_other_formats(root: Path, tmp_path: Path) -> None:
    for number, name in enumerate(SPOKEN):
        write(tmp_path / "flat" / f"{name}{('.flac', '.WAV', '.wav')[number]}", number)
    assert told(emodb(tmp_path / "flat", WANTED)) == SPOKEN
    # The folder wav may be named itself.
    assert told(emodb(root / "wav", WANTED)) == SPOKEN


def test_other_emotions_speakers_and_files_are_left_out(root: Path) -> None:
    # Boredom, disgust, fear; happiness and what is neutral are not wanted here; 16 has no fold.
    for name in ("03a01La", "08a01Ea", "03a02Aa", "08a02Fa", "03a04Nc", "16a01Wa"):
        write(root / "wav" / f"{name}.wav")
    for name in ("noise.wav", "._03a01Wa.wav", "03a01Wa-2.wav", "3a01Wa.wav", "03a01W.wav"):
        write(root / "wav" / name)
    write(root / "wav" / "more" / "08a07Wa.wav")
    for name in ("readme.txt", "03a01Wa.txt", "08a05Wb.lablaut"):
        (root / "wav" / name).write_text("", encoding="utf-8")
    assert told(emodb(root, WANTED)) == SPOKEN


@pytest.mark.parametrize("second", ["03a01Wa.wav", "wav/03a01Wa.flac", "wav/03a01Wa.WAV"])
def test_an_utterance_lies_there_once(root: Path, second: str) -> None:
    write(root / second)
    with pytest.raises(DataError, match=r"03a01Wa\.\w+: lies there twice: 03a01Wa\.\w+; keep one"):
        emodb(root, WANTED)


def test_a_set_is_stored_with_emotion_and_fold(root: Path) -> None:
    corpus, heard = build(root)
    table = corpus.manifest
    assert table["utterance"].tolist() == list(SPOKEN)
    columns = (table[name] for name in ("speaker", "gender", "emotion", "fold"))
    # Text, whatever it looks like: speaker 03, fold 1.
    assert list(zip(*columns, strict=True)) == list(SPOKEN.values())
    for number, name in enumerate(SPOKEN):
        np.testing.assert_array_equal(corpus.read(name), tone(number))
    progress = [one for one in heard if one["event"] == "progress"]
    assert (progress[-1]["done"], progress[-1]["total"]) == (3, 3)


def test_folds_that_look_like_numbers_stay_text(root: Path) -> None:
    corpus, _ = build(root, replace(WANTED, folds={"03": ("03",), "1.0": ("08",)}))
    assert corpus.manifest["fold"].tolist() == ["03", "03", "1.0"]


def test_all_that_differs_stands_side_by_side(root: Path) -> None:
    (root / "wav" / "08a05Wb.wav").unlink()
    write(root / "wav" / "03a04Ta.wav")
    match = (
        r"emodb: small: female speakers 0 \(expected 1\); angry 1 \(expected 2\); "
        r"sad 2 \(expected 1\); give the whole corpus$"
    )
    with pytest.raises(DataError, match=match):
        build(root)
    assert not Path("out").exists()
    write(root / "wav" / "08a05Wb.wav")
    with pytest.raises(DataError, match=r"emodb: small: sad 2 \(expected 1\); give the whole"):
        build(root)


def test_a_folder_without_any_of_it(tmp_path: Path) -> None:
    match = r"small: female speakers 0 \(expected 1\); male speakers 0 \(.*angry 0 .*sad 0 "
    with pytest.raises(DataError, match=match):
        build(tmp_path)


def test_the_real_corpus_is_what_the_benchmark_wants(test_data: Path, tmp_path: Path) -> None:
    wanted = load("libri-mini").emotion_set("emodb")
    root = test_data / "speech/emodb"
    with (root / "utterances.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    expected = {
        row["file"].removesuffix(".flac"): (row["speaker"], row["gender"].lower(), row["emotion"])
        for row in rows
    }
    found = emodb(root, wanted)
    assert {name: row[:3] for name, row in told(found).items()} == expected
    # In each fold a woman and a man.
    by_fold = {(one.labels["fold"], one.gender): one.speaker for one in found}
    assert sorted(by_fold) == [(fold, gender) for fold in "12345" for gender in "fm"]
    assert len(set(by_fold.values())) == 10
    # All but one, which is happy.
    for one in found[1:]:
        (tmp_path / one.path.name).symlink_to(one.path)
    with pytest.raises(DataError, match=r"emodb: happy 70 \(expected 71\); give the whole corpus$"):
        build(tmp_path, wanted)


# Kaldi directories

LISTS = {
    "utt2spk": "a-1 03\na-2 03\nb-1 04\n",
    "spk2gender": "03 f\n04 m\n",
    "text": "a-1 GOOD GRIEF\n",
    "utt2emo": "a-1 angry\na-2 sad\nb-1 angry\n",
    "spk2fold": "03 03\n04 1\n",
}
LISTED = replace(WANTED, name="kaldi", corpus="lists", emotions={"angry": 2}, folds={})


def directory(root: Path, lists: Mapping[str, str] = LISTS) -> Path:
    """Lists and audio in the folder of the set."""
    for number, name in enumerate(("a-1", "a-2", "b-1")):
        write(root / "kaldi" / "wav" / f"{name}.wav", number)
    for name, text in lists.items():
        (root / "kaldi" / name).write_text(text, encoding="utf-8")
    return root


def test_lists_say_emotion_and_fold(tmp_path: Path) -> None:
    corpus, _ = build(directory(tmp_path / "lists"), LISTED)
    table = corpus.manifest
    columns = ("utterance", "speaker", "gender", "text", "emotion", "fold")
    assert list(zip(*(table[name] for name in columns), strict=True)) == [
        ("a-1", "03", "f", "GOOD GRIEF", "angry", "03"),
        ("b-1", "04", "m", "", "angry", "1"),
    ]
    np.testing.assert_array_equal(corpus.read("b-1"), tone(2))


def test_numbers_of_a_directory_are_held_against_the_protocol(tmp_path: Path) -> None:
    root = directory(tmp_path / "lists")
    wanted = replace(LISTED, male=5, emotions={"angry": 2, "sad": 3})
    match = r"lists/kaldi: kaldi: male speakers 1 \(expected 5\); sad 1 \(expected 3\)"
    with pytest.raises(DataError, match=match):
        build(root, wanted)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("utt2emo", None, r"kaldi/utt2emo: no such list; it must be there"),
        ("spk2fold", None, r"kaldi/spk2fold: no such list; it must be there"),
        ("utt2emo", "a-1 angry\nb-1 angry\n", r"kaldi/utt2emo: lacks 'a-2'; add it"),
        ("spk2fold", "03 1\n", r"kaldi/spk2fold: lacks '04'; add it"),
        ("utt2emo", "a-1 angry\na-2\n", r"utt2emo:2: 1 fields; expected `utterance emotion`"),
        ("spk2fold", "03 1 2\n", r"spk2fold:1: 3 fields; expected `speaker fold`"),
        ("spk2fold", "03 1\n04 2\n03 2\n", r"spk2fold:3: '03' stands twice; remove one"),
        ("utt2spk", "a-1 03\nb-1\n", r"utt2spk:2: 1 fields; expected `utterance speaker`"),
    ],
)
def test_faults_of_lists_are_named(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    root = directory(tmp_path / "lists")
    if text is None:
        (root / "kaldi" / name).unlink()
    else:
        (root / "kaldi" / name).write_text(text, encoding="utf-8")
    with pytest.raises(ListError, match=said):
        labelled(root / "kaldi", LISTED)


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match=r"lists/kaldi: no such Kaldi directory"):
        build(tmp_path / "lists", LISTED)
