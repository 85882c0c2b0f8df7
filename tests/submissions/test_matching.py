from __future__ import annotations

from decimal import Decimal

import pytest

from harness.submissions.explanations.matching import chance, fits
from harness.submissions.model import Claim


def claimed(text):
    return Claim("A", "a list", Decimal(text), "EER")


@pytest.mark.parametrize(
    ("claim", "value", "expected"),
    [
        ("27.61", 27.6149, True),  # rounded
        ("27.61", 27.6051, True),  # rounded
        ("27.61", 27.6199, True),  # cut
        ("27.61", 27.6201, False),
        ("27.61", 27.6049, False),
        ("12.910156", 12.9106, True),  # three decimals are what official scripts print
        ("12.910156", 12.9108, False),
        ("34", 34.9, True),
        ("34", 33.4, False),
        ("1E+400", 34.0, False),
    ],
)
def test_fits(claim, value, expected):
    assert fits(claimed(claim), value) is expected


def test_fits_a_fraction():
    # 0.279 as a percentage is 27.9 as a fraction: its last digit is worth 0.1 points.
    assert fits(claimed("0.279"), 27.94, 100)
    assert not fits(claimed("0.279"), 27.84, 100)


def test_chance_is_the_share_of_claims_that_fit():
    # 20.5 is printed 20.5, cut or rounded: claims from 20.4 (cut) to 20.55, of those in 18 to 22.
    claim = claimed("20.5")
    assert chance(claim, [(20.5, 1)], 20.0) == pytest.approx(0.15 / 4, abs=1e-4)
    # What overlaps counts once: 20.4 to 20.6.
    assert chance(claim, [(20.5, 1), (20.55, 1)], 20.0) == pytest.approx(0.2 / 4, abs=1e-4)
    assert chance(claim, [], 20.0) == 0


def test_chance_is_measured_near_the_claim_where_the_official_eer_is_far():
    claim = claimed("80.5")
    assert chance(claim, [(20.5, 1)], 20.0) == 0
    assert chance(claim, [(80.5, 1)], 20.0) == pytest.approx(0.15 / 4, abs=1e-4)
    assert chance(claim, [(80.5, 1)], None) == pytest.approx(0.15 / 4, abs=1e-4)


def test_chance_near_zero():
    # No claim is below 0, so the range is 0 to 2.5.
    assert chance(claimed("0.4"), [(0.5, 1)], 0.5) == pytest.approx(0.15 / 2.5, abs=1e-4)
