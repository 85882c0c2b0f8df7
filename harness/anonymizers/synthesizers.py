"""English text to speech in a voice drawn from a seed; back ends by name.

A long text is said phrase by phrase, so that a synthesizer's time and memory do not grow with it.
What is said depends on the text and the seed alone: each phrase has a process of espeak-ng, or a
generator of torch, of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.signal import resample_poly

from harness.anonymizers.pretrained import (
    WEIGHTS,
    load,
    load_model,
    package,
    repeatable,
    require_files,
)
from harness.corpora import espeak, voices
from harness.corpora.store import SAMPLE_RATE
from harness.errors import AudioError, ConfigError
from harness.runtime.seeds import derived_seed

SynthesizerName = Literal["espeak-ng", "vits"]

Floats = npt.NDArray[np.float64]
# A phrase, its place in the text, and what names the utterance in errors, to speech of 16 kHz.
Say = Callable[[str, int, str], Floats]

# About half a minute of speech.
PHRASE_CHARACTERS = 400
# A phrase ends with the text, else with a sentence, else with a word, else wherever it has to.
_PHRASE = re.compile(
    "|".join(
        f".{{1,{PHRASE_CHARACTERS}}}{end}" for end in ("$", r"(?<=[.?!])(?=\s)", r"(?=\s)", "")
    )
)
# Marks of print that synthesizers know by their ASCII forms only.
_MARKS = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": " - ", "…": "..."})
_LATIN_1 = 256

# Of espeak.LANGUAGES. Whisper tiny mishears 28 to 33 % of their words, and half of the others'.
LANGUAGES = ("en", "en-us", "en-gb-x-rp")

FILES = ("config.json", WEIGHTS, "tokenizer_config.json", "vocab.json")
VITS = "synthesizer vits"


def sayable(text: str) -> str:
    """The text as synthesizers take it: printable Latin-1, and one space between words.

    Characters of other alphabets are left out. Empty where neither a letter nor a digit is left.
    """
    composed = unicodedata.normalize("NFC", text.translate(_MARKS))
    kept = [c if c.isprintable() and ord(c) < _LATIN_1 else " " for c in composed]
    said = " ".join("".join(kept).split())
    return said if _has_words(said) else ""


def phrases(text: str) -> list[str]:
    """A text of `sayable` in pieces of at most PHRASE_CHARACTERS, each with a letter or digit."""
    return [phrase for found in _PHRASE.findall(text) if _has_words(phrase := found.strip())]


def _has_words(text: str) -> bool:
    return any(character.isalnum() for character in text)


def say(
    text: str, name: SynthesizerName, weights: str | None, seed: int, device: str, where: str
) -> Floats:
    """Mono 16 kHz speech of a text, of any scale; no samples where there is nothing to be said.

    seed: draws the voice. weights: the folder of `vits`, with FILES. device: of `vits`, as torch
    names it; `espeak-ng` works on the CPU always. where: names the utterance in errors. Raises
    ConfigError for a package or a file that is not there, AudioError where a back end fails.
    """
    one = _espeak(seed) if name == "espeak-ng" else _vits(weights, seed, device)
    said = [one(phrase, place, where) for place, phrase in enumerate(phrases(sayable(text)))]
    return np.concatenate(said) if said else np.zeros(0)


def _espeak(seed: int) -> Say:
    """A voice as of harness/corpora/voices.py, an accent, and one way of speaking."""
    generator = np.random.default_rng(derived_seed(seed, "espeak-ng"))
    voice = voices.voices(seed, 1, 1, "v")[generator.integers(2)]
    variant = voices.variant(voice, [0.0] * voices.FORMANTS)
    language = LANGUAGES[generator.integers(len(LANGUAGES))]
    pitch, pitch_range, rate = (
        int(generator.integers(*limits, endpoint=True))
        for limits in (voices.PITCH, voices.PITCH_RANGE, voices.RATE)
    )

    def one(phrase: str, place: int, where: str) -> Floats:
        said = espeak.synthesize(
            espeak.Phrase(phrase, language, variant, pitch, pitch_range, rate), where=where
        )
        return _resampled(said.astype(np.float64), espeak.SAMPLE_RATE)

    return one


def _vits(weights: str | None, seed: int, device: str) -> Say:
    """A speaker of the model, and its noise. Kim et al.: Conditional variational autoencoder with
    adversarial learning for end-to-end text-to-speech, ICML 2021."""
    assert weights is not None, VITS
    model, tokenizer = _loaded_vits(weights, device)
    speakers = model.config.num_speakers
    generator = np.random.default_rng(derived_seed(seed, "vits"))
    speaker = int(generator.integers(speakers)) if speakers > 1 else None

    def one(phrase: str, place: int, where: str) -> Floats:
        if not tokenizer.prepare_for_tokenization(phrase)[0].strip():
            return np.zeros(0)
        tokens = tokenizer(phrase, return_tensors="pt").input_ids
        # A symbol that the model was not trained with has no embedding.
        tokens = tokens[:, tokens[0] < model.config.vocab_size].to(device)
        with repeatable(derived_seed(seed, "noise", place), device):
            waveform = model(input_ids=tokens, speaker_id=speaker).waveform
        speech = waveform[0].double().cpu().numpy()
        if not np.isfinite(speech).all():
            fix = "check the model"
            raise AudioError("VITS gave samples that are no numbers", where=where, fix=fix)
        return _resampled(speech, model.config.sampling_rate)

    return one


# An admixture may have two.
@lru_cache(maxsize=2)
def _loaded_vits(folder: str, device: str) -> tuple[Any, Any]:
    require_files(folder, FILES, VITS)
    tokenizer = load("VitsTokenizer", folder, FILES, VITS)
    if tokenizer.is_uroman:
        raise ConfigError(
            f"the model in {folder} is of a language in another alphabet (is_uroman)",
            where=VITS,
            fix="take an English one",
        )
    if tokenizer.phonemize:
        package("phonemizer", VITS, "pip install phonemizer, and apt-get install espeak-ng")
        try:
            tokenizer("one")
        except RuntimeError as error:
            what = f"the package phonemizer does not work: {error}"
            raise ConfigError(what, where=VITS, fix="apt-get install espeak-ng") from error
    return load_model("VitsModel", folder, FILES, VITS, device), tokenizer


def _resampled(speech: Floats, rate: int) -> Floats:
    if rate == SAMPLE_RATE:
        return speech
    resampled: Floats = resample_poly(speech, SAMPLE_RATE, rate)
    return resampled
