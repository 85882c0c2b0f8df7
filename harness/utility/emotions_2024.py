"""`wav2vec2-2024`: the recognizer of emotions of VoicePrivacy 2024, from a folder of weights.

A wav2vec 2.0 network, the mean of its output over time, and one linear layer for angry, happy,
neutral and sad; one such model for each fold of IEMOCAP, learned from the other folds by
SpeechBrain's recipe (recipes/IEMOCAP/emotion_recognition). The official script is
`evaluation/utility/ser/evaluate_ser.py`, its models are `ser_pre_sb` of its release. The folder
holds

    config.json, preprocessor_config.json    of the wav2vec 2.0 that the recipe began with, as
                                             transformers stores them
    fold_<fold>/CKPT+<number>/               for each fold, the folder of the highest number counts
        wav2vec2.ckpt, model.ckpt            tensors by name: the network, the linear layer
        label_encoder.txt                    the emotion of each output

Beside these lie a hyperparams.yaml and a custom_interface.py, which SpeechBrain would run: they are
not read. What they say is written down here and in `harness.utility.wav2vec2`. SpeechBrain adds
noise of 1e-5 to 9e-5 to the mean over time, drawn anew each time; here there is none, so an
utterance between two emotions can differ.

Utterances go through one at a time, as in the official script. The models of five folds stay in
memory: 2 GB a process, if wav2vec 2.0 is the base model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from harness.anonymizers.pretrained import repeatable, require_folder, require_pinned
from harness.corpora.store import Samples
from harness.errors import ConfigError, DataError
from harness.utility.wav2vec2 import CONFIGURATION, Encoder, encoder, tensors

if TYPE_CHECKING:
    from harness.utility.emotions import Labelled

Floats = npt.NDArray[np.float64]

# In the order of the outputs here; those of a model come in the order of its label_encoder.txt.
EMOTIONS = {"ang": "angry", "hap": "happy", "neu": "neutral", "sad": "sad"}
NETWORK, LINEAR, LABELS = FILES = ("wav2vec2.ckpt", "model.ckpt", "label_encoder.txt")
FOLD = re.compile(r"fold_([^/]+)")
CHECKPOINT = re.compile(r"CKPT\+?(\d+)")
LABEL = re.compile(r"'(\w+)' => (\d+)")
# SpeechBrain's name of the first of a list of linear layers.
LINEAR_WEIGHT = "0.w.weight"

# Evaluators work in many processes.
DEVICE = "cpu"
WHERE = "recognizer wav2vec2-2024"
WEIGHTS = (
    f"name a folder with {' and '.join(CONFIGURATION)} of the wav2vec 2.0 model and for each fold "
    f"fold_<fold>/CKPT+<number>/ with {', '.join(FILES)}"
)


@dataclass(frozen=True)
class Wav2Vec2:
    """The recognizer; it learns nothing. sha256: of the files, as `require_pinned` has it.

    Raises ConfigError where no weights are named.
    """

    weights: str | None
    sha256: str | None

    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not self.weights:
            raise ConfigError(f"weights is {self.weights!r}", where=WHERE, fix=WEIGHTS)

    def require_files(self) -> None:
        """See `EmotionRecognizer`."""
        folder = str(self.weights)
        require_pinned(folder, used_files(folder), self.sha256, "sha256", WHERE)

    def vector(self, samples: Samples, fold: str) -> Floats:
        """The probabilities of EMOTIONS by the fold's model, shape (4,), of samples of any length.

        What is too short for one frame gets zeros behind it. Raises ConfigError for a fold that has
        no model, and for files that are not what the module describes; see `EmotionRecognizer`.
        """
        self.require_files()
        return network(str(self.weights), fold).probabilities(samples)

    def recognize(self, vectors: Floats, original: Floats, labelled: Labelled) -> list[str]:
        """The most probable emotion of each utterance, of equals the first of EMOTIONS.

        Their names are the long ones, or the short ones where the set has these. Raises DataError
        for a set that has others.
        """
        for names in (list(EMOTIONS.values()), list(EMOTIONS)):
            if set(labelled.emotions) <= set(names):
                return [names[place] for place in vectors.argmax(axis=1)]
        raise DataError(
            f"emotions are {', '.join(sorted(set(labelled.emotions)))}",
            where=WHERE,
            fix=f"it knows {', '.join(EMOTIONS.values())}, or as {', '.join(EMOTIONS)}",
        )


def checkpoints(weights: str) -> dict[str, str]:
    """The folder of each fold's checkpoint, relative to `weights`. Raises ConfigError for none."""
    require_folder(weights, WHERE, WEIGHTS)
    found: dict[str, tuple[int, str]] = {}
    for path in Path(weights).glob("fold_*/CKPT*"):
        fold, checkpoint = FOLD.fullmatch(path.parent.name), CHECKPOINT.fullmatch(path.name)
        if fold and checkpoint:
            latest = (int(checkpoint[1]), f"{path.parent.name}/{path.name}")
            found[fold[1]] = max(latest, found.get(fold[1], latest))
    if not found:
        raise ConfigError(f"no checkpoint in {weights}", where=WHERE, fix=WEIGHTS)
    return {fold: found[fold][1] for fold in sorted(found)}


