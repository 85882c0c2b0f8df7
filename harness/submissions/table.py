"""A verification as text for people."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from decimal import Decimal

from harness.protocols.protocol import Protocol
from harness.submissions.codes import PRECEDENCE
from harness.submissions.contents.layout import UNNAMED
from harness.submissions.model import (
    ClaimResult,
    ListResult,
    MeasureClaim,
    SubmissionResult,
    Verification,
    average_name,
)
from harness.submissions.shown import printable

HEADER = ("system", "list", "claimed", "recomputed", "missed", "accepted", "verdict", "claimed in")
RIGHT = (2, 3, 4, 5)
NOTHING = "-"
DECIMALS = 3
MOST_DECIMALS = 5
# A submission with thousands of faults is told its first ones; the JSON document has them all.
MOST_CHECKS = 40


def to_text(verification: Verification) -> str:
    """All submissions, one after the other; what a terminal would obey is made visible."""
    parts = [_submission(one, verification.protocol) for one in verification.submissions]
    if len(parts) > 1:
        parts.append(f"all {len(parts)} submissions: {verification.verdict}\n")
    return "\n".join(parts)


def _submission(result: SubmissionResult, protocol: Protocol) -> str:
    lines = [f"{result.name}: {result.verdict.upper()} ({protocol.name})"]
    rows = _rows(result, protocol)
    if rows:
        lines += ["", *aligned([HEADER, *rows], RIGHT)]
    if result.measures:
        lines += ["", "claims of other measures", *_measures(result.measures)]
    if result.checks:
        ordered = sorted(result.checks, key=lambda check: PRECEDENCE[check.code])
        lines += ["", "checks"]
        for check in ordered[:MOST_CHECKS]:
            place = check.file or ""
            place += f":{check.line}" if check.line is not None else ""
            lines.append(
                f"  {check.severity:<10}  {check.code}: {check.message}"
                + (f" ({place})" if place else "")
            )
        if len(ordered) > MOST_CHECKS:
            lines.append(f"  and {len(ordered) - MOST_CHECKS} more: --json FILE has them all")
    if result.explanations:
        lines += ["", "explanations"]
        lines += [f"  {one.system} {one.list}: {one.sentence}" for one in result.explanations]
    return "".join(f"{printable(line)}\n" for line in lines)


def _rows(result: SubmissionResult, protocol: Protocol) -> list[tuple[str, ...]]:
    """One row per claim (the same claim of several files is one), list by list, then averages."""
    systems = [one.system for one in result.lists] + [one.system for one in result.claims]
    names = [listed.trials for listed in protocol.lists]
    names += list(dict.fromkeys(average_name(listed.split) for listed in protocol.lists))
    names += [one.list for one in result.claims if one.list not in names]
    by_list = {(one.system, one.list): one for one in result.lists}
    averages = result.averages(protocol)
    claims_of: dict[tuple[str, str], list[ClaimResult]] = {}
    for one in result.claims:
        claims_of.setdefault((one.system, one.list), []).append(one)
    rows = []
    for system in dict.fromkeys(systems):
        for name in dict.fromkeys(names):
            scored = by_list.get((system, name))
            if claims := claims_of.get((system, name)):
                rows += _claim_rows(claims, scored)
            elif scored is not None:
                eer = None if scored.eer is None else 100 * scored.eer.rate
                rows.append((system, name, NOTHING, _number(eer), *_counts(scored), NOTHING, ""))
            elif (system, name) in averages:
                mean = _number(averages[system, name])
                rows.append((system, name, NOTHING, mean, *_counts(None), NOTHING, ""))
    return rows


def _measures(measures: Sequence[MeasureClaim]) -> list[str]:
    """A row for each measure and what it is of, the splits of a system side by side."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for one in measures:
        of = one.dataset if one.gender is None else f"{one.dataset} {one.gender}"
        values = rows.setdefault((one.system or UNNAMED, one.measure, of), [])
        values.append(f"{one.split} {one.value:f}")
    return [
        f"  {line}"
        for line in aligned(
            [(*row, ", ".join(values), "not checkable") for row, values in rows.items()], ()
        )
    ]


def _claim_rows(claims: Sequence[ClaimResult], scored: ListResult | None) -> list[tuple[str, ...]]:
    merged: dict[tuple[str, ...], list[str]] = {}
    for one in claims:
        label = one.list if one.estimator == "official" else f"{one.list} ({one.estimator})"
        counts = _counts(scored) if one.estimator == "official" else (NOTHING, NOTHING)
        verdict = one.verdict if not one.remark else f"{one.verdict}, {one.remark}"
        row = (one.system, label, _claimed(one.claimed), _number(one.recomputed), *counts)
        merged.setdefault((*row, verdict), []).append(one.file.rpartition("/")[2])
    return [(*row, ", ".join(dict.fromkeys(files))) for row, files in merged.items()]


def _claimed(percent: Decimal) -> str:
    """As printed; of a raw fraction's digits those that a verdict may depend on."""
    exponent = percent.as_tuple().exponent
    digits = -exponent if isinstance(exponent, int) else 0
    return f"{percent:.{MOST_DECIMALS}f}…" if digits > MOST_DECIMALS else format(percent, "f")


def _number(percent: float | None) -> str:
    return NOTHING if percent is None else f"{percent:.{DECIMALS}f}"


def _counts(scored: ListResult | None) -> tuple[str, str]:
    if scored is None or scored.eer is None:
        return NOTHING, NOTHING
    eer = scored.eer
    return f"{eer.misses:,}/{eer.n_target:,}", f"{eer.false_alarms:,}/{eer.n_nontarget:,}"


def aligned(rows: Sequence[Sequence[str]], right: Collection[int]) -> list[str]:
    """The lines of a table. right: columns whose text stands at their right end."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
