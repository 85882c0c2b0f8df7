"""Inside an attacker image: the harness's own attackers, by the contract."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.attackers.base import Attacker, Machine, load
from harness.contracts.attacker.exchange import (
    MODEL,
    SCORES,
    Place,
    read_task,
    read_training,
    write_scores,
)
from harness.contracts.inputs import (
    CIRCUMSTANCES,
    PARAMETERS,
    Circumstances,
    read_circumstances,
    read_parameters,
)
from harness.contracts.wav import read_wav
from harness.corpora.opaque import Recording, Speech
from harness.runtime.events import Events
from harness.runtime.files import sha256_file

# Checkpoints are larger than `/tmp`; gone when the model is there.
WORK = "work"


def train(defaults: Mapping[str, Any], inputs: Path, outputs: Path, events: Events) -> None:
    """Train on the speech in `inputs`, and leave the model in `outputs`.

    defaults: parameters where the image's are not said. The parameters are those of an entry of
    params.yaml. Raises HarnessError for what cannot be processed.
    """
    attacker, circumstances, machine = _prepared(defaults, inputs)
    places = read_training(inputs)
    model, work = outputs / MODEL, outputs / WORK
    model.mkdir(parents=True, exist_ok=True)
    attacker.train(
        Speech(_recordings(places), {place.utterance: place.speaker for place in places}),
        model,
        seed=circumstances.seed,
        work=work,
        machine=machine,
        events=events,
    )
    if work.exists():
        shutil.rmtree(work)


def score(defaults: Mapping[str, Any], inputs: Path, outputs: Path, events: Events) -> None:
    """Score the pairs in `inputs` with the model there. Parameters and errors as of `train`."""
    attacker, _, machine = _prepared(defaults, inputs)
    task = read_task(inputs)
    scores = attacker.score(
        inputs / MODEL,
        Speech(_recordings(task.places.values())),
        task.enrolments,
        task.pairs,
        machine=machine,
        events=events,
    )
    write_scores(outputs / SCORES, task.pairs, scores)


def _prepared(defaults: Mapping[str, Any], inputs: Path) -> tuple[Attacker, Circumstances, Machine]:
    attacker = load("image", {**defaults, **read_parameters(inputs / PARAMETERS)})
    circumstances = read_circumstances(inputs / CIRCUMSTANCES)
    return attacker, circumstances, Machine(circumstances.threads, circumstances.device)


def _recordings(places: Iterable[Place]) -> dict[str, Recording]:
    """The utterances as an attacker reads them; each is looked at now, so that none fails late."""
    return {
        place.utterance: Recording(
            shard=place.path,
            offset=0,
            nbytes=place.path.stat().st_size,
            sha256=sha256_file(place.path),
            samples=samples,
        )
        for place in places
        for samples in [len(read_wav(place.path))]
    }
