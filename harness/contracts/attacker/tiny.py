"""Tiny work for an attacker under examination, and what is done to its inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.attackers.base import Pair
from harness.contracts import speech
from harness.contracts.attacker.exchange import ENROLMENTS, MODEL, PAIRS, TRAINING, TRIALS
from harness.contracts.inputs import MANIFEST, Held

# Which of speech.TAKES each speaker says where; the last speaker is not enrolled.
TRAINED_ON, ENROLLED_WITH, TRIED_WITH = range(4), range(4, 6), range(6, 8)
ENROLLED = range(len(speech.SPEAKERS) - 1)
TABLES = (f"{TRAINING}/{MANIFEST}", f"{ENROLMENTS}/{MANIFEST}", f"{TRIALS}/{MANIFEST}", PAIRS)
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Scoring:
    """What is to be scored, as `write_scoring` takes it."""

    sounds: Mapping[str, Held]
    enrolments: Mapping[str, Sequence[str]]
    pairs: Sequence[Pair]

    def only(self, wanted: Callable[[Pair], bool]) -> Scoring:
        """Those pairs, and the speakers that are in them."""
        pairs = [pair for pair in self.pairs if wanted(pair)]
        speakers = sorted({pair.enrolment for pair in pairs})
        return replace(
            self, enrolments={name: self.enrolments[name] for name in speakers}, pairs=pairs
        )

    def renamed(self) -> Scoring:
        """The same pairs in reverse order, under other names, whose order is reversed too."""
        names = sorted({*self.sounds, *self.enrolments}, reverse=True)
        other = {name: f"x{number:04d}" for number, name in enumerate(names)}
        return Scoring(
            {other[name]: sound for name, sound in self.sounds.items()},
            {
                other[speaker]: [other[name] for name in spoken]
                for speaker, spoken in self.enrolments.items()
            },
            [Pair(other[pair.enrolment], other[pair.trial]) for pair in reversed(self.pairs)],
        )


def training() -> tuple[dict[str, Held], dict[str, str]]:
    """What to train on: utterances by name, and the speaker of each."""
    sounds: dict[str, Held] = {}
    speakers: dict[str, str] = {}
    for speaker in range(len(speech.SPEAKERS)):
        for take in TRAINED_ON:
            name = f"u{len(sounds):04d}"
            sounds[name], speakers[name] = Held(speech.said(speaker, take)), f"s{speaker:04d}"
    return sounds, speakers


def scoring() -> Scoring:
    """Every pair of an enrolled speaker and a trial."""
    sounds: dict[str, Held] = {}
    enrolments: dict[str, list[str]] = {}
    trials = []
    for speaker in range(len(speech.SPEAKERS)):
        for take in TRIED_WITH:
            trials.append(f"t{len(sounds):04d}")
            sounds[trials[-1]] = Held(speech.said(speaker, take))
    for speaker in ENROLLED:
        spoken = enrolments[f"s{speaker:04d}"] = []
        for take in ENROLLED_WITH:
            spoken.append(f"e{len(sounds):04d}")
            sounds[spoken[-1]] = Held(speech.said(speaker, take))
    return Scoring(sounds, enrolments, [Pair(s, t) for s in enrolments for t in trials])


def shift_columns(inputs: Path) -> None:
    """Move every column of every table to another place, behind one that no image knows."""
    for path in (inputs / table for table in TABLES if (inputs / table).exists()):
        header, *rows = (line.split("\t") for line in path.read_text("utf-8").splitlines())
        lines = [["note", header[-1], *header[:-1]], *(["x", row[-1], *row[:-1]] for row in rows)]
        path.write_text("".join("\t".join(line) + "\n" for line in lines), "utf-8")


def add_unknown_trial(inputs: Path) -> None:
    """Ask for one more pair, whose trial is nowhere."""
    path = inputs / PAIRS
    header, *_, last = path.read_text("utf-8").splitlines()
    asked = [
        UNKNOWN if column == "trial" else name
        for column, name in zip(header.split("\t"), last.split("\t"), strict=True)
    ]
    path.write_text(path.read_text("utf-8") + "\t".join(asked) + "\n", "utf-8")


def empty_model(inputs: Path) -> None:
    """Leave nothing in the files of the model."""
    for path in (inputs / MODEL).rglob("*"):
        if path.is_file():
            path.write_bytes(b"")
