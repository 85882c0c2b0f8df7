"""The store: a corpus is a folder with a manifest and tar shards of FLAC files.

A shard (`<corpus>-000000.tar`, WebDataset naming) holds at most `SHARD_SECONDS` of speech. It is
the unit of work: it is written under a temporary name and renamed together with its part of the
manifest, so a build that is killed goes on with the next shard. Any utterance is read by seeking.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import soundfile

from harness.corpora.manifest import FILE_NAME, read_manifest, write_manifest
from harness.errors import DataError, IntegrityError
from harness.runtime.files import (
    finished_folder,
    require_space,
    sha256_bytes,
    sha256_file,
    whole_file,
)
from harness.runtime.pool import Pool

SAMPLE_RATE = 16_000
# FLAC of speech takes about 1.1 bytes a sample; noise up to 2.
BYTES_A_SAMPLE = 1.3
# About 100 MB of FLAC: large enough for object stores, small enough to hand out as work.
SHARD_SECONDS = 6_000

Samples = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Utterance:
    """One utterance to be made: who says it, and `recipe`, what its maker needs (picklable)."""

    utterance: str
    speaker: str
    gender: str
    text: str
    samples: int
    recipe: Any
    extra: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """What a maker returns: mono 16 kHz samples, and further manifest columns (all utterances
    of a corpus must give the same columns)."""

    samples: Samples
    extra: dict[str, str] = field(default_factory=dict)


Maker = Callable[[Utterance], Made]
# Called with the utterances of a shard; gives them as the maker is to have them.
Prepare = Callable[[Sequence[Utterance]], AbstractContextManager[Sequence[Utterance]]]


def encode(samples: Samples) -> bytes:
    """FLAC bytes of mono 16 kHz samples, without tags."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


@dataclass(frozen=True)
class _Encode:
    """Make and encode in the worker, so that only compressed bytes cross processes."""

    make: Maker

    def __call__(self, utterance: Utterance) -> tuple[bytes, int, dict[str, str]]:
        made = self.make(utterance)
        if made.samples.dtype != np.int16 or made.samples.ndim != 1:
            raise DataError(
                f"audio is {made.samples.dtype} of {made.samples.ndim} dimensions, not mono 16-bit",
                where=f"utterance {utterance.utterance}",
                fix="mend what makes it",
            )
        return encode(made.samples), len(made.samples), made.extra


def partition(
    utterances: Sequence[Utterance], seconds: float = SHARD_SECONDS
) -> list[list[Utterance]]:
    """Cut a sequence into shards of at most `seconds` of (declared) speech, keeping the order."""
    shards: list[list[Utterance]] = []
    room = -1
    for utterance in utterances:
        if room < utterance.samples:
            shards.append([])
            room = int(seconds * SAMPLE_RATE)
        shards[-1].append(utterance)
        room -= utterance.samples
    return shards


def build(
    target: Path,
    shards: Sequence[Sequence[Utterance]],
    make: Maker,
    *,
    work: Path,
    pool: Pool,
    prepare: Prepare = nullcontext,
    on_progress: Callable[[int], None] = lambda done: None,
) -> None:
    """Make every utterance and store the corpus at `target`; shards found in `work` are kept.

    prepare: what is done for a whole shard, in this process, before its utterances are made.
    on_progress: called with the number of utterances done so far.
    Raises ResourceError before any work when the disk is too small.
    """
    missing = sum(
        utterance.samples
        for number, utterances in enumerate(shards)
        if not (work / f"{_shard_name(target, number)}.tsv").is_file()
        for utterance in utterances
    )
    require_space(work, int(missing * BYTES_A_SAMPLE))
    with finished_folder(target, work) as folder:
        done = 0
        for number, utterances in enumerate(shards):
            name = _shard_name(target, number)
            part = folder / f"{name}.tsv"
            # The part of the manifest is renamed last, so its presence vouches for the shard.
            if not part.is_file():
                rows = []
                with prepare(utterances) as ready, whole_file(folder / name) as temporary:
                    for row in _write_shard(temporary, name, ready, make, pool):
                        rows.append(row)
                        on_progress(done + len(rows))
                write_manifest(pd.DataFrame(rows), part)
            done += len(utterances)
            on_progress(done)
        parts = sorted(folder.glob("*.tar.tsv"))
        write_manifest(
            pd.concat([read_manifest(part) for part in parts], ignore_index=True),
            folder / FILE_NAME,
        )
        for part in parts:
            part.unlink()


def _shard_name(target: Path, number: int) -> str:
    return f"{target.name}-{number:06d}.tar"


def _write_shard(
    path: Path, name: str, utterances: Sequence[Utterance], make: Maker, pool: Pool
) -> Iterator[dict[str, Any]]:
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        results = pool.map(_Encode(make), utterances)
        for utterance, (data, samples, extra) in zip(utterances, results, strict=True):
            info = tarfile.TarInfo(f"{utterance.utterance}.flac")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
            yield {
                "utterance": utterance.utterance,
                "speaker": utterance.speaker,
                "gender": utterance.gender,
                "shard": name,
                # The content ends, padded to whole blocks, where the next header begins.
                "offset": tar.offset - -(-len(data) // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE,
                "nbytes": len(data),
                "samples": samples,
                "sample_rate": SAMPLE_RATE,
                "sha256": sha256_bytes(data),
                "text": utterance.text,
                **utterance.extra,
                **extra,
            }


def read_stored(shard: Path, offset: int, nbytes: int, sha256: str | None = None) -> bytes:
    """The FLAC bytes at a place in a shard. Raises IntegrityError unless they are the recorded."""
    try:
        with shard.open("rb") as stream:
            stream.seek(offset)
            data = stream.read(nbytes)
    except FileNotFoundError as error:
        raise DataError("no such shard", where=shard, fix="run `dvc checkout`") from error
    if len(data) != nbytes or (sha256 is not None and sha256_bytes(data) != sha256):
        raise IntegrityError(
            "stored audio differs from its manifest",
            where=f"{shard} at byte {offset}",
            fix="delete the corpus and run `dvc checkout` or the stage that makes it",
        )
    return data


def decode(data: bytes) -> Samples:
    """Samples of stored FLAC bytes. Raises IntegrityError for what is no audio."""
    try:
        samples, _ = soundfile.read(io.BytesIO(data), dtype="int16")
    except soundfile.LibsndfileError as error:
        raise IntegrityError(
            f"stored audio does not decode ({error.error_string})", fix="make the corpus again"
        ) from error
    return np.asarray(samples, dtype=np.int16)


class Corpus:
    """A stored corpus. `manifest` has one row per utterance, in C order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest = read_manifest(path / FILE_NAME)

    @cached_property
    def _places(self) -> dict[str, tuple[str, int, int, str]]:
        columns = ("shard", "offset", "nbytes", "sha256")
        return dict(
            zip(
                self.manifest["utterance"],
                zip(*(self.manifest[column] for column in columns), strict=True),
                strict=True,
            )
        )

    def __len__(self) -> int:
        return len(self.manifest)

    def read(self, utterance: str) -> Samples:
        """Mono 16 kHz 16-bit samples of an utterance. Raises DataError, IntegrityError."""
        try:
            shard, offset, nbytes, sha256 = self._places[utterance]
        except KeyError:
            raise DataError(
                "no such utterance", where=f"{self.path}: {utterance}", fix="check the list"
            ) from None
        return decode(read_stored(self.path / shard, int(offset), int(nbytes), sha256))

    def digest(self) -> str:
        """SHA-256 of the manifest's content: it holds the hash of every utterance."""
        return sha256_file(self.path / FILE_NAME)
