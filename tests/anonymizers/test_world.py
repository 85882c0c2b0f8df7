"""WORLD against vowels whose F0 and formants are known, and what it does at the edges."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from anonymizers.vowels import formants_of, mean_f0, vowel
from harness.anonymizers import world
from harness.anonymizers.base import Job
from harness.anonymizers.samples import check_samples, finish
from harness.errors import AudioError, ConfigError

pytestmark = pytest.mark.heavy

VOWELS = [(120, (700, 1200, 2600)), (200, (500, 1500, 2500)), (100, (320, 900, 2300))]


def again(samples: np.ndarray) -> np.ndarray:
    return world.synthesize(world.analyse(samples), len(samples))


def digest(samples: np.ndarray) -> str:
    return hashlib.sha256(again(samples).tobytes()).hexdigest()


# Analysis and synthesis


@pytest.mark.parametrize(("f0", "formants"), VOWELS)
def test_a_vowel_has_its_f0_and_its_formants(f0: float, formants: tuple[float, ...]) -> None:
    analysis = world.analyse(vowel(f0, formants))
    inside = slice(20, -20)
    # Impulses fall on whole samples, which moves single periods.
    assert np.median(analysis.f0[inside]) == pytest.approx(f0, rel=0.001)
    assert analysis.f0[inside] == pytest.approx(f0, rel=0.02)
    # Vowels are all harmonic, the less so the less there is of them.
    assert analysis.aperiodicity[inside, :100].mean() < 0.1
    spectrum = np.log(analysis.envelope[inside]).mean(axis=0)
    for formant in formants:
        place = round(formant / 8_000 * 512)
        # Between harmonics nothing is heard: a peak may lie half of their distance away.
        span = round(f0 / 2 / 8_000 * 512) + 3
        near = spectrum[place - span : place + span + 1]
        assert 0 < near.argmax() < len(near) - 1


@pytest.mark.parametrize(("f0", "formants"), VOWELS)
def test_speech_comes_back_as_it_was(f0: float, formants: tuple[float, ...]) -> None:
    samples = vowel(f0, formants)
    speech = again(samples)
    assert mean_f0(finish(speech)) == pytest.approx(f0, rel=0.01)
    assert formants_of(finish(speech), 3) == pytest.approx(formants, rel=0.05)
    assert np.std(speech) * 32_768 == pytest.approx(np.std(samples), rel=0.2)


@pytest.mark.parametrize("length", [1, 79, 80, 81, 1_599, 1_600, 16_001])
def test_frames_lie_5_ms_apart_and_any_length_can_be_made(length: int) -> None:
    analysis = world.analyse(vowel(120, (500, 1500))[:length])
    frames = length // 80 + 1
    assert analysis.f0.shape == (frames,)
    assert analysis.envelope.shape == analysis.aperiodicity.shape == (frames, 513)
    for wanted in (length, 1, length + 777):
        speech = world.synthesize(analysis, wanted)
        assert speech.shape == (wanted,)
        assert np.isfinite(speech).all()
    # Past the last frame's 80 samples there is nothing.
    assert not world.synthesize(analysis, length + 777)[frames * 80 :].any()


def test_neither_history_nor_process_change_a_result() -> None:
    generator = np.random.default_rng(1)
    noise = generator.integers(-9_000, 9_000, 4_000).astype(np.int16)
    spoken = vowel(130, (600, 1400, 2500), 0.3)
    first = digest(noise)
    digest(spoken)
    assert digest(noise) == first
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import numpy as np\n"
        "from anonymizers.test_world import digest\n"
        "noise = np.random.default_rng(1).integers(-9_000, 9_000, 4_000).astype(np.int16)\n"
        "print(digest(noise))"
    )
    path = [entry for entry in sys.path if entry]
    done = subprocess.run(
        [sys.executable, "-c", program, *path], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == first


@pytest.mark.parametrize(
    "name", ["zeros", "constant", "clipped", "square", "extremes", "impulse", "one bit", "gap"]
)
def test_extreme_signals_come_through(name: str) -> None:
    generator = np.random.default_rng(5)
    t = np.arange(8_000)
    samples = {
        "zeros": np.zeros(len(t)),
        "constant": np.full(len(t), 20_000),
        "clipped": np.clip(generator.normal(0, 60_000, len(t)), -32_768, 32_767),
        "square": 32_767 * np.sign(np.sin(0.05 * t)),
        "extremes": generator.choice([-32_768, 32_767], len(t)),
        "impulse": 32_767 * (t == 3_000),
        "one bit": generator.integers(-1, 2, len(t)),
        "gap": np.where((t > 2_000) & (t < 6_000), 0, generator.normal(0, 3_000, len(t))),
    }[name].astype(np.int16)
    finished = finish(again(samples))
    assert finished.shape == samples.shape
    # What has no sound, and only that, is silent.
    silent = name in ("zeros", "constant")
    assert np.abs(finished.astype(int)).max() == (0 if silent else 32_766)
    if name == "gap":
        assert np.abs(finished[3_000:5_000].astype(int)).max() < 10


def test_a_minute_comes_through() -> None:
    samples = np.tile(vowel(120, (500, 1500, 2500), 2), 30)
    assert again(samples).shape == (960_000,)


# The coded forms


def test_coded_forms_are_small_and_come_back() -> None:
    analysis = world.analyse(vowel(120, (700, 1200, 2600)))
    coded = world.coded_envelope(analysis.envelope, 60)
    assert coded.shape == (len(analysis.f0), 60)
    apart = np.log(world.decoded_envelope(coded)) - np.log(analysis.envelope)
    # A neper of power is 4.3 dB. A vowel is all peaks and valleys: the worst case.
    assert np.abs(apart).mean() * 4.34 < 2
    bands = world.coded_aperiodicity(analysis.aperiodicity)
    assert bands.shape == (len(analysis.f0), 1)
    apart = world.decoded_aperiodicity(bands) - analysis.aperiodicity
    assert np.abs(apart).mean() < 0.01


def test_means_of_coded_envelopes_are_means_of_log_envelopes() -> None:
    first = world.coded_envelope(world.analyse(vowel(120, (700, 1200, 2600))).envelope, 60)[:100]
    second = world.coded_envelope(world.analyse(vowel(200, (300, 2200, 2900))).envelope, 60)[:100]
    mean = np.log(world.decoded_envelope((first + second) / 2))
    logs = [np.log(world.decoded_envelope(coded)) for coded in (first, second)]
    np.testing.assert_allclose(mean, (logs[0] + logs[1]) / 2, atol=1e-9)


# F0


def test_f0_moves_to_another_mean_and_range() -> None:
    f0 = np.array([0, 100, 200, 0, 400, 0])
    # The geometric mean is 200, one octave from either end.
    assert world.moved(f0, 150, 1) == pytest.approx([0, 75, 150, 0, 300, 0])
    assert world.moved(f0, 150, 0) == pytest.approx([0, 150, 150, 0, 150, 0])
    half = np.sqrt(2)
    assert world.moved(f0, 150, 0.5) == pytest.approx([0, 150 / half, 150, 0, 150 * half, 0])


def test_moved_f0_stays_where_voices_are() -> None:
    f0 = np.array([100, 400])
    assert world.moved(f0, 200, 3) == pytest.approx([71, 800])
    assert not world.moved(np.zeros(3), 200, 1).any()
    assert world.moved(np.zeros(0), 200, 1).shape == (0,)


# The warp


def test_a_warp_moves_what_stands_below_the_knee() -> None:
    spectrum = np.zeros((1, 513))
    spectrum[0, 100] = 1
    assert world.warped(spectrum, 1.25)[0, 120:131].argmax() == 5
    assert world.warped(spectrum, 0.8)[0, 75:86].argmax() == 5
    assert world.warped(spectrum, 1.25)[0, 125] == pytest.approx(1)


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.25, 2.0])
def test_a_warp_keeps_the_ends_and_the_order(factor: float) -> None:
    ramp = np.arange(513.0)[np.newaxis]
    result = world.warped(ramp, factor)[0]
    assert result[[0, -1]].tolist() == [0, 512]
    assert (np.diff(result) > 0).all()
    # 7 kHz is where the second line begins: in the output, or in the input.
    knee = 448 if factor > 1 else round(448 * factor)
    assert result[knee] == pytest.approx(knee / factor, abs=1)
    assert result[50] == pytest.approx(50 / factor)


def test_a_warp_by_one_changes_nothing() -> None:
    spectra = np.random.default_rng(1).normal(size=(7, 513))
    np.testing.assert_allclose(world.warped(spectra, 1), spectra, atol=1e-12)


# The end


def test_finished_speech_has_its_peak_at_32766() -> None:
    finished = finish(np.array([0.1, -0.2, 0.05, 1e-9]))
    assert finished.dtype == np.int16
    # A half of 32,766 is 16,383, a quarter 8,191.5, and NumPy rounds halves to even.
    assert finished.tolist() == [16_383, -32_766, 8_192, 0]
    assert finish(np.array([50.0, -100.0])).tolist() == [16_383, -32_766]


@pytest.mark.parametrize("speech", [np.zeros(5), np.full(5, 1e-5), np.zeros(0)])
def test_digital_silence_is_finished_as_zeros(speech: np.ndarray) -> None:
    finished = finish(speech)
    assert finished.dtype == np.int16
    assert finished.tolist() == [0] * len(speech)


@pytest.mark.parametrize(
    "samples", [np.zeros(1_000), np.zeros((500, 2), dtype=np.int16)], ids=["float", "stereo"]
)
def test_other_audio_is_refused(samples: np.ndarray) -> None:
    with pytest.raises(AudioError, match="utterance u000007: audio is .* not mono 16-bit"):
        check_samples(samples, Job("u000007", 1))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyworld", None)
    with pytest.raises(ConfigError, match=r"pyworld is not installed; pip install '.*\[knn-vc\]'"):
        world.analyse(vowel(120, (500,), 0.1))
