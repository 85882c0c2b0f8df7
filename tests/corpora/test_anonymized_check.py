from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from corpora.anonymized_tree import ENROLS, TRIALS, originals, speech, tree, write
from harness.corpora import anonymized_check
from harness.corpora.anonymized_check import ACCEPTABLE, examine
from harness.corpora.check import Problem
from harness.corpora.importing import Recording, import_utterances
from harness.corpora.store import Corpus
from harness.runtime.pool import Pool


@pytest.fixture
def corpora(tmp_path: Path) -> dict[str, Corpus]:
    return originals(tmp_path / "corpus")


def faults(tmp_path: Path, corpora: dict[str, Corpus]) -> list[Problem]:
    return examine(tmp_path / "in", corpora, pool=Pool(1)).problems


@pytest.mark.parametrize("nested", [True, False])
def test_whole_speech_has_no_problem(
    tmp_path: Path, corpora: dict[str, Corpus], nested: bool
) -> None:
    tree(tmp_path / "in", corpora, nested=nested)
    found = examine(tmp_path / "in", corpora, pool=Pool(1))
    assert found.problems == []
    assert [len(files) for files in found.files.values()] == [8, 8]


# Each spoils one file of a tree that is whole; `wav` is its folder.
def silence(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", np.full(14_400, 5, np.int16))


def copy(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", corpus.read("1-1-2"))


def quieter_copy(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", (corpus.read("1-1-2") // 3 + 40).astype(np.int16))


def copy_of_another(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", corpus.read("2-1-2"))


def repeat(wav: Path, corpus: Corpus) -> None:
    write(wav / "2-1-2.wav", corpus.read("1-1-2")[::-1])


def swap(wav: Path, corpus: Corpus) -> None:
    one, other = wav / "1-1-2.wav", wav / "2-1-0.wav"
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def shorten(wav: Path, corpus: Corpus) -> None:
    # 0.9 s lose 0.11 s, one millisecond to spare: more than 10 % and than 0.1 s.
    write(wav / "1-1-2.wav", corpus.read("1-1-2")[:12_640][::-1])


def truncate(wav: Path, corpus: Corpus) -> None:
    os.truncate(wav / "1-1-2.wav", 20_000)


def empty(wav: Path, corpus: Corpus) -> None:
    os.truncate(wav / "1-1-2.wav", 0)


def lie(wav: Path, corpus: Corpus) -> None:
    # Two gigabytes are to come, says the header.
    content = bytearray((wav / "1-1-2.wav").read_bytes())
    content[40:44] = struct.pack("<I", 0x7FFE_0000)
    (wav / "1-1-2.wav").write_bytes(content)


def endless(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", np.resize(speech("long", 9_000), 10 * 14_400 + 16_001))


def rate(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", speech("rate", 14_400 * 3 // 2), 24_000)


def slow_rate(wav: Path, corpus: Corpus) -> None:
    # 1.8 s: not as long as its original either, which is for later.
    write(wav / "1-1-2.wav", speech("rate", 14_400), 8_000)


def stereo(wav: Path, corpus: Corpus) -> None:
    write(wav / "1-1-2.wav", np.stack([speech("left", 14_400), speech("right", 14_400)], axis=1))


def mp3(wav: Path, corpus: Corpus) -> None:
    path = str(wav / "1-1-2.wav")
    soundfile.write(path, corpus.read("1-1-2")[::-1], 16_000, format="OGG", subtype="VORBIS")


def remove(wav: Path, corpus: Corpus) -> None:
    (wav / "1-1-2.wav").unlink()


def stray(wav: Path, corpus: Corpus) -> None:
    (wav / "1-1-2\nroot.wav").touch()


def link(wav: Path, corpus: Corpus) -> None:
    (wav / "extra.wav").symlink_to("/etc/passwd")


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (silence, "silent: {}: 1 files are silent, of 8 utterances: '1-1-2' (0.90 s)"),
        (copy, "original: {}: 1 files are original speech, of 8 utterances: '1-1-2' ("),
        (quieter_copy, "original: {}: 1 files are original speech"),
        (copy_of_another, "original: {}: 1 files are original speech, of 8 utterances: "
         "'1-1-2' (that of '2-1-2')"),
        (repeat, "repeated: {}: 1 files are the same as another's, of 8 utterances: "
         "'2-1-2' (as '1-1-2')"),
        (swap, "swapped: {}: 2 files seem to be another utterance's, of 8 utterances: "
         "'1-1-2' (0.50 s, the original 0.90 s: as long as that of '2-1-0')"),
        (shorten, "duration: {}: 1 files are not as long as their originals, of 8 utterances: "
         "'1-1-2' (0.79 s, the original 0.90 s)"),
        (truncate, "audio: {}: 1 files cannot be used, of 8 utterances: '1-1-2' (cut"),
        (empty, "audio: {}: 1 files cannot be used, of 8 utterances: '1-1-2' (the au"),
        (lie, "audio: {}: 1 files cannot be used"),
        (endless, "audio: {}: 1 files cannot be used, of 8 utterances: '1-1-2' (10.00"),
        (rate, "rate: {}: 1 files are not at 16 kHz, of 8 utterances: '1-1-2' (24000"),
        (slow_rate, "rate: {}: 1 files are not at 16 kHz, of 8 utterances: '1-1-2' (8000 Hz); res"),
        (stereo, "channels: {}: 1 files are not mono, of 8 utterances: '1-1-2' (2)"),
        (mp3, "audio: {}: 1 files cannot be used"),
        (remove, "missing: {}: 1 utterances have no file, of 8 utterances: '1-1-2'; a"),
        (stray, "extra: {}: 1 entries are no utterance of this set, of 8 utterances: "
         "'1-1-2\\nroot.wav'; remove them"),
        (link, "link: {}: 1 entries are neither file nor folder"),
    ],
)  # fmt: skip
def test_each_fault_is_one_line(
    tmp_path: Path,
    corpora: dict[str, Corpus],
    spoil: Callable[[Path, Corpus], None],
    expected: str,
) -> None:
    tree(tmp_path / "in", corpora)
    folder = tmp_path / "in" / f"{TRIALS}_anon"
    spoil(folder / "wav", corpora[TRIALS])
    problems = faults(tmp_path, corpora)
    assert len(problems) == 1, problems
    assert str(problems[0]).startswith(expected.format(folder))
    assert "\n" not in str(problems[0])


def test_every_fault_of_a_kind_is_counted(tmp_path: Path, corpora: dict[str, Corpus]) -> None:
    tree(tmp_path / "in", corpora)
    for utterance in ("1-1-1", "1-1-3", "2-1-0"):
        os.truncate(tmp_path / f"in/{ENROLS}_anon/wav/{utterance}.wav", 1_000)
    (problem,) = faults(tmp_path, corpora)
    assert (problem.code, problem.count) == ("audio", 3)
    assert "3 files cannot be used, of 8 utterances: '1-1-1' (cut" in str(problem)
    assert "), '1-1-3' (cut" in str(problem)
    assert "), '2-1-0' (cut" in str(problem)


def test_of_many_ten_are_named(tmp_path: Path, corpora: dict[str, Corpus]) -> None:
    wav = tree(tmp_path / "in", corpora) / f"{TRIALS}_anon/wav"
    for n in range(12):
        (wav / f"{n:02}.txt").touch()
    (problem,) = faults(tmp_path, corpora)
    assert problem.count == 12
    assert str(problem).endswith(
        ": 12 entries are no utterance of this set, of 8 utterances: '00.txt', '01.txt', '02.txt', "
        "'03.txt', '04.txt', '05.txt', '06.txt', '07.txt', '08.txt', '09.txt' and 2 more; "
        "remove them"
    )


def test_original_speech_of_another_set_is_known(
    tmp_path: Path, corpora: dict[str, Corpus]
) -> None:
    tree(tmp_path / "in", corpora)
    write(tmp_path / f"in/{TRIALS}_anon/wav/1-1-0.wav", corpora[ENROLS].read("1-1-0"))
    assert [problem.code for problem in faults(tmp_path, corpora)] == ["original"]


def test_silence_of_a_silent_original_is_none(tmp_path: Path, corpora: dict[str, Corpus]) -> None:
    tree(tmp_path / "in", corpora)
    quiet = tree(tmp_path / "quiet", corpora, suffix="")
    for name in corpora:
        for path in (tmp_path / "in" / f"{name}_anon/wav/1-1-0.wav", quiet / name / "1-1-0.wav"):
            write(path, np.zeros(8_000, np.int16))
    for name, corpus in corpora.items():
        recordings = [
            Recording(u, u[0], "f", "", write(quiet / name / f"{u}.wav", corpus.read(u)))
            if u != "1-1-0"
            else Recording(u, u[0], "f", "", quiet / name / "1-1-0.wav")
            for u in corpus.manifest["utterance"]
        ]
        import_utterances(
            tmp_path / "again" / name, recordings, pool=Pool(1), work_root=tmp_path / "w"
        )
    again = {name: Corpus(tmp_path / "again" / name) for name in corpora}
    assert faults(tmp_path, again) == []


def test_one_original_and_two_anonymizations(tmp_path: Path) -> None:
    corpora = originals(tmp_path / "corpus")
    twice = {"one": corpora[ENROLS], "two": corpora[ENROLS]}
    tree(tmp_path / "in", twice)
    assert faults(tmp_path, twice) == []
    for utterance in ("1-1-0", "1-1-1"):
        length = len(corpora[ENROLS].read(utterance))
        write(tmp_path / f"in/two_anon/wav/{utterance}.wav", speech("other", length))
    (problem,) = faults(tmp_path, twice)
    assert (problem.code, problem.count) == ("ambiguous", 2)
    assert "the first: '1-1-0' and '1-1-0'; they cannot be told apart" in str(problem)


def test_a_set_without_audio_and_a_set_without_folder(
    tmp_path: Path, corpora: dict[str, Corpus]
) -> None:
    (tmp_path / f"in/{ENROLS}").mkdir(parents=True)
    assert [str(problem).split(":")[0] for problem in faults(tmp_path, corpora)] == ["set", "set"]


def test_what_a_person_may_accept_is_a_kind_of_problem() -> None:
    codes = re.findall(r"^    (\w+)( \*)? ", str(anonymized_check.__doc__), flags=re.MULTILINE)
    assert {code for code, star in codes if star} == set(ACCEPTABLE)
    assert "original" not in ACCEPTABLE
