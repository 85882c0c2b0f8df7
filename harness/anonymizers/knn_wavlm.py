"""kNN-VC as published: WavLM frames, nearest neighbours, HiFi-GAN, from a folder of weights.

Baas, van Niekerk, Kamper: Voice Conversion With Just Nearest Neighbors, Interspeech 2023, and its
code (bshall/knn-vc). Features are the output of WavLM's layer 6, a frame in 20 ms, of samples
between -1 and 1 that are not normalised; each frame becomes the mean of the k of the target with
the largest cosine, and a HiFi-GAN makes speech of these. Left out is the removal of silence around
the target's recordings; the level is the harness's own (peak at 32766).

The folder holds

    wavlm/       config.json and model.safetensors, as `WavLMModel.save_pretrained` of transformers
                 writes them (WavLM-Large for the published system)
    hifigan/     the same of a `SpeechT5HifiGan` that takes these features, 320 samples a frame

or, in the place of hifigan/, the vocoder of kNN-VC as it was released, `prematch_g_02500000.pt` or
`g_02500000.pt`: its layers are those of SpeechT5HifiGan behind one linear layer. Of such a file
only tensors are read. The released `WavLM-Large.pt` has names of another library and cannot be
read.

Networks are loaded once a process. Utterances go through one at a time, and on a CPU in one thread
whatever others use, so neither changes a result. Another kind of CPU may, and a GPU does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.anonymizers.base import Device
from harness.anonymizers.pretrained import (
    load_model,
    package,
    repeatable,
    require_folder,
    unusable_errors,
)
from harness.anonymizers.samples import finish
from harness.corpora.audio import FULL_SCALE
from harness.corpora.store import Samples
from harness.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

LAYER = 6
HOP = 320
# WavLM's first frame sees 400 samples: so many more than the hop.
OVERLAP = 80
FILES = ("config.json", "model.safetensors")
SAVED = tuple(f"{name}/{file}" for name in ("wavlm", "hifigan") for file in FILES)
CHECKPOINTS = ("prematch_g_02500000.pt", "g_02500000.pt")
# The vocoder of those: hifigan/config_v1_wavlm.json of kNN-VC. WavLM-Large has 1,024 features.
RELEASED_INPUT = 1_024
RELEASED = {
    "model_in_dim": 512,
    "upsample_initial_channel": 512,
    "upsample_rates": [10, 8, 2, 2],
    "upsample_kernel_sizes": [20, 16, 4, 4],
    "resblock_kernel_sizes": [3, 7, 11],
    "resblock_dilation_sizes": [[1, 3, 5]] * 3,
    "normalize_before": False,
}

WHERE = "anonymizer knn-vc"
WEIGHTS = (
    f"name a folder with wavlm/ and hifigan/, each {' and '.join(FILES)} as transformers saves "
    f"WavLMModel and SpeechT5HifiGan; in place of the folder hifigan/, kNN-VC's {CHECKPOINTS[0]} "
    "beside wavlm/"
)

Voice = Any  # Tensor (frames, features): what the target speaker says


@dataclass(frozen=True)
class Networks:
    """Both networks on a device; `before` comes between features and vocoder."""

    wavlm: Any
    before: Any
    vocoder: Any
    device: Device

    def voice(self, speech: Sequence[Samples]) -> Voice:
        """The voice of recordings of one speaker."""
        import torch

        with repeatable(0, self.device):
            return torch.cat([self._features(samples) for samples in speech])

    def converted(self, samples: Samples, target: Voice, k: int) -> Samples:
        """Samples in the target's voice: mono 16 kHz int16, (samples,) → (samples,)."""
        from torch.nn.functional import normalize

        with repeatable(0, self.device):
            source = self._features(samples)
            cosines = normalize(source, dim=1) @ normalize(target, dim=1).T
            nearest = cosines.topk(min(k, len(target)), dim=1).indices
            speech = self.vocoder(self.before(target[nearest].mean(dim=1))).cpu().numpy()
        return finish(speech.astype(np.float64)[: len(samples)])

    def _features(self, samples: Samples) -> Tensor:
        """(frames, features), a frame for every 320 samples that begin."""
        import torch

        padded = np.zeros((1, HOP * math.ceil(len(samples) / HOP) + OVERLAP), dtype=np.float32)
        padded[0, : len(samples)] = samples / FULL_SCALE
        made = self.wavlm(torch.from_numpy(padded).to(self.device), output_hidden_states=True)
        features: Tensor = made.hidden_states[LAYER][0]
        return features


