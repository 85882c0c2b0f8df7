"""Text to speech: what is said of a text, espeak-ng's voices, and VITS as transformers has it."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from scipy.signal import resample_poly

from harness.anonymizers import synthesizers
from harness.anonymizers.synthesizers import (
    FILES,
    LANGUAGES,
    PHRASE_CHARACTERS,
    phrases,
    say,
    sayable,
)
from harness.corpora import espeak
from harness.errors import AudioError, ConfigError
from harness.runtime.seeds import derived_seed

pytestmark = pytest.mark.heavy

WHERE = "utterance u000001"
SPEAKERS = 4
RATE = 22_050
VOCABULARY = ["_", *" abcdefghijklmnopqrstuvwxyz'"]


def by_espeak(text: str, seed: int) -> np.ndarray:
    return say(text, "espeak-ng", None, seed, "cpu", WHERE)


def by_vits(text: str, folder: Path, seed: int) -> np.ndarray:
    return say(text, "vits", str(folder), seed, "cpu", WHERE)


# Text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        (" It is  what it's.\n", "It is what it's."),
        ("“Don’t” — she said…", '"Don\'t" - she said...'),
        ("caf\u0065\u0301 £5 ½", "café £5 ½"),
        ("Привет, world\x00!", ", world !"),
        ("...", ""),
        ("♪ ♪", ""),
        ("Привет", ""),
    ],
)
def test_what_is_sayable(text: str, said: str) -> None:
    assert sayable(text) == said


def test_a_short_text_is_one_phrase() -> None:
    text = "Mr. Smith went. He did not come back"
    assert phrases(text) == [text]
    assert phrases("") == []


def test_a_long_text_is_cut_after_a_sentence_or_a_word_or_anywhere() -> None:
    sentence = "It is one of many. "
    found = phrases((sentence * 50).strip())
    assert [len(phrase) for phrase in found] == [21 * 19 - 1, 21 * 19 - 1, 8 * 19 - 1]
    found = phrases(("word " * 200).strip())
    assert [len(phrase) for phrase in found] == [80 * 5 - 1, 80 * 5 - 1, 40 * 5 - 1]
    assert [len(phrase) for phrase in phrases("a" * 1_000)] == [400, 400, 200]
    assert phrases("! " * 500 + "no") == ["! " * 100 + "no"]


def test_every_word_of_a_long_text_is_said_once() -> None:
    draw = np.random.default_rng(1)
    lengths = draw.integers(1, 30, 2_000).tolist()
    text = " ".join("a" * length + "." * (length % 3 == 0) for length in lengths)
    found = phrases(text)
    assert " ".join(found) == text
    assert max(map(len, found)) <= PHRASE_CHARACTERS


# espeak-ng


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[espeak.Phrase]:
    """What espeak-ng is asked for; it says a click."""
    heard: list[espeak.Phrase] = []

    def synthesize(phrase: espeak.Phrase, *, where: str) -> np.ndarray:
        assert where == WHERE
        heard.append(phrase)
        return np.array([0, 1_000], dtype=np.int16)

    monkeypatch.setattr(espeak, "synthesize", synthesize)
    return heard


def test_a_seed_is_a_voice(said: list[espeak.Phrase]) -> None:
    by_espeak("One. " * 200, 5)
    by_espeak("Two", 5)
    assert len(said) == 4
    assert len({(p.language, p.variant, p.pitch, p.pitch_range, p.rate) for p in said}) == 1
    assert said[-1].text == "Two"


def test_seeds_draw_all_kinds_of_voices(said: list[espeak.Phrase]) -> None:
    for seed in range(40):
        by_espeak("One", seed)
    assert len({phrase.variant for phrase in said}) == 40
    genders = [re.findall("gender (.*)", phrase.variant) for phrase in said]
    assert 10 < genders.count(["female"]) < 30
    assert genders.count(["female"]) + genders.count(["male"]) == 40
    assert {phrase.language for phrase in said} == set(LANGUAGES)
    assert min(p.rate for p in said) < 130
    assert max(p.rate for p in said) > 140


def test_espeak_repeats_itself_at_16_khz() -> None:
    once = by_espeak("One two three.", 3)
    assert np.array_equal(by_espeak("One two three.", 3), once)
    assert not np.array_equal(by_espeak("One two three.", 4), once)
    # Some 140 words a minute.
    assert 0.8 < len(once) / 16_000 < 2.5


@pytest.mark.parametrize(
    "text",
    [
        "1984",
        "$5,000,000,000,000.50",
        "7" * 300,
        "100 % & <b>bold</b> [[h@loU]] \\ | ~ {} #",
        '<speak><break time="100000s"/>hi</speak>',
        "x" * 500,
        "ß æ ø þ",
        "\x00\x1b[0m a \ud800",
    ],
)
def test_espeak_says_odd_text(text: str) -> None:
    assert 0.1 < len(by_espeak(text, 1)) / 16_000 < 200


@pytest.mark.parametrize("text", ["", "...", "?!", "♪♪", "Привет"])
def test_text_without_words_is_no_speech(text: str) -> None:
    assert len(by_espeak(text, 1)) == 0


def test_a_very_long_text_is_said() -> None:
    speech = by_espeak("It was the best of times. " * 200, 2)
    assert len(speech) / 16_000 > 200


# VITS


def store_vits(folder: Path, **changes: object) -> Path:
    """A small model of random weights; changes: of the tokenizer."""
    (folder / "vocab.json").write_text(
        json.dumps({symbol: place for place, symbol in enumerate(VOCABULARY)})
    )
    options = {"pad_token": "_", "phonemize": False} | changes
    transformers.VitsTokenizer(str(folder / "vocab.json"), **options).save_pretrained(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.VitsModel(
            transformers.VitsConfig(
                vocab_size=len(VOCABULARY),
                hidden_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                ffn_dim=16,
                flow_size=16,
                spectrogram_bins=9,
                num_speakers=SPEAKERS,
                speaker_embedding_size=4,
                upsample_initial_channel=32,
                upsample_rates=[8, 8],
                upsample_kernel_sizes=[16, 16],
                resblock_kernel_sizes=[3],
                resblock_dilation_sizes=[[1]],
                prior_encoder_num_wavenet_layers=1,
                prior_encoder_num_flows=2,
                posterior_encoder_num_wavenet_layers=1,
                duration_predictor_num_flows=2,
                depth_separable_num_layers=1,
                sampling_rate=RATE,
            )
        )
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def vits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_vits(tmp_path_factory.mktemp("vits"))


def directly(text: str, folder: Path, speaker: int, seed: int) -> np.ndarray:
    """What transformers makes of a text, at the model's rate."""
    model = transformers.VitsModel.from_pretrained(folder)
    tokens = transformers.VitsTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        return model(**tokens, speaker_id=speaker).waveform[0].double().numpy()


