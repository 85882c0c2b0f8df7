"""Imported anonymized speech against its original: what is there, and what it sounds like.

Codes of problems; those marked * a person may accept, and the speech is then used as it is.

    missing       an utterance of the original has no file
    twice         an utterance has two files
    link          neither a file nor a folder
    extra *       a file that is no utterance's
    audio         cut short, damaged, empty, not audio, or over ten times as long as the original
    rate          not 16 kHz
    channels      not mono
    duration *    not the original's by more than 10 % or 0.1 s, whichever is more
    swapped *     two or more files that are as long as each other's originals, not as their own
    silent *      nothing above -60 dBFS where the original has something
    original      the original, exactly or but for its level: its own, or exactly another's
    repeated *    the same samples as another utterance's file
    set, suffix   a set's folder is not there, or which it is cannot be told
    ambiguous     utterances with equal originals, anonymized differently

Swapped files are told by their durations alone, so only where the system keeps them: see
`anonymized_swaps`.
Not found: two swapped files of one length, and original speech that was shifted or filtered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.corpora.anonymized import Files, find_files, find_folders
from harness.corpora.anonymized_hearing import Heard, hear, pairs, seconds
from harness.corpora.anonymized_swaps import DURATION_SAMPLES, swapped
from harness.corpora.check import Problem
from harness.corpora.store import Corpus
from harness.errors import DataError
from harness.runtime.files import disk_errors
from harness.runtime.pool import Pool

ACCEPTABLE = ("extra", "duration", "swapped", "silent", "repeated")
# As clause A5 of the contract (docs/contracts.md) has it, with DURATION_SAMPLES.
DURATION_SHARE = 0.1
# Of a kind of problem, as many files are named.
NAMED = 10

# What is said of each kind, and what to do about it.
_SAID = {
    "missing": ("utterances have no file", "ask for the whole set"),
    "twice": ("utterances have two files, flat and in a folder", "remove one of them"),
    "link": ("entries are neither file nor folder and are not followed", "put copies there"),
    "extra": ("entries are no utterance of this set", "remove them"),
    "audio": ("files cannot be used", "fetch them again"),
    "rate": ("files are not at 16 kHz", "resample them"),
    "channels": ("files are not mono", "make them mono"),
    "duration": ("files are not as long as their originals", "are they whole, and of this set?"),
    "swapped": ("files seem to be another utterance's", "ask who made them"),
    "silent": ("files are silent", "fetch them again, or ask who made them"),
    "original": ("files are original speech", "never publish results on them; ask who made them"),
    "repeated": ("files are the same as another's", "ask who made them"),
}


@dataclass(frozen=True)
class Examined:
    """What lies below a path: files by set and utterance, hashes of the originals, problems."""

    files: dict[str, dict[str, Path]]
    hashes: dict[str, dict[str, str]]
    problems: list[Problem]


def examine(
    path: Path,
    originals: Mapping[str, Corpus],
    *,
    suffix: str | None = None,
    mapping: Mapping[str, str] | None = None,
    pool: Pool,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Examined:
    """Find and decode the speech of every set below `path`, and compare it with the originals.

    suffix, mapping: see `find_folders`. Raises ConfigError and DataError as that does,
    ResourceError for what may not be read, IntegrityError for a damaged original.
    """
    files = {}
    with disk_errors(path):
        folders, problems = find_folders(path, list(originals), suffix=suffix, mapping=mapping)
        for name, folder in folders.items():
            try:
                files[name] = find_files(folder, list(originals[name].manifest["utterance"]))
            except DataError as error:
                problems.append(Problem("set", str(error.where), f"{error.what}; {error.fix}"))
    planned = {name: pairs(originals[name], files[name].found) for name in files}
    total, done = sum(map(len, planned.values())), 0
    heard: dict[str, list[Heard]] = {}
    for name, some in planned.items():
        heard[name] = []
        for one in pool.map(hear, some):
            heard[name].append(one)
            done += 1
            on_progress(done, total)
    known: dict[str, Heard] = {}
    # Speech is found by its original's samples: equal originals need equal speech.
    unlike = [
        f"{known[one.original].utterance!r} and {one.utterance!r}"
        for some in heard.values()
        for one in some
        if known.setdefault(one.original, one).content != one.content
    ]
    if unlike:
        message = f"{len(unlike)} pairs have one original and two anonymizations; the first: "
        fix = "; they cannot be told apart: leave one set out of the benchmark"
        problems.append(Problem("ambiguous", str(path), message + unlike[0] + fix, len(unlike)))
    for name, folder in folders.items():
        if name in heard:
            problems += problems_of(folder, originals[name], files[name], heard[name], known)
    return Examined(
        {name: of.found for name, of in files.items()},
        {name: {one.utterance: one.original for one in some} for name, some in heard.items()},
        problems,
    )


def problems_of(
    folder: Path, original: Corpus, files: Files, heard: Sequence[Heard], known: Mapping[str, Heard]
) -> list[Problem]:
    """Problems of one set, one of each kind: how many files have it, and which.

    known: an utterance by the hash of its original, of all sets.
    """
    names = original.manifest["utterance"]
    lengths = dict(zip(names, map(int, original.manifest["samples"]), strict=True))
    faults: dict[str, list[tuple[str, str]]] = {
        "missing": [(name, "") for name in names if name not in files.found],
        "twice": [(name, "") for name in sorted(files.twice)],
        "link": [(name, "") for name in sorted(files.links)],
        "extra": [(name, "") for name in sorted(files.extra)],
    }

    def report(code: str, name: str, detail: str) -> None:
        faults.setdefault(code, []).append((name, detail))

    usable = {one.utterance: one.samples for one in heard if one.samples is not None}
    exchanged = swapped(usable, lengths)
    first: dict[str, str] = {}
    for one in heard:
        name = one.utterance
        if one.fault is not None:
            report(one.fault[0], name, one.fault[1])
        elif one.content in known:
            report("original", name, f"that of {known[one.content].utterance!r}")
        elif one.content and first.setdefault(one.content, name) != name:
            report("repeated", name, f"as {first[one.content]!r}")
        if one.samples is None:
            continue
        told = f"{seconds(one.samples)}, the original {seconds(lengths[name])}"
        if name in exchanged:
            report("swapped", name, f"{told}: as long as that of {exchanged[name]!r}")
        elif abs(one.samples - lengths[name]) > max(
            DURATION_SAMPLES, DURATION_SHARE * lengths[name]
        ):
            report("duration", name, told)
    return [
        Problem(code, str(folder), _message(code, faults[code], len(names)), len(faults[code]))
        for code in _SAID
        if faults.get(code)
    ]


def _message(code: str, found: Sequence[tuple[str, str]], utterances: int) -> str:
    what, fix = _SAID[code]
    named = ", ".join(f"{name!r} ({told})" if told else repr(name) for name, told in found[:NAMED])
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return f"{len(found)} {what}, of {utterances} utterances: {named}{more}; {fix}"
