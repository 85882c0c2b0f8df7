"""Word error rate: what share of the words that were said a recognizer gets wrong.

Goal: errors of each utterance, their pooled rate, and its interval. The rate is that of the
VoicePrivacy challenges and of Kaldi's `compute-wer`: errors of all utterances by words of all
transcripts, so that long utterances count for more; the mean of the utterances' rates is something
else.

Conventions: texts are strings whose words are parted by white space, compared as they are;
`harness.protocols.normalizations` says what becomes of them before. Rates are fractions, and more
than 1 where much is inserted.

Source: edit distance over words, counted by jiwer. The number of errors is unique; where several
alignments have as few, jiwer decides how it is divided into kinds. Of intervals:
`harness.metrics.speaker_interval`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError, DataError
from harness.metrics.bootstrap import Interval
from harness.metrics.resampling import SAMPLING, Sampling
from harness.metrics.speaker_interval import ratio_interval

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class WordErrors:
    """Of each utterance numbers of words; all of shape (n,).

    words: in the transcript. substitutions, deletions: of these, heard as another, and not heard.
    insertions: heard and not said.
    """

    words: Integers
    substitutions: Integers
    deletions: Integers
    insertions: Integers

    @property
    def errors(self) -> Integers:
        """Of all three kinds, shape (n,)."""
        return self.substitutions + self.deletions + self.insertions


def word_errors(references: Sequence[str], hypotheses: Sequence[str]) -> WordErrors:
    """What was heard against what was said.

    references: transcripts, hypotheses: what a recognizer heard; one of each per utterance, and
    either may be empty: then all words are deleted, or inserted. Raises DataError for sequences of
    different lengths, ConfigError without jiwer.
    """
    if len(references) != len(hypotheses):
        raise DataError(
            f"{len(hypotheses)} recognized texts for {len(references)} transcripts",
            fix="give one of each per utterance, in one order",
        )
    # Not at the top: tables and reports need rates, and are made without it.
    try:
        import jiwer
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the module {error.name} is not installed",
            where="word error rate",
            fix="pip install 'anonymization-harness[utility]'",
        ) from error
    counts = np.zeros((len(references), 4), np.int64)
    for row, (said, heard) in enumerate(zip(references, hypotheses, strict=True)):
        # jiwer splits at spaces only.
        found = jiwer.process_words(" ".join(said.split()), " ".join(heard.split()))
        words = found.hits + found.substitutions + found.deletions
        counts[row] = words, found.substitutions, found.deletions, found.insertions
    return WordErrors(*counts.T)


def rate(errors: npt.ArrayLike, words: npt.ArrayLike) -> float:
    """The pooled word error rate, a fraction.

    errors, words: numbers of each utterance, shape (n,). Raises DataError for shapes that differ,
    and without a word in any transcript.
    """
    errors, words = np.asarray(errors), np.asarray(words)
    if errors.shape != words.shape:
        raise DataError(
            f"errors of shape {errors.shape} for words of shape {words.shape}",
            fix="give both of each utterance",
        )
    if not words.any():
        raise DataError(
            f"no word in {words.size} transcripts", fix="give utterances with their transcripts"
        )
    return float(errors.sum() / words.sum())


def rate_interval(
    errors: npt.ArrayLike,
    words: npt.ArrayLike,
    speakers: npt.ArrayLike,
    sampling: Sampling = SAMPLING,
) -> Interval:
    """The pooled word error rate, a fraction, and its interval by resampled speakers.

    errors, words, speakers: of each utterance, shape (n,). Raises what `rate` and `ratio_interval`
    raise; without an interval the reason is one of the latter's.
    """
    rate(errors, words)
    return ratio_interval(errors, words, speakers, sampling)
