"""The network, its features, and its file: `model.safetensors` beside `model.json`."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from speechbrain.lobes.features import Fbank
from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN
from speechbrain.processing.features import InputNormalization

from harness.attackers.base import Machine
from harness.attackers.ecapa.settings import Settings
from harness.corpora.store import SAMPLE_RATE
from harness.errors import ConfigError, IntegrityError
from harness.runtime.files import write_bytes, write_text

WEIGHTS = "model.safetensors"
DESCRIPTION = "model.json"
ARCHITECTURE = (
    "channels",
    "kernel_sizes",
    "dilations",
    "attention_channels",
    "embedding_dim",
    "n_mels",
    "loudness",
)


def prepare(machine: Machine, seed: int) -> torch.device:
    """Fix threads, determinism and seeds of this process; the device to work on."""
    if machine.device == "cuda" and not torch.cuda.is_available():
        raise ConfigError(
            "there is no CUDA device", where="params.yaml: runtime.device", fix="use auto or cpu"
        )
    torch.set_num_threads(machine.threads)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    return torch.device(machine.device)


class Embedder(torch.nn.Module):
    """Waveforms in, embeddings out. Features are log mel energies less their mean over time."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.features = Fbank(n_mels=settings.n_mels, sample_rate=SAMPLE_RATE)
        self.normalise = InputNormalization(norm_type="sentence", std_norm=False)
        self.network = ECAPA_TDNN(
            input_size=settings.n_mels,
            channels=list(settings.channels),
            kernel_sizes=list(settings.kernel_sizes),
            dilations=list(settings.dilations),
            attention_channels=settings.attention_channels,
            lin_neurons=settings.embedding_dim,
        )

    def forward(self, waveforms: torch.Tensor) -> torch.Tensor:
        """waveforms: (batch, samples), all of full length. Returns (batch, embedding_dim)."""
        lengths = torch.ones(len(waveforms), device=waveforms.device)
        with torch.no_grad():
            features = self.normalise(self.features(waveforms), lengths)
        return self.network(features, lengths).squeeze(1)


def write_model(
    folder: Path, settings: Settings, embedder: Embedder, facts: dict[str, Any]
) -> None:
    """Write weights and description; the same weights give the same bytes."""
    state = {
        name: value.detach().cpu().contiguous()
        for name, value in embedder.network.state_dict().items()
    }
    write_bytes(folder / WEIGHTS, save(dict(sorted(state.items()))))
    architecture = {name: getattr(settings, name) for name in ARCHITECTURE}
    write_text(
        folder / DESCRIPTION,
        json.dumps(
            {"type": "ecapa", "architecture": architecture, **facts}, indent=2, sort_keys=True
        )
        + "\n",
    )


def read_model(folder: Path, device: torch.device) -> tuple[Settings, Embedder]:
    """The model in `folder`, ready to embed. Raises IntegrityError when it is not whole."""
    try:
        description = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        architecture: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in description["architecture"].items()
        }
        settings = Settings(**architecture)
        embedder = Embedder(settings)
        embedder.network.load_state_dict(load_file(folder / WEIGHTS))
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise IntegrityError(
            f"not a whole ECAPA model ({error})", where=folder, fix="train it again"
        ) from error
    return settings, embedder.eval().to(device)
