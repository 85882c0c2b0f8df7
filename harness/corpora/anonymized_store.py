"""How anonymized speech from outside is stored: one corpus a set.

Each utterance carries the hash of the original samples it was made from (column `original`): an
anonymizer of type `imported` finds it by that. `accepted.json` beside the corpora tells which
problems a person accepted, and of how many files.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.corpora.importing import Place, ReadAudio
from harness.corpora.manifest import FILE_NAME
from harness.corpora.store import Corpus, Utterance, build, partition
from harness.errors import ConfigError, DataError
from harness.protocols.typed import convert
from harness.runtime.files import (
    fingerprint,
    finished_folder,
    sha256_file,
    work_folder,
    write_text,
)
from harness.runtime.pool import Pool

ORIGINAL = "original"
ACCEPTED = "accepted.json"
IMPORT = "run `harness corpus import anonymized` and copy the entry that it prints"


def store(
    originals: Mapping[str, Corpus],
    files: Mapping[str, Mapping[str, Path]],
    hashes: Mapping[str, Mapping[str, str]],
    target: Path,
    *,
    accepted: Mapping[str, int] | None = None,
    pool: Pool,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Store the files of every set as corpora below `target`: all of them, or nothing.

    originals, files by utterance, and hashes of the original samples by utterance: by set. Speaker,
    gender and text are the original's. accepted: how many files have a problem that a person
    accepted, by its code. Raises AudioError as `read_audio` does.
    """
    plans = {
        name: _utterances(original, files[name], hashes[name])
        for name, original in originals.items()
    }
    total = sum(map(len, plans.values()))
    identity = [[str(target.absolute())], *(_identity(plan) for plan in plans.values())]
    work = work_folder("import-anonymized", identity)
    done = 0
    with finished_folder(target, work / "sets") as folder:
        for name, utterances in plans.items():
            # Present means whole: an interrupted run goes on with the next set.
            if not (folder / name).is_dir():

                def progress(count: int, before: int = done) -> None:
                    on_progress(before + count, total)

                build(
                    folder / name,
                    partition(utterances),
                    ReadAudio(),
                    work=work / name,
                    pool=pool,
                    on_progress=progress,
                )
            done += len(utterances)
        write_text(folder / ACCEPTED, json.dumps(dict(accepted or {}), sort_keys=True) + "\n")
    shutil.rmtree(work)


def digest(folder: Path, sets: Sequence[str]) -> str:
    """SHA-256 of imported speech: of the names of its sets, their manifests, and what was accepted.

    Raises DataError, which names the folder, when one of them is missing.
    """
    for name, there in {name: folder / name / FILE_NAME for name in sets}.items():
        if not there.is_file():
            raise DataError(f"no imported set {name!r} in {folder}", fix=IMPORT)
    if not (folder / ACCEPTED).is_file():
        raise DataError(f"no {ACCEPTED} in {folder}", fix=IMPORT)
    content = {name: Corpus(folder / name).digest() for name in sets}
    return fingerprint({**content, ACCEPTED: sha256_file(folder / ACCEPTED)})


def accepted_problems(folder: Path) -> dict[str, int]:
    """How many files had an accepted problem, by its code. Raises DataError for a damaged file."""
    try:
        stored = json.loads((folder / ACCEPTED).read_text(encoding="utf-8"))
        accepted: dict[str, int] = convert(dict[str, int], stored, ACCEPTED)
    except (ValueError, ConfigError) as error:
        raise DataError(f"{ACCEPTED} is damaged", where=folder, fix=IMPORT) from error
    return accepted


def _utterances(
    original: Corpus, files: Mapping[str, Path], hashes: Mapping[str, str]
) -> list[Utterance]:
    rows: Iterator[Any] = original.manifest.itertuples(index=False)
    return [
        Utterance(
            row.utterance,
            row.speaker,
            row.gender,
            row.text,
            int(row.samples),
            Place(files[row.utterance]),
            {ORIGINAL: hashes[row.utterance]},
        )
        for row in rows
    ]


def _identity(utterances: Sequence[Utterance]) -> list[list[object]]:
    """What a set is made from; a file that was touched since makes the earlier work void."""
    rows: list[list[object]] = []
    for utterance in utterances:
        path, status = utterance.recipe.path, utterance.recipe.path.stat()
        place = [str(path.absolute()), status.st_size, status.st_mtime_ns]
        rows.append([utterance.utterance, utterance.speaker, utterance.extra[ORIGINAL], *place])
    return rows
