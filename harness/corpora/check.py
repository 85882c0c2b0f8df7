"""Checking a stored corpus at two levels: its metadata in seconds, or every byte and sample."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pandas as pd
import soundfile

from harness.corpora.manifest import FILE_NAME, is_file_name, read_manifest
from harness.corpora.store import SAMPLE_RATE, read_stored
from harness.errors import HarnessError
from harness.runtime.pool import Pool

UTTERANCES_A_CHUNK = 64


@dataclass(frozen=True)
class Problem:
    """One fault. code: stable word; where: file, and utterance if one is meant; count: how many
    utterances (or shards, speakers) have it."""

    code: str
    where: str
    message: str
    count: int = 1

    def __str__(self) -> str:
        return f"{self.code}: {self.where}: {self.message}"


def check(
    corpus: Path,
    decode: bool = False,
    *,
    pool: Pool | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Problem]:
    """Faults of the corpus at `corpus`; empty where there are none.

    Always: the manifest is well-formed and in C order, ids can be file names, genders are known and
    the same for all of a speaker's utterances, the shards are there, no other shard is, every
    utterance lies within its shard without overlapping another, and the files in a shard are the
    manifest's, neither more nor less. With `decode` also: the bytes of every utterance have their
    recorded hash and decode to the recorded number of samples, mono, at the recorded rate. Codes:
    manifest, id, order, speaker, gender, rate, hash, shard, place, member, audio.
    """
    path = corpus / FILE_NAME
    try:
        manifest = read_manifest(path)
    except HarnessError as error:
        return [Problem("manifest", str(path), f"{error.what}; {error.fix}")]
    if manifest.empty:
        return [Problem("manifest", str(path), "names no utterance; make the corpus again")]
    problems = [*_check_columns(manifest, path), *_check_shards(manifest, corpus)]
    if decode:
        lost = {problem.where for problem in problems if problem.code == "shard"}
        stored = [
            _Stored(corpus, *row)
            for row in manifest[list(_STORED_COLUMNS)].itertuples(index=False, name=None)
            if str(corpus / row[1]) not in lost
        ]
        results = (pool or Pool(1)).map(_check_stored, stored, chunk=UTTERANCES_A_CHUNK)
        for done, problem in enumerate(results, start=1):
            on_progress(done, len(stored))
            if problem is not None:
                problems.append(problem)
    return problems


def _check_columns(manifest: pd.DataFrame, path: Path) -> list[Problem]:
    problems = []

    def report(code: str, bad: pd.Series[bool], message: str) -> None:
        if bad.any():
            first = manifest.loc[bad, "utterance"].iloc[0]
            where = f"{path}: utterance {first!r}"
            problems.append(Problem(code, where, message, int(bad.sum())))

    names = manifest["utterance"]
    report("id", ~names.map(is_file_name).astype(bool), "the id cannot be a file's name")
    encoded = [name.encode("utf-8") for name in names]
    late = [False, *(b < a for a, b in pairwise(encoded))]
    report("order", pd.Series(late[: len(names)], dtype=bool), "not in C order (LC_ALL=C sort)")
    report("speaker", manifest["speaker"].str.contains(r"^$|\s", regex=True), "no speaker's name")
    known = manifest["gender"].isin(["f", "m"])
    report("gender", ~known, "the gender is neither f nor m")
    genders = manifest[known].groupby("speaker")["gender"].nunique()
    torn = manifest["speaker"].isin(genders[genders > 1].index)
    report("gender", torn, "its speaker has utterances of both genders")
    report("rate", manifest["sample_rate"] != SAMPLE_RATE, f"the rate is not {SAMPLE_RATE} Hz")
    report("rate", manifest["samples"] <= 0, "no samples")
    whole = manifest["sha256"].str.fullmatch(r"[0-9a-f]{64}")
    report("hash", ~whole, "not 64 hexadecimal digits of SHA-256")
    return problems


def _check_shards(manifest: pd.DataFrame, corpus: Path) -> list[Problem]:
    problems = []
    for name, rows in manifest.groupby("shard", sort=True):
        shard = corpus / str(name)
        if not shard.is_file():
            problems.append(Problem("shard", str(shard), "no such shard; run `dvc checkout`"))
            continue
        placed = rows.sort_values("offset", kind="stable")
        ends = placed["offset"] + placed["nbytes"]
        # Not by `ends`, which overflow where the numbers are absurd.
        room = shard.stat().st_size - placed["nbytes"]
        outside = (placed["offset"] < 0) | (placed["nbytes"] <= 0) | (placed["offset"] > room)
        overlapping = placed["offset"] < ends.shift(fill_value=0)
        for bad, message in (
            (outside, "lies outside its shard: it was cut short or replaced"),
            (overlapping & ~outside, "overlaps the utterance before it"),
        ):
            if bad.any():
                where = f"{shard}: utterance {placed.loc[bad, 'utterance'].iloc[0]!r}"
                problems.append(Problem("place", where, message, int(bad.sum())))
        if not (outside | overlapping).any():
            problems.extend(_check_members(placed, shard))
    named = set(manifest["shard"])
    for shard in sorted(corpus.glob("*.tar")):
        if shard.name not in named:
            problems.append(
                Problem("shard", str(shard), "not in the manifest, or its rows are missing there")
            )
    return problems


def _check_members(rows: pd.DataFrame, shard: Path) -> list[Problem]:
    """Compare the files in a shard with the manifest's rows of it; reads the tar headers alone."""
    try:
        # Uncompressed, or nothing could be read by seeking.
        with tarfile.open(shard, "r:") as tar:
            members = {(one.name, one.offset_data, one.size) for one in tar}
    except tarfile.TarError as error:
        return [Problem("member", str(shard), f"not a whole tar archive ({error})")]
    places = zip(rows["utterance"] + ".flac", rows["offset"], rows["nbytes"], strict=True)
    listed = set(places)
    return [
        Problem("member", f"{shard}: {min(names)!r}", message, len(names))
        for names, message in (
            ([name for name, _, _ in listed - members], "is not in the shard as the manifest says"),
            ([name for name, _, _ in members - listed], "is not in the manifest as it is stored"),
        )
        if names
    ]


_STORED_COLUMNS = ("utterance", "shard", "offset", "nbytes", "samples", "sample_rate", "sha256")


@dataclass(frozen=True)
class _Stored:
    corpus: Path
    utterance: str
    shard: str
    offset: int
    nbytes: int
    samples: int
    sample_rate: int
    sha256: str


def _check_stored(stored: _Stored) -> Problem | None:
    """Read, hash and decode one utterance."""
    shard = stored.corpus / stored.shard
    where = f"{shard}: utterance {stored.utterance!r}"
    room = shard.stat().st_size - stored.nbytes
    if not 0 <= stored.offset <= room or stored.nbytes <= 0:
        return Problem("audio", where, "has no place to read it from")
    try:
        data = read_stored(shard, stored.offset, stored.nbytes, stored.sha256)
    except HarnessError as error:
        return Problem("audio", where, f"{error.what}; {error.fix}")
    try:
        with soundfile.SoundFile(io.BytesIO(data)) as sound:
            found = (sound.samplerate, sound.channels)
            samples = len(sound.read(dtype="int16"))
    except soundfile.LibsndfileError as error:
        return Problem("audio", where, f"does not decode: {error.error_string}")
    if (samples, *found) != (stored.samples, stored.sample_rate, 1):
        rate, channels = found
        return Problem(
            "audio",
            where,
            f"{samples} samples of {channels} channels at {rate} Hz, not "
            f"{stored.samples} of 1 at {stored.sample_rate} Hz",
        )
    return None
