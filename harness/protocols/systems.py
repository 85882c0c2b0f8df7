"""Anonymization systems of the challenges as data: `systems/*.yaml`.

What is known of each system, and where it was read. What no source tells is absent, never guessed.
Whether one runs here is not written there: it is looked at (`harness.pipeline.systems`).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError
from harness.protocols.typed import build, convert, did_you_mean, read_yaml

FOLDER = Path(str(resources.files("harness.protocols") / "systems"))
SOURCES = "sources.yaml"
NUMBER = re.compile(r"\d+(\.\d+)?")
# Of a fact's source, several places are told one after the other.
BETWEEN_SOURCES = "; "

Family = Literal[
    "none",
    "signal processing",
    "x-vector",
    "ASR and TTS",
    "neural codec",
    "bottleneck features",
    "voice conversion",
    "kNN-VC",
    "hybrid",
]
How = Literal["built in", "container", "imported audio"]


@dataclass(frozen=True)
class Fact:
    """Something a source says. source: a name of sources.yaml, a comma, and the place in it."""

    text: str
    source: str


@dataclass(frozen=True)
class LevelFact:
    """What has one pseudo-speaker: an utterance, a speaker, or one of them in some sets."""

    value: str
    source: str


@dataclass(frozen=True)
class Code:
    """A system's own code. repository: owner and name. entry: the program and its arguments."""

    repository: str
    commit: str
    entry: str
    licence: str | None
    source: str


@dataclass(frozen=True)
class Weights:
    """Weights that a system needs. of: where they come from. sha256: of the file, if known."""

    name: str
    of: str
    source: str
    sha256: str | None = None
    licence: str | None = None


@dataclass(frozen=True)
class Way:
    """How a system, or only one of its kind (made from its description), could run here.

    entry: of something built in, as params.yaml has it. modules: packages that it imports when it
    works. differs: in what it is another than the system. recipe: of a container, the folder in
    docker/ that makes its image; None where there is none. giver: of audio, who has it.
    """

    how: How
    of: Literal["the system", "its kind"] = "the system"
    entry: dict[str, Any] | None = None
    modules: tuple[str, ...] = ()
    differs: str | None = None
    recipe: str | None = None
    giver: str | None = None


@dataclass(frozen=True)
class Measured:
    """A published value in percent, as it is printed.

    over: the data. split: dev or test; None where the source does not tell. attacker: of an EER,
    as the source calls it. f, m: of the genders; mean: the mean of them; pooled: of the trials of
    both in one list; whole: where genders are not told apart.
    """

    measure: Literal["EER", "WER", "UAR"]
    over: str
    source: str
    split: Literal["dev", "test"] | None = None
    attacker: str | None = None
    f: str | None = None
    m: str | None = None
    mean: str | None = None
    pooled: str | None = None
    whole: str | None = None

    def values(self) -> dict[str, str]:
        """The values that are given, by name."""
        given = {name: getattr(self, name) for name in ("f", "m", "mean", "pooled", "whole")}
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class System:
    """One system. says: what sources say of it. disagreements: where they contradict each other.

    editions: years of the challenges that it was part of. ways: how it could run here, best first.
    family: None where no source tells it.
    """

    name: str
    editions: tuple[str, ...]
    says: tuple[Fact, ...]
    ways: tuple[Way, ...]
    family: Family | None = None
    team: str | None = None
    level: LevelFact | None = None
    reference: Fact | None = None
    code: Code | None = None
    weights: tuple[Weights, ...] = ()
    published: tuple[Measured, ...] = ()
    disagreements: tuple[str, ...] = ()

    def cited(self) -> list[str]:
        """Sources of all its facts, with their places."""
        one = [self.level, self.reference, self.code]
        facts = [*self.says, *(fact for fact in one if fact), *self.weights, *self.published]
        return [place for fact in facts for place in fact.source.split(BETWEEN_SOURCES)]


@dataclass(frozen=True)
class _File:
    systems: tuple[System, ...]


def load(folder: Path = FOLDER) -> tuple[System, ...]:
    """All systems, in the order of the files. Raises ConfigError for a malformed file."""
    known = sources(folder)
    found: list[System] = []
    for path in sorted(folder.glob("*.yaml")):
        if path.name != SOURCES:
            found += _checked(build(_File, read_yaml(path), path.name), path.name, known)
    twice = [name for name, count in Counter(one.name for one in found).items() if count > 1]
    if twice:
        raise ConfigError(f"{twice[0]} stands twice", where=folder.name, fix="remove one")
    return tuple(found)


@lru_cache(maxsize=1)
def everything() -> tuple[System, ...]:
    """The systems that come with the package."""
    return load()


def sources(folder: Path = FOLDER) -> dict[str, str]:
    """Titles of the sources by name. Raises ConfigError for a malformed file."""
    titles: dict[str, str] = convert(dict[str, str], read_yaml(folder / SOURCES), SOURCES)
    return titles


def find(name: str) -> System:
    """The system of that name. Raises ConfigError where there is none."""
    by_name = {system.name: system for system in everything()}
    if name not in by_name:
        raise ConfigError(f"no system {name!r}", fix=did_you_mean(name, by_name))
    return by_name[name]


def _checked(file: _File, where: str, known: dict[str, str]) -> tuple[System, ...]:
    """What the types cannot say. Raises ConfigError."""
    for system in file.systems:
        place = f"{where}: {system.name}"
        for cited in system.cited():
            source, comma, inside = cited.partition(", ")
            if source not in known or not comma or not inside:
                raise ConfigError(
                    f"the source {cited!r} is not known",
                    where=place,
                    fix=f"give a name, a comma and a place; {did_you_mean(source, known)}",
                )
        for one in system.published:
            wrong = [value for value in one.values().values() if not NUMBER.fullmatch(value)]
            if wrong or not one.values() or (one.measure == "EER") != (one.attacker is not None):
                raise ConfigError(
                    f"a published {one.measure} lacks a number or an attacker, or has too much",
                    where=place,
                    fix='give numbers in quotes ("12.910"), and an attacker for an EER alone',
                )
        for way in system.ways:
            if (way.how == "built in") != (way.entry is not None and "type" in way.entry):
                raise ConfigError(
                    "an entry with a type belongs to what is built in",
                    where=place,
                    fix="mend `ways`",
                )
    return file.systems
