"""Trial lists: generated, written, hashed, read.

A list is text: `<enrolled speaker> <trial utterance> target|nontarget`, single spaces, LF, no
header, in C order. Each official list is the full cross product of the enrolled speakers of one
gender with the trial utterances of that gender (VoicePrivacy 2024, Attacker Challenge 2025).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import DataError, ListError
from harness.protocols.protocol import TrialList

LABELS = ("target", "nontarget")


@dataclass(frozen=True)
class Trial:
    """A pair of an enrolled speaker and a trial utterance; target: are they the same person?"""

    enrolment: str
    utterance: str
    target: bool


def cross_product(enrolled: Iterable[str], trial_speakers: Mapping[str, str]) -> list[Trial]:
    """All pairs, in C order.

    enrolled: speakers. trial_speakers: speaker of each trial utterance.
    """
    utterances = sorted(trial_speakers, key=lambda name: name.encode())
    return [
        Trial(speaker, utterance, trial_speakers[utterance] == speaker)
        for speaker in sorted(enrolled, key=lambda name: name.encode())
        for utterance in utterances
    ]


def to_text(trials: Iterable[Trial]) -> str:
    """The official text of a list."""
    return "".join(
        f"{t.enrolment} {t.utterance} {'target' if t.target else 'nontarget'}\n" for t in trials
    )


def sha256_text(text: str) -> str:
    """SHA-256 of a list's text."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def read_trials(path: Path) -> list[Trial]:
    """A list from its file. Raises ListError with the line that is malformed or stands twice."""
    try:
        # Decoded from bytes: reading as text would turn Windows line ends into the official ones.
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise ListError("no such trial list", where=path, fix="give the right folder") from error
    except UnicodeDecodeError as error:
        raise ListError("not UTF-8", where=path, fix="use the official list") from error
    trials = []
    seen = set()
    for number, line in enumerate(
        text.split("\n")[:-1] if text.endswith("\n") else text.split("\n"), 1
    ):
        fields = line.split(" ")
        if len(fields) != 3 or fields[2] not in LABELS or not fields[0] or not fields[1]:
            raise ListError(
                f"expected `speaker utterance target|nontarget`, found {line[:60]!r}",
                where=f"{path}:{number}",
                fix="use the official list",
            )
        if (fields[0], fields[1]) in seen:
            raise ListError(
                f"the pair {fields[0]} {fields[1]} stands twice",
                where=f"{path}:{number}",
                fix="use the official list",
            )
        seen.add((fields[0], fields[1]))
        trials.append(Trial(fields[0], fields[1], fields[2] == "target"))
    return trials


def require(listed: TrialList, trials: list[Trial]) -> str:
    """The list's text, once counts and hash are the protocol's.

    Raises DataError with the numbers side by side otherwise.
    """
    text = to_text(trials)
    target = sum(trial.target for trial in trials)
    found = (target, len(trials) - target, sha256_text(text))
    expected = (listed.target, listed.nontarget, listed.sha256)
    if found != expected:
        labels = ("target", "nontarget", "sha256")
        differences = ", ".join(
            f"{label} {f} (expected {e})"
            for label, f, e in zip(labels, found, expected, strict=True)
            if f != e
        )
        raise DataError(
            f"the trial list differs from the protocol: {differences}",
            where=listed.trials,
            fix="use the official speech and lists",
        )
    return text


def trials_path(corpus: Path, list_name: str) -> Path:
    """Where the corpus stage leaves a trial list."""
    return corpus / "lists" / list_name / "trials"
