"""The evaluator `emotion`: which emotions a recognizer still hears in anonymized speech.

Unweighted average recall over folds of speakers, and the recall of each emotion. A recognizer that
is trained is trained on original speech of the other folds, so that a system is not helped by
changing all utterances alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from harness.corpora.labels import EMOTION, FOLD
from harness.errors import DataError
from harness.metrics.recall import RecallOverFolds, recall_over_folds, uar_interval
from harness.metrics.resampling import Sampling
from harness.utility.base import Evaluation, Group, Measured, Measurement, Pair
from harness.utility.emotions import EmotionRecognizer, Labelled, RecognizerName, recognizer

WHERE = "evaluator emotion"
MEASURE, RECALL = "UAR", "recall"
ORIGINAL, ANONYMIZED = "original", "anonymized"


@dataclass(frozen=True, kw_only=True)
class Emotion:
    """Recall of emotions, in percent.

    recognizer: `acoustic`, trained on original speech in seconds, or `wav2vec2-2024`, the one of
        VoicePrivacy 2024.
    weights: of `wav2vec2-2024`, the folder of its models; sha256: what `sha256sum` says of the
        sha256sums of its files, as the message without it tells.

    Raises ConfigError for an unknown name, and for weights that are not named or not used.
    """

    recognizer: RecognizerName = "acoustic"
    weights: str | None = None
    sha256: str | None = None

    def __post_init__(self) -> None:
        self._recognizer  # noqa: B018 - looked at before any work

    @cached_property
    def _recognizer(self) -> EmotionRecognizer:
        return recognizer(self.recognizer, self.weights, self.sha256)

    def require_files(self) -> None:
        """Look whether the weights are there. Raises ConfigError, IntegrityError for others."""
        self._recognizer.require_files()

    def measure(self, pair: Pair) -> Measurement:
        """What the recognizer makes of the utterance; where it learns, of the original too."""
        fold = _label(pair, FOLD)
        found = {ANONYMIZED: self._recognizer.vector(pair.anonymized.read(), fold).tolist()}
        if self._recognizer.learns:
            found[ORIGINAL] = self._recognizer.vector(pair.original.read(), fold).tolist()
        return found

    def evaluate(self, group: Group, sampling: Sampling) -> Evaluation:
        """The emotion that is heard in each utterance, and recalls.

        Raises DataError where folds are too few to learn from.
        """
        labelled = Labelled(
            tuple(group.speakers),
            tuple(_label(pair, FOLD) for pair in group.pairs),
            tuple(_label(pair, EMOTION) for pair in group.pairs),
        )
        anonymized = np.array([one[ANONYMIZED] for one in group.measured], dtype=np.float64)
        learned = ORIGINAL if self._recognizer.learns else ANONYMIZED
        original = np.array([one[learned] for one in group.measured], dtype=np.float64)
        heard = self._recognizer.recognize(anonymized, original, labelled)
        rows = [
            {FOLD: fold, EMOTION: emotion, "heard": one}
            for fold, emotion, one in zip(labelled.folds, labelled.emotions, heard, strict=True)
        ]
        warnings = [
            f"fold {fold} has nothing {emotion}: its UAR is of the other emotions"
            for fold, emotion in _over_folds(labelled, heard).absent
            if emotion in labelled.emotions
        ]
        return Evaluation(rows, list(_recalls(labelled, heard, sampling)), warnings)


def _label(pair: Pair, name: str) -> str:
    if name not in pair.labels:
        raise DataError(
            f"no column {name!r}",
            where=WHERE,
            fix="use the evaluator emotion on sets of emotional speech only",
        )
    return pair.labels[name]


def _known(labelled: Labelled, heard: list[str]) -> tuple[str, ...]:
    """All emotions, those that are asked for first: what else a recognizer hears is an error."""
    emotions = sorted(set(labelled.emotions))
    return (*emotions, *sorted(set(heard) - set(emotions)))


def _over_folds(labelled: Labelled, heard: list[str]) -> RecallOverFolds:
    known = _known(labelled, heard)
    return recall_over_folds(labelled.emotions, heard, labelled.folds, known)


def _recalls(labelled: Labelled, heard: list[str], sampling: Sampling) -> Iterator[Measured]:
    told = (labelled.emotions, heard, labelled.folds, labelled.speakers)
    uar = uar_interval(*told, _known(labelled, heard), sampling)
    low, high = (None if end is None else 100 * end for end in (uar.low, uar.high))
    yield Measured(MEASURE, "", len(heard), 100 * uar.estimate, low, high)
    over_folds = _over_folds(labelled, heard)
    for emotion, recall in zip(over_folds.classes, over_folds.recalls, strict=True):
        count = labelled.emotions.count(emotion)
        if count:
            yield Measured(f"{RECALL}-{emotion}", "", count, 100 * recall)
