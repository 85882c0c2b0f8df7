"""The synthetic voices: who they are, what they say, and that they repeat to the byte."""

from __future__ import annotations

import hashlib
import pickle
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.corpora.manifest import FILE_NAME
from harness.corpora.sentences import SENTENCES
from harness.corpora.store import Utterance, build, partition
from harness.corpora.voices import Channel, speak, transmit, utterances, variant, voices
from harness.errors import ConfigError
from harness.runtime.pool import Pool

SEED = 1986
TRAINING = voices(SEED, 24, 24, "d")
EVALUATION = voices(SEED, 12, 12, "e")


@pytest.fixture
def espeak_ng() -> None:
    """Skip where the synthesizer is not installed."""
    pytest.importorskip("espeakng_loader", reason="the extra `demo` is not installed")


def digest(utterance: Utterance) -> str:
    return hashlib.sha256(speak(utterance).samples.tobytes()).hexdigest()


def fundamental(samples: np.ndarray) -> float:
    """Median F0 in Hz of the loud frames (40 ms), by autocorrelation."""
    frames = np.lib.stride_tricks.sliding_window_view(samples.astype(float), 640)[::320]
    energy = (frames**2).mean(axis=1)
    lags = np.arange(16_000 // 350, 16_000 // 55)
    found = []
    for frame in frames[energy > energy.mean()]:
        correlation = np.correlate(frame, frame, "full")[639:]
        found.append(16_000 / lags[np.argmax(correlation[lags])])
    return float(np.median(found))


def test_voices_are_counted_numbered_and_balanced() -> None:
    assert [voice.speaker for voice in TRAINING] == [f"d{number:03d}" for number in range(1, 49)]
    assert [voice.gender for voice in TRAINING] == ["f"] * 24 + ["m"] * 24
    assert [voice.gender for voice in EVALUATION] == ["f"] * 12 + ["m"] * 12


def test_a_voice_depends_on_the_seed_and_its_name_alone() -> None:
    assert voices(SEED, 24, 24, "d") == TRAINING
    assert voices(SEED, 3, 0, "d") == TRAINING[:3]
    assert voices(SEED + 1, 1, 0, "d")[0] != TRAINING[0]


def test_no_two_voices_are_the_same() -> None:
    nameless = {replace(voice, speaker="") for voice in TRAINING + EVALUATION}
    assert len(nameless) == 48 + 24
    assert {v.speaker for v in TRAINING}.isdisjoint(v.speaker for v in EVALUATION)


def test_women_are_higher_and_have_shorter_vocal_tracts() -> None:
    women = [voice for voice in TRAINING if voice.gender == "f"]
    men = [voice for voice in TRAINING if voice.gender == "m"]
    assert min(voice.base_hz for voice in women) > max(voice.base_hz for voice in men)
    assert np.mean([voice.formants[2][0] for voice in women]) > 1.08 * np.mean(
        [voice.formants[2][0] for voice in men]
    )
    assert all(voice.top_hz > voice.base_hz for voice in TRAINING)


def test_bad_counts_and_prefixes_are_refused() -> None:
    with pytest.raises(ConfigError, match="negative"):
        voices(SEED, -1, 2, "d")
    with pytest.raises(ConfigError, match="prefix 'd-'"):
        voices(SEED, 1, 1, "d-")


def test_variant_files_hold_known_attributes_and_never_breath() -> None:
    known = {
        "language variant": 1,
        r"name [de]\d{3}": 1,
        "gender (female|male)": 1,
        r"pitch \d+ \d+": 1,
        r"flutter \d+": 1,
        r"roughness [0-7]": 1,
        r"voicing \d+": 1,
        r"consonants \d+ \d+": 1,
        r"formant [0-8] \d+ \d+ \d+": 9,
    }
    for utterance in utterances(TRAINING + EVALUATION, 4, SEED):
        lines = utterance.recipe.phrase.variant.splitlines()
        for pattern, count in known.items():
            assert sum(re.fullmatch(pattern, line) is not None for line in lines) == count
        assert len(lines) == sum(known.values())
        assert "breath" not in utterance.recipe.phrase.variant


def test_variant_scales_each_formant_by_its_own_shift() -> None:
    formants = tuple((100.0 + number, 90, 110) for number in range(9))
    voice = replace(TRAINING[0], formants=formants)
    text = variant(voice, [0.0, 0.03, -0.03] + [0.0] * 6)
    assert "formant 0 100 90 110\nformant 1 104 90 110\nformant 2 99 90 110\n" in text


def test_utterances_are_named_and_written_as_in_librispeech() -> None:
    made = utterances(EVALUATION, 10, SEED)
    assert len({utterance.utterance for utterance in made}) == len(made) == 240
    assert made[11].utterance == "e002-1-0001"
    assert made[11].speaker == "e002"
    assert made[-1].gender == "m"
    assert all(re.fullmatch(r"[A-Z]+( [A-Z]+)*", utterance.text) for utterance in made)
    assert pickle.loads(pickle.dumps(made)) == made


def test_an_utterance_depends_on_the_seed_its_voice_and_its_name_alone() -> None:
    made = utterances(EVALUATION, 10, SEED)
    assert utterances(EVALUATION[3:4], 2, SEED) == made[30:32]
    assert utterances(EVALUATION[:1], 1, SEED + 1)[0].recipe != made[0].recipe
    later = utterances(EVALUATION[:1], 1, SEED, chapter=2)[0]
    assert later.utterance == "e001-2-0000"
    assert later.recipe != made[0].recipe


def test_a_voice_varies_within_its_bounds() -> None:
    voice = TRAINING[5]
    phrases = [utterance.recipe.phrase for utterance in utterances([voice], 300, SEED)]
    channels = [utterance.recipe.channel for utterance in utterances([voice], 300, SEED)]
    for values, low, high in (
        ([phrase.pitch for phrase in phrases], 50 - 10, 50 + 10),
        ([phrase.pitch_range for phrase in phrases], 50 - 15, 50 + 15),
        ([phrase.rate for phrase in phrases], 136 * 0.89, 136 * 1.11),
        ([channel.snr_db for channel in channels], 15, 30),
    ):
        assert low <= min(values) < low + 0.1 * (high - low)
        assert high - 0.1 * (high - low) < max(values) <= high
    first = [float(re.findall(r"formant 1 (\d+)", phrase.variant)[0]) for phrase in phrases]
    ratio = np.array(first) / voice.formants[1][0]
    assert 0.02 < np.max(np.abs(ratio - 1)) < 0.03 + 0.5 / voice.formants[1][0]
    assert len({channel.seed for channel in channels}) == 300


def test_the_sentences_are_many_plain_and_short() -> None:
    assert len(set(SENTENCES)) == len(SENTENCES) >= 100
    for sentence in SENTENCES:
        assert re.fullmatch(r"[A-Z][A-Za-z]*( [A-Za-z]+)+\.", sentence)
        assert 8 <= len(sentence.split()) <= 15


def test_the_channel_sets_noise_and_level() -> None:
    tone = 1000 * np.sin(2 * np.pi * 440 * np.arange(32_000) / 16_000)
    out = transmit(tone, Channel(tilt=0.0, level_dbfs=-26.0, snr_db=20.0, seed=3)) / 32_767
    assert 20 * np.log10(np.sqrt(np.mean(out**2))) == pytest.approx(-26, abs=0.01)
    spectrum = np.abs(np.fft.rfft(out)) ** 2
    speech = spectrum[880]
    snr = 10 * np.log10(speech / (spectrum.sum() - speech))
    assert snr == pytest.approx(20, abs=0.2)


def test_the_channel_never_clips() -> None:
    clicks = np.zeros(16_000)
    clicks[::4000] = 1.0
    out = transmit(clicks, Channel(tilt=0.0, level_dbfs=-20.0, snr_db=30.0, seed=3))
    assert np.max(np.abs(out)) == round(0.9 * 32_767)


def test_the_channels_tilt_is_the_filters_gain() -> None:
    time = np.arange(32_000) / 16_000
    pair = np.sin(2 * np.pi * 100 * time) + np.sin(2 * np.pi * 7900 * time)
    out = transmit(pair, Channel(tilt=0.4, level_dbfs=-26.0, snr_db=80.0, seed=3))
    spectrum = np.abs(np.fft.rfft(out.astype(float)))
    # The gains of 1 / (1 - a z^-1) at 0 and at half the sample rate are 1/(1-a) and 1/(1+a).
    expected = 20 * np.log10(1.4 / 0.6)
    assert 20 * np.log10(spectrum[200] / spectrum[15_800]) == pytest.approx(expected, abs=0.1)


@pytest.mark.usefixtures("espeak_ng")
def test_made_speech_is_mono_16_khz_of_sane_length_and_level() -> None:
    for utterance in utterances(EVALUATION[::4], 2, SEED):
        samples = speak(utterance).samples
        assert samples.dtype == np.int16
        assert samples.ndim == 1
        assert 2 * 16_000 < len(samples) < 6 * 16_000
        assert 0.75 < len(samples) / utterance.samples < 1.33
        assert np.max(np.abs(samples.astype(int))) < 0.91 * 32_767
        level = 20 * np.log10(np.sqrt(np.mean((samples / 32_767) ** 2)))
        assert level == pytest.approx(utterance.recipe.channel.level_dbfs, abs=3)


@pytest.mark.usefixtures("espeak_ng")
def test_heard_pitch_lies_where_the_voice_says() -> None:
    heard = {}
    for voice in (EVALUATION[0], EVALUATION[4], EVALUATION[12], EVALUATION[16]):
        pitches = [fundamental(speak(u).samples) for u in utterances([voice], 3, SEED)]
        heard[voice.speaker] = np.mean(pitches)
        assert 0.75 * voice.base_hz < np.mean(pitches) < 1.25 * voice.top_hz
    assert min(heard["e001"], heard["e005"]) > max(heard["e013"], heard["e017"])


@pytest.mark.usefixtures("espeak_ng")
def test_samples_repeat_in_any_order_worker_and_process() -> None:
    made = utterances([TRAINING[0], TRAINING[30], EVALUATION[7]], 3, SEED)
    expected = [digest(utterance) for utterance in made]
    assert len(set(expected)) == len(made)
    assert [digest(utterance) for utterance in reversed(made)] == expected[::-1]
    with Pool(2) as pool:
        assert list(pool.map(digest, made, chunk=1)) == expected
    code = (
        "import hashlib; from harness.corpora.voices import *; "
        f"voice = voices({SEED}, 12, 12, 'e')[7]; "
        f"samples = speak(utterances([voice], 1, {SEED})[0]).samples; "
        "print(hashlib.sha256(samples.tobytes()).hexdigest())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == expected[6]


@pytest.mark.usefixtures("espeak_ng")
def test_the_stored_corpus_is_the_same_with_one_worker_and_two(tmp_path: Path) -> None:
    made = utterances(TRAINING[:4], 2, SEED)
    for workers in (1, 2):
        target = tmp_path / str(workers) / "demo"
        with Pool(workers) as pool:
            build(
                target,
                partition(made, seconds=12),
                speak,
                work=tmp_path / f"work{workers}",
                pool=pool,
            )
    files = sorted(path.name for path in (tmp_path / "1" / "demo").iterdir())
    assert files[-1] == FILE_NAME
    assert len(files) > 2
    for name in files:
        one, two = (tmp_path / str(workers) / "demo" / name for workers in (1, 2))
        assert one.read_bytes() == two.read_bytes()


def test_without_the_synthesizer_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    with pytest.raises(ConfigError, match=r"anonymization-harness\[demo\]"):
        speak(utterances(TRAINING[:1], 1, SEED)[0])
