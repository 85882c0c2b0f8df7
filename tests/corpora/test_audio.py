"""Every oddity of foreign audio has its own outcome: a note, or a clear error."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import soundfile

from harness.corpora.audio import duration_16k, read_audio
from harness.errors import AudioError


def noise(samples: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9000, 9000, samples).astype(np.int16)


def tone(rate: int, seconds: float, frequency: float = 440.0) -> np.ndarray:
    return 0.25 * np.sin(2 * np.pi * frequency * np.arange(int(rate * seconds)) / rate)


def write(path: Path, samples: np.ndarray, rate: int = 16_000, subtype: str = "PCM_16") -> Path:
    soundfile.write(str(path), samples, rate, subtype=subtype)
    return path


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
def test_native_audio_is_bit_exact_and_has_no_note(tmp_path: Path, name: str) -> None:
    samples = noise(16_001)
    made = read_audio(write(tmp_path / name, samples))
    assert made.samples.dtype == np.int16
    np.testing.assert_array_equal(made.samples, samples)
    assert made.extra == {"note": ""}
    assert duration_16k(tmp_path / name) == 16_001


def test_extreme_16_bit_values_survive(tmp_path: Path) -> None:
    samples = np.array([-32768, 32767, 0, -1, 1] * 100, dtype=np.int16)
    np.testing.assert_array_equal(read_audio(write(tmp_path / "a.wav", samples)).samples, samples)


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
def test_segment_is_the_same_part_of_the_whole(tmp_path: Path, name: str) -> None:
    samples = noise(50_000)
    made = read_audio(write(tmp_path / name, samples), 12_345, 43_210)
    np.testing.assert_array_equal(made.samples, samples[12_345:43_210])


def test_segment_is_read_by_seeking(tmp_path: Path) -> None:
    # The last third is damaged; a reader of the first third alone cannot know.
    path = write(tmp_path / "a.flac", noise(480_000))
    content = bytearray(path.read_bytes())
    content[-1000] ^= 0xFF
    path.write_bytes(content)
    assert len(read_audio(path, 0, 16_000).samples) == 16_000
    with pytest.raises(AudioError, match=r"a\.flac: cut short or damaged"):
        read_audio(path)


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_other_rates_are_resampled(tmp_path: Path, rate: int) -> None:
    path = write(tmp_path / "a.wav", tone(rate, 1.0), rate)
    made = read_audio(path)
    assert made.extra["note"] == f"resampled:{rate}"
    assert len(made.samples) == duration_16k(path) == 16_000
    # The same tone, sampled at 16 kHz; the filter's edges aside.
    expected = 32_768 * tone(16_000, 1.0)
    difference = np.abs(made.samples[500:-500] - expected[500:-500]).max()
    assert difference < 0.01 * 8_192


def test_length_is_rounded_up_when_the_rates_do_not_divide(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(44_101), 44_100)
    assert duration_16k(path) == 16_001
    assert len(read_audio(path).samples) == 16_001


def test_segments_of_resampled_audio_join_without_a_seam(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(44_100), 44_100)
    whole = read_audio(path).samples
    halves = [read_audio(path, 0, 7_000).samples, read_audio(path, 7_000, 16_000).samples]
    np.testing.assert_array_equal(np.concatenate(halves), whole)


def test_stereo_becomes_the_mean(tmp_path: Path) -> None:
    left, right = np.int16([100, 200, -900, -5] * 200), np.int16([300, 0, 700, -7] * 200)
    made = read_audio(write(tmp_path / "a.flac", np.stack([left, right], axis=1)))
    assert made.samples[:4].tolist() == [200, 100, -100, -6]
    assert made.extra["note"] == "downmixed:2"


@pytest.mark.parametrize("subtype", ["PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_finer_samples_are_rounded_to_16_bits(tmp_path: Path, subtype: str) -> None:
    in_16_bit_steps = np.array([0.0, 1.25, 1.75, -1.75, 2.5, 1000.0] * 100)
    made = read_audio(write(tmp_path / "a.wav", in_16_bit_steps / 32_768, subtype=subtype))
    assert made.samples[:6].tolist() == [0, 1, 2, -2, 2, 1000]
    assert made.extra["note"] == f"requantised:{subtype}"


def test_eight_bit_samples_are_widened(tmp_path: Path) -> None:
    samples = np.int16([256, -512, 25_600, -25_600] * 100)
    made = read_audio(write(tmp_path / "a.wav", samples, subtype="PCM_U8"))
    np.testing.assert_array_equal(made.samples, samples)
    assert made.extra["note"] == "requantised:PCM_U8"


def test_notes_stand_in_a_fixed_order(tmp_path: Path) -> None:
    channels = np.stack([2.0 * np.ones(500), 2.0 * np.ones(500)], axis=1)
    made = read_audio(write(tmp_path / "a.wav", channels, 44_100, "FLOAT"))
    expected = "resampled:44100;downmixed:2;requantised:FLOAT;clipped;dc;silence;short"
    assert made.extra["note"] == expected


def test_float_beyond_full_scale_saturates_and_is_noted(tmp_path: Path) -> None:
    samples = np.array([0.0, 1.5, -3.0, 0.5] * 100)
    made = read_audio(write(tmp_path / "a.wav", samples, subtype="FLOAT"))
    assert made.samples[:4].tolist() == [0, 32767, -32768, 16384]
    assert "clipped" in made.extra["note"].split(";")


def test_peak_normalised_float_is_not_clipped(tmp_path: Path) -> None:
    samples = np.array([0.0, 1.0, -1.0, 0.0] * 100)
    made = read_audio(write(tmp_path / "a.wav", samples, subtype="FLOAT"))
    assert made.extra["note"] == "requantised:FLOAT"


@pytest.mark.parametrize(
    ("samples", "note"),
    [
        ([32767, 32767, 32767, -32768, -32768, -32766], "clipped"),
        ([32767, 32767, 0, -32768, -32768, 0], ""),
        ([-32768, -32768, -32768, 32767, 32767, 32766], "clipped"),
        ([0, 0, 0, 0, 0, 0], "silence"),
        ([32, -32, 32, -32, 32, -32], "silence"),
        ([33, -33, 33, -33, 33, -33], ""),
        ([400, -400, 400, -400, 400, 2000], "dc"),
        ([400, -400, 400, -400, -400, -2000], "dc"),
        ([400, -400, 400, -400, 400, 1500], ""),
        ([328, 328, 328, 328, 328, 328], "dc;silence"),
    ],
)
def test_oddities_of_kept_samples_are_noted(tmp_path: Path, samples: list[int], note: str) -> None:
    kept = np.array(samples * 60, dtype=np.int16)
    made = read_audio(write(tmp_path / "a.wav", kept))
    assert made.extra["note"] == note
    np.testing.assert_array_equal(made.samples, kept)


@pytest.mark.parametrize(("length", "note"), [(1, "short"), (319, "short"), (320, "")])
def test_less_than_a_window_is_noted(tmp_path: Path, length: int, note: str) -> None:
    samples = np.resize(np.int16([-5000, 5000]), length)
    made = read_audio(write(tmp_path / "a.wav", samples))
    assert made.extra["note"].split(";")[-1] == note


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("rate", [16_000, 48_000])
def test_samples_that_are_no_numbers_are_refused(tmp_path: Path, bad: float, rate: int) -> None:
    samples = tone(rate, 0.1)
    samples[100] = bad
    path = write(tmp_path / "a.wav", samples, rate, "FLOAT")
    with pytest.raises(AudioError, match=r"a\.wav: holds NaN or infinite samples"):
        read_audio(path)


@pytest.mark.parametrize("kept", [0.999, 0.5, 0.05])
def test_cut_flac_is_refused(tmp_path: Path, kept: float) -> None:
    path = write(tmp_path / "a.flac", noise(100_000))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(AudioError, match="cut short"):
        read_audio(path)


@pytest.mark.parametrize("kept", [-1, -2, -100_001, 44])
def test_cut_wav_is_refused_although_libsndfile_would_not(tmp_path: Path, kept: int) -> None:
    path = write(tmp_path / "a.wav", noise(100_000))
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(AudioError, match=r"cut short: \d+ of 200000 bytes"):
        read_audio(path)
    with pytest.raises(AudioError, match="cut short"):
        duration_16k(path)


@pytest.mark.parametrize("kept", [1.0, 0.6])
@pytest.mark.parametrize(
    ("name", "subtype"),
    [
        ("AIFF", "PCM_16"),
        ("AU", "PCM_16"),
        ("W64", "PCM_16"),
        ("RF64", "PCM_16"),
        ("NIST", "PCM_16"),
        ("OGG", "VORBIS"),
        ("MP3", "MPEG_LAYER_III"),
    ],
)
def test_format_that_may_be_cut_unnoticed_is_refused(
    tmp_path: Path, name: str, subtype: str, kept: float
) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(str(path), noise(20_000), 16_000, format=name, subtype=subtype)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept)])
    for reader in (read_audio, duration_16k):
        with pytest.raises(AudioError, match=rf"its format is {name}.*formats, FLAC or WAV$"):
            reader(path)


@pytest.mark.parametrize(
    ("name", "subtype", "endian"),
    [("WAV", "PCM_16", "BIG"), ("WAVEX", "PCM_16", "FILE"), ("WAV", "ULAW", "FILE")],
)
def test_every_kind_of_wav_is_read_whole_or_not_at_all(
    tmp_path: Path, name: str, subtype: str, endian: str
) -> None:
    path = tmp_path / "a"
    samples = np.zeros(20_000, dtype=np.int16)
    soundfile.write(str(path), samples, 16_000, format=name, subtype=subtype, endian=endian)
    np.testing.assert_array_equal(read_audio(path).samples, samples)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(AudioError, match="cut short"):
        read_audio(path)


def test_wav_of_unknown_length_from_a_pipe_is_read(tmp_path: Path) -> None:
    samples = noise(1_000)
    path = write(tmp_path / "a.wav", samples)
    content = bytearray(path.read_bytes())
    content[4:8] = content[40:44] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    np.testing.assert_array_equal(read_audio(path).samples, samples)


@pytest.mark.parametrize(
    ("total", "message"),
    [
        (0, "declares no length"),
        (16_000 * 21_601, "more than six hours"),
        # More than there is, yet not too much.
        (200_000, "cut short"),
    ],
)
def test_flac_header_is_not_believed(tmp_path: Path, total: int, message: str) -> None:
    # The last 32 bits of the number of samples stand at byte 22 (FLAC format, STREAMINFO).
    path = write(tmp_path / "a.flac", noise(100_000))
    content = bytearray(path.read_bytes())
    assert content[22:26] == (100_000).to_bytes(4, "big")
    content[22:26] = total.to_bytes(4, "big")
    path.write_bytes(content)
    with pytest.raises(AudioError, match=message):
        read_audio(path)


@pytest.mark.parametrize("rate", [4_000, 384_000])
def test_unlikely_rates_are_refused(tmp_path: Path, rate: int) -> None:
    path = write(tmp_path / "a.wav", noise(1_000), rate)
    with pytest.raises(AudioError, match=f"its rate is {rate} Hz"):
        read_audio(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "the audio file is empty"), (b"not audio at all\n" * 99, "not readable as audio")],
)
@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.raw", "a"])
def test_what_is_not_audio_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(AudioError, match=message):
        read_audio(path)
    with pytest.raises(AudioError, match=message):
        duration_16k(path)


def test_audio_without_samples_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(0))
    with pytest.raises(AudioError, match="holds no samples"):
        read_audio(path)


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.wav", tmp_path):
        with pytest.raises(AudioError, match="no such audio file"):
            read_audio(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(100))
    path.chmod(0)
    with pytest.raises(AudioError, match="cannot be opened: Permission denied"):
        read_audio(path)


@pytest.mark.parametrize(("start", "stop"), [(-1, 10), (5, 5), (10, 5), (0, 1001), (1000, 1001)])
def test_segment_outside_the_file_is_refused(tmp_path: Path, start: int, stop: int) -> None:
    path = write(tmp_path / "a.wav", noise(1_000))
    with pytest.raises(AudioError, match=f"has 1000 samples .* from {start} to {stop}"):
        read_audio(path, start, stop)


@pytest.mark.parametrize("name", ["Grüße 语音.wav", "naïve file.flac", "a.WAV.wav"])
def test_names_may_hold_anything(tmp_path: Path, name: str) -> None:
    samples = noise(1_000)
    np.testing.assert_array_equal(read_audio(write(tmp_path / name, samples)).samples, samples)


def test_name_does_not_decide_the_format(tmp_path: Path) -> None:
    samples = noise(1_000)
    path = write(tmp_path / "a.flac", samples).rename(tmp_path / "a.raw")
    np.testing.assert_array_equal(read_audio(path).samples, samples)


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    good = write(tmp_path / "a.wav", noise(1_000))
    bad = tmp_path / "b.wav"
    bad.write_bytes(b"no audio")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        read_audio(good)
        with pytest.raises(AudioError, match="not readable"):
            read_audio(bad)
    assert len(os.listdir("/proc/self/fd")) == before
