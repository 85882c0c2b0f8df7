"""Stands in for a container: an attacker in this process, honest or not, that keeps what it sees.

What the container itself keeps and breaks is shown by tests/containers/test_rerun.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from harness.attackers.base import Pair
from harness.contracts.inputs import Circumstances, Sound
from harness.protocols.lists import Trial
from harness.reruns.scoring import Bench
from harness.runtime.containers.fence import Fence
from reruns import spoken

DIGEST = "sha256:" + "ab" * 32
BANDS = 12
# Scores of pairs from those that an honest attacker gives.
Change = Callable[[np.ndarray, Sequence[Pair]], np.ndarray]


def vector(sound: Sound) -> np.ndarray:
    """Log energies of an utterance in a few bands."""
    power = np.abs(np.fft.rfft(sound.read().astype(np.float64))) ** 2
    return np.log([band.mean() for band in np.array_split(power[: len(power) // 4], BANDS)])


@dataclass
class StandIn:
    """change: what it does with the scores of an honest attacker. seen: what it was given."""

    change: Change = lambda scores, pairs: scores
    seen: list[dict[str, Any]] = field(default_factory=list)

    def __call__(
        self,
        image: str,
        model: Path | None,
        sounds: Mapping[str, Sound],
        enrolments: Mapping[str, Sequence[str]],
        pairs: Sequence[Pair],
        *,
        parameters: Mapping[str, Any],
        circumstances: Circumstances,
        fence: Fence,
    ) -> np.ndarray:
        self.seen.append(
            {
                "image": image,
                "model": model,
                "sounds": sorted(sounds),
                "audio": dict(sounds),
                "enrolments": dict(enrolments),
                "pairs": list(pairs),
                "circumstances": circumstances,
            }
        )
        vectors = {name: vector(sound) for name, sound in sounds.items()}
        means = {
            speaker: np.mean([vectors[name] for name in names], axis=0)
            for speaker, names in enrolments.items()
        }
        raw = [-np.linalg.norm(means[one.enrolment] - vectors[one.trial]) for one in pairs]
        return np.asarray(self.change(np.array(raw), pairs), np.float32)


def scores_of(speech: Path, system: str, trials: Sequence[Trial]) -> np.ndarray:
    """What the honest one gives for trials, by their official names."""
    enrolment = spoken.corpus(speech, system, spoken.ENROLMENTS)
    trial = spoken.corpus(speech, system, spoken.list_name(trials[0].enrolment[0]))
    of_speaker: dict[str, list[np.ndarray]] = {}
    manifest = enrolment.manifest
    for utterance, speaker in zip(manifest["utterance"], manifest["speaker"], strict=True):
        of_speaker.setdefault(speaker, []).append(vector(Stored(enrolment.read(utterance))))
    means = {speaker: np.mean(vectors, axis=0) for speaker, vectors in of_speaker.items()}
    vectors = {one: vector(Stored(trial.read(one))) for one in {t.utterance for t in trials}}
    return np.array([-np.linalg.norm(means[t.enrolment] - vectors[t.utterance]) for t in trials])


@dataclass(frozen=True)
class Stored:
    samples: np.ndarray

    def read(self) -> np.ndarray:
        return self.samples


def normalised(scores: np.ndarray, pairs: Sequence[Pair]) -> np.ndarray:
    """By mean and deviation over all pairs of the run."""
    return (scores - scores.mean()) / (scores.std() or 1)


def bench(image: Any, speech: Path, gender: str = "f", system: str = "A1") -> Bench:
    """All trials of a list, with the image's settings left as they are."""
    return Bench(
        image,
        spoken.corpus(speech, system, spoken.ENROLMENTS),
        spoken.corpus(speech, system, spoken.list_name(gender)),
        spoken.trials_of(gender),
    )
