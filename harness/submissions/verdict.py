"""Verdicts: a claim beside the recomputed EER, and the whole.

Rules. A claim is compared at half a unit of its last printed digit, a mean of lists at one unit
(published means were made from numbers already cut), both at least LEAST_TOLERANCE. A claim that
equals the recomputed value cut, not rounded, at its last digit is verified and called truncated.
What cannot be compared is not checkable, and what was skipped is never called verified.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_DOWN, Decimal

from harness.submissions.model import AVERAGE, Check, Claim, ClaimResult, Verdict

# Claims printed in larger steps of percentage points are held to these: `0.2` is no 15 to 25 %.
LARGEST_UNIT = Decimal(1)
# Official values are printed with three decimals, in percentage points.
LEAST_TOLERANCE = Decimal("0.0005")
# The official rates are float32: 6e-8 of the value, in percentage points.
SINGLE_PRECISION = Decimal("0.00001")
TRUNCATED = "truncated"


def tolerance(claim: Claim) -> Decimal:
    """Percentage points by which the recomputed EER may differ from the claim."""
    units = Decimal(1) if claim.list.startswith(f"{AVERAGE} ") else Decimal("0.5")
    return max(units * _unit(claim), LEAST_TOLERANCE) + SINGLE_PRECISION


def _unit(claim: Claim) -> Decimal:
    return min(claim.unit, LARGEST_UNIT)


def judge(claim: Claim, recomputed: float | None) -> tuple[Verdict, str]:
    """The verdict on a claim and a remark, empty where it is plain. recomputed: in percent."""
    if recomputed is None:
        return "not checkable", ""
    exact = Decimal(recomputed)
    if abs(claim.percent - exact) <= tolerance(claim):
        return "verified", ""
    if claim.percent == exact.quantize(_unit(claim), rounding=ROUND_DOWN):
        return "verified", TRUNCATED
    return "refuted", ""


def whole(claims: Iterable[ClaimResult], checks: Iterable[Check]) -> Verdict:
    """One false claim refutes; else every claim must be verified, and nothing be unscorable."""
    verdicts = {claim.verdict for claim in claims}
    if "refuted" in verdicts:
        return "refuted"
    if verdicts != {"verified"} or any(check.severity == "unscorable" for check in checks):
        return "not checkable"
    return "verified"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict on several submissions together."""
    found = set(verdicts)
    if "refuted" in found:
        return "refuted"
    return "verified" if found == {"verified"} else "not checkable"
