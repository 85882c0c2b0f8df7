"""The anonymized speech of submissions: names, rates, codings, and files that are none."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import making
import numpy as np
import pytest
import small
from hypothesis import given
from hypothesis import strategies as st
from speech_files import NAME, SPEECH, edition, utterances, wav, write_audio

from harness.protocols.protocol import load
from harness.submissions.contents.audio import (
    BLOCK,
    TYPES,
    examine_audio,
    recording_of,
    to_pcm16,
)
from harness.submissions.limits import Limits
from harness.submissions.members import Member
from harness.submissions.model import Check
from harness.submissions.reference import Reference
from harness.submissions.verification import Options, verify


class Portions(io.BytesIO):
    """A stream that gives a few bytes at a time, as one of an archive may."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size if size is None or 0 <= size < 1001 else 1001)


def member(data: bytes, path: str = f"data/{NAME}_A1/wav/df0-1-0000.wav") -> Member:
    return Member(path, len(data), lambda: Portions(data))


def examined(data: bytes) -> list[Check]:
    recording = recording_of(member(data), edition())
    assert recording is not None
    return examine_audio([recording], edition(), Reference({}))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/libri_dev_trials_f_anon/wav/84-1-0.wav", ("libri_dev_trials_f", "84-1-0")),
        ("x/data/libri_dev_enrolls/wav/84-1-0/84-1-0.WAV", ("libri_dev_enrolls", "84-1-0")),
        (
            "vctk_dev_trials_f_common_anon/wav/p1_2_mic2.wav",
            ("vctk_dev_trials_f_common", "p1_2_mic2"),
        ),
        ("vctk_dev_trials_f_anon/p1_2_mic2.wav", ("vctk_dev_trials_f", "p1_2_mic2")),
        ("data/train-clean-360_anon/wav/84-1-0.wav", None),
        ("data/libri_dev_trials_fanon/wav/84-1-0.wav", None),
        ("libri_dev_trials_f/84-1-0.flac", None),
    ],
)
def test_where_audio_is(path: str, expected: tuple[str, str] | None) -> None:
    found = recording_of(member(b"", path), load("vpc2022"))
    assert (None if found is None else (found.set, found.utterance)) == expected


@pytest.mark.parametrize("suffix", ["", ".zip", ".tar.gz"])
def test_speech_without_fault(suffix: str, tmp_path: Path) -> None:
    submission = making.clean(tmp_path)
    write_audio(submission)
    # Many equal files: a ratio that no real speech has.
    options = Options(limits=Limits(ratio=100_000))
    done = verify([making.archive(submission, suffix)], edition(), options)
    assert done.submissions[0].checks == []
    assert done.verdict == "verified"


def test_an_edition_without_audio_calls_it_unknown(tmp_path: Path) -> None:
    submission = making.clean(tmp_path)
    write_audio(submission)
    (result,) = verify([submission], small.edition()).submissions
    assert [(check.code, check.count) for check in result.checks] == [("file-unknown", 90)]


def test_names_are_the_original_ones(tmp_path: Path) -> None:
    submission = making.clean(tmp_path)
    folder = write_audio(submission)
    first, second = utterances()[:2]
    (folder / f"{first}.wav").rename(folder / "other.wav")
    (folder / f"{second}.wav").unlink()
    (result,) = verify([submission], edition()).submissions
    (check,) = result.checks
    assert (check.code, check.count) == ("audio-names", 3)
    assert check.message == (
        f"2 utterances of {NAME} are missing, 1 are none of it, such as {first!r}"
    )
    # The EERs are as they were.
    assert result.verdict == "verified"


def test_names_of_enrolments_are_proven_by_their_hash(test_data: Path) -> None:
    protocol = load("vpc2024")
    text = (test_data / "vpc-lists" / "libri_test_enrolls" / "enrolls").read_text()
    paths = [f"data/libri_test_enrolls_T1/wav/{name}.wav" for name in text.split()]

    def checks(paths: list[str]) -> list[str]:
        found = [recording_of(member(SPEECH, path), protocol) for path in paths]
        kept = [one for one in found if one is not None]
        return [check.message for check in examine_audio(kept, protocol, Reference({}))]

    assert checks(paths) == []
    assert checks(paths[1:]) == ["the names of the 437 files are not the 438 of libri_test_enrolls"]
    assert checks([*paths, paths[0]]) == ["1 names of libri_test_enrolls stand twice"]


