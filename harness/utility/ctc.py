"""Speech to text by wav2vec 2.0 with a CTC output, from folders of weights in two formats.

Baevski et al.: wav2vec 2.0, arXiv:2006.11477; Graves et al.: Connectionist temporal classification,
ICML 2006. In each frame of 20 ms the likeliest output counts (`collapsed`); there is no language
model. A folder is

    as transformers stores a Wav2Vec2ForCTC: FILES, or
    SpeechBrain's recognizer of characters (recipes/LibriSpeech/ASR/CTC): SPEECHBRAIN_FILES, which
    are three checkpoints, and the configuration of the wav2vec 2.0 that the recipe began with.

The second is the recognizer of VoicePrivacy 2024, speechbrain/asr-wav2vec2-librispeech at a9fdfb4,
begun with facebook/wav2vec2-large-960h-lv60-self. It heard eight utterances of like lengths at
once, with zeros behind the shorter ones, and both normalizations counted these. Here utterances
are heard one at a time, so that a text depends on its samples alone: a word may differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from harness.anonymizers.pretrained import (
    WEIGHTS,
    load,
    load_model,
    package,
    repeatable,
    require_files,
    unusable_errors,
)
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import ConfigError
from harness.utility.wav2vec2 import CONFIGURATION, Encoder, encoder, least_samples, tensors

FILES = ("config.json", WEIGHTS, "preprocessor_config.json", "tokenizer_config.json", "vocab.json")
NETWORK, HEAD, LABELS = CHECKPOINTS = ("wav2vec2.ckpt", "asr.ckpt", "tokenizer.ckpt")
SPEECHBRAIN_FILES = (*CHECKPOINTS, *CONFIGURATION)

# A line of SpeechBrain's list of labels, of a character or of a name such as <blank>; below a line
# of equals signs it says what is of no use here.
LABEL = re.compile(r"""(?P<quote>['"])(?P<label><\w+>|[^\\])(?P=quote) => (?P<output>\d{1,6})""")
SEPARATOR = "================\n"
BLANK, BLANK_LABEL = 0, "<blank>"

TRANSFORMERS = "recognizer wav2vec2-ctc"
SPEECHBRAIN = "recognizer speechbrain-ctc"
INSTALL = "pip install 'anonymization-harness[attacker,neural]'"
FIX = (
    f"put {', '.join(CHECKPOINTS)} of one model there, and {' and '.join(CONFIGURATION)} of the "
    "wav2vec 2.0 that it began with"
)


def collapsed(outputs: Sequence[int], blank: int) -> list[int]:
    """What the likeliest outputs of all frames say: of equal neighbours one, and then no blanks."""
    return [output for output, _ in groupby(outputs) if output != blank]


@dataclass(frozen=True)
class Transformers:
    """A Wav2Vec2ForCTC with its feature extractor and tokenizer. least: samples of one frame."""

    model: Any
    extractor: Any
    tokenizer: Any
    least: int

    def hear(self, samples: Samples) -> str:
        """The text of mono 16 kHz int16 samples; empty for less than a frame."""
        if len(samples) < self.least:
            return ""
        device = str(self.model.device)
        with repeatable(0, device):
            speech = self.extractor(
                samples / np.float32(FULL_SCALE), sampling_rate=SAMPLE_RATE, return_tensors="pt"
            )
            logits = self.model(speech.input_values.to(device)).logits
            likeliest = logits[0].argmax(dim=-1).tolist()
        heard = collapsed(likeliest, self.tokenizer.pad_token_id)
        text: str = self.tokenizer.decode(heard, group_tokens=False)
        return text


@lru_cache(maxsize=1)
def wav2vec2_ctc(folder: str, device: str) -> Transformers:
    """The recognizer of FILES, on a device that torch names so; loaded once in a process.

    Raises ConfigError for a package or a file that is not there, and for files that are not of one
    model for speech of 16 kHz.
    """
    require_files(folder, FILES, TRANSFORMERS)
    # What masks frames in training only is not in all files.
    unmasked = {"mask_time_prob": 0.0, "mask_feature_prob": 0.0}
    model = load_model("Wav2Vec2ForCTC", folder, FILES, TRANSFORMERS, device, **unmasked)
    extractor = load("Wav2Vec2FeatureExtractor", folder, FILES, TRANSFORMERS)
    tokenizer = load("Wav2Vec2CTCTokenizer", folder, FILES, TRANSFORMERS)
    outputs, blank = set(range(model.config.vocab_size)), model.config.pad_token_id
    named = set(tokenizer.get_vocab().values())
    if not outputs <= named or blank not in outputs or blank != tokenizer.pad_token_id:
        raise ConfigError(
            f"vocab.json in {folder} does not name the {len(outputs)} outputs of config.json, and "
            f"their blank {blank}",
            where=TRANSFORMERS,
            fix="put the files of one model there",
        )
    if extractor.sampling_rate != SAMPLE_RATE:
        raise ConfigError(
            f"the model in {folder} is for speech of {extractor.sampling_rate} Hz",
            where=TRANSFORMERS,
            fix=f"take one for {SAMPLE_RATE} Hz",
        )
    return Transformers(model, extractor, tokenizer, least_samples(model.config))


@dataclass(frozen=True)
class SpeechBrain:
    """An encoder, the layers from its frames to outputs, and the label of each output."""

    encoder: Encoder
    head: Any
    labels: Sequence[str]

    def hear(self, samples: Samples) -> str:
        """The text of mono 16 kHz int16 samples; empty for less than a frame."""
        if len(samples) < self.encoder.least:
            return ""
        frames = self.encoder.frames(samples)
        hidden, linear = self.head
        with repeatable(0, str(frames.device)):
            logits = linear(hidden(frames))[0]
            # No transcript had what has no label.
            likeliest = logits[:, : len(self.labels)].argmax(dim=-1).tolist()
        return "".join(self.labels[output] for output in collapsed(likeliest, BLANK))


@lru_cache(maxsize=1)
def speechbrain_ctc(folder: str, device: str) -> SpeechBrain:
    """The recognizer of SPEECHBRAIN_FILES, on a device that torch names so; loaded once a process.

    Raises ConfigError for a package or a file that is not there, and for files that are not of one
    such model.
    """
    require_files(folder, SPEECHBRAIN_FILES, SPEECHBRAIN)
    encoding = encoder(folder, NETWORK, SPEECHBRAIN, FIX, device)
    head = _head(folder, encoding.network.config.hidden_size).to(device).eval()
    labels = _labels(Path(folder, LABELS))
    outputs = head[-1].w.out_features
    if len(labels) > outputs:
        what = f"{LABELS} in {folder} has {len(labels)} labels for {outputs} outputs of {HEAD}"
        raise ConfigError(what, where=SPEECHBRAIN, fix=FIX)
    return SpeechBrain(encoding, head, labels)


def _head(folder: str, width: int) -> Any:
    """Two hidden layers of leaky ReLU, and one to the outputs, as the recipe lists them."""
    torch = package("torch", SPEECHBRAIN)
    vanilla = package("speechbrain.lobes.models.VanillaNN", SPEECHBRAIN, INSTALL).VanillaNN
    linear = package("speechbrain.nnet.linear", SPEECHBRAIN, INSTALL).Linear
    saved = tensors(folder, HEAD, SPEECHBRAIN, FIX)
    try:
        neurons, outputs = len(saved["0.linear.w.bias"]), len(saved["1.w.bias"])
        with repeatable(0, "cpu"):
            hidden = vanilla([None, None, width], dnn_blocks=2, dnn_neurons=neurons)
            head = torch.nn.ModuleList([hidden, linear(outputs, input_size=neurons)])
        head.load_state_dict(saved)
    except unusable_errors() as error:
        what = f"{HEAD} in {folder} does not hold three layers for {width} dimensions"
        raise ConfigError(f"{what}: {str(error)[:300]}", where=SPEECHBRAIN, fix=FIX) from error
    return head


def _labels(path: Path) -> list[str]:
    """The label of each output, blank first. Nothing of the file is evaluated."""
    listed, separator, _ = path.read_text(encoding="utf-8", errors="replace").partition(SEPARATOR)
    lines = [LABEL.fullmatch(line) for line in listed.splitlines()]
    found = {int(line["output"]): line["label"] for line in lines if line}
    numbered = sorted(found) == list(range(len(lines)))
    if not separator or not numbered or found.get(BLANK) != BLANK_LABEL:
        what = (
            f"{path.name} in {path.parent} does not label outputs from {BLANK}, {BLANK_LABEL}, on"
        )
        raise ConfigError(what, where=SPEECHBRAIN, fix=FIX)
    return [found[output] for output in range(len(found))]
