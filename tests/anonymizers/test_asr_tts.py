"""`asr-tts` whole: the words come out, and nothing else does."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.signal import resample_poly

from anonymizers import whisper_folders
from anonymizers.transcripts import errors, real_speech
from harness.anonymizers import asr_tts, recognizers, synthesizers
from harness.anonymizers.asr_tts import NO_WORDS, AsrTts
from harness.anonymizers.base import Accelerated, Anonymizer, Device, Job, batch_of
from harness.anonymizers.pretrained import Pinned, package
from harness.anonymizers.recognizers import recognizer, transcribe
from harness.corpora import espeak
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Made, Utterance, build
from harness.errors import AudioError, ConfigError, IntegrityError
from harness.runtime.events import Events
from harness.runtime.files import sha256_bytes, sha256_file
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

SENTENCE = "We will meet at the station tomorrow morning."


def job(seed: int, utterance: str = "u000001") -> Job:
    return Job(utterance=utterance, seed=seed)


def spoken(text: str, *, gender: str, rate: int, peak: float, silence: int) -> np.ndarray:
    """A sentence by one of espeak-ng's own voices, at 16 kHz, between so many zeros."""
    variant = f"language variant\nname v\ngender {gender}\n"
    said = espeak.synthesize(espeak.Phrase(text, "en-us", variant, rate=rate), where="test")
    speech = resample_poly(said.astype(np.float64), 16_000, espeak.SAMPLE_RATE)
    scaled = np.round(speech / np.abs(speech).max() * peak)
    return np.pad(scaled, silence).astype(np.int16)


def heard(samples: np.ndarray) -> str:
    return transcribe(samples, recognizer("whisper-tiny", None, "cpu"))


# Parameters

PIN = "0" * 64


