"""A stranger's score file becomes one float32 per trial, in the order of the list.

Goal: exactly what the official scripts read, `float(text)` cast to float32, where a file has the
official form; elsewhere the fault by its code. What can still be read in one way only is read so.
Memory is bounded by the lists, never by the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.submissions.codes import PRECEDENCE
from harness.submissions.limits import Limits
from harness.submissions.members import Member
from harness.submissions.model import Check, Scores
from harness.submissions.reference import Reference, ReferenceList
from harness.submissions.scores.lines import Fault, Faults, Lines, iterate_lines, quote
from harness.submissions.scores.pairs import Table

__all__ = ["Reading", "iterate_lines", "read_scores"]

# {n}: how often, {lines}: the same with its noun, {example}: what stands in the first place.
MESSAGES = {
    "file-empty": "no score in it",
    "encoding-invalid": "{lines} not UTF-8 or with NUL, the first is {example}: write plain UTF-8",
    "encoding-utf16": "UTF-16: write UTF-8",
    "encoding-bom": "begins with a byte order mark: write UTF-8 without it",
    "line-ends": "{n} line ends are CR LF or CR: write LF",
    "header": "{lines} of header, {example}: a score file has none",
    "decimal-comma": "a comma for the decimal point in {lines}, the first is {example}: "
    "write a point",
    "separators": "{lines} not separated by one space each, the first is {example}",
    "blank-lines": "{lines} blank: remove them",
    "columns-swapped": "{lines} with the utterance before the speaker, the first is {example}: "
    "write enrolled speaker, trial utterance, score",
    "columns": "{lines} without the three columns speaker, utterance, score, the first is "
    "{example}",
    "number": "no number for a score in {lines}, the first is {example}",
    "non-finite": "NaN, or infinite in single precision, in {lines}, the first is {example}: the "
    "attacker must give a finite number for every trial",
    "pair-conflict": "another score for a pair that stands before in {lines}, the first is "
    "{example}: write each trial once",
    "pair-duplicate": "an earlier pair with the same score again in {lines}, the first is "
    "{example}: write each trial once",
    "final-newline": "the last line has no line end",
}


@dataclass(frozen=True)
class Reading:
    """What a score file says. All arrays are in the order of the list, shape (n_trials,).

    scores: None where no trial of the list has a score that can be told. scorable: each has, and
    one only. digits: characters that the first score of a trial is printed with (at most 255);
    order: number of its line; both 0 where there is none.
    as_list, as_scores: where columns or lists were swapped, the list whose trials the file holds
    all the same, each with a score, and these scores.
    """

    scores: Scores | None
    scorable: bool
    sha256: str
    checks: tuple[Check, ...]
    digits: npt.NDArray[np.uint8]
    order: npt.NDArray[np.int64]
    as_list: str | None = None
    as_scores: Scores | None = None


def read_scores(
    member: Member, listed: ReferenceList, reference: Reference, limits: Limits
) -> Reading:
    """Read a file that should hold the scores of `listed`, one of the lists of `reference`.

    Faults are checks of the result, one per code. Raises SubmissionError for a file or a line above
    its limit (file-limit) and for what the archive refuses to read.
    """
    with member.open() as stream:
        lines = Lines(stream, limits, member.path)
        faults = lines.faults
        table = Table(reference, faults)
        for start, block in lines.blocks():
            table.add(start, block)
    held = table.held()
    instead = _swapped_with(listed, held) if table.begun else None
    checks = [
        _check(member.path, code, fault) for code, fault in faults.items() if code in MESSAGES
    ]
    if instead is not None:
        checks.append(_swapped(member.path, listed, reference.lists[instead], held))
    elif not table.begun and not faults.keys() & {"columns", "encoding-invalid"}:
        checks.append(_check(member.path, "file-empty", Fault(1, b"", 1)))
    else:
        checks += _pairs(member.path, listed, table, faults, held)
    checks.sort(key=lambda check: PRECEDENCE[check.code])

    own = table.range_of(listed.name)
    swapped = instead is not None or "columns-swapped" in faults
    as_list = instead or listed.name
    complete = swapped and not np.isnan(table.first[table.range_of(as_list)]).any()
    return Reading(
        scores=table.scores(listed.name) if held[listed.name] and not swapped else None,
        scorable=not any(check.severity == "unscorable" for check in checks),
        sha256=lines.sha256,
        checks=tuple(checks),
        digits=table.digits[own],
        order=table.line[own],
        as_list=as_list if complete else None,
        as_scores=table.scores(as_list) if complete else None,
    )


def _check(path: str, code: str, fault: Fault) -> Check:
    n = f"{fault.count:,}"
    message = MESSAGES[code].format(
        n=n,
        lines=f"{n} line" if fault.count == 1 else f"{n} lines",
        example=quote(fault.example),
    )
    return Check(code, message, path, fault.line, fault.count)


def _swapped_with(listed: ReferenceList, held: dict[str, int]) -> str | None:
    """The other list that most pairs of a file are of, unless its own is complete."""
    other = max((name for name in held if name != listed.name), key=held.__getitem__, default=None)
    if other is None or held[listed.name] == len(listed):
        return None
    return other if 2 * held[other] > sum(held.values()) else None


def _swapped(path: str, listed: ReferenceList, other: ReferenceList, held: dict[str, int]) -> Check:
    code = "gender-swapped" if other.listed.split == listed.listed.split else "split-swapped"
    message = (
        f"{held[other.name]:,} of its pairs are trials of {other.name} and "
        f"{held[listed.name]:,} of {listed.name}: put the scores of {listed.name} there"
    )
    return Check(code, message, path, count=held[other.name])


def _pairs(
    path: str, listed: ReferenceList, table: Table, faults: Faults, held: dict[str, int]
) -> list[Check]:
    """Trials without a score, and pairs that are no trial of the list."""
    checks = []
    own = table.range_of(listed.name)
    missing = np.flatnonzero(table.line[own] == 0)
    # A trial is not missing where its line is there and cannot be read.
    if len(missing) > faults.count("columns") + faults.count("encoding-invalid"):
        first = quote(listed.keys[missing[0]])
        message = f"no score for {len(missing):,} of {len(listed):,} trials, the first is {first}"
        checks.append(Check("pair-missing", message, path, count=len(missing)))

    unknown = faults.get("pair-unknown", Fault(0, b"", 0))
    lines = [(unknown.line, unknown.example)] if unknown.count else []
    elsewhere = sum(held.values()) - held[listed.name]
    if elsewhere:
        outside = np.ones(len(table.line), np.bool_)
        outside[own] = False
        places = np.flatnonzero(outside & (table.line > 0))
        earliest = int(places[np.argmin(table.line[places])])
        lines.append((int(table.line[earliest]), table.key(earliest)))
    if lines:
        line, key = min(lines)
        count = unknown.count + elsewhere
        pairs = "1 pair that is" if count == 1 else f"{count:,} pairs that are"
        message = f"{pairs} no trial of {listed.name}, the first is {quote(key)}"
        checks.append(Check("pair-unknown", message, path, line, count))
    return checks
