from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.corpora.importing import import_utterances
from harness.corpora.kaldi import Trial, read_kaldi, recordings
from harness.corpora.store import Corpus
from harness.errors import AudioError, DataError, ListError
from harness.runtime.pool import Pool

LISTS = {
    "utt2spk": "a-1 a\na-2 a\nb-1 b\n",
    "spk2utt": "a a-1 a-2\nb b-1\n",
    "spk2gender": "a f\nb m\n",
    "text": "a-1 ONE TWO\na-2 GRÜSSE\nb-1 IT'S THREE\n",
    "utt2dur": "a-1 0.1 \na-2 0.2\nb-1 0.3\n",
    "enrolls": "a-1\nb-1\n",
    "trials": "a a-2 target\nb a-2 nontarget\n",
}


def samples(utterance: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(utterance.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).integers(-9000, 9000, 1_600).astype(np.int16)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Lists, and audio in both official places."""
    folder = tmp_path / "data"
    (folder / "wav" / "a-1").mkdir(parents=True)
    for name, content in LISTS.items():
        (folder / name).write_text(content, encoding="utf-8")
    for utterance, place in (("a-1", "a-1/a-1.wav"), ("a-2", "a-2.wav"), ("b-1", "b-1.wav")):
        soundfile.write(str(folder / "wav" / place), samples(utterance), 16_000)
    return folder


def test_lists_are_read(directory: Path) -> None:
    kaldi = read_kaldi(directory)
    assert kaldi.utt2spk == {"a-1": "a", "a-2": "a", "b-1": "b"}
    assert kaldi.spk2gender == {"a": "f", "b": "m"}
    assert kaldi.text == {"a-1": "ONE TWO", "a-2": "GRÜSSE", "b-1": "IT'S THREE"}
    assert kaldi.utt2dur == {"a-1": 0.1, "a-2": 0.2, "b-1": 0.3}
    assert kaldi.enrolls == ("a-1", "b-1")
    assert kaldi.trials == (Trial("a", "a-2", "target"), Trial("b", "a-2", "nontarget"))
    assert kaldi.wav_scp is None


def test_optional_lists_may_be_absent(directory: Path) -> None:
    for name in ("spk2utt", "text", "utt2dur", "enrolls", "trials"):
        (directory / name).unlink()
    kaldi = read_kaldi(directory)
    assert (kaldi.text, kaldi.utt2dur, kaldi.enrolls, kaldi.trials) == ({}, {}, None, None)
    assert [recording.text for recording in recordings(kaldi)] == ["", "", ""]


def test_last_line_needs_no_end_and_fields_may_be_tabbed(directory: Path) -> None:
    (directory / "utt2spk").write_text("a-1\ta\na-2  a\nb-1 b", encoding="utf-8")
    assert read_kaldi(directory).utt2spk == {"a-1": "a", "a-2": "a", "b-1": "b"}


def test_audio_is_found_in_both_official_places(directory: Path) -> None:
    found = {one.utterance: one.path for one in recordings(read_kaldi(directory))}
    assert found == {
        "a-1": directory / "wav/a-1/a-1.wav",
        "a-2": directory / "wav/a-2.wav",
        "b-1": directory / "wav/b-1.wav",
    }


def test_import_keeps_samples_and_metadata(directory: Path, tmp_path: Path) -> None:
    # An entry that would create a file if anything ran it.
    (directory / "wav.scp").write_text(
        "a-1 wav/a-1/a-1.wav\n"
        f"a-2 {directory}/wav/a-2.wav\n"
        "b-1 sox -t wav wav/b-1.wav -t wav -r 16000 -b 16 - |\n",
        encoding="utf-8",
    )
    import_utterances(
        tmp_path / "corpus",
        recordings(read_kaldi(directory)),
        pool=Pool(1),
        work_root=tmp_path / "work",
    )
    corpus = Corpus(tmp_path / "corpus")
    assert corpus.manifest["utterance"].tolist() == ["a-1", "a-2", "b-1"]
    assert corpus.manifest["speaker"].tolist() == ["a", "a", "b"]
    assert corpus.manifest["gender"].tolist() == ["f", "f", "m"]
    assert corpus.manifest["text"].tolist() == ["ONE TWO", "GRÜSSE", "IT'S THREE"]
    assert corpus.manifest["note"].tolist() == ["", "", ""]
    for utterance in ("a-1", "a-2", "b-1"):
        np.testing.assert_array_equal(corpus.read(utterance), samples(utterance))


def test_no_entry_is_ever_run(directory: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    (directory / "wav.scp").write_text(
        f"a-1 wav/a-1/a-1.wav\na-2 touch {trap} |\nb-1 wav/b-1.wav\n", encoding="utf-8"
    )
    with pytest.raises(ListError, match=r"wav\.scp:2: command 'touch' is not understood"):
        read_kaldi(directory)
    assert not trap.exists()


def test_relative_paths_start_from_the_given_base(directory: Path) -> None:
    (directory / "wav.scp").write_text(
        "a-1 data/wav/a-1/a-1.wav\na-2 data/wav/a-2.wav\nb-1 data/wav/b-1.wav\n", encoding="utf-8"
    )
    kaldi = read_kaldi(directory)
    with pytest.raises(ListError, match=r"no audio for 3 of 3 utterances, .*'a-1'.*--base"):
        recordings(kaldi)
    found = recordings(kaldi, base=directory.parent)
    assert found[0].path == directory.parent / "data/wav/a-1/a-1.wav"


def test_audio_is_looked_up_in_a_librispeech_tree(tmp_path: Path) -> None:
    folder, chapter = tmp_path / "lists", tmp_path / "LibriSpeech/dev-clean/84/121123"
    folder.mkdir()
    chapter.mkdir(parents=True)
    (tmp_path / "LibriSpeech/SPEAKERS.TXT").write_text("84 | F | dev-clean | 8.02 | reader\n")
    soundfile.write(str(chapter / "84-121123-0000.flac"), samples("x"), 16_000)
    (folder / "spk2gender").write_text("84 f\n")
    (folder / "utt2spk").write_text("84-121123-0000 84\n")
    found = recordings(read_kaldi(folder), librispeech=tmp_path)
    assert [one.path for one in found] == [chapter / "84-121123-0000.flac"]
    (folder / "utt2spk").write_text("84-121123-0000 84\n84-121123-0001 84\nodd 84\n")
    with pytest.raises(ListError, match=r"no audio for 2 of 3 .*'84-121123-0001'.*--librispeech"):
        recordings(read_kaldi(folder), librispeech=tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("utt2spk", b"a-1 a\na-2\nb-1 b\n", r"utt2spk:2: 1 fields; expected `utterance speaker`"),
        ("utt2spk", b"a-1 a x\n", r"utt2spk:1: 3 fields"),
        ("utt2spk", b"a-1 a\na-1 a\n", r"utt2spk:2: 'a-1' stands twice"),
        ("utt2spk", b"", r"utt2spk: is empty"),
        ("utt2spk", b"a-1 a\n\nb-1 b\n", r"utt2spk:2: an empty line"),
        ("utt2spk", b"a-1 a\r\na-2 a\r\n", r"utt2spk:1: Windows line ends"),
        ("utt2spk", b"\xef\xbb\xbfa-1 a\n", r"utt2spk:1: begins with a byte order mark"),
        ("utt2spk", b"a-1 a\na-2 \xe4\n", r"utt2spk:2: not UTF-8"),
        ("utt2spk", b"../a a\n", r"utt2spk:1: utterance '../a' cannot be a file's name"),
        ("utt2spk", b"-rf a\n", r"utt2spk:1: utterance '-rf' cannot be"),
        ("spk2gender", b"a f\nb male\n", r"spk2gender:2: gender 'male'; write f or m"),
        ("spk2gender", b"a f\n", r"spk2gender: no gender for speaker 'b' of 'b-1'"),
        ("spk2gender", b"a f\na f\nb m\n", r"spk2gender:2: 'a' stands twice"),
        ("spk2utt", b"a a-1 a-2 b-1\n", r"spk2utt:1: 'b-1' belongs to 'b' in utt2spk, not to 'a'"),
        ("spk2utt", b"a a-1 a-2\n", r"spk2utt: lacks 'b-1'"),
        ("spk2utt", b"a a-1 a-2 a-2\nb b-1\n", r"spk2utt:1: 'a-2' stands twice"),
        ("spk2utt", b"a a-1 a-2\nb b-1 b-2\n", r"spk2utt:2: 'b-2' belongs to None"),
        ("text", b"a-1 ONE\nc-1 TWO\n", r"text:2: utterance 'c-1' is not in utt2spk"),
        ("text", b"a-1 ONE\tTWO\n", r"text:1: the text holds a tab"),
        ("text", b'a-1 SAY "ONE"\n', r"text:1: the text holds a tab, a double quote"),
        ("utt2dur", b"a-1 0\n", r"utt2dur:1: duration '0'"),
        ("utt2dur", b"a-1 nan\n", r"utt2dur:1: duration 'nan'"),
        ("utt2dur", b"a-1 long\n", r"utt2dur:1: duration 'long'"),
        ("wav.scp", b"a-1 a.wav\na-2\n", r"wav\.scp:2: no path"),
        ("wav.scp", b"a-1 a.wav\n", r"wav\.scp: no audio for 'a-2'"),
        ("wav.scp", b"a-1 a.wav\nc a.wav\n", r"wav\.scp:2: utterance 'c' is not in utt2spk"),
        ("wav.scp", b"a-1 a.ark:12\n", r"wav\.scp:1: not a file of its own"),
        ("enrolls", b"a-1\na-1\n", r"enrolls:2: 'a-1' stands twice"),
        ("enrolls", b"c-1\n", r"enrolls:1: utterance 'c-1' is not in utt2spk"),
        ("trials", b"a a-2 same\n", r"trials:1: label 'same'; write target or nontarget"),
        ("trials", b"a a-2\n", r"trials:1: 2 fields"),
        ("trials", b"a c-2 target\n", r"trials:1: utterance 'c-2' is not in utt2spk"),
        ("trials", b"a a-2 target\na a-2 nontarget\n", r"trials:2: trial a a-2 stands twice"),
        ("segments", b"a-1 rec 0 1\n", r"segments: segments of longer recordings are not read"),
    ],
)
def test_faults_are_named_by_file_and_line(
    directory: Path, name: str, content: bytes, message: str
) -> None:
    (directory / name).write_bytes(content)
    with pytest.raises(ListError, match=message):
        read_kaldi(directory)


@pytest.mark.parametrize("name", ["utt2spk", "spk2gender"])
def test_necessary_lists_must_be_there(directory: Path, name: str) -> None:
    (directory / name).unlink()
    with pytest.raises(ListError, match=f"{name}: no such list"):
        read_kaldi(directory)


def test_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none: no such Kaldi directory"):
        read_kaldi(tmp_path / "none")


def test_damaged_audio_stops_the_import_and_leaves_nothing(directory: Path, tmp_path: Path) -> None:
    (directory / "wav/b-1.wav").write_bytes(b"not audio")
    with pytest.raises(AudioError, match=r"b-1\.wav: not readable as audio"):
        import_utterances(
            tmp_path / "corpus",
            recordings(read_kaldi(directory)),
            pool=Pool(1),
            work_root=tmp_path / "work",
        )
    assert not (tmp_path / "corpus").exists()


@pytest.mark.parametrize(
    ("name", "utterances", "speakers", "trials"),
    [
        # The challenge's own table of counts.
        ("libri_dev_enrolls", 343, 29, None),
        ("libri_dev_trials_f", 1_018, 20, (704, 14_566)),
        ("libri_dev_trials_m", 960, 20, (644, 12_796)),
        ("libri_test_enrolls", 438, 29, None),
        ("libri_test_trials_f", 734, 20, (548, 11_196)),
        ("libri_test_trials_m", 762, 20, (449, 9_457)),
    ],
)
def test_real_lists_are_read(
    test_data: Path,
    name: str,
    utterances: int,
    speakers: int,
    trials: tuple[int, int] | None,
) -> None:
    kaldi = read_kaldi(test_data / "vpc-lists" / name)
    assert len(kaldi.utt2spk) == len(kaldi.text) == len(kaldi.utt2dur) == utterances
    assert len(kaldi.spk2gender) == speakers
    if trials is None:
        assert kaldi.trials is None
        assert kaldi.enrolls is not None
        assert len(kaldi.enrolls) == utterances
    else:
        assert kaldi.trials is not None
        labels = [trial.label for trial in kaldi.trials]
        assert (labels.count("target"), labels.count("nontarget")) == trials


def test_real_lists_without_their_audio_say_so(test_data: Path) -> None:
    kaldi = read_kaldi(test_data / "vpc-lists" / "libri_dev_enrolls")
    with pytest.raises(ListError, match="no audio for 343 of 343 utterances"):
        recordings(kaldi, librispeech=test_data / "speech")
