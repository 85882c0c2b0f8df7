"""What is kept of what was found in a submission."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from harness.ranking.evidence import MOST_LINES, evidence_of
from harness.ranking.model import CertificateLine, CheckLine, ClaimLine
from harness.submissions.model import Check, ClaimResult, Explanation, SubmissionResult

NAME = "field_test_trials_f"


def claim(percent: str, verdict: str) -> ClaimResult:
    return ClaimResult("A1", NAME, Decimal(percent), 25.0, verdict, "EER")  # type: ignore[arg-type]


def test_the_worst_stands_first() -> None:
    result = SubmissionResult(
        "x.zip",
        sha256="0" * 64,
        verdict="refuted",
        claims=[claim("25.00", "verified"), claim("21.50", "refuted")],
        checks=[Check("order", "not in order", "scores", 7, 12), Check("late", "too late")],
        explanations=[Explanation("A1", NAME, "none", "nothing fits")],
    )
    certificate = CertificateLine("x.json", "1" * 64, "key", "verified")
    found = evidence_of(result, "Team", datetime(2024, 12, 5, 18, tzinfo=UTC), certificate)
    assert (found.name, found.attacker, found.verdict, found.sha256) == (
        "x.zip",
        "Team",
        "refuted",
        "0" * 64,
    )
    assert found.received == "2024-12-05T18:00:00+00:00"
    assert found.claims == (
        ClaimLine("A1", NAME, "21.50", 25.0, "refuted", "EER"),
        ClaimLine("A1", NAME, "25.00", 25.0, "verified", "EER"),
    )
    # By precedence: what stands first names the fault best.
    assert found.checks == (
        CheckLine("order", "note", "not in order", "scores", 7, 12),
        CheckLine("late", "error", "too late"),
    )
    assert found.explanations == (f"A1 {NAME}: nothing fits",)
    assert found.certificate == certificate


def test_thousands_of_faults_are_cut_and_counted() -> None:
    result = SubmissionResult(
        "x.zip",
        claims=[claim("25", "verified")] * (MOST_LINES + 3) + [claim("1", "refuted")],
        checks=[Check("order", "x")] * (MOST_LINES + 1),
    )
    found = evidence_of(result, "Team", None, None)
    assert (len(found.claims), len(found.checks)) == (MOST_LINES, MOST_LINES)
    assert found.claims[0].verdict == "refuted"
    assert found.explanations == (
        "4 more claims: `harness verify` shows them",
        "1 more checks: `harness verify` shows them",
    )
