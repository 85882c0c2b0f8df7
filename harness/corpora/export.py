"""A stored corpus as a loose Kaldi data directory, for tools that want one file per utterance."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd
import soundfile

from harness.corpora.importing import refuse_filled
from harness.corpora.manifest import is_file_name
from harness.corpora.store import SAMPLE_RATE, Corpus, decode, read_stored
from harness.errors import DataError
from harness.runtime.files import finished_folder, write_text
from harness.runtime.pool import Pool

Form = Literal["wav", "flac"]
Paths = Literal["relative", "absolute"]

FILES_A_CHUNK = 64


def export(
    corpus: Corpus,
    target: Path,
    form: Form = "wav",
    *,
    paths: Paths = "relative",
    pool: Pool | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write the corpus as the Kaldi directory `target`: all of it, or nothing.

    It gets `utt2spk`, `spk2utt`, `spk2gender`, `wav.scp`, `text` (of the utterances that have one)
    and `wav/<utterance>.wav` (PCM 16-bit) or, with form "flac", `wav/<utterance>.flac` (the stored
    bytes).

    paths: those of `wav.scp` are relative to `target`, so that it can be moved, or absolute.
    Raises DataError when `target` holds anything, or the corpus cannot be a Kaldi directory;
    IntegrityError when stored audio is damaged.
    """
    target = target.absolute()
    refuse_filled(target)
    lists = _lists(corpus.manifest, corpus.path, target, form, paths)
    work = target.with_name(f".{target.name}.export")
    # An export starts over: what a killed one left may be half a file.
    shutil.rmtree(work, ignore_errors=True)
    try:
        with finished_folder(target, work) as folder:
            (folder / "wav").mkdir()
            _write_audio(corpus, folder / "wav", form, pool or Pool(1), on_progress)
            for name, lines in lists.items():
                write_text(folder / name, "".join(f"{line}\n" for line in lines))
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _lists(
    manifest: pd.DataFrame, where: Path, target: Path, form: Form, paths: Paths
) -> dict[str, list[str]]:
    """Content of the Kaldi lists by file name, each in C order."""
    for utterance in manifest["utterance"]:
        if not is_file_name(utterance):
            raise DataError(
                f"utterance {utterance!r} cannot be a file's name", where=where, fix="rename it"
            )
    folder = target if paths == "absolute" else Path()
    speakers: dict[str, list[str]] = {}
    genders: dict[str, str] = {}
    lists: dict[str, list[str]] = {"utt2spk": [], "wav.scp": [], "text": []}
    columns = (manifest[name] for name in ("utterance", "speaker", "gender", "text"))
    for utterance, speaker, gender, text in zip(*columns, strict=True):
        if len(speaker.split()) != 1 or genders.setdefault(speaker, gender) != gender:
            raise DataError(
                f"speaker {speaker!r} has white space, no name, or two genders",
                where=where,
                fix="mend the corpus (harness corpus check)",
            )
        speakers.setdefault(speaker, []).append(utterance)
        lists["utt2spk"].append(f"{utterance} {speaker}")
        lists["wav.scp"].append(f"{utterance} {_entry(folder / 'wav' / utterance, form)}")
        if text:
            lists["text"].append(f"{utterance} {text}")
    order = _c_order(speakers)
    lists["spk2utt"] = [f"{speaker} {' '.join(speakers[speaker])}" for speaker in order]
    lists["spk2gender"] = [f"{speaker} {genders[speaker]}" for speaker in order]
    if not lists["text"]:
        del lists["text"]
    return lists


def _c_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: name.encode("utf-8"))


def _entry(stem: Path, form: Form) -> str:
    """What stands in `wav.scp`: Kaldi reads WAV itself and needs a program for FLAC."""
    path = f"{stem}.{form}"
    return path if form == "wav" else f"flac -c -d -s {shlex.quote(path)} |"


@dataclass(frozen=True)
class _File:
    shard: Path
    offset: int
    nbytes: int
    sha256: str
    path: Path


def _write_file(file: _File) -> None:
    data = read_stored(file.shard, file.offset, file.nbytes, file.sha256)
    if file.path.suffix == ".flac":
        file.path.write_bytes(data)
    else:
        soundfile.write(str(file.path), decode(data), SAMPLE_RATE, format="WAV", subtype="PCM_16")


def _write_audio(
    corpus: Corpus,
    folder: Path,
    form: Form,
    pool: Pool,
    on_progress: Callable[[int, int], None],
) -> None:
    columns = (corpus.manifest[name] for name in ("shard", "offset", "nbytes", "sha256"))
    files = [
        _File(corpus.path / shard, int(offset), int(nbytes), sha256, folder / f"{utterance}.{form}")
        for utterance, shard, offset, nbytes, sha256 in zip(
            corpus.manifest["utterance"], *columns, strict=True
        )
    ]
    for done, _ in enumerate(pool.map(_write_file, files, chunk=FILES_A_CHUNK), start=1):
        on_progress(done, len(files))
