"""What all contracts share of `/in`: parameters, circumstances, tables, and folders of speech.

/in/params.json    the system's parameters, a JSON object
/in/run.json       what the host says of this run, a JSON object, see `Circumstances`

A table is UTF-8 text: a line of column names, then a row a line, separated by tabs, unquoted.
Columns are found by name; unknown ones are ignored. Everything is written in the order of opaque
names and at one moment, so that no order, time or place of a file says what names hide.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, Protocol

from harness.contracts.wav import write_wav
from harness.corpora.store import Samples
from harness.errors import DataError, ListError
from harness.protocols.typed import build
from harness.runtime.files import write_text

PARAMETERS, CIRCUMSTANCES = "params.json", "run.json"
MANIFEST, AUDIO = "manifest.tsv", "audio"
# Bytes of what a person names as a system's parameters.
MOST_PARAMETERS = 1 << 20
# Opaque names become names of files: nothing else may be in them.
OPAQUE = re.compile(r"[A-Za-z0-9_-]{1,64}")
FIX = "write it as docs/contracts.md says"
FOLDER_MODE, FILE_MODE = 0o755, 0o644
# Of every input, in seconds since 1970.
MOMENT = 0


class Sound(Protocol):
    """An utterance that can be read, such as a `Recording`."""

    def read(self) -> Samples:
        """Mono 16 kHz int16 samples, (samples,)."""
        ...


@dataclass(frozen=True)
class Held:
    """An utterance in memory. samples: mono 16 kHz int16, (samples,)."""

    samples: Samples

    def read(self) -> Samples:
        """The samples."""
        return self.samples


@dataclass(frozen=True)
class Circumstances:
    """What the host says of a run. threads: CPU threads that may be used.

    seed: of all randomness of an attacker's run; 63 bits. system: the anonymizer that is attacked,
    for an image that carries a model for each; empty where it does not matter.
    """

    threads: int = 1
    device: Literal["cpu", "cuda"] = "cpu"
    seed: int = 0
    system: str = ""


def write_settings(
    folder: Path, parameters: Mapping[str, Any], circumstances: Circumstances
) -> dict[str, Path]:
    """Write parameters and circumstances to `folder`; what `containers` mounts for them."""
    for name, content in (
        (PARAMETERS, dict(parameters)),
        (CIRCUMSTANCES, asdict(circumstances)),
    ):
        write_text(folder / name, json.dumps(content, sort_keys=True) + "\n")
        settle(folder / name)
    return {name: folder / name for name in (PARAMETERS, CIRCUMSTANCES)}


def read_parameters(path: Path) -> dict[str, Any]:
    """The parameters; none where the file is absent.

    Raises DataError for what is no file of at most MOST_PARAMETERS bytes, or no JSON object.
    """
    if not path.exists():
        return {}
    if not path.is_file() or path.stat().st_size > MOST_PARAMETERS:
        raise DataError(
            f"not a file of at most {MOST_PARAMETERS:,} bytes", where=path, fix="name such a file"
        )
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError("not JSON", where=path, fix=FIX) from error
    if not isinstance(found, dict):
        raise DataError("not a JSON object", where=path, fix=FIX)
    return found


def read_circumstances(path: Path) -> Circumstances:
    """The circumstances; what is not said is as usual. Raises DataError, ConfigError.

    What an older image does not know may be said, and is ignored.
    """
    known = {field.name for field in fields(Circumstances)}
    said = {name: value for name, value in read_parameters(path).items() if name in known}
    return build(Circumstances, said, str(path))


def write_speech(folder: Path, sounds: Mapping[str, Sound], table: str) -> None:
    """Fill a folder with a manifest and the audio of utterances, by opaque name.

    table: the manifest, see `to_table`.
    """
    for name in sorted(sounds):
        path = folder / AUDIO / f"{name}.wav"
        write_wav(path, sounds[name].read())
        settle(path)
    write_text(folder / MANIFEST, table)
    settle(folder / MANIFEST)
    for below in (folder / AUDIO, folder):
        if below.is_dir():
            settle(below)


def audio_path(name: str) -> str:
    """Where an utterance's audio lies, relative to its manifest."""
    return f"{AUDIO}/{name}.wav"


def settle(path: Path) -> None:
    """Let nobody's user read an input, and take away when it was made."""
    path.chmod(FOLDER_MODE if path.is_dir() else FILE_MODE)
    os.utime(path, (MOMENT, MOMENT))


def to_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as text."""
    return "".join("\t".join(row) + "\n" for row in (columns, *rows))


@dataclass(frozen=True)
class TableRow:
    """A row by column. where: file and line, for errors."""

    fields: dict[str, str]
    where: str

    def opaque(self, column: str) -> str:
        """An opaque name. Raises ListError for another text."""
        name = self.fields[column]
        if not OPAQUE.fullmatch(name):
            raise ListError(f"{name!r} is no opaque name", where=self.where, fix=FIX)
        return name

    def path(self, column: str) -> str:
        """A path below the table's folder. Raises ListError for another text."""
        place = self.fields[column]
        if not place or place.startswith("/") or ".." in place.split("/"):
            raise ListError(f"{place!r} is no path below the manifest", where=self.where, fix=FIX)
        return place


def read_table(path: Path, required: Sequence[str]) -> list[TableRow]:
    """Rows in their order.

    Raises ListError for a missing column, a row of another length, or no row at all.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ListError("cannot be read as text", where=path, fix=FIX) from error
    header = lines[0].split("\t") if lines else []
    missing = [name for name in required if name not in header]
    if missing:
        raise ListError(f"has no column {', '.join(missing)}", where=path, fix=FIX)
    if len(set(header)) < len(header):
        raise ListError("a column stands twice", where=path, fix=FIX)
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        where = f"{path}:{number}"
        fields = line.split("\t")
        if len(fields) != len(header):
            raise ListError(
                f"{len(fields)} fields under {len(header)} columns", where=where, fix=FIX
            )
        rows.append(TableRow(dict(zip(header, fields, strict=True)), where))
    if not rows:
        raise ListError("has no row", where=path, fix=FIX)
    return rows


def require_once(names: Iterable[tuple[str, TableRow]]) -> None:
    """Raises ListError for a name that stands twice."""
    seen = set()
    for name, row in names:
        if name in seen:
            raise ListError(f"{name} stands twice", where=row.where, fix=FIX)
        seen.add(name)
