"""The formant and pitch shift, measured on vowels without WORLD (tests/anonymizers/vowels.py)."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from anonymizers.vowels import f0_track, formants_of, mean_f0, vowel
from harness.anonymizers.base import Anonymizer, Job, Source, load
from harness.anonymizers.formant_pitch import FormantPitch
from harness.errors import AudioError, ConfigError

pytestmark = pytest.mark.heavy

FORMANTS = (500.0, 1500.0, 2500.0)


def job(seed: int, utterance: str = "u000001") -> Job:
    return Job(utterance=utterance, seed=seed)


def fixed(formant: float = 1.2, pitch: float = 180, spread: float = 1) -> FormantPitch:
    """One that has nothing to draw."""
    return FormantPitch(
        formant_min=formant,
        formant_max=formant,
        formant_apart=1,
        pitch_min=pitch,
        pitch_max=pitch,
        range_min=spread,
        range_max=spread,
    )


# What is heard


@pytest.mark.parametrize("factor", [0.8, 1.0, 1.25])
def test_formants_are_multiplied(factor: float) -> None:
    result = fixed(formant=factor).anonymize(vowel(120, FORMANTS), job(1))
    assert formants_of(result, 3) == pytest.approx(factor * np.array(FORMANTS), rel=0.06)


@pytest.mark.parametrize("source", [110, 230])
@pytest.mark.parametrize("pitch", [100, 200])
def test_mean_f0_is_the_drawn_one_whoever_speaks(source: float, pitch: float) -> None:
    result = fixed(pitch=pitch).anonymize(vowel(source, FORMANTS), job(1))
    assert mean_f0(result) == pytest.approx(pitch, rel=0.01)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0])
def test_the_range_of_f0_is_multiplied(factor: float) -> None:
    turns = 2 * np.pi * 1.5 * np.arange(32_000) / 16_000
    spoken = vowel(150 * np.exp(0.2 * np.sin(turns)), FORMANTS, seconds=2)
    result = fixed(pitch=150, spread=factor).anonymize(spoken, job(1))
    # The standard deviation of a sine is its amplitude by the root of 2.
    assert np.log(f0_track(result)).std() == pytest.approx(factor * 0.2 / np.sqrt(2), abs=0.01)


def test_the_level_of_the_input_is_gone() -> None:
    loud = fixed().anonymize(vowel(120, FORMANTS, peak=32_000), job(1))
    soft = fixed().anonymize(vowel(120, FORMANTS, peak=2_000), job(1))
    assert np.abs(loud.astype(int)).max() == np.abs(soft.astype(int)).max() == 32_766


# The draws


def test_draws_fill_their_ranges_and_nobody_stays_unchanged() -> None:
    system = FormantPitch(pitch_min=100, pitch_max=200, range_min=0.8, range_max=1.1)
    drawn = [system.drawn(seed) for seed in range(2_000)]
    formants = np.array([draw.formant for draw in drawn])
    assert ((formants >= 0.8) & (formants <= 1.25)).all()
    assert np.maximum(formants, 1 / formants).min() >= 1.1
    assert np.maximum(formants, 1 / formants).min() < 1.102
    assert formants.min() < 0.802
    assert formants.max() > 1.248
    # 0.8 is 1 / 1.25, so that both sides are as wide on a log scale.
    assert np.mean(formants > 1) == pytest.approx(0.5, abs=0.04)
    pitches = np.array([draw.pitch_hz for draw in drawn])
    assert 100 <= pitches.min() < 101 < 199 < pitches.max() <= 200
    # Half of an octave lies below its geometric middle.
    assert np.mean(pitches < 100 * np.sqrt(2)) == pytest.approx(0.5, abs=0.04)
    ranges = np.array([draw.pitch_range for draw in drawn])
    assert 0.8 <= ranges.min() < 0.801 < 1.099 < ranges.max() <= 1.1
    apart = np.corrcoef([np.log(formants), np.log(pitches), ranges]) - np.eye(3)
    assert np.abs(apart).max() < 0.08


def test_one_side_alone_can_be_drawn() -> None:
    up = FormantPitch(formant_min=1.0, formant_max=1.2, formant_apart=1.1)
    down = FormantPitch(formant_min=0.8, formant_max=1.05, formant_apart=1.1)
    for seed in range(200):
        assert 1.1 <= up.drawn(seed).formant <= 1.2
        assert 0.8 <= down.drawn(seed).formant <= 1 / 1.1


def test_a_speaker_with_one_seed_sounds_as_one() -> None:
    system = FormantPitch(level="speaker")
    first, second = (
        system.anonymize(vowel(f0, FORMANTS), Job(utterance, 77, None, "s0001"))
        for f0, utterance in ((110, "u000001"), (140, "u000002"))
    )
    assert mean_f0(first) == pytest.approx(mean_f0(second), rel=0.01)
    assert formants_of(first, 3) == pytest.approx(formants_of(second, 3), rel=0.04)
    other = system.anonymize(vowel(110, FORMANTS), job(78))
    assert mean_f0(other) != pytest.approx(mean_f0(first), rel=0.02)


def test_only_samples_and_seed_count() -> None:
    system, samples = FormantPitch(), vowel(120, FORMANTS, 0.5)
    before = samples.copy()
    first = system.anonymize(samples, job(5))
    system.anonymize(vowel(220, FORMANTS, 0.4), job(6))
    again = FormantPitch(level="speaker").anonymize(samples, job(5, "u000777"))
    strided = np.stack([samples, samples], axis=1)[:, 0]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, system.anonymize(strided, job(5)))
    np.testing.assert_array_equal(samples, before)
    assert not np.array_equal(first, system.anonymize(samples, job(6)))


def test_it_has_no_coefficients() -> None:
    assert FormantPitch().alphas([Source("a-1", "a"), Source("b-1", "b")], [1, 2]) == [None, None]


# Edges


@pytest.mark.parametrize("length", [0, 1, 79, 160, 320])
def test_short_utterances_keep_their_length(length: int) -> None:
    spoken = vowel(120, FORMANTS)[4_000 : 4_000 + length]
    result = FormantPitch().anonymize(spoken, job(1))
    assert result.dtype == np.int16
    assert result.shape == (length,)


def test_silence_stays_silence() -> None:
    result = FormantPitch().anonymize(np.zeros(1_000, dtype=np.int16), job(1))
    assert result.dtype == np.int16
    assert result.shape == (1_000,)
    assert not result.any()


@pytest.mark.parametrize("name", ["constant", "extremes", "clipped", "one bit", "gap"])
def test_extreme_signals_come_through(name: str) -> None:
    generator = np.random.default_rng(3)
    spoken = vowel(120, FORMANTS).astype(int)
    samples = {
        "constant": np.full(8_000, -32_768),
        "extremes": generator.choice([-32_768, 32_767], 8_000),
        "clipped": np.clip(spoken * 20, -32_768, 32_767),
        "one bit": generator.integers(-1, 2, 8_000),
        "gap": np.where(np.abs(np.arange(16_000) - 8_000) < 3_000, 0, spoken),
    }[name].astype(np.int16)
    result = FormantPitch().anonymize(samples, job(2))
    assert result.shape == samples.shape
    assert np.abs(result.astype(int)).max() == (0 if name == "constant" else 32_766)


def test_a_minute_comes_through() -> None:
    samples = np.tile(vowel(120, FORMANTS, 2), 30)
    result = fixed().anonymize(samples, job(1))
    assert result.shape == (960_000,)
    assert mean_f0(result[-32_000:]) == pytest.approx(180, rel=0.02)


@pytest.mark.parametrize(
    "samples", [np.zeros(1_000), np.zeros((500, 2), dtype=np.int16)], ids=["float", "stereo"]
)
def test_other_audio_is_refused(samples: np.ndarray) -> None:
    with pytest.raises(AudioError, match="utterance u000001: .* not mono 16-bit"):
        FormantPitch().anonymize(samples, job(1))


# Parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"level": "set"}, "level is 'set'; choose one of: utterance, speaker"),
        ({"formant_min": 0.4}, "formant_min and formant_max are 0.4 and 1.25"),
        ({"formant_max": 2.1}, "give two numbers from 0.5 to 2, the lower one first"),
        ({"formant_min": 1.3}, "formant_min and formant_max are 1.3 and 1.25"),
        ({"pitch_min": 40}, "pitch_min and pitch_max are 40"),
        ({"pitch_max": float("nan")}, "pitch_min and pitch_max are 90 and nan"),
        ({"range_min": -0.1}, "range_min and range_max are -0.1"),
        ({"range_max": 3.5}, "range_min and range_max are 0.7 and 3.5"),
        ({"formant_apart": 0.9}, "formant_apart is 0.9"),
        ({"formant_apart": 1.3}, "formant_apart is 1.3; give a number from 1 to"),
        ({"formant_apart": float("nan")}, "formant_apart is nan"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        FormantPitch(**parameters)  # type: ignore[arg-type]


def test_is_found_by_name() -> None:
    system = load("shift", {"type": "formant-pitch", "level": "speaker", "pitch_min": 100})
    assert isinstance(system, Anonymizer)
    assert system == FormantPitch(level="speaker", pitch_min=100)


def test_parameters_are_checked_without_the_heavy_imports() -> None:
    program = (
        "import sys; from harness.anonymizers.formant_pitch import FormantPitch; FormantPitch(); "
        "print(sorted({'torch', 'pyworld', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