def test_vits_says_what_transformers_does(vits: Path) -> None:
    seed = 11
    made = by_vits("hello there", vits, seed)
    noise = derived_seed(seed, "noise", 0)
    each = [directly("hello there", vits, speaker, noise) for speaker in range(SPEAKERS)]
    alike = [
        len(one) == len(made) and np.allclose(made, one, atol=1e-5)
        for one in (resample_poly(speech, 16_000, RATE) for speech in each)
    ]
    assert sum(alike) == 1


def test_vits_draws_speaker_and_noise_from_the_seed_alone(vits: Path) -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    torch_state, numpy_state = torch.get_rng_state(), np.random.get_state()[1].copy()
    threads = torch.get_num_threads()
    made = [by_vits("hello", vits, seed) for seed in range(4)]
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert np.array_equal(np.random.get_state()[1], numpy_state)
    assert torch.get_num_threads() == threads
    torch.manual_seed(2)
    assert all(np.array_equal(by_vits("hello", vits, seed), made[seed]) for seed in range(4))
    assert len({speech.tobytes() for speech in made}) == 4


def test_vits_reads_all_phrases_each_with_its_noise(vits: Path) -> None:
    sentence = "it is one of many. "
    text = (sentence * 30).strip()
    one = by_vits((sentence * 21).strip(), vits, 1)
    whole = by_vits(text, vits, 1)
    assert np.array_equal(whole[: len(one)], one)
    same = by_vits((sentence * 9).strip(), vits, 1)
    assert len(whole) > len(one)
    assert not np.array_equal(whole[len(one) :], same)


def test_vits_leaves_out_what_its_vocabulary_lacks(vits: Path) -> None:
    assert np.array_equal(by_vits("Hello, 1984 é!", vits, 1), by_vits("hello", vits, 1))
    assert len(by_vits("1984", vits, 1)) == 0


def test_vits_without_its_files_says_what_to_put_there(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"a pickle")
    with pytest.raises(ConfigError, match=f"lacks {', '.join(FILES)}; put a model there"):
        by_vits("hello", tmp_path, 1)


def test_damaged_vits_weights_are_refused(vits: Path, tmp_path: Path) -> None:
    shutil.copytree(vits, tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.safetensors").write_bytes(b"a pickle")
    with pytest.raises(ConfigError, match=f"{tmp_path} holds no usable VitsModel"):
        by_vits("hello", tmp_path, 1)


def test_a_model_of_another_alphabet_is_refused(tmp_path: Path) -> None:
    store_vits(tmp_path, is_uroman=True)
    with pytest.raises(ConfigError, match="another alphabet .is_uroman.; take an English one"):
        by_vits("hello", tmp_path, 1)


def test_phonemes_take_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "phonemizer", None)
    store_vits(tmp_path, phonemize=True)
    with pytest.raises(ConfigError, match="phonemizer is not installed; pip install phonemizer"):
        by_vits("hello", tmp_path, 1)


def test_samples_that_are_no_numbers_are_refused(vits: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    shutil.copytree(vits, tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    tensors["decoder.conv_post.weight"].fill_(float("nan"))
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(AudioError, match=f"{WHERE}: VITS gave samples that are no numbers"):
        by_vits("hello", tmp_path, 1)


def test_a_model_is_loaded_once(vits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_vits("hello", vits, 1)
    monkeypatch.setattr(synthesizers, "load_model", None)
    by_vits("hello", vits, 2)
