"""`knn-vc`: an utterance in the voice of a random speaker of the training set, by nearest frames.

Baas, van Niekerk, Kamper: Voice Conversion With Just Nearest Neighbors, Interspeech 2023. Teams T8
and T19 of the VoicePrivacy Challenge 2024 used it. Each frame becomes the mean of the k frames of
the target that are nearest to it by cosine, and a vocoder speaks these. Two back ends: `world`
(harness/anonymizers/knn_world.py) needs nothing but signal processing; `wavlm`
(harness/anonymizers/knn_wavlm.py) is the published one and needs weights.

The speakers that can be targets (harness/anonymizers/knn_targets.py) follow from the training set;
which of them an utterance gets, from the seed of its job. Nobody becomes themselves: where the very
samples are among a target's recordings, the next of the draw is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np

from harness.anonymizers import knn_wavlm, knn_world
from harness.anonymizers.base import LEVELS, Device, Job, Level, Source, check_choice
from harness.anonymizers.knn_targets import Target, targets
from harness.anonymizers.pretrained import require_pinned
from harness.anonymizers.samples import check_samples
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Samples
from harness.errors import ConfigError, DataError
from harness.runtime.events import Events
from harness.runtime.seeds import derived_seed

Backend = Literal["world", "wavlm"]

WHERE = "anonymizer knn-vc"
# Voices that a process keeps, so that each is made once.
MOST_TARGETS = 64


@dataclass(frozen=True)
class KnnVc:
    """kNN-VC. `aimed` gives it target speakers; it cannot work without.

    level: a target speaker per utterance or per speaker.
    backend: see the module.
    k: nearest frames whose mean is taken, 1 to 100.
    target_speakers: how many speakers of the training set can be targets, 2 to 64; all, where it
        has fewer. They are drawn from the half that says most.
    target_seconds: most speech of each, 1 to 600 seconds. A process keeps the voices that it has
        made: 0.03 MB a second of speech (world), 0.2 MB (wavlm).
    weights: folder with the weights, for wavlm. weights_sha256: what `sha256sum` says of the
        sha256sums of its files, in the order wavlm/config.json, wavlm/model.safetensors, and the
        same of hifigan/ (or the one file that takes its place).

    Raises ConfigError for a value out of range.
    """

    name: ClassVar[str] = "knn-vc"
    # Nothing to isolate: it works in this process under either runner.
    image: ClassVar[str | None] = None
    level: Level = "utterance"
    backend: Backend = "world"
    k: int = 4
    target_speakers: int = 20
    target_seconds: float = 60
    weights: str | None = None
    weights_sha256: str | None = None

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS, WHERE)
        check_choice("backend", self.backend, get_args(Backend), WHERE)
        for parameter, least, most in (
            ("k", 1, 100),
            ("target_speakers", 2, MOST_TARGETS),
            ("target_seconds", 1, 600),
        ):
            value = getattr(self, parameter)
            if not least <= value <= most:
                fix = f"give a number from {least} to {most}"
                raise ConfigError(f"{parameter} is {value}", where=WHERE, fix=fix)
        if (self.backend == "wavlm") != (self.weights is not None):
            told = "missing" if self.weights is None else repr(self.weights)
            raise ConfigError(
                f"weights is {told} with backend {self.backend}",
                where=WHERE,
                fix=f"{knn_wavlm.WEIGHTS}; leave it out for world",
            )

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients."""
        return [None] * len(sources)

    def aimed(self, targets: Path) -> Aimed:
        """The system with its target speakers. targets: a stored corpus, the training set.

        Raises ConfigError for fewer than two speakers, DataError for a corpus that is not there,
        and as `require_files`.
        """
        system = Aimed(self, targets, Corpus(targets).digest())
        if len(system.targets()) < 2:
            raise ConfigError(
                f"{targets} has fewer than two speakers, and nobody may become themselves",
                where=WHERE,
                fix="take a benchmark with more",
            )
        self.require_files()
        return system

    def require_files(self) -> None:
        """The weights of wavlm; see `Pinned`."""
        if self.weights is not None:
            used = knn_wavlm.used_files(self.weights)
            require_pinned(self.weights, used, self.weights_sha256, "weights_sha256", WHERE)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """Raises ConfigError: there is nobody to turn into."""
        raise ConfigError(
            "it has no target speakers", where=WHERE, fix="call aimed() with the training set first"
        )


@dataclass(frozen=True)
class Aimed:
    """kNN-VC with its target speakers. sha256: of the manifest of the corpus in `folder`."""

    name: ClassVar[str] = KnnVc.name
    image: ClassVar[str | None] = None
    system: KnnVc
    folder: Path = field(repr=False)
    sha256: str

    @property
    def level(self) -> Level:
        """That of the system."""
        return self.system.level

    @property
    def gpu(self) -> bool:
        """Whether it can use one: with networks only."""
        return self.system.backend == "wavlm"

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients."""
        return self.system.alphas(sources, seeds)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """Anonymized speech: as many mono 16 kHz int16 samples as given, (samples,) → (samples,).

        Depends on the samples, `job.seed` and the training set alone. The peak is at 32766;
        all-zero samples stay zeros. Raises AudioError for samples that are not mono int16.
        """
        return self._converted(samples, job, "cpu")

    @contextmanager
    def batch(
        self,
        speech: Sequence[tuple[Job, Recording]],
        *,
        work: Path,
        threads: int,
        device: Device,
        events: Events,
    ) -> Iterator[Mapping[str, Callable[[], Samples]]]:
        """On a GPU all is made here, one utterance after another; see `Accelerated`."""
        yield {
            job.utterance: partial(np.asarray, self._converted(recording.read(), job, device))
            for job, recording in speech
        }

    def targets(self) -> tuple[Target, ...]:
        """The speakers that can be targets."""
        system = self.system
        return targets(self.folder, self.sha256, system.target_speakers, system.target_seconds)

    def target(self, samples: Samples, seed: int) -> Target:
        """The speaker that an utterance turns into, by the seed of its job.

        Raises DataError where the samples are among the recordings of every target.
        """
        everyone = self.targets()
        generator = np.random.default_rng(derived_seed(seed, self.name))
        for target in (everyone[int(place)] for place in generator.permutation(len(everyone))):
            if not target.says(samples):
                return target
        raise DataError("every target speaker says this very utterance", fix="mend the corpus")

    def _converted(self, samples: Samples, job: Job, device: Device) -> Samples:
        check_samples(samples, job)
        if not samples.any():
            return np.zeros_like(samples)
        target, k = self.target(samples, job.seed), self.system.k
        seconds, weights = self.system.target_seconds, self.system.weights
        if weights is None:
            return knn_world.converted(samples, _world_voice(target, seconds), k)
        networks = knn_wavlm.networks(weights, device)
        return networks.converted(samples, _wavlm_voice(target, seconds, weights, device), k)


@lru_cache(maxsize=MOST_TARGETS)
def _world_voice(target: Target, seconds: float) -> knn_world.Voice:
    return knn_world.voice(target.speech(seconds))


@lru_cache(maxsize=MOST_TARGETS)
def _wavlm_voice(target: Target, seconds: float, weights: str, device: Device) -> knn_wavlm.Voice:
    return knn_wavlm.networks(weights, device).voice(target.speech(seconds))