def used_files(weights: str) -> tuple[str, ...]:
    """The files of the folder `weights` that the networks are made of, relative to it.

    Raises ConfigError where one is missing.
    """
    require_folder(weights, WHERE, WEIGHTS)
    folder = Path(weights)
    saved, released = _saved(folder / "hifigan"), _checkpoints(folder)
    for name, found in (("wavlm", _saved(folder / "wavlm")), ("hifigan", saved or released)):
        if not found:
            raise ConfigError(f"no {name} in {weights}", where=WHERE, fix=WEIGHTS)
    return SAVED if saved else (*SAVED[: len(FILES)], released[0])


def _saved(folder: Path) -> bool:
    return all((folder / name).is_file() for name in FILES)


def _checkpoints(folder: Path) -> tuple[str, ...]:
    return tuple(name for name in CHECKPOINTS if (folder / name).is_file())


# An admixture may have two.
@lru_cache(maxsize=2)
def networks(weights: str, device: Device) -> Networks:
    """The networks in the folder `weights`.

    Raises ConfigError for what is missing, does not fit together, or needs packages that are not
    installed.
    """
    used = used_files(weights)
    torch = package("torch", WHERE)
    folder = Path(weights)
    wavlm = load_model("WavLMModel", str(folder / "wavlm"), FILES, WHERE, device)
    if wavlm.config.num_hidden_layers <= LAYER or math.prod(wavlm.config.conv_stride) != HOP:
        what = f"no WavLM with more than {LAYER} layers and a frame in {HOP} samples"
        raise ConfigError(what, where=folder / "wavlm", fix=WEIGHTS)
    # One more than needed: what comes after the last is normalised in some versions of WavLM.
    wavlm.encoder.layers = wavlm.encoder.layers[: LAYER + 1]
    if _saved(folder / "hifigan"):
        before = torch.nn.Identity().eval()
        vocoder = load_model("SpeechT5HifiGan", str(folder / "hifigan"), FILES, WHERE, device)
        taken = vocoder.config.model_in_dim
    else:
        before, vocoder = _released(folder / used[-1], device)
        taken = RELEASED_INPUT
    if taken != wavlm.config.hidden_size or math.prod(vocoder.config.upsample_rates) != HOP:
        raise ConfigError(
            f"the vocoder is not made for {wavlm.config.hidden_size} features in {HOP} samples",
            where=folder,
            fix=WEIGHTS,
        )
    return Networks(wavlm, before, vocoder, device)


def _released(path: Path, device: Device) -> tuple[Any, Any]:
    """The linear layer and the vocoder of a checkpoint of kNN-VC."""
    import torch
    from transformers import SpeechT5HifiGan, SpeechT5HifiGanConfig

    with repeatable(0, "cpu"):
        before = torch.nn.Linear(RELEASED_INPUT, RELEASED["model_in_dim"])
        vocoder = SpeechT5HifiGan(SpeechT5HifiGanConfig(**RELEASED))
    try:
        saved = torch.load(path, map_location="cpu", weights_only=True)["generator"]
        named = {name.replace("ups.", "upsampler."): value for name, value in _plain(saved).items()}
        before.load_state_dict({name: named.pop(f"lin_pre.{name}") for name in ("weight", "bias")})
        # A released one has no mean and scale: it does not normalise.
        unused = {"mean": vocoder.mean, "scale": vocoder.scale}
        vocoder.load_state_dict(unused | named)
    except unusable_errors() as error:
        what = f"is no vocoder of kNN-VC ({str(error)[:300]})"
        raise ConfigError(what, where=path, fix=WEIGHTS) from error
    return before.to(device).eval(), vocoder.to(device).eval()


def _plain(saved: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Weights that were normalised (`_g`, length, and `_v`, direction), multiplied out."""
    plain = {}
    for name, value in saved.items():
        if name.endswith("weight_g"):
            direction = saved[f"{name[:-1]}v"]
            lengths = direction.flatten(1).norm(dim=1).reshape(value.shape)
            plain[name[:-2]] = direction * (value / lengths)
        elif not name.endswith("weight_v"):
            plain[name] = value
    return plain
