"""The trial lists that a submission is held against: read from a folder, or generated.

Generated means: an official list is the full cross product of the enrolled speakers with the trial
utterances of one gender, and an official utterance name begins with its speaker. So the names in a
complete score file give the whole list, labels included, and its SHA-256 proves it to be the
edition's: nothing of the stranger is believed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.errors import ListError
from harness.protocols.lists import Trial, cross_product, read_trials, sha256_text, to_text
from harness.protocols.protocol import Protocol, TrialList

TRIALS = "trials"
# Of a speaker or an utterance; official ones have up to 20.
LONGEST_NAME = 256
# Where a list comes from, without a path: reports are the same on every machine.
GENERATED = "generated from the names in the scores"
READ = "read from its file"


@dataclass(frozen=True)
class ReferenceList:
    """One list, in its official order; all arrays have shape (n_trials,).

    keys: `<enrolled speaker> <trial utterance>`. target: are they the same person. enrolment,
    utterance: index of the speaker and of the utterance. origin: where the list comes from.
    """

    listed: TrialList
    keys: tuple[bytes, ...]
    target: npt.NDArray[np.bool_]
    enrolment: npt.NDArray[np.intp]
    utterance: npt.NDArray[np.intp]
    origin: str

    @property
    def name(self) -> str:
        """Of its trial set."""
        return self.listed.trials

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True)
class Reference:
    """The lists that are known, by name. A pair of any of them is found by `position`."""

    lists: Mapping[str, ReferenceList]

    @cached_property
    def starts(self) -> dict[str, int]:
        """Where each list begins, all lists laid one after the other."""
        starts, place = {}, 0
        for name, one in self.lists.items():
            starts[name] = place
            place += len(one)
        return starts

    @cached_property
    def position(self) -> dict[bytes, int]:
        """Place of each pair, all lists laid one after the other."""
        keys = [key for one in self.lists.values() for key in one.keys]
        return dict(zip(keys, range(len(keys)), strict=True))

    def list_at(self, position: int) -> str:
        """Name of the list that a position lies in."""
        return [name for name, start in self.starts.items() if start <= position][-1]


def from_trials(listed: TrialList, trials: Sequence[Trial], origin: str) -> ReferenceList:
    """A reference list of trials that are known to be the edition's."""
    speakers = {name: i for i, name in enumerate(dict.fromkeys(t.enrolment for t in trials))}
    utterances = {name: i for i, name in enumerate(dict.fromkeys(t.utterance for t in trials))}
    return ReferenceList(
        listed=listed,
        keys=tuple(f"{t.enrolment} {t.utterance}".encode() for t in trials),
        target=np.fromiter((t.target for t in trials), np.bool_, len(trials)),
        enrolment=np.fromiter((speakers[t.enrolment] for t in trials), np.intp, len(trials)),
        utterance=np.fromiter((utterances[t.utterance] for t in trials), np.intp, len(trials)),
        origin=origin,
    )


def from_folder(protocol: Protocol, folder: Path) -> Reference:
    """The edition's lists in `<folder>/<list>/trials`, those that are there.

    Raises ListError when there is none, or one is not the edition's.
    """
    lists = {}
    for listed in protocol.lists:
        path = folder / listed.trials / TRIALS
        if not path.is_file():
            continue
        trials = read_trials(path)
        found = sha256_text(to_text(trials))
        if found != listed.sha256:
            raise ListError(
                f"its sha256 is {found}, that of {protocol.name} is {listed.sha256}",
                where=path,
                fix="use the edition's list, or name the edition with --benchmark",
            )
        lists[listed.trials] = from_trials(listed, trials, READ)
    if not lists:
        raise ListError(
            f"no trial list of {protocol.name}, such as {protocol.lists[0].trials}/{TRIALS}",
            where=folder,
            fix="give the folder that holds the Kaldi directories",
        )
    return Reference(lists)


@dataclass(frozen=True)
class NameCounts:
    """How often each name stands in the first and in the second column of a score file."""

    first: Counter[bytes]
    second: Counter[bytes]


def count_names(lines: Iterable[bytes], most: int) -> NameCounts:
    """The names in lines of a score file; reading ends where a column has more than `most`.

    Names longer than LONGEST_NAME are those of no list.
    """
    names = NameCounts(Counter(), Counter())
    for line in lines:
        fields = line.replace(b",", b" ").replace(b";", b" ").split(None, 2)
        if len(fields) == 3 and len(fields[0]) <= LONGEST_NAME and len(fields[1]) <= LONGEST_NAME:
            names.first[fields[0]] += 1
            names.second[fields[1]] += 1
            if len(names.first) > most or len(names.second) > most:
                break
    return names


def generate(listed: TrialList, names: NameCounts) -> ReferenceList | None:
    """The list made of the names of a score file, whichever column holds the speakers.

    Lines may come in any order, twice or not at all, and a few stray names do no harm. None unless
    the result has the edition's SHA-256.
    """
    columns = _usual(names.first), _usual(names.second)
    for speakers, utterances in (columns, columns[::-1]):
        if len(speakers) * len(utterances) != listed.target + listed.nontarget:
            continue
        trials = cross_product(speakers, {name: name.partition("-")[0] for name in utterances})
        if sha256_text(to_text(trials)) == listed.sha256:
            return from_trials(listed, trials, GENERATED)
    return None


def _usual(counts: Counter[bytes]) -> list[str]:
    """Names that stand about as often as the others: in a cross product all stand equally often."""
    if not counts:
        return []
    middle = sorted(counts.values())[len(counts) // 2]
    usual = [name for name, count in counts.items() if 2 * count > middle]
    return [name.decode("utf-8", "replace") for name in usual]
