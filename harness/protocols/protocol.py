"""A protocol: what a challenge edition or a benchmark consists of, loaded from YAML.

Counts and hashes here are the truth that data are held against before any work starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from harness.errors import ConfigError
from harness.protocols.typed import build, did_you_mean, named, read_yaml

# Of a list: `mixed` has pairs of a woman and a man, too.
ListGender = Literal["f", "m", "mixed"]
# Whose EER is the edition's: that of SpeechBrain (2024 and later) or of Kaldi (2020 and 2022).
EerName = Literal["speechbrain", "kaldi"]
# What has one pseudo-speaker of its own.
Level = Literal["utterance", "speaker"]
Role = Literal["train", "enrolment", "trial"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class DataSet:
    """One set of utterances (a Kaldi data directory in the official layout).

    female, male: numbers of speakers. utterances: their number, before any cutting. None: not
    known here. subset: the LibriSpeech subset that holds the audio. level: what the edition's rules
    have anonymized as one speaker, None where they say nothing. sha256: of the official list of its
    utterances (`enrolls`), where one is given. utt2spk_sha256: of the official `utt2spk`, which
    says who speaks them.
    """

    name: str
    role: Role
    female: int | None = None
    male: int | None = None
    utterances: int | None = None
    subset: str | None = None
    level: Level | None = None
    sha256: str | None = None
    utt2spk_sha256: str | None = None


@dataclass(frozen=True)
class EmotionSet:
    """One set of emotional utterances, on which no attacker is tried.

    corpus: `emodb` (its WAV or FLAC files, whose names say all) or `lists` (a Kaldi data directory
    with `utt2emo` and `spk2fold`). female, male: numbers of speakers. emotions: how many utterances
    of each are used. folds: of `emodb`, the speakers of each fold; a recognizer that is trained
    never sees those it is tried on.
    """

    name: str
    dataset: str
    split: str
    corpus: Literal["emodb", "lists"]
    female: int
    male: int
    emotions: dict[str, int]
    folds: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class TrialList:
    """One trial list.

    trials: name of the trial set, which also names the list. target, nontarget: numbers of trials;
    sha256: of the official text; each None where it is not known. A list whose hash is known is the
    cross product of the enrolled speakers with the trial utterances of one gender.
    """

    trials: str
    enrolments: str
    dataset: str
    split: str
    gender: ListGender
    target: int | None = None
    nontarget: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Source:
    """Where the speech comes from.

    kind: `voices` (synthetic, made on the spot), `excerpt` (named utterances of a LibriSpeech
    tree) or `lists` (Kaldi folders with the official lists; audio there or in a LibriSpeech tree).
    """

    kind: Literal["voices", "excerpt", "lists"]
    utterances: str | None = None
    sha256: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Average:
    """How the EERs of one split become one number: the mean of the lists of `split`.

    weights: of every list of the split, by name, together 1; without any they are equal.
    printed_from: decimals of the published averages, some of which (those of B4) were made from
    EERs cut to that many and cut again; the others are rounded. None where nothing is published.
    """

    split: str
    label: str
    printed_from: int | None = None
    weights: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """A published EER of a system on one list, or (`mean`) an average of a split.

    dataset: of the list, None where the edition has one, and of an average.
    """

    system: str
    split: str
    gender: Literal["f", "m", "mixed", "mean"]
    eer_percent: float
    source: str
    dataset: str | None = None


@dataclass(frozen=True)
class Protocol:
    """An edition of a challenge, or a benchmark of our own.

    eer: whose EER is the edition's own. systems: those that are attacked; an edition in which
    everybody brings one names none. suffixes: by the suffix that the organizers' scripts give to
    the folders of a system (without the leading `_`), the system's name. audio: do submissions hold
    the anonymized speech?
    """

    name: str
    title: str
    source: Source
    sets: tuple[DataSet, ...]
    lists: tuple[TrialList, ...]
    averages: tuple[Average, ...]
    eer: EerName = "speechbrain"
    audio: bool = False
    systems: dict[str, str] = field(default_factory=dict)
    suffixes: dict[str, str] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    dates: dict[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    reference: str | None = None
    emotion_sets: tuple[EmotionSet, ...] = ()

    def dataset(self, name: str) -> DataSet:
        """The set of that name. Raises ConfigError when there is none."""
        return named(name, self.sets, "set", f"protocol {self.name}")

    def emotion_set(self, name: str) -> EmotionSet:
        """The set of emotional speech of that name. Raises ConfigError when there is none."""
        return named(name, self.emotion_sets, "set of emotional speech", f"protocol {self.name}")

    def training_set(self) -> DataSet:
        """The one set that attackers are trained on."""
        return next(s for s in self.sets if s.role == "train")

    def weights(self, split: str) -> dict[str, Fraction]:
        """What each list of a split weighs in its average, in the edition's order; together 1."""
        names = [listed.trials for listed in self.lists if listed.split == split]
        given = next((one.weights for one in self.averages if one.split == split), {})
        return {
            # As it is written in the file: 0.05 has no exact float.
            name: Fraction(str(given[name])) if given else Fraction(1, len(names))
            for name in names
        }

    def average(self, split: str, values: Mapping[str, float]) -> float:
        """The average of a split. values: by list, of every list of the split, in any unit."""
        weights = self.weights(split)
        return sum(float(weight) * values[name] for name, weight in weights.items())


