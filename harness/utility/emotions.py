"""Recognizers of emotions, by name.

A recognizer makes a vector of each utterance by itself, in any process, and then decides over all
of a set: an utterance in a fold is recognized by what saw none of that fold's speakers.

`acoustic` learns from the original speech of the other folds: acoustic features, standardized, and
logistic regression with L2 regularization, all emotions counting the same. What an utterance has
not, such as a pitch in a whisper, is taken to be as in the mean of what it learned from.

`wav2vec2-2024` is the one of VoicePrivacy 2024, from a folder of weights
(`harness.utility.emotions_2024`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from harness.anonymizers.pretrained import package
from harness.corpora.store import Samples
from harness.errors import ConfigError, DataError
from harness.utility.acoustic import acoustic_features
from harness.utility.emotions_2024 import Wav2Vec2

Floats = npt.NDArray[np.float64]
Names = npt.NDArray[np.str_]

RecognizerName = Literal["acoustic", "wav2vec2-2024"]

# Inverse strength of the regularization: there are about as many features as utterances.
INVERSE_STRENGTH = 0.01
MOST_ITERATIONS = 1000

ACOUSTIC = "recognizer acoustic"
INSTALL = "pip install 'anonymization-harness[utility]'"


@dataclass(frozen=True)
class Labelled:
    """What is known of utterances: names, one of each per utterance.

    Raises DataError for unequal numbers and for a speaker in two folds.
    """

    speakers: tuple[str, ...]
    folds: tuple[str, ...]
    emotions: tuple[str, ...]

    def __post_init__(self) -> None:
        numbers = {len(self.speakers), len(self.folds), len(self.emotions)}
        if len(numbers) > 1:
            raise DataError(
                f"{len(self.speakers)} speakers, {len(self.folds)} folds and "
                f"{len(self.emotions)} emotions",
                fix="give one of each per utterance",
            )
        fold_of = dict(zip(self.speakers, self.folds, strict=True))
        for speaker, fold in zip(self.speakers, self.folds, strict=True):
            if fold != fold_of[speaker]:
                raise DataError(
                    f"is in the folds {fold} and {fold_of[speaker]}",
                    where=f"speaker {speaker}",
                    fix="put all that a speaker says in one fold",
                )


class EmotionRecognizer(Protocol):
    """A recognizer with its parameters; it can be pickled."""

    @property
    def learns(self) -> bool:
        """Whether `recognize` needs the vectors of original speech, too."""
        ...

    def require_files(self) -> None:
        """Look whether its weights are there, and those of the hash, before any work.

        Raises ConfigError for what is missing, IntegrityError for other files.
        """
        ...

    def vector(self, samples: Samples, fold: str) -> Floats:
        """What it makes of mono 16 kHz int16 samples of a speaker of a fold: shape (size,).

        NaN is what the utterance has nothing of. Raises as `require_files`, and ConfigError for
        packages that are not installed.
        """
        ...

    def recognize(self, vectors: Floats, original: Floats, labelled: Labelled) -> list[str]:
        """The emotion of each utterance.

        vectors: (n, size), of the speech to recognize; original: of the same utterances as they
        were spoken, which may be the same array, and is not looked at where nothing is learned.
        labelled: the n utterances. Raises DataError where there is not enough to learn from.
        """
        ...


def recognizer(
    name: RecognizerName, weights: str | None = None, sha256: str | None = None
) -> EmotionRecognizer:
    """A recognizer by its name. weights, sha256: of `wav2vec2-2024`.

    Raises ConfigError for an unknown name, and for weights that are not named or not used.
    """
    if name not in get_args(RecognizerName):
        raise ConfigError(
            f"recognizer is {name!r}",
            where="emotion",
            fix=f"choose one of: {', '.join(get_args(RecognizerName))}",
        )
    if name == "wav2vec2-2024":
        return Wav2Vec2(weights, sha256)
    if weights is not None or sha256 is not None:
        raise ConfigError(
            "it has no use for weights", where=ACOUSTIC, fix="leave them out, or give wav2vec2-2024"
        )
    return Acoustic()


@dataclass(frozen=True)
class Acoustic:
    """Acoustic features and logistic regression, learned anew for each fold; see the module."""

    learns: ClassVar[bool] = True

    def require_files(self) -> None:
        """There are none."""

    def vector(self, samples: Samples, fold: str) -> Floats:
        """The features of `harness.utility.acoustic`, whatever the fold."""
        return acoustic_features(samples)

    def recognize(self, vectors: Floats, original: Floats, labelled: Labelled) -> list[str]:
        """See `EmotionRecognizer`.

        Raises DataError where the other folds lack an emotion that is to be recognized in one, or
        have fewer than two emotions.
        """
        folds, emotions = np.asarray(labelled.folds), np.asarray(labelled.emotions)
        recognized = np.empty_like(emotions)
        for fold in sorted(set(labelled.folds)):
            here = folds == fold
            known, wanted = set(emotions[~here].tolist()), set(emotions[here].tolist())
            if len(known) < 2 or not wanted <= known:
                lacking = ", ".join(sorted(wanted - known)) or "a second emotion"
                raise DataError(
                    f"speakers of other folds lack {lacking} to learn from",
                    where=f"fold {fold}",
                    fix="give more speakers, or put these in other folds",
                )
            recognized[here] = _learned(original[~here], emotions[~here], vectors[here])
        return [str(name) for name in recognized]


def _learned(original: Floats, emotions: Names, vectors: Floats) -> Names:
    """Emotions of vectors, by what original vectors and their emotions teach."""
    linear_model = package("sklearn.linear_model", ACOUSTIC, INSTALL)
    preprocessing = package("sklearn.preprocessing", ACOUSTIC, INSTALL)
    model = package("sklearn.pipeline", ACOUSTIC, INSTALL).make_pipeline(
        package("sklearn.impute", ACOUSTIC, INSTALL).SimpleImputer(keep_empty_features=True),
        preprocessing.StandardScaler(),
        linear_model.LogisticRegression(
            C=INVERSE_STRENGTH, class_weight="balanced", max_iter=MOST_ITERATIONS
        ),
    )
    # The order in which BLAS adds up depends on the number of its threads.
    with package("threadpoolctl", ACOUSTIC, INSTALL).threadpool_limits(1):
        recognized: Names = model.fit(original, emotions).predict(vectors)
    return recognized
