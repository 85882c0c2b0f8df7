"""Expected verdicts are from the rules: half a unit of the last printed digit, one for means."""

from __future__ import annotations

from decimal import Decimal

import pytest

from harness.submissions.model import Check, Claim, ClaimResult
from harness.submissions.verdict import judge, tolerance, whole, worst


def claim(text: str, name: str = "libri_dev_trials_f") -> Claim:
    return Claim("B4", name, Decimal(text), "EER")


def result(verdict: str) -> ClaimResult:
    return ClaimResult("B4", "libri_dev_trials_f", Decimal(1), 1.0, verdict, "EER")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claimed", "recomputed", "verdict", "remark"),
    [
        # B4, dev f: 34.378 at full precision is printed 34.37 in the plan's Table 3.
        ("34.378", 34.37812, "verified", ""),
        ("34.38", 34.37812, "verified", ""),
        ("34.37", 34.37812, "verified", "truncated"),
        ("34.36", 34.37812, "refuted", ""),
        ("34.39", 34.37812, "refuted", ""),
        ("34.379", 34.37812, "refuted", ""),
        ("34.4", 34.37812, "verified", ""),
        ("34.3", 34.37812, "verified", "truncated"),
        ("34", 34.37812, "verified", ""),
        ("35", 34.37812, "refuted", ""),
        # Fractions of one and of no decimal, 0.3 and 0: held to a whole point, not to ten or more.
        ("3E+1", 34.37812, "refuted", ""),
        ("3E+1", 30.4, "verified", ""),
        ("0E+2", 34.37812, "refuted", ""),
        # More digits than the official three are held to half of the third.
        ("34.37769", 34.37812, "verified", ""),
        ("34.37712", 34.37812, "refuted", ""),
        # Exactly half a unit away: 28.425 is what 28.4255 - 0.0005 prints.
        ("28.425", 28.4255, "verified", ""),
        ("28.43", 28.425, "verified", ""),
        # That far again for single precision, and no farther.
        ("28.425", 28.425505, "verified", ""),
        ("28.425", 28.42552, "verified", "truncated"),
        ("28.426", 28.425495, "verified", ""),
        ("28.426", 28.42548, "refuted", ""),
        ("0", 0.0, "verified", ""),
        ("10.511", None, "not checkable", ""),
    ],
)
def test_a_list(claimed: str, recomputed: float | None, verdict: str, remark: str) -> None:
    assert judge(claim(claimed), recomputed) == (verdict, remark)


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [("30.26", "verified"), ("30.27", "verified"), ("30.25", "refuted"), ("30.28", "refuted")],
)
def test_a_mean_at_one_unit(claimed: str, verdict: str) -> None:
    # B4, eval: (29.378 + 31.155) / 2 = 30.2665 is printed 30.26.
    assert judge(claim(claimed, "average test"), 30.2665)[0] == verdict


def test_the_least_tolerance_is_half_the_third_decimal() -> None:
    assert float(tolerance(claim("12.9100"))) == pytest.approx(0.0005, abs=2e-5)
    assert float(tolerance(claim("12.91"))) == pytest.approx(0.005, abs=2e-5)
    assert float(tolerance(claim("12.91", "average dev"))) == pytest.approx(0.01, abs=2e-5)


@pytest.mark.parametrize(
    ("claims", "checks", "verdict"),
    [
        ("v", "", "verified"),
        ("v", "note error", "verified"),
        ("v", "unscorable", "not checkable"),
        ("", "", "not checkable"),
        ("vn", "", "not checkable"),
        ("n", "", "not checkable"),
        ("vr", "", "refuted"),
        ("rn", "unscorable", "refuted"),
    ],
)
def test_skipped_is_never_verified(claims: str, checks: str, verdict: str) -> None:
    letters = {"v": "verified", "r": "refuted", "n": "not checkable"}
    codes = {"note": "order", "error": "header", "unscorable": "pair-missing"}
    found = whole(
        [result(letters[letter]) for letter in claims],
        [Check(codes[severity], "") for severity in checks.split()],
    )
    assert found == verdict


def test_the_worst_of_several() -> None:
    assert worst(["verified", "verified"]) == "verified"
    assert worst(["verified", "not checkable"]) == "not checkable"
    assert worst(["refuted", "not checkable", "verified"]) == "refuted"
    assert worst([]) == "not checkable"
