"""The stage `corpus`: the speech and the trial lists of a benchmark, checked before any work.

Counts and hashes are compared with the protocol first; what differs is refused with the numbers
side by side, before any audio is decoded.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from harness.corpora import voices
from harness.corpora.importing import Recording, import_utterances
from harness.corpora.kaldi import KaldiDirectory, read_kaldi, recordings
from harness.corpora.librispeech import index_subset
from harness.corpora.places import need
from harness.corpora.store import Utterance, build, partition
from harness.errors import ConfigError, DataError
from harness.protocols.lists import cross_product, require, sha256_text, trials_path
from harness.protocols.protocol import DataSet, Protocol, data_file
from harness.runtime.events import Events
from harness.runtime.files import (
    code_fingerprint,
    finished_folder,
    sha256_file,
    work_folder,
    write_text,
)
from harness.runtime.pool import Pool

TRAINING_PREFIX = "tr"
EVALUATION_PREFIX = "ev"
ENROLMENT_CHAPTER = 1
TRIAL_CHAPTER = 2

Member = Recording | Utterance


@dataclass(frozen=True)
class Folders:
    """Where speech and lists from outside lie; None where not given."""

    librispeech: Path | None = None
    lists: Path | None = None


def synthetic(protocol: Protocol) -> dict[str, Sequence[Member]]:
    """The sets of a benchmark of synthetic voices; enrolment and trials are other utterances of
    the same voices."""
    seed = protocol.source.seed or 0
    members: dict[str, Sequence[Member]] = {}
    for dataset in protocol.sets:
        # Trial voices are those enrolled; a set of one gender takes its part of them.
        training = dataset.role == "train"
        whole = protocol.training_set() if training else _enrolment_set(protocol)
        made = voices.voices(
            seed,
            whole.female or 0,
            whole.male or 0,
            TRAINING_PREFIX if training else EVALUATION_PREFIX,
        )
        counts = {"f": dataset.female or 0, "m": dataset.male or 0}
        chosen = [voice for voice in made if counts[voice.gender]]
        members[dataset.name] = voices.utterances(
            chosen,
            (dataset.utterances or 0) // sum(counts.values()),
            seed,
            chapter=TRIAL_CHAPTER if dataset.role == "trial" else ENROLMENT_CHAPTER,
        )
    return members


def _enrolment_set(protocol: Protocol) -> DataSet:
    return next(s for s in protocol.sets if s.role == "enrolment")


def excerpt(protocol: Protocol, folders: Folders) -> dict[str, Sequence[Member]]:
    """Named utterances of a LibriSpeech tree, each with the hash of its file."""
    root = need(folders.librispeech, "HARNESS_LIBRISPEECH", "sources.librispeech", "LibriSpeech")
    path = data_file(protocol.source.utterances or "")
    if sha256_file(path) != protocol.source.sha256:
        raise DataError("the list of utterances was changed", where=path.name, fix="reinstall")
    listed = pd.read_csv(path, sep="\t", dtype=str, quoting=csv.QUOTE_NONE)
    subsets = {
        subset: index_subset(root, subset).set_index("utterance")
        for subset in dict.fromkeys(s.subset for s in protocol.sets if s.subset)
    }
    members: dict[str, Sequence[Member]] = {}
    for dataset in protocol.sets:
        index = subsets[str(dataset.subset)]
        rows = listed[listed["set"] == dataset.name]
        missing = [name for name in rows["utterance"] if name not in index.index]
        if missing:
            raise DataError(
                f"{len(missing)} of {len(rows)} utterances are missing, e.g. {missing[0]}",
                where=f"{root} ({dataset.subset})",
                fix="give the whole LibriSpeech subset",
            )
        chosen = index.loc[rows["utterance"]]
        named: Iterator[Any] = chosen.itertuples()
        members[dataset.name] = [
            Recording(str(row.Index), row.speaker, row.gender, row.text, Path(row.path))
            for row in named
        ]
        hashes = [sha256_file(Path(path)) for path in chosen["path"]]
        wrong = [u for u, h, e in zip(chosen.index, hashes, rows["sha256"], strict=True) if h != e]
        if wrong:
            first = list(chosen.index).index(wrong[0])
            raise DataError(
                f"{len(wrong)} of {len(rows)} FLAC files differ from LibriSpeech, e.g. "
                f"{wrong[0]}: sha256 {hashes[first]} (expected {rows['sha256'].iloc[first]})",
                where=f"{root} ({dataset.subset})",
                fix="download that subset again",
            )
    return members


def official(protocol: Protocol, folders: Folders) -> dict[str, Sequence[Member]]:
    """Sets given by the official Kaldi folders; audio there or in a LibriSpeech tree."""
    lists = need(folders.lists, "HARNESS_LISTS", "sources.lists", "the official Kaldi folders")
    members: dict[str, Sequence[Member]] = {}
    for dataset in protocol.sets:
        folder = lists / dataset.name
        if folder.is_dir() or dataset.role != "train":
            kaldi = read_kaldi(folder)
            _require_official(protocol, dataset, folder)
            members[dataset.name] = recordings(
                kaldi, base=_base(kaldi, lists), librispeech=folders.librispeech
            )
        else:
            root = need(
                folders.librispeech, "HARNESS_LIBRISPEECH", "sources.librispeech", "LibriSpeech"
            )
            rows: Iterator[Any] = index_subset(root, str(dataset.subset)).itertuples(index=False)
            members[dataset.name] = [
                Recording(row.utterance, row.speaker, row.gender, row.text, Path(row.path))
                for row in rows
            ]
    return members


def _require_official(protocol: Protocol, dataset: DataSet, folder: Path) -> None:
    """Raises DataError unless the official files that are there are the protocol's."""
    of_trials = [listed.sha256 for listed in protocol.lists if listed.trials == dataset.name]
    for name, expected in (("enrolls", dataset.sha256), *(("trials", h) for h in of_trials)):
        path = folder / name
        if expected is not None and path.is_file() and sha256_file(path) != expected:
            raise DataError(
                f"sha256 {sha256_file(path)} (expected {expected})",
                where=path,
                fix="use the official file",
            )