def by_whisper(weights: Path, sha256: str) -> AsrTts:
    return AsrTts(recognizer="whisper", recognizer_weights=str(weights), recognizer_sha256=sha256)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"level": "set"}, "level is 'set'; choose one of: utterance, speaker"),
        ({"recognizer": "tiny"}, "recognizer is 'tiny'; choose one of: whisper-tiny, whisper"),
        ({"synthesizer": "tacotron"}, "synthesizer is 'tacotron'; choose one of: espeak-ng, vits"),
        ({"recognizer": "whisper"}, "whisper has no weights; give recognizer_weights"),
        ({"synthesizer": "vits"}, "vits has no weights; give synthesizer_weights"),
        ({"recognizer_weights": "w"}, "whisper-tiny has no use for weights; leave them out"),
        ({"synthesizer_sha256": PIN}, "espeak-ng has no use for weights; leave them out"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        AsrTts(**parameters)


def test_parameters_are_checked_without_the_packages() -> None:
    program = (
        "import sys; from harness.anonymizers.asr_tts import AsrTts; "
        "AsrTts(recognizer='whisper', recognizer_weights='w', recognizer_sha256='0' * 64); "
        "heavy = {'torch', 'transformers', 'faster_whisper', 'ctranslate2', 'espeakng_loader'}; "
        "sys.exit(f'imported: {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(ConfigError, match="faster_whisper is not installed; pip install"):
        package("faster_whisper", "here")
    recognizers._whisper_tiny.cache_clear()
    with pytest.raises(ConfigError, match="recognizer whisper-tiny: the module faster_whisper"):
        AsrTts().anonymize(np.ones(16_000, dtype=np.int16), job(1))


def test_weights_that_are_missing_are_named(tmp_path: Path) -> None:
    system = by_whisper(tmp_path / "none", PIN)
    with pytest.raises(ConfigError, match="no folder .*/none; put a model there"):
        system.anonymize(np.ones(16_000, dtype=np.int16), job(1))


@pytest.mark.parametrize(
    ("parameter", "of", "files"),
    [("recognizer", "whisper", recognizers.FILES), ("synthesizer", "vits", synthesizers.FILES)],
)
def test_weights_of_either_are_looked_at_before_any_work(
    tmp_path: Path, parameter: str, of: str, files: tuple[str, ...]
) -> None:
    entry: dict[str, Any] = {parameter: of, f"{parameter}_weights": str(tmp_path)}
    system = AsrTts(**entry)
    assert isinstance(system, Pinned)
    with pytest.raises(ConfigError, match=f"lacks {files[0]}, .*{files[-1]}; put a model there"):
        system.require_files()
    for name in files:
        (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=f"{parameter}_sha256 is missing; .*{files[-1]} "):
        system.require_files()
    with pytest.raises(IntegrityError, match=f"the sha256 of {tmp_path} is"):
        AsrTts(**{**entry, f"{parameter}_sha256": PIN}).require_files()
    AsrTts().require_files()


def test_other_weights_are_refused(tmp_path: Path) -> None:
    for name in recognizers.FILES:
        (tmp_path / name).write_text(f"of {name}", encoding="utf-8")
    # What a person would type, by the programs themselves.
    command = f"sha256sum {' '.join(recognizers.FILES)} | sha256sum"
    said = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    found = said.stdout.split()[0]
    speech = np.ones(16_000, dtype=np.int16)
    with pytest.raises(ConfigError, match="holds no usable Whisper"):
        by_whisper(tmp_path, found).anonymize(speech, job(1))
    with pytest.raises(IntegrityError, match=f"the sha256 of .* is {found}, not 0000.*write that"):
        by_whisper(tmp_path, PIN).anonymize(speech, job(1))


def test_it_is_an_anonymizer_and_needs_no_coefficients() -> None:
    system = AsrTts()
    assert isinstance(system, Anonymizer)
    assert isinstance(system, Accelerated)
    assert not system.gpu
    assert by_whisper(Path("w"), PIN).gpu
    assert system.alphas([], []) == []


# Words


def test_the_words_of_real_speech_come_out(test_data: Path) -> None:
    counts = []
    for seed, (text, samples) in enumerate(real_speech(test_data, 40)):
        made = AsrTts().anonymize(samples, job(seed))
        assert made.dtype == np.int16
        assert np.abs(made.astype(int)).max() == 32_766
        counts.append(errors(text, heard(made)))
    wrong, said = np.sum(counts, axis=0)
    assert said > 150
    # Whisper tiny hears a third of espeak-ng's words wrong; where nothing passes, all of them.
    assert wrong / said < 0.5


def test_a_clear_sentence_comes_out_whole() -> None:
    samples = spoken(SENTENCE, gender="male", rate=140, peak=20_000, silence=0)
    assert errors(SENTENCE, heard(AsrTts().anonymize(samples, job(5)))) == (0, 8)


# Nothing else


@pytest.fixture(scope="module")
def recordings() -> list[np.ndarray]:
    """The sentence twice: gender, rate, level and the silence around it differ."""
    return [
        spoken(SENTENCE, gender="male", rate=120, peak=25_000, silence=0),
        spoken(SENTENCE, gender="female", rate=150, peak=2_000, silence=9_000),
    ]


def test_nothing_but_the_text_passes(recordings: list[np.ndarray]) -> None:
    one, two = recordings
    assert heard(one) == heard(two)
    made = AsrTts().anonymize(one, job(3))
    assert np.array_equal(AsrTts().anonymize(two, job(3, "u000777")), made)
    assert not np.array_equal(AsrTts().anonymize(one, job(4)), made)


@pytest.mark.parametrize("length", [0, 1, 700, 16_000, 500_000])
def test_no_words_are_half_a_second_of_zeros_whatever_the_length(length: int) -> None:
    made = AsrTts().anonymize(np.zeros(length, dtype=np.int16), job(length))
    assert np.array_equal(made, np.zeros(NO_WORDS, dtype=np.int16))


def test_noise_without_words_is_as_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("", "...", "♪♪"):
        monkeypatch.setattr(asr_tts, "transcribe", lambda samples, model, text=text: text)
        made = AsrTts().anonymize(np.ones(30_000, dtype=np.int16), job(1))
        assert np.array_equal(made, np.zeros(8_000, dtype=np.int16))


@pytest.mark.parametrize("length", [1, 50, 1_599])
def test_the_shortest_utterances_work(length: int) -> None:
    noise = np.random.default_rng(length).integers(-3_000, 3_000, length).astype(np.int16)
    assert len(AsrTts().anonymize(noise, job(1))) > 0


@pytest.mark.parametrize(
    "samples", [np.zeros(16_000, dtype=np.float32), np.zeros((2, 16_000), dtype=np.int16)]
)
def test_other_audio_is_refused(samples: np.ndarray) -> None:
    with pytest.raises(AudioError, match="utterance u000001: audio is .*not mono 16-bit"):
        AsrTts().anonymize(samples, job(1))


# Neighbours


def anonymized(samples: np.ndarray, seed: int) -> np.ndarray:
    return AsrTts().anonymize(samples, job(seed))


def test_other_processes_and_other_orders_give_the_same(recordings: list[np.ndarray]) -> None:
    here = [anonymized(samples, 8) for samples in recordings]
    with Pool(2) as pool:
        there = list(pool.map(partial(anonymized, seed=8), recordings[::-1], chunk=1))
    assert all(np.array_equal(*pair) for pair in zip(here, there[::-1], strict=True))


def stored(folder: Path, recordings: list[np.ndarray]) -> list[tuple[Job, Recording]]:
    utterances = [
        Utterance(f"a-{number}", "a", "f", "", len(samples), samples)
        for number, samples in enumerate(recordings)
    ]
    path = folder / "set"
    build(path, [utterances], lambda u: Made(u.recipe), work=folder / "work", pool=Pool(1))
    rows = Corpus(path).manifest.itertuples(index=False)
    return [
        (
            job(number, f"u{number:06d}"),
            Recording(path / row.shard, row.offset, row.nbytes, row.sha256, row.samples),
        )
        for number, row in enumerate(rows)
    ]


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_batch_is_what_each_is_alone(
    recordings: list[np.ndarray], tmp_path: Path, device: Device
) -> None:
    speech = stored(tmp_path, recordings)
    # Neither of the default back ends uses a GPU, whatever is said to it.
    system = AsrTts()
    batches = batch_of(system, speech, work=tmp_path, threads=1, device="cpu", events=Events())
    if device == "cuda":
        batches = system.batch(speech, work=tmp_path, threads=1, device=device, events=Events())
    with batches as made:
        assert sorted(made) == ["u000000", "u000001"]
        for number, samples in enumerate(recordings):
            assert np.array_equal(made[f"u{number:06d}"](), anonymized(samples, number))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_gpu_hears_and_says_the_words(recordings: list[np.ndarray], tmp_path: Path) -> None:
    weights = whisper_folders.tiny_en(tmp_path)
    files = [f"{sha256_file(weights / name)}  {name}\n" for name in recognizers.FILES]
    system = by_whisper(weights, sha256_bytes("".join(files).encode()))
    batch = system.batch(
        stored(tmp_path / "corpus", recordings),
        work=tmp_path,
        threads=1,
        device="cuda",
        events=Events(),
    )
    with batch as made:
        assert all(errors(SENTENCE, heard(one()))[0] < 4 for one in made.values())
