"""Inside an anonymizer image: the harness's own anonymizers, by the contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.anonymizers import base
from harness.contracts.anonymizer.exchange import Row, read_manifest
from harness.contracts.inputs import (
    AUDIO,
    CIRCUMSTANCES,
    MANIFEST,
    PARAMETERS,
    read_circumstances,
    read_parameters,
)
from harness.contracts.wav import read_wav, write_wav
from harness.runtime.events import Events
from harness.runtime.pool import Pool


@dataclass(frozen=True)
class _Work:
    """Anonymizes one row in a worker."""

    anonymizer: base.Anonymizer
    inputs: Path
    outputs: Path

    def __call__(self, row: Row) -> None:
        anonymized = self.anonymizer.anonymize(read_wav(self.inputs / row.path), row.job)
        write_wav(self.outputs / AUDIO / f"{row.job.utterance}.wav", anonymized)


def anonymize(defaults: Mapping[str, Any], inputs: Path, outputs: Path, events: Events) -> None:
    """Anonymize all that the manifest in `inputs` names into `outputs`.

    defaults: parameters where the image's are not said. The parameters are those of an entry of
    params.yaml. Raises HarnessError for what cannot be processed.
    """
    anonymizer = base.load("image", {**defaults, **read_parameters(inputs / PARAMETERS)})
    circumstances = read_circumstances(inputs / CIRCUMSTANCES)
    rows = read_manifest(inputs / MANIFEST)
    with Pool(circumstances.threads) as pool:
        done = pool.map(_Work(anonymizer, inputs, outputs), rows)
        for number, _ in enumerate(done, start=1):
            events.progress("anonymize", number, len(rows))