def _base(kaldi: KaldiDirectory, lists: Path) -> Path | None:
    """What relative audio paths are relative to: the official ones begin `data/<set>/`, so to the
    folder that holds the lists' folder; else to the set's own folder (None)."""
    first = next(iter((kaldi.wav_scp or {}).values()), None)
    return lists.parent if first is not None and (lists.parent / first).is_file() else None


def require_sets(protocol: Protocol, members: dict[str, Sequence[Member]]) -> None:
    """Raises DataError with all numbers that differ from the protocol, side by side."""
    differences = []
    for dataset in protocol.sets:
        found = members[dataset.name]
        genders = {member.speaker: member.gender for member in found}
        numbers: dict[str, tuple[int | str, int | str | None]] = {
            "utterances": (len(found), dataset.utterances),
            "female speakers": (sum(g == "f" for g in genders.values()), dataset.female),
            "male speakers": (sum(g == "m" for g in genders.values()), dataset.male),
        }
        ordered = sorted(found, key=lambda member: member.utterance.encode("utf-8"))
        for what, expected, lines in (
            ("sha256 of its list", dataset.sha256, (m.utterance for m in ordered)),
            (
                "sha256 of utt2spk",
                dataset.utt2spk_sha256,
                (f"{m.utterance} {m.speaker}" for m in ordered),
            ),
        ):
            if expected is not None:
                numbers[what] = (sha256_text("".join(f"{line}\n" for line in lines)), expected)
        differences += [
            f"{dataset.name}: {what} {number} (expected {expected})"
            for what, (number, expected) in numbers.items()
            if expected is not None and number != expected
        ]
    if differences:
        raise DataError(
            "; ".join(differences),
            where=f"data of {protocol.name}",
            fix="give the data that the protocol names",
        )


