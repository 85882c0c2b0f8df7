"""What hears the words of anonymized speech: recognizers by name, and weights of the user's.

All work on the CPU, and in one thread, so that the text of an utterance depends on it alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from harness.anonymizers import recognizers
from harness.anonymizers.base import check_choice
from harness.anonymizers.pretrained import require_pinned
from harness.anonymizers.recognizers import Recognizer, faster_whisper, recognizer, transcribe
from harness.corpora.store import Samples
from harness.errors import ConfigError
from harness.utility import ctc

HearerName = Literal["whisper-tiny", "faster-whisper", "whisper", "wav2vec2-ctc", "speechbrain-ctc"]
WITHOUT_WEIGHTS = "whisper-tiny"
DEVICE = "cpu"
FASTER_WHISPER = "recognizer faster-whisper"
# What CTranslate2 reads of a folder, and what else where it is there: it wants one vocabulary.
CTRANSLATE2 = ("config.json", "model.bin", "tokenizer.json")
OPTIONAL = ("preprocessor_config.json", "vocabulary.json", "vocabulary.txt")


@dataclass(frozen=True)
class Hearer:
    """A recognizer by its name.

    weights: the folder of a model, of all but `whisper-tiny`; sha256: of the files that are read
    there, as `require_pinned` has it. where: of errors.

    Raises ConfigError for an unknown name, and for weights that are not named or not used.
    """

    name: HearerName
    weights: str | None
    sha256: str | None
    where: str

    def __post_init__(self) -> None:
        check_choice("recognizer", self.name, get_args(HearerName), self.where)
        if self.name == WITHOUT_WEIGHTS and (self.weights is not None or self.sha256 is not None):
            what = f"recognizer {self.name} has no use for weights"
            fix = "leave weights and sha256 out, or name another recognizer"
            raise ConfigError(what, where=self.where, fix=fix)
        if self.name != WITHOUT_WEIGHTS and not self.weights:
            what = f"recognizer {self.name} has no weights"
            fix = "give weights, the folder of a model"
            raise ConfigError(what, where=self.where, fix=fix)

    def require_files(self) -> None:
        """Look whether the weights are there. Raises as `require_pinned`."""
        if self.weights is not None:
            require_pinned(self.weights, self.files(), self.sha256, "sha256", self.where)

    def files(self) -> tuple[str, ...]:
        """What is read of the folder of weights, in the order of the hash."""
        match self.name:
            case "wav2vec2-ctc":
                return ctc.FILES
            case "speechbrain-ctc":
                return ctc.SPEECHBRAIN_FILES
            case "faster-whisper":
                there = [name for name in OPTIONAL if Path(str(self.weights), name).is_file()]
                return (*CTRANSLATE2, *there)
            case "whisper":
                return recognizers.FILES
            case _:
                return ()

    def hear(self, samples: Samples) -> str:
        """The text of mono 16 kHz int16 samples of any length; empty where no words are heard.

        Raises as `require_files`, and ConfigError for a package that is not there and for files
        that are no such model.
        """
        self.require_files()
        folder = str(self.weights)
        match self.name:
            case "wav2vec2-ctc":
                return ctc.wav2vec2_ctc(folder, DEVICE).hear(samples)
            case "speechbrain-ctc":
                return ctc.speechbrain_ctc(folder, DEVICE).hear(samples)
            case "faster-whisper":
                return transcribe(samples, _faster_whisper(folder))
            case "whisper" | "whisper-tiny":
                return transcribe(samples, recognizer(self.name, self.weights, DEVICE))


@lru_cache(maxsize=1)
def _faster_whisper(folder: str) -> Recognizer:
    return faster_whisper(folder, FASTER_WHISPER)
