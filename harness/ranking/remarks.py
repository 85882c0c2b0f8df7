"""What whoever ranks should know of submissions: one sentence each, so that none is lost unseen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from harness.protocols.protocol import Protocol
from harness.ranking.contest import Contestant
from harness.ranking.entries import SUSPICIOUS
from harness.ranking.register import Registered
from harness.submissions.codes import PRECEDENCE
from harness.submissions.contents.rules import SUBMISSION
from harness.submissions.model import SubmissionResult


def on_no_board(
    results: Iterable[SubmissionResult], contestants: Iterable[Contestant], protocol: Protocol
) -> Iterator[str]:
    """A remark for each submission that no board shows, with the check that names the cause."""
    shown = {one.entry for one in contestants}
    for result in results:
        if result.name in shown:
            continue
        checks = [one for one in result.checks if one.code not in SUSPICIOUS]
        cause = min(checks, key=lambda one: PRECEDENCE[one.code], default=None)
        because = "" if cause is None else f" ({cause.code}: {cause.message})"
        yield f"{result.name}: on no board, has no scores of a system of {protocol.name}{because}"


def suspicious(results: Iterable[SubmissionResult]) -> Iterator[str]:
    """A remark for each submission whose scores look as if they were copied or made of labels."""
    for result in results:
        found = {check.code for check in result.checks}
        if odd := [code for code in SUSPICIOUS if code in found]:
            yield (
                f"{result.name}: {', '.join(odd)}: that its EERs are verified does not say that an "
                "attacker made the scores; run the attacker again"
            )


def not_registered(
    results: Iterable[SubmissionResult],
    register: Mapping[str, Registered],
    path: Path,
    protocol: Protocol,
) -> Iterator[str]:
    """A remark for each submission of which the register at `path` lacks the row or the time."""
    # An edition without a deadline has no late submissions.
    unchecked = ["not checked for lateness"] if SUBMISSION in protocol.dates else []
    for result in results:
        registered = register.get(result.name)
        if registered is None:
            said = ", ".join(["a team of its own", *unchecked])
            yield f"{result.name}: no row in {path.name}: {said}"
        elif registered.received is None and unchecked:
            yield f"{result.name}: no time in {path.name}: {unchecked[0]}"
