"""`pitch-smoothing`: another system's speech with a smoother F0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.anonymizers.base import BatchAnonymizer, Composed, Job, load
from harness.anonymizers.mcadams import McAdams
from harness.anonymizers.pitch_smoothing import PitchSmoothing, smoothed
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import ConfigError

pytestmark = pytest.mark.heavy

ORIGINAL = {"type": "original"}
JOB = Job("u000001", 1, 0.7)
# Hz: F0 swings about this, by this share, so often a second.
CENTRE, SWING, RATE = 140.0, 0.25, 2.0


def hum(seconds: float = 2.0) -> Samples:
    """A buzz with a swinging F0."""
    t = np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    f0 = CENTRE * np.exp(SWING * np.sin(2 * np.pi * RATE * t))
    phase = 2 * np.pi * np.cumsum(f0) / SAMPLE_RATE
    wave = sum(np.sin(k * phase) / k for k in range(1, 20))
    return np.asarray(wave / np.abs(wave).max() * 12_000).astype(np.int16)


def pitch(samples: Samples) -> np.ndarray:
    """F0 in Hz every 20 ms, by autocorrelation of 60 ms, the edges left out."""
    found = []
    for start in range(3_200, len(samples) - 4_160, 320):
        frame = samples[start : start + 960].astype(float) * np.hanning(960)
        correlation = np.correlate(frame, frame, "full")[959:]
        correlation /= np.correlate(np.hanning(960), np.hanning(960), "full")[959:] + 1.0
        lags = np.arange(SAMPLE_RATE // 250, SAMPLE_RATE // 80)
        found.append(SAMPLE_RATE / lags[np.argmax(correlation[lags])])
    return np.array(found)


def spread(samples: Samples) -> float:
    """Standard deviation of log F0."""
    return float(np.std(np.log(pitch(samples))))


def system(**parameters: float) -> PitchSmoothing:
    return PitchSmoothing(system=ORIGINAL, **parameters)


def test_the_measure_hears_the_swing() -> None:
    assert spread(hum()) == pytest.approx(SWING / 2**0.5, rel=0.1)


@pytest.mark.parametrize("reversion", [0.0, 0.5, 1.0])
def test_reversion_narrows_the_pitch_about_its_mean(reversion: float) -> None:
    made = system(reversion=reversion, window_ms=0).anonymize(hum(), JOB)
    assert spread(made) == pytest.approx((1 - reversion) * SWING / 2**0.5, abs=0.02)
    assert np.log(pitch(made)).mean() == pytest.approx(np.log(CENTRE), abs=0.03)
    assert len(made) == len(hum())


def test_the_window_takes_away_what_is_fast() -> None:
    # A moving average of a whole period of the swing leaves nothing of it.
    flat = system(reversion=0.0, window_ms=1_000 / RATE).anonymize(hum(), JOB)
    slow = system(reversion=0.0, window_ms=50).anonymize(hum(), JOB)
    assert spread(flat) < 0.25 * spread(slow)


def test_contour_by_hand() -> None:
    f0 = np.exp([0, 1, 2, 3, 0])
    f0[[0, 4]] = 0
    # Of three frames, shorter at the ends of the stretch: 1.5, 2, 2.5.
    by_hand = np.exp([1.5, 2.0, 2.5])
    np.testing.assert_allclose(smoothed(f0, 3, 0.0)[1:4], by_hand, rtol=1e-12)
    assert smoothed(f0, 3, 0.0)[[0, 4]].tolist() == [0, 0]
    # Half way to the mean of 2.
    np.testing.assert_allclose(smoothed(f0, 3, 0.5)[1:4], np.exp([1.75, 2.0, 2.25]), rtol=1e-12)
    np.testing.assert_allclose(smoothed(f0, 1, 0.0), f0, rtol=1e-12)
    assert not smoothed(np.zeros(4), 3, 0.5).any()


def test_stretches_do_not_touch_one_another() -> None:
    one, other = np.full(6, 100.0), np.full(5, 200.0)
    gap = np.zeros(2)
    found = smoothed(np.concatenate([one, gap, other]), 9, 0.0)
    np.testing.assert_allclose(found, np.concatenate([one, gap, other]), rtol=1e-12)


def test_it_is_the_system_that_anonymizes() -> None:
    over = PitchSmoothing(system={"type": "mcadams"}, reversion=0.3)
    alone = system(reversion=0.3).anonymize(McAdams().anonymize(hum(0.5), JOB), JOB)
    np.testing.assert_array_equal(over.anonymize(hum(0.5), JOB), alone)
    assert over.alphas([], []) == []
    assert isinstance(over, BatchAnonymizer)
    assert isinstance(over, Composed)


@pytest.mark.parametrize("length", [1, 319, 1_000])
def test_silence_and_short_speech_come_through(length: int) -> None:
    silent = np.zeros(length, dtype=np.int16)
    np.testing.assert_array_equal(system().anonymize(silent, JOB), silent)
    made = system().anonymize(hum(1.0)[-length:], JOB)
    assert made.dtype == np.int16
    assert len(made) == length


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"reversion": 1.5},
            r"anonymizers\.x \(pitch-smoothing\): reversion is 1.5; give a number from 0 to 1",
        ),
        ({"reversion": -0.1}, "reversion is -0.1"),
        ({"window_ms": float("nan")}, "window_ms is nan"),
        ({"window_ms": 1_001}, "window_ms is 1001.0; give a number from 0 to 1000"),
        ({"system": {"type": "b5"}}, r"anonymizers\.x \(system\): unknown"),
    ],
)
def test_bad_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load("x", {"type": "pitch-smoothing", "system": ORIGINAL, **parameters})
