"""What lies in `/in` and `/out` of an anonymizer: written and read by both sides of the contract.

/in/manifest.tsv   one row per utterance: utterance, path, seed, alpha, and speaker where the
                   level is `speaker`
/in/audio/*.wav    mono 16 kHz 16-bit PCM
/out/audio/*.wav   the anonymized utterances, by their opaque names
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.anonymizers.base import Job
from harness.contracts.inputs import (
    AUDIO,
    FIX,
    MANIFEST,
    Circumstances,
    Sound,
    TableRow,
    audio_path,
    read_table,
    require_once,
    to_table,
    write_settings,
    write_speech,
)
from harness.errors import ListError

VERB = "anonymize"
REQUIRED = ("utterance", "path", "seed")
COLUMNS = (*REQUIRED, "alpha")
SPEAKER = "speaker"
SEEDS = range(1 << 63)


@dataclass(frozen=True)
class Row:
    """One row of the manifest. path: of the audio, relative to the manifest's folder."""

    job: Job
    path: str


def write_inputs(
    folder: Path,
    speech: Sequence[tuple[Job, Sound]],
    parameters: Mapping[str, Any],
    circumstances: Circumstances,
    columns: Sequence[str] = COLUMNS,
) -> dict[str, Path]:
    """Fill `folder` with the inputs of one container; what `containers.run` takes as `inputs`.

    speech: jobs with their utterances, in the order of the rows. columns: in this order; the
    speaker's is added where the jobs name speakers.
    """
    if any(job.speaker is not None for job, _ in speech):
        columns = (*columns, SPEAKER)
    rows = []
    for job, _ in speech:
        fields = {
            "utterance": job.utterance,
            "path": audio_path(job.utterance),
            "seed": str(job.seed),
            # The shortest decimal that gives the same number back.
            "alpha": "" if job.alpha is None else repr(job.alpha),
            SPEAKER: job.speaker or "",
        }
        rows.append([fields[column] for column in columns])
    sounds = {job.utterance: sound for job, sound in speech}
    write_speech(folder, sounds, to_table(columns, rows))
    places = {place: folder / place for place in (MANIFEST, AUDIO)}
    return {**places, **write_settings(folder, parameters, circumstances)}


def read_manifest(path: Path) -> list[Row]:
    """Rows in their order.

    Raises ListError as `read_table` does, for a malformed value, or a name that stands twice.
    """
    rows = [(_row(row), row) for row in read_table(path, REQUIRED)]
    require_once((one.job.utterance, row) for one, row in rows)
    return [one for one, _ in rows]


def _row(row: TableRow) -> Row:
    name, place, fields = row.opaque("utterance"), row.path("path"), row.fields
    try:
        seed = int(fields["seed"])
        alpha = float(fields["alpha"]) if fields.get("alpha") else None
    except ValueError as error:
        raise ListError("a seed or alpha is no number", where=row.where, fix=FIX) from error
    if seed not in SEEDS:
        raise ListError(f"seed {seed} is not of 63 bits", where=row.where, fix=FIX)
    return Row(Job(name, seed, alpha, fields.get(SPEAKER) or None), place)
