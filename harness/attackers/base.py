"""The interface of an attacker, and how one is found by name.

An attacker is a frozen dataclass whose fields are its parameters (those of its entry in
params.yaml), registered in the entry-point group `harness.attackers`. It is trained on speech with
speaker labels, and scores pairs of an enrolled speaker and a trial utterance; the names it is
given are opaque, and pairs come shuffled (see `harness.corpora.opaque` for the limit of that).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from harness.corpora.opaque import Speech
from harness.runtime import plugins
from harness.runtime.events import Events


@dataclass(frozen=True)
class Machine:
    """What an attacker may use. threads: CPU threads. device: `cpu` or `cuda`."""

    threads: int
    device: Literal["cpu", "cuda"]


@dataclass(frozen=True)
class Pair:
    """A trial to score: opaque enrolled speaker, opaque trial utterance."""

    enrolment: str
    trial: str


@runtime_checkable
class Attacker(Protocol):
    """One attacker with its parameters."""

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
        """Train on `speech` (with speakers) and write the model into the folder `model`.

        work: folder for resume state; a run that was killed finds what it left there, and must end
        with the same model bit for bit on the same kind of CPU.
        """
        ...

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
        """One score a pair, shape (len(pairs),); higher means more likely the same speaker.

        speech: enrolment and trial utterances, without speakers. enrolments: utterances of each
        enrolled speaker.
        """
        ...


@runtime_checkable
class Embedding(Attacker, Protocol):
    """One whose scores of single utterances are cosines of embeddings."""

    def embed(
        self, model: Path, speech: Speech, *, machine: Machine, events: Events
    ) -> Mapping[str, npt.NDArray[np.float32]]:
        """The embedding of each utterance, by opaque id: shape (dimensions,), of any length."""
        ...


KIND = plugins.Kind("attacker", "harness.attackers", Attacker, "train() and score()")


def load(name: str, entry: Mapping[str, Any]) -> Attacker:
    """The attacker that params.yaml calls `name`, from its entry (`type` and parameters).

    Raises ConfigError as `plugins.load` does.
    """
    attacker: Attacker = plugins.load(KIND, name, entry)
    return attacker