def names() -> list[str]:
    """Names of all protocols that come with the package, sorted."""
    folder = resources.files("harness.protocols") / "data"
    return sorted(
        f.name.removesuffix(".yaml") for f in folder.iterdir() if f.name.endswith(".yaml")
    )


@lru_cache(maxsize=1)
def set_names() -> frozenset[str]:
    """Names of the sets of all protocols."""
    return frozenset(dataset.name for name in names() for dataset in load(name).sets)


def data_file(name: str) -> Path:
    """Path of a file that belongs to a protocol."""
    return Path(str(resources.files("harness.protocols") / "data" / name))


def load(name: str) -> Protocol:
    """The protocol of that name. Raises ConfigError for an unknown name or a malformed file."""
    if name not in names():
        raise ConfigError(
            f"unknown benchmark {name!r}", where="params.yaml", fix=did_you_mean(name, names())
        )
    path = data_file(f"{name}.yaml")
    content: dict[str, Any] = read_yaml(path)
    protocol = build(Protocol, content, f"{path.name}")
    _check(protocol, path.name)
    return protocol


def _check(protocol: Protocol, where: str) -> None:
    """What the types cannot say: names that refer to one another."""
    for listed in protocol.lists:
        protocol.dataset(listed.trials)
        protocol.dataset(listed.enrolments)
    training = [dataset.name for dataset in protocol.sets if dataset.role == "train"]
    if len(training) != 1:
        raise ConfigError(
            f"{len(training)} sets have the role train", where=f"{where}.sets", fix="name one"
        )
    for suffix, system in protocol.suffixes.items():
        if system not in protocol.systems:
            raise ConfigError(
                f"no system {system!r}",
                where=f"{where}.suffixes.{suffix}",
                fix=did_you_mean(system, protocol.systems),
            )
    splits = {listed.split for listed in protocol.lists}
    for average in protocol.averages:
        if average.split not in splits:
            raise ConfigError(
                f"no list of the split {average.split!r}",
                where=f"{where}.averages",
                fix=did_you_mean(average.split, splits),
            )
        names = {listed.trials for listed in protocol.lists if listed.split == average.split}
        if average.weights and (
            set(average.weights) != names or sum(protocol.weights(average.split).values()) != 1
        ):
            raise ConfigError(
                f"the weights are not of every list of the split {average.split!r}, together 1",
                where=f"{where}.averages",
                fix=f"weigh {', '.join(sorted(names))}",
            )
