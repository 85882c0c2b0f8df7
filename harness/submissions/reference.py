"""The trial lists that a submission is held against: read from a folder, generated, or stated.

Generated means: an official list is the full cross product of the enrolled speakers with the trial
utterances of one gender, and an official utterance name begins with its speaker. So the names in a
complete score file give the whole list, labels included, and its SHA-256 proves it to be the
edition's: nothing of the stranger is believed.

Stated means: where nobody knows the hash of the edition's list, it is the pairs of a score file,
their labels told by the names. Its EER can be computed; that it is the edition's nothing shows.
"""

from __future__ import annotations

import re
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
STATED = "the pairs of the scores: the edition's list is not known"
# What ends the speaker in the name of an utterance of LibriSpeech (`84-121123-0006`) and VCTK
# (`p234_293_mic2`).
AFTER_SPEAKER = re.compile("[-_]")
# Of a list that is stated; official ones have up to 57,362 pairs.
MOST_PAIRS = 200_000


@dataclass(frozen=True)
class ReferenceList:
    """One list, in its official order; all arrays have shape (n_trials,).

    keys: `<enrolled speaker> <trial utterance>`. target: are they the same person. enrolment,
    utterance: index of the speaker and of the utterance. origin: where the list comes from.
    sha256: of its text.
    """

    listed: TrialList
    keys: tuple[bytes, ...]
    target: npt.NDArray[np.bool_]
    enrolment: npt.NDArray[np.intp]
    utterance: npt.NDArray[np.intp]
    origin: str
    sha256: str

    @property
    def name(self) -> str:
        """Of its trial set."""
        return self.listed.trials

    @property
    def n_target(self) -> int:
        """Number of target trials."""
        return int(self.target.sum())

    @property
    def n_nontarget(self) -> int:
        """Number of nontarget trials."""
        return len(self) - self.n_target

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
        sha256=sha256_text(to_text(trials)),
    )


def from_folder(protocol: Protocol, folder: Path) -> Reference:
    """The edition's lists in `<folder>/<list>/trials`, those that are there.

    Of a list whose hash is not known, the folder is believed. Raises ListError when there is none,
    or one is not the edition's.
    """
    lists = {}
    for listed in protocol.lists:
        path = folder / listed.trials / TRIALS
        if not path.is_file():
            continue
        trials = read_trials(path)
        found = sha256_text(to_text(trials))
        differs = None
        if listed.sha256 is not None and found != listed.sha256:
            differs = f"its sha256 is {found}, that of {protocol.name} is {listed.sha256}"
        elif not _counts_fit(listed, trials):
            differs = f"{_counted(trials)}, in {protocol.name} {_expected(listed)}"
        if differs is not None:
            raise ListError(
                differs,
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
        if len(speakers) * len(utterances) != size_of(listed):
            continue
        trials = cross_product(speakers, {name: speaker_of(name) for name in utterances})
        if sha256_text(to_text(trials)) == listed.sha256:
            return from_trials(listed, trials, GENERATED)
    return None


def size_of(listed: TrialList) -> int:
    """The number of trials of a list whose numbers are known; 0 for any other."""
    if listed.target is None or listed.nontarget is None:
        return 0
    return listed.target + listed.nontarget


def speaker_of(utterance: str) -> str:
    """The speaker that the name of an utterance begins with."""
    return AFTER_SPEAKER.split(utterance, maxsplit=1)[0]


def stated(listed: TrialList, lines: Iterable[bytes]) -> ReferenceList | None:
    """The list that the pairs in lines of a score file are, in their order.

    None where there are too many, none of one label, or other numbers than the edition's known
    ones, and where a line is none of a score file.
    """
    pairs: dict[tuple[str, str], bool] = {}
    for line in lines:
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 3 or max(map(len, fields[:2])) > LONGEST_NAME or len(pairs) > MOST_PAIRS:
            return None
        try:
            enrolled, utterance = fields[0].decode(), fields[1].decode()
        except UnicodeDecodeError:
            return None
        pairs[enrolled, utterance] = speaker_of(utterance) == enrolled
    trials = [Trial(*pair, target) for pair, target in pairs.items()]
    labels = set(pairs.values())
    if len(labels) < 2 or not _counts_fit(listed, trials):
        return None
    return from_trials(listed, trials, STATED)


def _counts_fit(listed: TrialList, trials: Sequence[Trial]) -> bool:
    target = sum(trial.target for trial in trials)
    nontarget = len(trials) - target
    return listed.target in (None, target) and listed.nontarget in (None, nontarget)


def _counted(trials: Sequence[Trial]) -> str:
    target = sum(trial.target for trial in trials)
    return f"{target:,} target and {len(trials) - target:,} nontarget trials"


def _expected(listed: TrialList) -> str:
    known = (("target", listed.target), ("nontarget", listed.nontarget))
    return " and ".join(f"{number:,} {label}" for label, number in known if number is not None)


def _usual(counts: Counter[bytes]) -> list[str]:
    """Names that stand about as often as the others: in a cross product all stand equally often."""
    if not counts:
        return []
    middle = sorted(counts.values())[len(counts) // 2]
    usual = [name for name, count in counts.items() if 2 * count > middle]
    return [name.decode("utf-8", "replace") for name in usual]
