"""`image`: an attacker that is a container image and keeps docs/contracts.md.

An entry of params.yaml such as `{type: image, image: sha256:…, parameters: {epochs: 3}}` is all
that a stranger's attacker needs to take part; the harness's own are run by the same code where
`runner: docker` asks for it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Machine, Pair
from harness.contracts.allowance import allowance, spare_disk
from harness.contracts.attacker.exchange import (
    LINE_BYTES,
    MODEL,
    SCORE,
    TRAIN,
    model_fault,
    read_output,
    write_scoring,
    write_training,
)
from harness.contracts.inputs import Circumstances, Sound
from harness.contracts.naming import require_digest
from harness.contracts.wav import BYTES
from harness.contracts.working import run_image
from harness.corpora.opaque import Speech
from harness.errors import ContainerError, ScoreError
from harness.runtime.containers.fence import Fence
from harness.runtime.events import Events
from harness.runtime.files import require_space

# Of a model and of the checkpoints on the way to it.
MOST_FILES = 10_000


def score(
    image: str,
    model: Path | None,
    sounds: Mapping[str, Sound],
    enrolments: Mapping[str, Sequence[str]],
    pairs: Sequence[Pair],
    *,
    parameters: Mapping[str, Any],
    circumstances: Circumstances,
    fence: Fence,
    events: Events | None = None,
) -> npt.NDArray[np.float32]:
    """Scores of pairs, (len(pairs),) float32, by an attacker's image. See `write_scoring`.

    Raises ContainerError when the image fails or leaves what are no scores of these pairs.
    """
    with tempfile.TemporaryDirectory() as scratch:
        inputs = write_scoring(
            Path(scratch, "in"), model, sounds, enrolments, pairs, parameters, circumstances
        )
        output = Path(scratch, "out")
        run_image(
            image,
            SCORE,
            inputs,
            output,
            fence=fence,
            device=circumstances.device,
            events=events,
        )
        try:
            return read_output(output, pairs)
        except ScoreError as error:
            raise ContainerError(
                f"left no scores of these pairs ({error})", where=image, fix="mend the image"
            ) from error


@dataclass(frozen=True)
class ImageAttacker:
    """An attacker that always works in a container.

    image: by its digest. parameters: what it gets as /in/params.json. Raises ConfigError for an
    image that is not named by its digest.
    """

    image: str
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_digest(self.image)

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
        """See `Attacker.train`; a run that was killed begins anew.

        Raises ContainerError when the image fails or leaves no model, and ResourceError before any
        work when the disk is too small for the speech.
        """
        require_space(work, BYTES * sum(one.samples for one in speech.recordings.values()))
        folder = work / "container"
        # A killed run may have left something here, and in the model.
        for leftover in (folder, model):
            shutil.rmtree(leftover, ignore_errors=True)
        try:
            run_image(
                self.image,
                TRAIN,
                write_training(
                    folder / "in",
                    speech.recordings,
                    speech.speakers,
                    self.parameters,
                    Circumstances(machine.threads, machine.device, seed),
                ),
                folder / "out",
                fence=allowance(utterances=len(speech), output=spare_disk(), files=MOST_FILES),
                device=machine.device,
                events=events,
            )
            fault = model_fault(folder / "out")
            if fault is not None:
                raise ContainerError(
                    f"left something else than a model: {fault}",
                    where=self.image,
                    fix="fill /out/model, and nothing else (clause T2)",
                )
            (folder / "out" / MODEL).rename(model)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

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
        """See `Attacker.score`."""
        return score(
            self.image,
            model,
            speech.recordings,
            enrolments,
            pairs,
            parameters=self.parameters,
            circumstances=Circumstances(machine.threads, machine.device),
            fence=allowance(utterances=len(speech), output=LINE_BYTES * (len(pairs) + 1), files=1),
            events=events,
        )
