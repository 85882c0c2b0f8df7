"""Does anything in an attacker's inputs, beside the speech itself, tell who speaks?

Looks where a stranger would: for official names, which everybody knows, and for orders (of rows,
pairs, files, times, sizes) that follow the official order or put one speaker's utterances side by
side. So that a hint is measured and not guessed, the truth is given, in /in/truth.tsv: the official
name and speaker of each opaque utterance. It counts as no hint itself.
"""

from __future__ import annotations

import os
import random
import re
import statistics
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

IN = Path("/in")
TRUTH = IN / "truth.tsv"
# What the system itself says, and what a host could say by it.
SYSTEM = (
    *("/proc/self/mountinfo", "/proc/self/environ", "/proc/self/cmdline", "/proc/self/cgroup"),
    *("/proc/1/environ", "/proc/1/cmdline", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf"),
)
# Of a WAV file with 16-bit samples and nothing else.
HEADER = 44
# Deviations from what chance gives that are no chance.
DEVIATIONS = 6.0
SHUFFLES = 300

Row = dict[str, str]


def labels() -> str:
    """The hints that were found. Raises OSError where there is none."""
    truth = {row["utterance"]: row for row in table(TRUTH)}
    hints = [*official_names(truth), *tags(), *orders(truth), *order_of_pairs(truth)]
    if not hints:
        raise OSError("nothing tells who speaks")
    return "; ".join(hints)


def table(path: Path) -> list[Row]:
    header, *lines = path.read_text().splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def inputs() -> list[Path]:
    return sorted(path for path in IN.rglob("*") if path != TRUTH)


def beside_samples(path: Path) -> bytes:
    """The bytes of a WAV file that are no samples."""
    data = path.read_bytes()
    return data[:HEADER] + data[HEADER + int.from_bytes(data[HEADER - 4 : HEADER], "little") :]


def said() -> Iterator[tuple[str, bytes]]:
    """All that is said by other means than speech, and where."""
    for path in inputs():
        yield f"the name {path}", os.fsencode(path)
        for attribute in os.listxattr(path):
            yield f"{path} {attribute}", os.fsencode(attribute) + os.getxattr(path, attribute)
        if path.is_file():
            wav = path.suffix == ".wav"
            yield str(path), beside_samples(path) if wav else path.read_bytes()
    for name in SYSTEM:
        yield name, Path(name).read_bytes()
    yield "the host's name", os.uname().nodename.encode()


def official_names(truth: dict[str, Row]) -> Iterator[str]:
    known = {row[column] for row in truth.values() for column in ("official", "speaker")}
    words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    # Not within longer words: a digest may hold any four digits.
    pattern = re.compile(rf"(?<![0-9A-Za-z])({words})(?![0-9A-Za-z])".encode())
    for where, what in said():
        found = pattern.search(what)
        if found:
            yield f"{where} says {found[1].decode()}"


def tags() -> Iterator[str]:
    for path in inputs():
        if path.suffix == ".wav" and len(beside_samples(path)) > HEADER:
            yield f"{path} holds more than samples"


def orders(truth: dict[str, Row]) -> Iterator[str]:
    for folder in (IN / "enrolments", IN / "trials"):
        audio = folder / "audio"
        rows = [row["utterance"] for row in table(folder / "manifest.tsv")]
        listed = [name.removesuffix(".wav") for name in os.listdir(audio)]
        found = {name: os.stat(audio / f"{name}.wav") for name in rows}
        by = {
            "rows": {name: rows.index(name) for name in rows},
            "names": {name: place for place, name in enumerate(sorted(rows))},
            "the folder": {name: listed.index(name) for name in rows},
            "inodes": {name: found[name].st_ino for name in rows},
            "times of change": {name: found[name].st_mtime_ns for name in rows},
            "times of making": {name: found[name].st_ctime_ns for name in rows},
            "times of reading": {name: found[name].st_atime_ns for name in rows},
            "sizes": {name: found[name].st_size for name in rows},
        }
        for what, values in by.items():
            # Where all are alike, there is no order.
            if len(set(values.values())) > 1:
                ordered = sorted(rows, key=lambda name: (values[name], name))
                yield from order(
                    f"the order of {what} in {folder}",
                    [truth[name]["speaker"] for name in ordered],
                    [truth[name]["official"] for name in ordered],
                )
    enrolled = enrolled_speakers(truth)
    names = [enrolled[name] for name in sorted(enrolled)]
    if len(names) > DEVIATIONS and names in (sorted(names), sorted(names, reverse=True)):
        yield "the names of enrolled speakers are in official order"


def enrolled_speakers(truth: dict[str, Row]) -> Row:
    """The speaker behind each opaque name of an enrolled one."""
    return {
        row["speaker"]: truth[row["utterance"]]["speaker"]
        for row in table(IN / "enrolments" / "manifest.tsv")
    }


def order_of_pairs(truth: dict[str, Row]) -> Iterator[str]:
    enrolled = enrolled_speakers(truth)
    pairs = [(enrolled[row["enrolment"]], truth[row["trial"]]) for row in table(IN / "pairs.tsv")]
    targets = [str(speaker == trial["speaker"]) for speaker, trial in pairs]
    official = [f"{speaker} {trial['official']}" for speaker, trial in pairs]
    yield from order("the order of pairs", targets, official)
    for place, what in enumerate(("speakers", "trials")):
        side_by_side = [name.split()[place] for name in official]
        yield from order(f"the order of {what} in pairs", side_by_side, official)


def order(what: str, labels: list[str], official: list[str]) -> Iterator[str]:
    """Whether a sequence of labels is grouped, or follows or opposes the official order."""
    chance = random.Random(0)
    alike = [neighbours(chance.sample(labels, len(labels))) for _ in range(SHUFFLES)]
    spread = statistics.pstdev(alike)
    if spread and abs(neighbours(labels) - statistics.mean(alike)) > DEVIATIONS * spread:
        yield f"{what} groups labels"
    place = {name: number for number, name in enumerate(sorted(official))}
    share = statistics.correlation(range(len(official)), [place[name] for name in official])
    if abs(share) * (len(official) - 1) ** 0.5 > DEVIATIONS:
        yield f"{what} follows the official one"


def neighbours(labels: list[str]) -> int:
    return sum(one == other for one, other in pairwise(labels))
