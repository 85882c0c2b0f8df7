"""A tiny corpus of speakers made of tones in noise, and one training run on it as a process.

`python tests/attackers/ecapa/tones.py CORPUS TARGET [PARAMETERS]` trains in the current folder and
prints its steps; PARAMETERS, as JSON, replace those below.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from harness.corpora.store import SAMPLE_RATE, Made, Utterance, build, partition
from harness.runtime.pool import Pool

SPEAKERS = 6
UTTERANCES = 8
SECONDS = 1.0
KEY = "train@tones"
SMALL: dict[str, Any] = {
    "channels": (8, 8, 8, 8, 24),
    "attention_channels": 8,
    "embedding_dim": 16,
    "n_mels": 24,
    "batch_size": 8,
    "epochs": 3,
    "crop_seconds": 0.5,
    "min_seconds": 0.5,
    "max_lr": 0.01,
    "step_size": 10,
    "checkpoint_steps": 1,
}


def make(utterance: Utterance) -> Made:
    """Three tones of the speaker, a level and noise of the utterance."""
    speaker, number = utterance.recipe
    rng = np.random.default_rng([speaker, number])
    time = np.arange(int(SECONDS * SAMPLE_RATE) + 400 * number) / SAMPLE_RATE
    tones = sum(np.sin(2 * np.pi * (300 + 170 * speaker) * k * time) for k in (1, 2, 3))
    noisy = tones * rng.uniform(0.5, 1) + rng.normal(0, 0.5, len(time))
    return Made(np.asarray(noisy * 3000, dtype=np.int16))


def build_tones(target: Path, work: Path) -> None:
    """Store the corpus at `target`."""
    utterances = [
        Utterance(f"{s:02d}-{n:02d}", f"{s:02d}", "fm"[s % 2], "", 20_000, (s, n))
        for s in range(SPEAKERS)
        for n in range(UTTERANCES)
    ]
    with Pool(1) as pool:
        build(target, partition(utterances), make, work=work, pool=pool)


def main(corpus: Path, target: Path, parameters: str = "{}") -> None:
    """Train a very small ECAPA with a checkpoint after every step."""
    from harness.runtime.environment import settle

    settle()
    from harness.attackers.base import Machine
    from harness.attackers.ecapa.attacker import Ecapa
    from harness.attackers.stage import Run, train
    from harness.corpora.store import Corpus
    from harness.runtime.events import Events

    attacker = Ecapa(**(SMALL | json.loads(parameters)))
    run = Run(KEY, attacker, 7, Machine(1, "cpu"), {"benchmark": "tones"})

    def tell(event: dict[str, object]) -> None:
        if event["event"] == "progress":
            print("step", event["done"], flush=True)  # noqa: T201

    train(run, Corpus(corpus), "tones", target, Events(tell))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
