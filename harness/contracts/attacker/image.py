"""On the host: an attacker's image at work."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Pair
from harness.contracts.attacker.exchange import SCORES, read_scores, write_scoring
from harness.contracts.events import Hearing
from harness.contracts.inputs import Circumstances, Sound
from harness.errors import ContainerError, ScoreError
from harness.runtime.containers.fence import Fence
from harness.runtime.containers.running import run
from harness.runtime.events import Events

SCORE = "score"


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
        try:
            return read_scores(output / SCORES, pairs)
        except ScoreError as error:
            raise ContainerError(
                f"left no scores of these pairs ({error})", where=image, fix="mend the image"
            ) from error
