"""The clauses of docs/contracts.md, and what a check of an image finds of each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from harness.contracts.events import STANDARD_OUTPUT, Hearing
from harness.errors import ContainerError
from harness.runtime.containers.fence import Outcome, last_line, shown
from harness.runtime.events import Event, parse_event

CLAUSES = {
    "C1": "Start",
    "C2": "No network",
    "C3": "Inputs are untouched",
    "C4": "Limits",
    "C5": "Events",
    "C6": "Success",
    "C7": "Failure",
    "C8": "Parameters",
    "C9": "Circumstances",
    "A1": "Manifest",
    "A2": "Speech given",
    "A3": "Names and counts",
    "A4": "Format",
    "A5": "Duration",
    "A6": "Not silent",
    "A7": "Not clipped",
    "A8": "Repeatable",
    "A9": "Another seed",
    "A10": "Alone as in a batch",
    "A11": "Order",
    "T1": "Training speech",
    "T2": "Model",
    "T3": "Repeatable by seed",
    "T4": "Columns",
    "S1": "Model given",
    "S2": "Evaluation speech",
    "S3": "Pairs",
    "S4": "Scores",
    "S5": "Repeatable",
    "S6": "Order and names",
    "S7": "The pair rule",
}

State = Literal["kept", "broken", "not checked"]

# What programs say when they meet the fence; the clause that tells them so.
MEETING_THE_FENCE = (
    ("C2", re.compile(r"network is unreachable|name resolution|could not resolve|name or service")),
    ("C3", re.compile(r"read-only file ?system|/in\b[^ ]* permission denied")),
    ("C1", re.compile(r"permission denied|operation not permitted")),
)


@dataclass(frozen=True)
class Finding:
    """What was found of one clause. said: the fault, or why it was not checked; else empty."""

    clause: str
    state: State
    said: str = ""


@dataclass
class Findings:
    """Collects findings; the first fault of a clause is the one told."""

    _kept: set[str] = field(default_factory=set)
    _broken: dict[str, str] = field(default_factory=dict)

    def check(self, clause: str, fault: str | None) -> bool:
        """Note whether a clause is kept (no fault), and return it."""
        if fault is None:
            self._kept.add(clause)
        else:
            self._broken.setdefault(clause, fault)
        return fault is None

    def broken(self, clause: str) -> bool:
        """Whether a fault of the clause was found."""
        return clause in self._broken

    def of(self, clauses: Sequence[str], unasked: dict[str, str]) -> list[Finding]:
        """One finding per clause, in that order. unasked: clauses that were not to be checked."""
        found = []
        for clause in clauses:
            if clause in self._broken:
                found.append(Finding(clause, "broken", self._broken[clause]))
            elif clause in self._kept:
                found.append(Finding(clause, "kept"))
            else:
                why = unasked.get(clause, "another clause is broken")
                found.append(Finding(clause, "not checked", why))
        return found


def events(outcome: Outcome, findings: Findings) -> list[Event] | None:
    """The events that a container said on its standard output, None if it broke C5."""
    # What a stage would not listen to breaks the clause.
    hearing = Hearing("the image")
    try:
        for line in outcome.stdout.splitlines():
            hearing(line)
    except ContainerError as error:
        findings.check("C5", error.what)
        return None
    findings.check("C5", None)
    return [parse_event(line, STANDARD_OUTPUT) for line in outcome.stdout.splitlines()]


def ended_well(outcome: Outcome, findings: Findings, clause: str | None) -> bool:
    """Whether a run on good input succeeded; checks C4 to C6.

    clause: the one that failed if it did not; None for the clause that the program ran against.
    """
    if not findings.check("C4", None if outcome.stopped is None else f"it {outcome.stopped}"):
        return False
    heard = events(outcome, findings) or []
    errors = [event["message"] for event in heard if event["event"] == "error"]
    if outcome.status == 0:
        return findings.check("C6", "an error event, yet exit status 0" if errors else None)
    last = shown(errors[-1]) if errors else last_line(outcome.stderr) or "nothing said"
    fault = f"ended with status {outcome.status} on good input: {last}"
    return findings.check(clause or _ran_against(last), fault)


def refused(outcome: Outcome, findings: Findings, what: str, clause: str) -> bool:
    """Whether a run refused bad input as C7 says.

    what: the input, in words. clause: the one that says that it is bad, broken where it is taken.
    """
    if not findings.check("C4", None if outcome.stopped is None else f"it {outcome.stopped}"):
        return False
    said = events(outcome, findings)
    if said is None:
        return False
    if not findings.check(clause, f"{what}: exit status 0" if outcome.status == 0 else None):
        return False
    heard = [event["event"] for event in said]
    fault = None
    if heard.count("error") != 1:
        fault = f"{what}: {heard.count('error')} error events, not one"
    elif heard[-1] != "error":
        fault = f"{what}: the error event is not the last"
    return findings.check("C7", fault)


def _ran_against(words: str) -> str:
    for clause, pattern in MEETING_THE_FENCE:
        if pattern.search(words.lower()):
            return clause
    return "C6"
