"""Inside an anonymizer image: the harness's own anonymizers, by the contract.

One process, one core, utterance by utterance: whoever wants more starts a container per shard.
"""

from __future__ import annotations

from pathlib import Path

from harness.anonymizers import base
from harness.contracts.exchange import (
    AUDIO,
    MANIFEST,
    PARAMETERS,
    read_manifest,
    read_parameters,
)
from harness.contracts.wav import read_wav, write_wav
from harness.errors import HarnessError
from harness.runtime.events import Events

FAILED = 1


def anonymize(default_type: str | None, inputs: Path, outputs: Path, events: Events) -> int:
    """Anonymize all that the manifest in `inputs` names into `outputs`; the exit status.

    default_type: the anonymizer's type where the parameters name none. The parameters are those of
    an entry of params.yaml. A failure is one `error` event and status 1.
    """
    try:
        _anonymize(default_type, inputs, outputs, events)
    except (HarnessError, OSError) as error:
        events.emit("error", message=str(error))
        return FAILED
    events.emit("done")
    return 0


def _anonymize(default_type: str | None, inputs: Path, outputs: Path, events: Events) -> None:
    entry = read_parameters(inputs / PARAMETERS)
    if default_type is not None:
        entry = {"type": default_type} | entry
    anonymizer = base.load("image", entry)
    rows = read_manifest(inputs / MANIFEST)
    for number, row in enumerate(rows, start=1):
        anonymized = anonymizer.anonymize(read_wav(inputs / row.path), row.job)
        write_wav(outputs / AUDIO / f"{row.job.utterance}.wav", anonymized)
        events.progress("anonymize", number, len(rows))
