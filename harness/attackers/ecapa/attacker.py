"""`ecapa`: the baseline attacker of VoicePrivacy 2024 and the Attacker Challenge.

ECAPA-TDNN (Desplanques et al., Interspeech 2020) trained with additive angular margin softmax, in
SpeechBrain. The defaults are the official recipe; cosine scoring of the trial's embedding against
the plain mean of the enrolment utterances' embeddings, without score normalisation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Machine, Pair
from harness.attackers.ecapa.settings import Settings
from harness.corpora.opaque import Speech
from harness.runtime.events import Events


@dataclass(frozen=True)
class Ecapa(Settings):
    """The attacker. torch is loaded when it works, not when its parameters are checked."""

    image: ClassVar[str | None] = "attacker"

    def train(
        self,
        speech: Speech,
        model: Path,
        *,
        seed: int,
        work: Path,
        machine: Machine,
        events: Events,
    ) -> None:
        """Train an ECAPA-TDNN; see `Attacker.train`."""
        from harness.attackers.ecapa.training import train

        train(self, speech, model, seed=seed, work=work, machine=machine, events=events)

    def score(
        self,
        model: Path,
        speech: Speech,
        enrolments: Mapping[str, Sequence[str]],
        pairs: Sequence[Pair],
        *,
        machine: Machine,
        events: Events,
    ) -> npt.NDArray[np.float32]:
        """Cosine of embeddings; see `Attacker.score`."""
        from harness.attackers.ecapa.scoring import score

        return score(model, speech, enrolments, pairs, machine=machine, events=events)

    def embed(
        self, model: Path, speech: Speech, *, machine: Machine, events: Events
    ) -> Mapping[str, npt.NDArray[np.float32]]:
        """Embeddings, not normalised; see `Embedding.embed`."""
        from harness.attackers.ecapa.scoring import embed

        return embed(model, speech, machine=machine, events=events)