def used_files(weights: str) -> tuple[str, ...]:
    """All files that are read, relative to `weights`. Raises ConfigError as `checkpoints`."""
    folders = checkpoints(weights).values()
    return (*CONFIGURATION, *(f"{folder}/{name}" for folder in folders for name in FILES))


@dataclass(frozen=True)
class Network:
    """The model of a fold. linear: a tensor. places: of EMOTIONS among its outputs."""

    encoder: Encoder
    linear: Any
    places: list[int]

    def probabilities(self, samples: Samples) -> Floats:
        """Of EMOTIONS, (4,), of mono 16 kHz int16 samples."""
        padded = np.pad(samples, (0, max(self.encoder.least - len(samples), 0)))
        frames = self.encoder.frames(padded)
        with repeatable(0, DEVICE):
            outputs = (frames.mean(dim=1) @ self.linear.T).double().softmax(dim=1)
        found: Floats = outputs[0, self.places].numpy()
        return found


@lru_cache(maxsize=5)
def network(weights: str, fold: str) -> Network:
    """The model of a fold in the folder `weights`. Raises ConfigError; see `Wav2Vec2.vector`."""
    folders = checkpoints(weights)
    if fold not in folders:
        what = f"no model for fold {fold} in {weights}, but for {', '.join(folders)}"
        raise ConfigError(what, where=WHERE, fix="give speakers the folds of the official lists")
    folder = folders[fold]
    made = encoder(weights, f"{folder}/{NETWORK}", WHERE, WEIGHTS, DEVICE)
    linear = tensors(weights, f"{folder}/{LINEAR}", WHERE, WEIGHTS)
    shape = (len(EMOTIONS), made.network.config.hidden_size)
    if set(linear) != {LINEAR_WEIGHT} or tuple(linear[LINEAR_WEIGHT].shape) != shape:
        what = f"{folder}/{LINEAR} in {weights} is no layer of {shape[0]} times {shape[1]} weights"
        raise ConfigError(what, where=WHERE, fix=WEIGHTS)
    return Network(made, linear[LINEAR_WEIGHT], _places(Path(weights, folder, LABELS)))


def _places(path: Path) -> list[int]:
    """Of EMOTIONS among the outputs, from a label_encoder.txt of SpeechBrain."""
    # Below the line of equals signs it says what is of no use here.
    text = path.read_text(encoding="utf-8", errors="replace").partition("====")[0]
    found = {label: int(place) for label, place in LABEL.findall(text)}
    if set(found) != set(EMOTIONS) or sorted(found.values()) != list(range(len(EMOTIONS))):
        what = f"{path} does not give {', '.join(EMOTIONS)} the places 0 to {len(EMOTIONS) - 1}"
        raise ConfigError(what, where=WHERE, fix=WEIGHTS)
    return [found[label] for label in EMOTIONS]
