"""What was found in a submission, beside its places: claims, checks, explanations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from harness.ranking.model import CertificateLine, CheckLine, ClaimLine, Evidence
from harness.submissions.codes import PRECEDENCE
from harness.submissions.model import SubmissionResult

T = TypeVar("T")

# An archive may state thousands of claims and have thousands of faults.
MOST_LINES = 100
VERDICTS = ("refuted", "not checkable", "verified")


def evidence_of(
    result: SubmissionResult,
    team: str,
    received: datetime | None,
    certificate: CertificateLine | None,
) -> Evidence:
    """Of one submission; of many claims and checks the worst ones.

    received, certificate: None where there is none.
    """
    claims = sorted(result.claims, key=lambda one: VERDICTS.index(one.verdict))
    checks = sorted(result.checks, key=lambda one: PRECEDENCE[one.code])
    left_out = _left_out("claims", claims) + _left_out("checks", checks)
    return Evidence(
        name=result.name,
        attacker=team,
        verdict=result.verdict,
        sha256=result.sha256,
        received=None if received is None else received.isoformat(),
        claims=tuple(
            ClaimLine(
                system=one.system,
                list=one.list,
                claimed=format(one.claimed, "f"),
                recomputed=one.recomputed,
                verdict=one.verdict,
                file=one.file,
                remark=one.remark,
            )
            for one in claims[:MOST_LINES]
        ),
        checks=tuple(
            CheckLine(one.code, one.severity, one.message, one.file, one.line, one.count)
            for one in checks[:MOST_LINES]
        ),
        explanations=(
            *(
                f"{one.system} {one.list}: {one.sentence}"
                for one in result.explanations[:MOST_LINES]
            ),
            *left_out,
        ),
        certificate=certificate,
    )


def _left_out(what: str, entries: Sequence[T]) -> list[str]:
    more = len(entries) - MOST_LINES
    return [f"{more} more {what}: `harness verify` shows them"] if more > 0 else []
