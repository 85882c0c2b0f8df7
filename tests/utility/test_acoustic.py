"""Acoustic features: of signals whose features follow from how they are made."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from harness.corpora.store import SAMPLE_RATE, Samples
from harness.utility.acoustic import FEATURES, acoustic_features

pytestmark = pytest.mark.heavy

Floats = npt.NDArray[np.float64]


def times(seconds: float) -> Floats:
    return np.arange(round(seconds * SAMPLE_RATE)) / SAMPLE_RATE


def stored(signal: Floats, peak: int = 20_000) -> Samples:
    samples: Samples = np.rint(signal / np.abs(signal).max() * peak).astype(np.int16)
    return samples


def features(samples: Samples) -> dict[str, float]:
    return dict(zip(FEATURES, acoustic_features(samples).tolist(), strict=True))


def voice(f0: Floats | float, seconds: float, harmonics: int = 20) -> Floats:
    """Harmonics whose amplitudes fall by 6 dB an octave, of an F0 in Hz that may move."""
    phase = 2 * np.pi * np.cumsum(np.broadcast_to(f0, len(times(seconds)))) / SAMPLE_RATE
    spoken: Floats = np.sum([np.sin(k * phase) / k for k in range(1, harmonics + 1)], axis=0)
    return spoken


def test_pitch_of_a_steady_voice() -> None:
    found = features(stored(voice(220.0, 1)))
    # 220 Hz is three octaves above 27.5 Hz.
    assert found["f0 mean"] == pytest.approx(36, abs=0.02)
    assert found["f0 deviation"] == pytest.approx(0, abs=0.02)
    assert found["voiced share"] == 1
    assert found["voiced segments a second"] == pytest.approx(1, rel=0.05)
    assert found["jitter"] == pytest.approx(0, abs=0.001)
    assert found["shimmer"] == pytest.approx(0, abs=0.005)


def test_pitch_that_rises_an_octave_a_second() -> None:
    found = features(stored(voice(110 * 2 ** times(1), 1)))
    assert found["f0 rise mean"] == pytest.approx(12, abs=0.2)
    # From 24 to 36 semitones: percentiles of a line.
    assert found["f0 20 %"] == pytest.approx(26.4, abs=0.3)
    assert found["f0 80 %"] == pytest.approx(33.6, abs=0.3)
    assert found["f0 deviation"] == pytest.approx(12 / np.sqrt(12), rel=0.05)


def pulses(periods: npt.NDArray[np.int64], heights: Floats) -> Samples:
    """Soft pulses of mean 0, so many samples apart and so high."""
    train = np.zeros(SAMPLE_RATE)
    train[np.cumsum(periods)] = heights
    return stored(np.convolve(train, np.gradient(np.hanning(31)), mode="same"))


def test_jitter_of_drawn_periods() -> None:
    periods = np.random.default_rng(4).integers(78, 83, size=190)
    jitter = np.abs(np.diff(periods)).mean() / periods.mean()
    assert features(pulses(periods, np.ones(190)))["jitter"] == pytest.approx(jitter, rel=0.1)


def test_shimmer_of_drawn_heights() -> None:
    heights = np.random.default_rng(4).uniform(0.9, 1.1, size=190)
    shimmer = np.abs(np.diff(heights)).mean() / heights.mean()
    found = features(pulses(np.full(190, 80), heights))
    assert found["shimmer"] == pytest.approx(shimmer, rel=0.1)


@pytest.mark.parametrize("decibels", [5, 15])
def test_harmonics_to_noise_ratio(decibels: float) -> None:
    clear = voice(150.0, 2)
    noise = np.random.default_rng(1).standard_normal(len(clear))
    noise *= clear.std() / noise.std() * 10 ** (-decibels / 20)
    # Boersma 1993, table 1: within about 1 dB of the truth.
    assert features(stored(clear + noise))["hnr mean"] == pytest.approx(decibels, abs=1.5)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0, 8.0])
def test_balance_of_two_tones(factor: float) -> None:
    # Both on a bin of the spectrum, and harmonics of 250 Hz.
    tones = factor * np.sin(2 * np.pi * 250 * times(1)) + np.sin(2 * np.pi * 3_000 * times(1))
    found = features(stored(tones))
    assert found["alpha ratio mean"] == pytest.approx(20 * np.log10(factor), abs=0.05)
    assert found["hammarberg index mean"] == pytest.approx(20 * np.log10(factor), abs=0.05)
    power = np.array([factor**2, 1])
    assert found["centroid mean"] == pytest.approx(power @ [250, 3_000] / power.sum(), rel=0.01)


def test_slopes_follow_the_spectrum() -> None:
    breathy = voice(125.0, 1)
    breathy += 0.05 * np.random.default_rng(2).standard_normal(len(breathy))
    # The same through a filter that falls by 2 dB in 100 Hz up to 500 Hz, then rises by 0.5 dB.
    hertz = np.fft.rfftfreq(len(breathy), 1 / SAMPLE_RATE)
    decibels = np.interp(hertz, [0, 500, 2_000], [0, -10, -2.5])
    tilted = np.fft.irfft(np.fft.rfft(breathy) * 10 ** (decibels / 20))
    before, after = features(stored(breathy)), features(stored(tilted))
    for name, slope in (("slope 0-500 mean", -2), ("slope 500-1500 mean", 0.5)):
        assert after[name] - before[name] == pytest.approx(slope, rel=0.1)


def test_spectrum_of_two_frames() -> None:
    import torchaudio
    from scipy.fft import dct

    samples = stored(np.random.default_rng(5).standard_normal(800))
    speech = samples - samples.mean()
    speech /= speech.std()
    # Of two times 40 ms, 10 ms apart, the 32 ms in the middle.
    frames = np.array([speech[64:576], speech[224:736]]) * np.hanning(513)[:-1]
    filters = torchaudio.functional.melscale_fbanks(257, 20, 8_000, 26, SAMPLE_RATE).double()
    bands = np.abs(np.fft.rfft(frames)) ** 2 @ filters.numpy()
    cepstra = dct(np.log(bands), norm="ortho")[:, 1:13]
    found = features(samples)
    for number in range(1, 13):
        of_both = cepstra[:, number - 1]
        assert found[f"mfcc{number} mean"] == pytest.approx(of_both.mean(), abs=1e-3)
        assert found[f"mfcc{number} deviation"] == pytest.approx(of_both.std(), abs=1e-3)
    # Of a single change, there is no deviation; before the first frame, nothing has changed.
    assert found["mfcc1 change"] == 0
    change = np.linalg.norm(np.diff(bands**0.3, axis=0))
    assert found["flux mean"] == pytest.approx(change / 2, rel=1e-4)


def test_pauses_are_no_part_of_the_sound() -> None:
    whisper = np.random.default_rng(6).standard_normal(SAMPLE_RATE)
    paused = np.concatenate([whisper, 0.001 * whisper])
    alone, before_pause = features(stored(whisper)), features(stored(paused))
    for name in ("mfcc1 mean", "mfcc1 deviation", "mfcc5 20 %", "mfcc12 change"):
        assert before_pause[name] == pytest.approx(alone[name], rel=0.1, abs=0.05), name


def test_loudness_is_a_share_of_its_mean() -> None:
    # Half of it at half the amplitude, so a quarter of the power: 0.25 ** 0.3 as loud.
    spoken = voice(200.0, 2)
    spoken[SAMPLE_RATE:] /= 2
    found = features(stored(spoken))
    mean = (1 + 0.25**0.3) / 2
    assert found["loudness mean"] == pytest.approx(1, abs=0.01)
    assert found["loudness 80 %"] == pytest.approx(1 / mean, rel=0.02)
    assert found["loudness 20 %"] == pytest.approx(0.25**0.3 / mean, rel=0.02)


def test_loudness_that_rises() -> None:
    # Evenly from 0.2 to 1 in a second, with the power to 0.3.
    rising = np.linspace(0.2, 1, SAMPLE_RATE)
    found = features(stored(rising ** (1 / 0.6) * voice(200.0, 1)))
    assert found["loudness rise mean"] == pytest.approx(0.8 / 0.6, rel=0.1)


def test_timing_of_syllables() -> None:
    # Four in two seconds: 0.3 s of voice, and 0.2 s of silence around.
    syllable = np.concatenate([np.zeros(1_600), voice(200.0, 0.3), np.zeros(1_600)])
    found = features(stored(np.tile(syllable, 4)))
    assert found["voiced segments a second"] == pytest.approx(2, rel=0.05)
    assert found["voiced mean"] == pytest.approx(0.3, abs=0.03)
    assert found["voiced deviation"] == pytest.approx(0, abs=0.02)
    assert found["voiced share"] == pytest.approx(0.6, abs=0.05)
    # Where there is no voice, its pitch neither rises nor falls.
    assert abs(np.nan_to_num(found["f0 rise mean"])) < 5


def test_peaks_of_loudness() -> None:
    swelling = np.sin(np.pi * 3 * times(2)) ** 2
    found = features(stored(swelling * voice(200.0, 2)))
    assert found["loudness peaks a second"] == pytest.approx(3, rel=0.05)


def test_how_loud_the_recording_is_does_not_matter() -> None:
    speech = 2 * stored(voice(110 * 2 ** times(1), 1) * (1 + np.sin(20 * times(1))), 9_000)
    np.testing.assert_allclose(
        acoustic_features(speech), acoustic_features(speech // 2), rtol=1e-7, atol=1e-7
    )


def test_a_whisper_has_no_pitch_but_a_spectrum() -> None:
    whisper = stored(np.random.default_rng(3).standard_normal(SAMPLE_RATE))
    found = features(whisper)
    assert found["voiced share"] == 0
    assert found["voiced segments a second"] == 0
    for name in ("f0 mean", "hnr 20 %", "alpha ratio mean", "jitter", "shimmer", "voiced mean"):
        assert np.isnan(found[name]), name
    assert np.isfinite([found["loudness 80 %"], found["flux mean"], found["mfcc12 change"]]).all()
    assert found["unvoiced mean"] == pytest.approx(0.97, abs=0.02)


@pytest.mark.parametrize(
    "samples", [np.zeros(8_000), np.full(8_000, 77), np.zeros(0), np.arange(639)]
)
def test_silence_and_what_is_too_short_have_nothing(samples: Floats) -> None:
    found = acoustic_features(samples.astype(np.int16))
    assert found.shape == (len(FEATURES),)
    assert np.isnan(found).all()


@pytest.mark.parametrize("length", [640, 641, 799, 800, 801, 1_599, 1_600])
def test_the_shortest_speech(length: int) -> None:
    found = acoustic_features(stored(voice(200.0, 0.1))[:length])
    assert found.shape == (len(FEATURES),)
    assert found[FEATURES.index("f0 mean")] == pytest.approx(12 * np.log2(200 / 27.5), abs=0.3)


def test_features_have_names_and_repeat() -> None:
    assert len(set(FEATURES)) == len(FEATURES)
    speech = stored(voice(150.0, 0.5))
    assert acoustic_features(speech).tobytes() == acoustic_features(speech).tobytes()
