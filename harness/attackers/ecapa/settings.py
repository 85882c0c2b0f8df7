"""Parameters of the ECAPA attacker; the defaults are the official recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.errors import ConfigError


@dataclass(frozen=True)
class Settings:
    """Parameters.

    channels, kernel_sizes, dilations: of the five frame layers. attention_channels, embedding_dim.
    n_mels: of the filter bank (25 ms window, 10 ms shift), mean-normalised per utterance.
    margin, scale: of the softmax. max_lr, min_lr, step_size: triangular cyclic learning rate,
    step_size in iterations per half cycle. weight_decay: of Adam.
    crop_seconds: random crop a training item. min_seconds: shorter utterances are dropped.
    validation_fraction: of utterances, split off at random (seeded).
    keep: which epoch is scored, the last (official) or the best on validation.
    checkpoint_steps: iterations between resume points.
    loudness: LUFS to which utterances are brought before scoring.
    """

    channels: tuple[int, ...] = (512, 512, 512, 512, 1536)
    kernel_sizes: tuple[int, ...] = (5, 3, 3, 3, 1)
    dilations: tuple[int, ...] = (1, 2, 3, 4, 1)
    attention_channels: int = 128
    embedding_dim: int = 192
    n_mels: int = 80
    margin: float = 0.2
    scale: float = 30.0
    max_lr: float = 0.01
    min_lr: float = 1e-8
    step_size: int = 65_000
    weight_decay: float = 2e-6
    epochs: int = 10
    batch_size: int = 256
    crop_seconds: float = 3.0
    min_seconds: float = 3.0
    validation_fraction: float = 0.1
    keep: Literal["last", "best"] = "last"
    checkpoint_steps: int = 500
    loader_workers: int = 0
    loudness: float = -30.0

    def __post_init__(self) -> None:
        layers = len(self.channels)
        if layers != len(self.kernel_sizes) or layers != len(self.dilations) or layers < 3:
            raise ConfigError(
                "channels, kernel_sizes and dilations differ in length or are fewer than 3",
                where="params.yaml: attackers",
                fix="give one value per frame layer in each",
            )
        if any(width % 8 for width in self.channels):
            raise ConfigError(
                f"channels {list(self.channels)} are not multiples of 8",
                where="params.yaml: attackers",
                fix="use multiples of 8, the Res2Net scale",
            )
        for name in ("batch_size", "crop_seconds", "max_lr", "step_size", "checkpoint_steps"):
            if getattr(self, name) <= 0:
                raise ConfigError(
                    f"{name} is {getattr(self, name)}",
                    where="params.yaml: attackers",
                    fix="use a number above 0",
                )
        if not 0 <= self.validation_fraction < 1 or self.epochs < 0:
            raise ConfigError(
                f"validation_fraction {self.validation_fraction} or epochs {self.epochs} "
                "is impossible",
                where="params.yaml: attackers",
                fix="use a fraction below 1, and 0 or more epochs (0: untrained weights)",
            )
