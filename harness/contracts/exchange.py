"""What lies in `/in` and `/out` of an anonymizer: written and read by both sides of the contract.

/in/manifest.tsv   one row per utterance: utterance, path, seed, alpha, and speaker where the
                   level is `speaker`
/in/audio/*.wav    mono 16 kHz 16-bit PCM
/in/params.json    the system's parameters, a JSON object
/out/audio/*.wav   the anonymized utterances, by their opaque names
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.anonymizers.base import Job
from harness.contracts.wav import write_wav
from harness.corpora.store import Samples
from harness.errors import DataError, ListError
from harness.runtime.files import write_text

MANIFEST, AUDIO, PARAMETERS = "manifest.tsv", "audio", "params.json"
REQUIRED = ("utterance", "path", "seed")
COLUMNS = (*REQUIRED, "alpha")
SPEAKER = "speaker"
# Opaque names become names of files: nothing else may be in them.
OPAQUE = re.compile(r"[A-Za-z0-9_-]{1,64}")
SEEDS = range(1 << 63)
FIX = "write it as docs/contracts.md says"


@dataclass(frozen=True)
class Row:
    """One row of the manifest. path: of the audio, relative to the manifest's folder."""

    job: Job
    path: str


def write_inputs(
    folder: Path,
    speech: Sequence[tuple[Job, Samples]],
    parameters: Mapping[str, Any],
    columns: Sequence[str] = COLUMNS,
) -> dict[str, Path]:
    """Fill `folder` with the inputs of one container; what `containers.run` takes as `inputs`.

    speech: jobs with their mono 16 kHz int16 samples, in the order of the rows. columns: in this
    order; the speaker's is added where the jobs name speakers.
    """
    if any(job.speaker is not None for job, _ in speech):
        columns = (*columns, SPEAKER)
    audio = folder / AUDIO
    lines = ["\t".join(columns)]
    for job, samples in speech:
        path = f"{AUDIO}/{job.utterance}.wav"
        write_wav(folder / path, samples)
        # The shortest decimal that gives the same number back.
        alpha = "" if job.alpha is None else repr(job.alpha)
        fields = {
            "utterance": job.utterance,
            "path": path,
            "seed": str(job.seed),
            "alpha": alpha,
            SPEAKER: job.speaker or "",
        }
        lines.append("\t".join(fields[column] for column in columns))
    write_text(folder / MANIFEST, "".join(line + "\n" for line in lines))
    write_text(folder / PARAMETERS, json.dumps(dict(parameters), sort_keys=True) + "\n")
    # A container's user is nobody's, and reads as such.
    audio.chmod(0o755)
    for readable in (*audio.iterdir(), folder / MANIFEST, folder / PARAMETERS):
        readable.chmod(0o644)
    return {place: folder / place for place in (MANIFEST, AUDIO, PARAMETERS)}


def read_manifest(path: Path) -> list[Row]:
    """Rows in their order. Columns are found by name; unknown ones are ignored.

    Raises ListError for a missing column, a row of another length, a malformed value, a name that
    stands twice, or no row at all.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ListError("cannot be read as text", where=path, fix=FIX) from error
    header = lines[0].split("\t") if lines else []
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise ListError(f"has no column {', '.join(missing)}", where=path, fix=FIX)
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path}:{number}"
        fields = line.split("\t")
        if len(fields) != len(header):
            raise ListError(
                f"{len(fields)} fields under {len(header)} columns", where=where, fix=FIX
            )
        row = _row(dict(zip(header, fields, strict=True)), where)
        if row.job.utterance in rows:
            raise ListError(f"{row.job.utterance} stands twice", where=where, fix=FIX)
        rows[row.job.utterance] = row
    if not rows:
        raise ListError("names no utterance", where=path, fix=FIX)
    return list(rows.values())


def _row(fields: Mapping[str, str], where: str) -> Row:
    name, place = fields["utterance"], fields["path"]
    if not OPAQUE.fullmatch(name):
        raise ListError(f"{name!r} is no opaque name", where=where, fix=FIX)
    if not place or place.startswith("/") or ".." in place.split("/"):
        raise ListError(f"{place!r} is no path below the manifest", where=where, fix=FIX)
    try:
        seed = int(fields["seed"])
        alpha = float(fields["alpha"]) if fields.get("alpha") else None
    except ValueError as error:
        raise ListError("a seed or alpha is no number", where=where, fix=FIX) from error
    if seed not in SEEDS:
        raise ListError(f"seed {seed} is not of 63 bits", where=where, fix=FIX)
    return Row(Job(name, seed, alpha, fields.get(SPEAKER) or None), place)


def read_parameters(path: Path) -> dict[str, Any]:
    """The parameters; none where the file is absent. Raises DataError for no JSON object."""
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError("not JSON", where=path, fix=FIX) from error
    if not isinstance(found, dict):
        raise DataError("not a JSON object", where=path, fix=FIX)
    return found