def trial_texts(protocol: Protocol, members: dict[str, Sequence[Member]]) -> dict[str, str]:
    """The text of each trial list, generated; raises DataError unless it is the protocol's, and for
    a list that the protocol does not know whole: no cross product need be that one."""
    texts = {}
    for listed in protocol.lists:
        if listed.sha256 is None:
            raise DataError(
                "the edition's list is not known, and cannot be made",
                where=f"{protocol.name} {listed.trials}",
                fix="run another benchmark; `harness verify --trials` takes such lists",
            )
        enrolled = {m.speaker for m in members[listed.enrolments] if m.gender == listed.gender}
        trials = cross_product(enrolled, {m.utterance: m.speaker for m in members[listed.trials]})
        texts[listed.trials] = require(listed, trials)
    return texts


def gather(protocol: Protocol, folders: Folders) -> dict[str, Sequence[Member]]:
    """Who says what in each set, by the kind of the protocol's source; nothing is decoded."""
    if protocol.source.kind == "voices":
        return synthetic(protocol)
    if protocol.source.kind == "excerpt":
        return excerpt(protocol, folders)
    return official(protocol, folders)


def build_benchmark(
    protocol: Protocol,
    folders: Folders,
    target: Path,
    *,
    segment_seconds: float | None,
    pool: Pool,
    events: Events,
) -> int:
    """Store every set of the benchmark, and its lists, under `target`.

    segment_seconds: training audio is cut into pieces of about this length; None: not cut.
    Returns the number of utterances. Raises ConfigError or DataError before any work starts.
    """
    members = gather(protocol, folders)
    require_sets(protocol, members)
    texts = trial_texts(protocol, members)
    if segment_seconds is not None and protocol.source.kind == "voices":
        raise ConfigError(
            "synthetic utterances are short and are not cut",
            where=f"params.yaml: benchmarks.{protocol.name}.segment_seconds",
            fix="set it to null",
        )
    identity = [protocol.name, segment_seconds, [_identity(m) for m in members.values()]]
    work = work_folder(f"corpus-{protocol.name}", [identity, code_fingerprint()])
    with finished_folder(target, work) as folder:
        for dataset in protocol.sets:
            # Present means whole: an interrupted run goes on with the next set.
            if not (folder / dataset.name).is_dir():
                cut = segment_seconds if dataset.role == "train" else None
                report = partial(events.progress, f"corpus {dataset.name}")
                _store(folder / dataset.name, members[dataset.name], cut, pool, report)
        for name, text in texts.items():
            write_text(trials_path(folder, name), text)
    return sum(len(found) for found in members.values())


def _store(
    path: Path,
    found: Sequence[Member],
    segment_seconds: float | None,
    pool: Pool,
    report: Callable[[int, int], None],
) -> None:
    spoken = [member for member in found if isinstance(member, Utterance)]
    recorded = [member for member in found if isinstance(member, Recording)]
    if recorded:
        import_utterances(
            path, recorded, pool=pool, segment_seconds=segment_seconds, on_progress=report
        )
        return
    build(
        path,
        partition(spoken),
        voices.speak,
        work=work_folder(f"voices-{path.name}", [repr(spoken), code_fingerprint()]),
        pool=pool,
        on_progress=lambda done: report(done, len(spoken)),
    )


def _identity(found: Sequence[Member]) -> list[list[object]]:
    """What a set is made from; a file that was touched since makes the earlier work void."""
    rows: list[list[object]] = []
    for member in found:
        row: list[object] = [member.utterance, member.speaker, member.gender, member.text]
        if isinstance(member, Recording) and member.path.is_file():
            status = member.path.stat()
            row += [str(member.path.absolute()), status.st_size, status.st_mtime_ns]
        rows.append(row)
    return rows
