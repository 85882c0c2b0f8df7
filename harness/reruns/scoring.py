"""One list at work in a stranger's image, under names that say nothing.

Names and the order of pairs follow from a secret that is drawn for the run and kept nowhere. So an
image cannot know them from the published lists, and does not meet them again.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Pair
from harness.contracts.attacker.image import score
from harness.contracts.inputs import Circumstances
from harness.corpora.opaque import opaque_ids, speech
from harness.corpora.store import Corpus
from harness.errors import ListError
from harness.protocols.lists import Trial
from harness.runtime.containers.fence import Fence
from harness.runtime.seeds import derived_seed

Scores = npt.NDArray[np.float32]
SECRET_BYTES = 32


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
        return Names(
            opaque_ids(self._spoken, "s", derived_seed(secret, "speakers")),
            opaque_ids(
                (one for spoken in self._spoken.values() for one in spoken),
                *("e", derived_seed(secret, "enrolments")),
            ),
            opaque_ids(
                (one.utterance for one in self.trials), "t", derived_seed(secret, "utterances")
            ),
            dict(zip(self.trials, places, strict=True)),
        )

    def score(self, trials: Sequence[Trial], names: Names) -> Scores:
        """The image's scores of some of the trials, (len(trials),), in their order.

        Nothing but these trials and the speech for them is given to it. Raises ContainerError when
        it fails, IntegrityError for stored speech that is not what it was.
        """
        enrolments = {
            names.speakers[speaker]: sorted(names.enrolments[one] for one in self._spoken[speaker])
            for speaker in {trial.enrolment for trial in trials}
        }
        spoken = {
            one: names.enrolments[one]
            for speaker in {trial.enrolment for trial in trials}
            for one in self._spoken[speaker]
        }
        heard = {trial.utterance: names.utterances[trial.utterance] for trial in trials}
        order = sorted(range(len(trials)), key=lambda place: names.places[trials[place]])
        given = score(
            self._image.digest,
            self._image.model,
            {
                **speech(self._enrolment, spoken).recordings,
                **speech(self._trial, heard).recordings,
            },
            dict(sorted(enrolments.items())),
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
