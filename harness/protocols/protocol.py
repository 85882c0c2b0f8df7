"""A protocol: what a challenge edition or a benchmark consists of, loaded from YAML.

Counts and hashes here are the truth that data are held against before any work starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args

from harness.errors import ConfigError
from harness.protocols.typed import build, did_you_mean, read_yaml

Gender = Literal["f", "m"]
Role = Literal["train", "enrolment", "trial"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class DataSet:
    """One set of utterances (a Kaldi data directory in the official layout).

    female, male: numbers of speakers. utterances: their number, before any cutting.
    subset: the LibriSpeech subset that holds the audio. sha256: of the official list of its
    utterances (`enrolls`), where one is given. utt2spk_sha256: of the official `utt2spk`, which
    says who speaks them.
    """

    name: str
    role: Role
    female: int
    male: int
    utterances: int
    subset: str | None = None
    sha256: str | None = None
    utt2spk_sha256: str | None = None


@dataclass(frozen=True)
class TrialList:
    """One trial list: the same-gender cross product of enrolled speakers and trial utterances.

    trials: name of the trial set, which also names the list. sha256: of the official text.
    """

    trials: str
    enrolments: str
    dataset: str
    split: str
    gender: Gender
    target: int
    nontarget: int
    sha256: str


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
    """How the EERs of one split become one number: the plain mean of the lists of `split`.

    printed_from: decimals of the published averages, some of which (those of B4) were made from
    EERs cut to that many and cut again; the others are rounded. None where nothing is published.
    """

    split: str
    label: str
    printed_from: int | None = None


@dataclass(frozen=True)
class Published:
    """A published EER of a system on one list. decimals: digits printed after the point."""

    system: str
    split: str
    gender: Literal["f", "m", "mean"]
    eer_percent: float
    source: str


@dataclass(frozen=True)
class Protocol:
    """An edition of a challenge, or a benchmark of our own.

    suffixes: by the suffix that the organizers' scripts give to the folders of a system (without
    the leading `_`), the system's name.
    """

    name: str
    title: str
    source: Source
    sets: tuple[DataSet, ...]
    lists: tuple[TrialList, ...]
    averages: tuple[Average, ...]
    systems: dict[str, str] = field(default_factory=dict)
    suffixes: dict[str, str] = field(default_factory=dict)
    published: tuple[Published, ...] = ()
    dates: dict[str, str] = field(default_factory=dict)
    rules: tuple[str, ...] = ()
    reference: str | None = None

    def dataset(self, name: str) -> DataSet:
        """The set of that name. Raises ConfigError when there is none."""
        for candidate in self.sets:
            if candidate.name == name:
                return candidate
        raise ConfigError(
            f"no set {name!r}",
            where=f"protocol {self.name}",
            fix=did_you_mean(name, (s.name for s in self.sets)),
        )

    def training_set(self) -> DataSet:
        """The one set that attackers are trained on."""
        return next(s for s in self.sets if s.role == "train")


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
