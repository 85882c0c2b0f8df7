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
    SCORES,
    read_scores,
    write_scoring,
    write_training,
)
from harness.contracts.events import Hearing
from harness.contracts.inputs import Circumstances, Sound
from harness.contracts.naming import require_digest
from harness.contracts.wav import BYTES
from harness.corpora.opaque import Speech
from harness.errors import ContainerError, ScoreError
from harness.runtime.containers.fence import Fence
from harness.runtime.containers.running import run
from harness.runtime.events import FILE_NAME, Events
from harness.runtime.files import require_space

TRAIN, SCORE = "train", "score"
# Of a model and of the checkpoints on the way to it.
MOST_FILES = 10_000


def train(
    image: str,
    model: Path,
    sounds: Mapping[str, Sound],
    speakers: Mapping[str, str],
    *,
    work: Path,
    parameters: Mapping[str, Any],
    circumstances: Circumstances,
    fence: Fence,
    events: Events | None = None,
) -> None:
    """Train an attacker's image on labelled speech; its model fills the folder `model`.

    work: folder of its own, on the file system of `model`; nothing is left there. Raises
    ContainerError when the image fails or leaves no model. See `write_training`.
    """
    hearing = Hearing(image, events)
    # A killed run may have left something here, and in the model.
    for folder in (work, model):
        shutil.rmtree(folder, ignore_errors=True)
    try:
        outcome = run(
            image,
            [TRAIN],
            inputs=write_training(work / "in", sounds, speakers, parameters, circumstances),
            output=work / "out",
            fence=fence,
            gpus=circumstances.device == "cuda",
            hear=hearing,
        )
        hearing.require(outcome)
        _require_model(image, work / "out")
        (work / "out" / MODEL).rename(model)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _require_model(image: str, output: Path) -> None:
    files = [path.relative_to(output) for path in output.rglob("*") if path.is_file()]
    if not files or {path.parts[0] for path in files} != {MODEL} or Path(MODEL) in files:
        fault = "left something else than a model"
    elif any(path.name == FILE_NAME for path in files):
        # Runs of the MLflow store are made from such files.
        fault = f"left a file {FILE_NAME} in its model, a name that is the host's"
    else:
        return
    raise ContainerError(fault, where=image, fix="fill /out/model, and nothing else (clause T2)")


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
    hearing = Hearing(image, events)
    with tempfile.TemporaryDirectory() as scratch:
        inputs = write_scoring(
            Path(scratch, "in"), model, sounds, enrolments, pairs, parameters, circumstances
        )
        output = Path(scratch, "out")
        outcome = run(
            image,
            [SCORE],
            inputs=inputs,
            output=output,
            fence=fence,
            gpus=circumstances.device == "cuda",
            hear=hearing,
        )
        hearing.require(outcome)
        further = sorted({path.name for path in output.iterdir()} - {SCORES})
        if further:
            raise ContainerError(
                f"left /out/{further[0]}", where=image, fix="leave the scores alone (clause S4)"
            )
        try:
            return read_scores(output / SCORES, pairs)
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

        Raises ResourceError before any work when the disk is too small for the speech.
        """
        samples = sum(recording.samples for recording in speech.recordings.values())
        require_space(work, BYTES * samples)
        train(
            self.image,
            model,
            speech.recordings,
            speech.speakers,
            work=work / "container",
            parameters=self.parameters,
            circumstances=Circumstances(machine.threads, machine.device, seed),
            fence=allowance(utterances=len(speech), output=spare_disk(), files=MOST_FILES),
            events=events,
        )

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
