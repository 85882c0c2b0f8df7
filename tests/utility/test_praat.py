"""Praat's F0 against sounds whose F0 is known, its own command with all settings named, WORLD."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import parselmouth
import pytest
import soundfile
from anonymizers.vowels import vowel

from harness.anonymizers import world
from harness.errors import ConfigError
from harness.utility.praat import f0_track

pytestmark = pytest.mark.heavy

RATE = 16_000


def tone(f0: float, seconds: float = 1.0) -> np.ndarray:
    """A sawtooth made of its harmonics: none is above half the rate."""
    turns = 2 * np.pi * f0 * np.arange(round(seconds * RATE)) / RATE
    wave = sum(np.sin(n * turns) / n for n in range(1, int(RATE / 2 / f0) + 1))
    return np.rint(10_000 * wave).astype(np.int16)


def spoken(data: Path, count: int) -> list[np.ndarray]:
    """Utterances of as many speakers."""
    speakers = sorted((data / "speech" / "LibriSpeech" / "test-clean").iterdir())[:count]
    return [soundfile.read(min(s.rglob("*.flac")), dtype="int16")[0] for s in speakers]


@pytest.mark.parametrize("f0", [80, 130, 200, 330, 480])
def test_a_tone_has_its_f0(f0: float) -> None:
    track = f0_track(tone(f0))
    assert track == pytest.approx(f0, rel=0.01)
    assert track.dtype == np.float64


def test_frames_lie_10_ms_apart_around_the_middle() -> None:
    # From 100 to 300 Hz in 2 s: 1 Hz a frame.
    seconds = 2.0
    glide = 100 + 100 * np.arange(round(seconds * RATE)) / RATE
    track = f0_track(vowel(glide, (600, 1_400, 2_500), seconds))
    assert len(track) in (196, 197)
    times = seconds / 2 + (np.arange(len(track)) - (len(track) - 1) / 2) / 100
    assert track[5:-5] == pytest.approx(100 + 100 * times[5:-5], rel=0.02)


def test_speech_without_voice_is_zero() -> None:
    pause = np.zeros(RATE, dtype=np.int16)
    assert f0_track(pause).tolist() == [0.0] * 97
    track = f0_track(np.concatenate([tone(200), pause, tone(150)]))
    assert track[10:85] == pytest.approx(200, rel=0.01)
    assert not track[110:185].any()
    assert track[210:285] == pytest.approx(150, rel=0.01)


@pytest.mark.parametrize("constant", [1, -32_768])
def test_a_constant_is_unvoiced(constant: int) -> None:
    assert not f0_track(np.full(RATE, constant, dtype=np.int16)).any()


@pytest.mark.parametrize(("samples", "frames"), [(0, 0), (1, 0), (639, 0), (640, 1), (801, 2)])
def test_what_is_shorter_than_a_frame_has_no_track(samples: int, frames: int) -> None:
    # A frame is three periods of 75 Hz, 40 ms.
    assert f0_track(tone(200)[:samples]).shape == (frames,)


def test_the_level_does_not_matter() -> None:
    loud = vowel(140, (600, 1_400, 2_500), peak=32_000)
    quiet = np.rint(loud / 16).astype(np.int16)
    assert f0_track(quiet) == pytest.approx(f0_track(loud), rel=0.001)


def test_settings_are_those_of_the_challenge(test_data: Path) -> None:
    samples = spoken(test_data, 1)[0]
    sound = parselmouth.Sound(samples.astype(np.float64) / 2**15, sampling_frequency=16_000.0)
    expected = parselmouth.praat.call(
        *(sound, "To Pitch (ac)...", 0.01, 75.0, 15, "no", 0.03, 0.45, 0.01, 0.35, 0.14, 500.0)
    )
    assert f0_track(samples).tolist() == expected.selected_array["frequency"].tolist()


def test_real_speech_agrees_with_world(test_data: Path) -> None:
    for samples in spoken(test_data, 6):
        ours, theirs = f0_track(samples), world.analyse(samples).f0
        medians = [np.median(track[track > 0]) for track in (ours, theirs)]
        assert medians[0] == pytest.approx(medians[1], rel=0.05)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "parselmouth", None)
    message = r"Praat: the module parselmouth is not installed; pip install '.*\[utility\]'"
    with pytest.raises(ConfigError, match=message):
        f0_track(tone(200))