@pytest.mark.parametrize(
    ("data", "code", "said"),
    [
        (b"", "audio-unreadable", "not a WAV file"),
        (b"RIFX" + SPEECH[4:], "audio-unreadable", "not a WAV file"),
        (SPEECH[:30], "audio-unreadable", "its header is cut short"),
        (SPEECH[:46], "audio-unreadable", "holds no samples"),
        (SPEECH[:-2], "audio-unreadable", "cut short: 1,598 of 1,600 bytes are there"),
        (SPEECH[:12] + SPEECH[36:], "audio-unreadable", "states no format before its samples"),
        (wav(b"\1\2", code=6, bits=8), "audio-unreadable", "coding 6 of 8 bits: use PCM of 16"),
        (wav(b"\1\2", rate=44_100), "audio-rate", "44,100 Hz and 1 channels: it must be 16,000 Hz"),
        (wav(b"\1\2\1\2", channels=2), "audio-rate", "16,000 Hz and 2 channels"),
        (wav(b""), "audio-silent", "no sample"),
        (wav(bytes(3200)), "audio-silent", "no sample that is not 0"),
        (
            wav(np.array([0.5, 1.5, np.nan], "<f4").tobytes(), code=3, bits=32),
            "audio-converted",
            "floating point of 32 bits, converted to PCM of 16; 2 samples are beyond full scale",
        ),
        (wav(b"\0\0\1", bits=24), "audio-converted", "PCM of 24 bits, converted to PCM of 16"),
    ],
)
def test_faults_are_named(data: bytes, code: str, said: str) -> None:
    (check,) = examined(data)
    assert (check.code, check.message[: len(said)]) == (code, said)
    assert check.file == f"data/{NAME}_A1/wav/df0-1-0000.wav"


def test_a_file_of_empty_chunks_alone_is_not_read_to_its_end() -> None:
    taken = []

    class Counted(Portions):
        def read(self, size: int | None = -1) -> bytes:
            taken.append(size)
            return super().read(size)

    data = b"RIFF\0\0\0\0WAVE" + struct.pack("<4sI", b"junk", 0) * 50_000
    one = Member(member(data).path, len(data), lambda: Counted(data))
    recording = recording_of(one, edition())
    assert recording is not None
    (check,) = examine_audio([recording], edition(), Reference({}))
    assert (check.code, check.message) == ("audio-unreadable", "holds no samples")
    # A header each, and the nothing behind it.
    assert len(taken) <= 2 * 1000 + 1


def test_a_fault_of_many_files_is_one_check() -> None:
    recording = recording_of(member(b""), edition())
    assert recording is not None
    (check, names) = examine_audio([recording] * 5, edition(), Reference({}))
    assert (check.code, check.count, names.code) == ("audio-unreadable", 5, "audio-names")


def test_an_extensible_header_tells_the_coding_further_on() -> None:
    form = struct.pack("<HHIIHH", 0xFFFE, 1, 16_000, 32_000, 2, 16)
    form += struct.pack("<HHI", 22, 16, 4) + struct.pack("<H", 1) + bytes(14)
    data = b"RIFF\0\0\0\0WAVEfmt " + struct.pack("<I", len(form)) + form
    assert examined(data + b"data" + struct.pack("<I", 2) + b"\1\0") == []


def test_more_samples_than_a_block_holds() -> None:
    content = bytes(BLOCK) + b"\1\0"
    assert examined(wav(content)) == []
    assert [check.code for check in examined(wav(bytes(BLOCK + 2)))] == ["audio-silent"]


def test_conversion_by_hand() -> None:
    def of(values: list[float], kind: str, coding: tuple[int, int]) -> tuple[list[int], int]:
        found, lost = to_pcm16(np.array(values, kind).tobytes(), coding)
        return found.tolist(), lost

    assert of([-32768, 5, 32767], "<i2", (1, 16)) == ([-32768, 5, 32767], 0)
    # 1.5 x 2^16 is halfway, and goes to the even one.
    assert of([3 << 15, -(1 << 31), (1 << 31) - 1], "<i4", (1, 32)) == ([2, -32768, 32767], 0)
    assert of([0.5, -1, 1, 1.01, -2, np.inf], "<f4", (3, 32)) == (
        [16384, -32768, 32767, 32767, -32768, 0],
        3,
    )
    # 24 bits, the least significant byte first: 0x000100 is 1, 0x800000 is -32768.
    assert to_pcm16(b"\0\1\0" + b"\0\0\x80", (1, 24))[0].tolist() == [1, -32768]


@given(st.binary(max_size=80), st.sampled_from(sorted(TYPES)), st.integers(0, 44))
def test_any_bytes_are_read_or_named(data: bytes, coding: tuple[int, int], cut: int) -> None:
    whole = wav(data, code=coding[0], bits=coding[1])
    for file in (data, whole[:cut] + data, whole, whole[: len(whole) - cut]):
        for check in examined(file):
            assert check.code.startswith("audio-")
