"""Parameters of the ECAPA attacker; the defaults are the official recipe."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from harness.errors import ConfigError

# What SpeechBrain's ECAPA_TDNN can be built with: groups for so many layers, and a concatenation
# of the middle layers that counts them as equally wide.
FEWEST_LAYERS = 3
MOST_LAYERS = 6
RES2NET_SCALE = 8
FRAMES_A_SECOND = 100


@dataclass(frozen=True)
class Range:
    """Finite numbers from `low` to `high`; a bound that is open is itself outside."""

    low: float
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def holds(self, number: float) -> bool:
        """Whether a number lies within; NaN and infinity never do."""
        above = self.low < number if self.low_open else self.low <= number
        below = number < self.high if self.high_open else number <= self.high
        return above and below and math.isfinite(number)

    def __str__(self) -> str:
        low = f"a number above {self.low:g}" if self.low_open else f"{self.low:g} or more"
        if self.high == math.inf:
            return low
        return f"{low}, {'below' if self.high_open else 'at most'} {self.high:.6g}"


POSITIVE = Range(0, low_open=True)
NOT_NEGATIVE = Range(0)
AT_LEAST_ONE = Range(1)
# Of each value, in lists of every member.
RANGES = {
    "channels": Range(RES2NET_SCALE),
    "kernel_sizes": AT_LEAST_ONE,
    "dilations": AT_LEAST_ONE,
    "attention_channels": AT_LEAST_ONE,
    "embedding_dim": AT_LEAST_ONE,
    "n_mels": AT_LEAST_ONE,
    "margin": Range(0, math.pi / 2, high_open=True),
    "scale": POSITIVE,
    "max_lr": POSITIVE,
    "min_lr": NOT_NEGATIVE,
    "step_size": AT_LEAST_ONE,
    "weight_decay": NOT_NEGATIVE,
    "epochs": NOT_NEGATIVE,
    # Batch normalisation has nothing to normalise by in a batch of one.
    "batch_size": Range(2),
    "crop_seconds": Range(0.1),
    "min_seconds": NOT_NEGATIVE,
    "validation_fraction": Range(0, 1, high_open=True),
    "checkpoint_steps": AT_LEAST_ONE,
    "loader_workers": NOT_NEGATIVE,
    # The meter's absolute gate (ITU-R BS.1770) and full scale.
    "loudness": Range(-70, 0),
}


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
        for name, allowed in RANGES.items():
            value = getattr(self, name)
            for number in value if isinstance(value, tuple) else (value,):
                if not allowed.holds(number):
                    raise _impossible(f"{name} is {_shown(value)}", f"use {allowed}")
        layers = len(self.channels)
        if not FEWEST_LAYERS <= layers <= MOST_LAYERS:
            raise _impossible(
                f"channels is {_shown(self.channels)}",
                f"give {FEWEST_LAYERS} to {MOST_LAYERS} frame layers",
            )
        for name in ("kernel_sizes", "dilations"):
            value = getattr(self, name)
            if len(value) != layers:
                raise _impossible(
                    f"{name} is {_shown(value)}", f"give {layers} values, one for each of channels"
                )
        middle = self.channels[1:-1]
        if any(width % RES2NET_SCALE for width in self.channels) or len(set(middle)) > 1:
            raise _impossible(
                f"channels is {_shown(self.channels)}",
                f"use multiples of {RES2NET_SCALE}, and one width between the first and the last",
            )
        if any(size % 2 == 0 for size in self.kernel_sizes):
            raise _impossible(f"kernel_sizes is {_shown(self.kernel_sizes)}", "use odd numbers")
        # Layers are padded by reflection, which needs more frames than padding.
        reach = max(d * (k // 2) for d, k in zip(self.dilations, self.kernel_sizes, strict=True))
        if reach >= int(self.crop_seconds * FRAMES_A_SECOND):
            raise _impossible(
                f"crop_seconds is {self.crop_seconds}",
                f"use more than {(reach + 1) / FRAMES_A_SECOND}: "
                f"kernel_sizes and dilations reach over {reach} frames",
            )
        if self.min_lr > self.max_lr:
            raise _impossible(f"min_lr is {self.min_lr}", f"use at most max_lr, {self.max_lr}")
        if self.keep == "best" and self.validation_fraction == 0:
            raise _impossible(
                "keep is 'best', but validation_fraction is 0", "hold some out, or keep the last"
            )


def _impossible(what: str, fix: str) -> ConfigError:
    return ConfigError(what, where="params.yaml: attackers", fix=fix)


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)
