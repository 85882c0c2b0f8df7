"""wav2vec 2.0 as SpeechBrain stores it: what the network makes of an utterance, frame by frame.

SpeechBrain keeps the tensors of the network in a checkpoint of its own, and its configuration with
the model that the training began with, as transformers stores it. Its hyperparams.yaml can run any
code, and is not read: what it says of the network is written down in `Encoder`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.anonymizers.pretrained import load, package, repeatable, unusable_errors
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import Samples
from harness.errors import ConfigError

CONFIGURATION = ("config.json", "preprocessor_config.json")
# SpeechBrain's name of the network within its wrapper.
WRAPPER = "model."


@dataclass(frozen=True)
class Encoder:
    """The network, and SpeechBrain's two normalizations to mean 0 and variance 1.

    network: a Wav2Vec2Model. normalized: whether the samples are normalized before it; its output
    always is, over all frames and dimensions at once (`output_norm: True`). least: samples of one
    frame.
    """

    network: Any
    normalized: bool
    least: int

    def frames(self, samples: Samples) -> Any:
        """A tensor of shape (1, frames, dimensions), of mono 16 kHz int16 samples, `least` or more.

        One utterance goes through at a time; on a CPU in one thread, so neither changes a result.
        """
        import torch
        from torch.nn.functional import layer_norm

        device = str(self.network.device)
        with repeatable(0, device):
            speech = torch.from_numpy(samples / np.float32(FULL_SCALE)).to(device)[None]
            if self.normalized:
                speech = layer_norm(speech, speech.shape)
            frames = self.network(speech).last_hidden_state
            return layer_norm(frames, frames.shape)


def encoder(folder: str, checkpoint: str, where: str, fix: str, device: str) -> Encoder:
    """The encoder of a checkpoint in a folder that has CONFIGURATION too, on a device of torch.

    Raises ConfigError, with this place and fix, unless they belong together.
    """
    config = load("Wav2Vec2Config", folder, CONFIGURATION, where)
    extractor = load("Wav2Vec2FeatureExtractor", folder, CONFIGURATION, where)
    saved = tensors(folder, checkpoint, where, fix)
    try:
        # Parameters are drawn before they are read.
        with repeatable(0, "cpu"):
            network = package("transformers", where).Wav2Vec2Model(config)
        network.load_state_dict(
            {name.removeprefix(WRAPPER): tensor for name, tensor in saved.items()}
        )
    except unusable_errors() as error:
        what = f"{checkpoint} in {folder} is not the network of its config.json"
        raise ConfigError(f"{what}: {str(error)[:300]}", where=where, fix=fix) from error
    return Encoder(network.to(device).eval(), bool(extractor.do_normalize), least_samples(config))


def tensors(folder: str, checkpoint: str, where: str, fix: str) -> Mapping[str, Any]:
    """Tensors of a checkpoint by name, in 32 bits; of a stranger's file only these are read.

    Raises ConfigError, with this place and fix, for anything else.
    """
    torch = package("torch", where)
    try:
        saved = torch.load(Path(folder, checkpoint), map_location="cpu", weights_only=True)
        return {str(name): tensor.float() for name, tensor in saved.items()}
    except unusable_errors() as error:
        what = f"{checkpoint} in {folder} holds no tensors by name: {str(error)[:300]}"
        raise ConfigError(what, where=where, fix=fix) from error


def least_samples(config: Any) -> int:
    """Samples of one frame: what the convolutions of a Wav2Vec2Config take, 400 in all models."""
    least = 1
    for kernel, stride in zip(config.conv_kernel[::-1], config.conv_stride[::-1], strict=True):
        least = (least - 1) * stride + kernel
    return least
