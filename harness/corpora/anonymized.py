"""Anonymized speech that others made: where its files lie.

    [data/]<set><suffix>/wav/<utterance>.wav
    [data/]<set><suffix>/wav/<utterance>/<utterance>.wav

The suffix names the system, may be anything, also empty, and is the same for all sets; in a set,
each utterance may lie either way, as WAV or FLAC. A folder of another name is taken for a set only
on request. Of a tree, only regular files in real folders are read: a link is never followed.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.corpora.check import Problem
from harness.errors import ConfigError, DataError
from harness.protocols.typed import did_you_mean

ROOT = "data"
AUDIO = "wav"
EXTENSIONS = (".wav", ".flac")
# More than any release has; beyond that a listing is not read to its end.
MOST_FOLDERS = 10_000
# Of a set, for each utterance: its file and its folder, twice.
ENTRIES_AN_UTTERANCE = 4
ENTRIES_BESIDES = 1_000


@dataclass
class Files:
    """What lies in a set's folder: files by utterance, and names that are none of its utterances.

    links: what is neither a file nor a folder. twice: utterances with two files.
    """

    found: dict[str, Path]
    extra: list[str]
    links: list[str]
    twice: list[str]


def find_folders(
    path: Path,
    sets: Sequence[str],
    *,
    suffix: str | None = None,
    mapping: Mapping[str, str] | None = None,
) -> tuple[dict[str, Path], list[Problem]]:
    """The folder of each set below `path` or `path/data`, and a problem for each set without one.

    suffix: None for the only one that occurs. mapping: sets by the folders that stand for them.
    Raises ConfigError for a mapping that names no folder or no set, DataError for what cannot be
    listed.
    """
    root, folders, links = _listing(path, sets)
    chosen: dict[str, str] = {}
    for folder, name in (mapping or {}).items():
        for kind, one, known in (("folder", folder, folders), ("set", name, sets)):
            if one not in known:
                fix = did_you_mean(one, known)
                raise ConfigError(f"no {kind} {one!r}", where=f"{root}: --map", fix=fix)
        if name in chosen:
            raise ConfigError(f"set {name!r} is given twice", where="--map", fix="give it once")
        chosen[name] = folder
    free = [folder for folder in folders if folder not in chosen.values()]
    by_suffix: dict[str, dict[str, str]] = {}
    for folder in free:
        owner = max((name for name in sets if folder.startswith(name)), key=len, default=None)
        if owner is not None and owner not in chosen:
            by_suffix.setdefault(folder[len(owner) :], {})[owner] = folder
    if suffix is None:
        if len(by_suffix) > 1:
            seen = ", ".join(f"{one!r} ({len(of)} sets)" for one, of in sorted(by_suffix.items()))
            message = f"folders with {len(by_suffix)} suffixes: {seen[:300]}; name one by --suffix="
            return {}, [Problem("suffix", str(root), message, len(by_suffix))]
        suffix = next(iter(by_suffix), "")
    chosen |= by_suffix.get(suffix, {})
    problems = [
        _absent(root, f"{name}{suffix}", name, [f for f in free if f not in chosen.values()], links)
        for name in sets
        if name not in chosen
    ]
    return {name: root / chosen[name] for name in sets if name in chosen}, problems


def find_files(folder: Path, utterances: Sequence[str]) -> Files:
    """The files of a set's folder. Raises DataError for a `wav/` that cannot be listed."""
    files = Files({}, [], [], [])
    known = set(utterances)
    audio = folder / AUDIO
    if audio.is_symlink():
        raise _linked(audio)
    if not audio.is_dir():
        raise DataError(
            f"no folder {AUDIO!r}", where=folder, fix=f"put <utterance>.wav into {AUDIO}/"
        )
    most = ENTRIES_AN_UTTERANCE * len(known) + ENTRIES_BESIDES
    for count, (entry, outer) in enumerate(_entries(audio), start=1):
        if count > most:
            raise DataError(
                f"more than {most} entries for {len(known)} utterances",
                where=audio,
                fix="give the folder of this set alone",
            )
        stem, extension = os.path.splitext(entry.name)
        shown = entry.name if outer is None else f"{outer}/{entry.name}"
        if entry.is_symlink() or not (entry.is_file() or entry.is_dir()):
            files.links.append(shown)
        elif entry.is_dir() and outer is None:
            continue
        elif extension not in EXTENSIONS or stem not in known or outer not in (None, stem):
            files.extra.append(shown)
        elif stem in files.found:
            files.twice.append(stem)
        else:
            files.found[stem] = Path(entry.path)
    return files


def _listing(path: Path, sets: Sequence[str]) -> tuple[Path, list[str], list[str]]:
    """The folder that holds sets, the names of its folders, and of its links."""
    if not path.is_dir():
        raise DataError("no such folder", where=path, fix="give the folder that was unpacked")
    seen: list[tuple[Path, list[str], list[str]]] = []
    for root in (path, path / ROOT):
        if root != path and root.is_symlink():
            raise _linked(root)
        if not root.is_dir():
            continue
        folders, links = [], []
        with os.scandir(root) as entries:
            for count, entry in enumerate(entries):
                if count == MOST_FOLDERS:
                    raise DataError(
                        f"more than {MOST_FOLDERS} entries",
                        where=root,
                        fix="give the folder that holds the sets' folders",
                    )
                if entry.is_symlink():
                    links.append(entry.name)
                elif entry.is_dir():
                    folders.append(entry.name)
        seen.append((root, sorted(folders), links))
        if any(folder.startswith(name) for folder in folders for name in sets):
            return seen[-1]
    return seen[-1]


def _linked(path: Path) -> DataError:
    return DataError(
        f"{path.name!r} is a link, which is not followed",
        where=path.parent,
        fix="put a copy of the folder there",
    )


def _absent(
    root: Path, wanted: str, name: str, free: Sequence[str], links: Sequence[str]
) -> Problem:
    if wanted in links:
        message = f"{wanted!r} is a link, which is not followed; put a copy of the folder there"
        return Problem("set", str(root), message)
    near = difflib.get_close_matches(wanted, free, n=1)
    hint = f"if it is {near[0]!r}: --map {near[0]}={name}" if near else "add it"
    return Problem("set", str(root), f"no folder {wanted!r} of set {name}; {hint}")


def _entries(audio: Path) -> Iterator[tuple[os.DirEntry[str], str | None]]:
    """Entries of a folder, and of its folders with these folders' names, as the disk has them."""
    with os.scandir(audio) as outer:
        for entry in outer:
            yield entry, None
            if entry.is_dir(follow_symlinks=False):
                with os.scandir(entry.path) as inner:
                    for one in inner:
                        yield one, entry.name
