"""One list at work in a stranger's image, under names that say nothing.

Names and the order of pairs follow from a secret that is drawn for the run and kept nowhere. So an
image cannot know them from the published lists, and does not meet them again.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Pair
from harness.contracts.attacker.image import score
from harness.contracts.inputs import Circumstances, Sound
from harness.corpora.opaque import opaque_ids, speech
from harness.corpora.store import Corpus, Samples
from harness.errors import ListError
from harness.protocols.lists import Trial
from harness.runtime.containers.fence import Fence
from harness.runtime.seeds import derived_seed

Scores = npt.NDArray[np.float32]
SECRET_BYTES = 32
# Of the loudest sample: a sample as loud is far above its last bit.
LOUD = 0.125


@dataclass(frozen=True)
class Image:
    """A stranger's image and how it runs. digest: of it. model: folder; None: it has its own."""

    digest: str
    model: Path | None
    parameters: Mapping[str, Any]
    circumstances: Circumstances
    fence: Fence

    def of(self, system: str, model: Path | None) -> Image:
        """The same, against one system."""
        return replace(self, model=model, circumstances=replace(self.circumstances, system=system))


@dataclass(frozen=True)
class Names:
    """What official names are called, and where each trial stands among the others."""

    speakers: Mapping[str, str]
    enrolments: Mapping[str, str]
    utterances: Mapping[str, str]
    places: Mapping[Trial, int]


@dataclass(frozen=True)
class Nudged:
    """An utterance whose loud samples have another last bit, or not, by a draw. seed: of it."""

    sound: Sound
    seed: int

    def read(self) -> Samples:
        """Mono 16 kHz int16 samples, (samples,); silence stays what it is."""
        samples = self.sound.read()
        level = np.abs(samples.astype(np.int32))
        loud = level > LOUD * level.max(initial=0)
        bits = np.random.default_rng(self.seed).integers(0, 2, len(samples), dtype=np.int16)
        return np.asarray(samples ^ (bits * loud), dtype=np.int16)


class Bench:
    """Trials of a list, the speech of a system for them, and the image that scores them."""

    def __init__(
        self, image: Image, enrolment: Corpus, trial: Corpus, trials: Sequence[Trial]
    ) -> None:
        """Raises ListError where speech of the trials is missing."""
        self.trials = trials
        self._image, self._enrolment, self._trial = image, enrolment, trial
        manifest = enrolment.manifest
        self._spoken: dict[str, list[str]] = {one.enrolment: [] for one in trials}
        for utterance, speaker in zip(manifest["utterance"], manifest["speaker"], strict=True):
            if speaker in self._spoken:
                self._spoken[speaker].append(utterance)
        _require((s for s in self._spoken if not self._spoken[s]), "enrolled speaker")
        known = set(trial.manifest["utterance"])
        _require((t.utterance for t in trials if t.utterance not in known), "trial utterance")

    def names(self) -> Names:
        """New names and a new order, by a new secret."""
        secret = secrets.token_hex(SECRET_BYTES)
        places = list(range(len(self.trials)))
        random.Random(derived_seed(secret, "order")).shuffle(places)

        def opaque(names: Iterable[str], prefix: str, what: str) -> dict[str, str]:
            return opaque_ids(names, prefix, derived_seed(secret, what))

        return Names(
            opaque(self._spoken, "s", "speakers"),
            opaque(chain.from_iterable(self._spoken.values()), "e", "enrolments"),
            opaque((one.utterance for one in self.trials), "t", "utterances"),
            dict(zip(self.trials, places, strict=True)),
        )

    def score(self, trials: Sequence[Trial], names: Names, *, nudged: int | None = None) -> Scores:
        """The image's scores of some of the trials, (len(trials),), in their order.

        Nothing but these trials and the speech for them is given to it. nudged: a seed; each
        utterance is then `Nudged` by it. Raises ContainerError when it fails, IntegrityError for
        stored speech that is not what it was.
        """
        enrolled = {trial.enrolment: self._spoken[trial.enrolment] for trial in trials}
        spoken = {one: names.enrolments[one] for one in chain.from_iterable(enrolled.values())}
        heard = {trial.utterance: names.utterances[trial.utterance] for trial in trials}
        order = sorted(range(len(trials)), key=lambda place: names.places[trials[place]])
        sounds: dict[str, Sound] = {
            **speech(self._enrolment, spoken).recordings,
            **speech(self._trial, heard).recordings,
        }
        if nudged is not None:
            # By official names: what is heard follows from the seed, not from the secret.
            sounds |= {
                opaque: Nudged(sounds[opaque], derived_seed(nudged, official))
                for given in (spoken, heard)
                for official, opaque in given.items()
            }
        given = score(
            self._image.digest,
            self._image.model,
            sounds,
            {
                names.speakers[speaker]: [spoken[one] for one in utterances]
                for speaker, utterances in enrolled.items()
            },
            [
                Pair(names.speakers[trials[place].enrolment], heard[trials[place].utterance])
                for place in order
            ],
            parameters=self._image.parameters,
            circumstances=self._image.circumstances,
            fence=self._image.fence,
        )
        restored = np.empty_like(given)
        restored[order] = given
        return restored


def _require(missing: Iterable[str], what: str) -> None:
    found = sorted(set(missing))
    if found:
        raise ListError(
            f"no speech of {len(found)} {what}s, such as {found[0]}",
            fix="give the system's speech of the whole list",
        )
