from __future__ import annotations

from decimal import Decimal

import pytest

from harness.submissions.explanations.matching import chance, fits, is_cut
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


def test_a_coarse_claim_is_held_to_a_point():
    # 30 from the fraction 0.3, one digit: as the verdict, it takes it for 29.5 to 31.
    claim = claimed("3E+1")
    assert fits(claim, 30.9)
    assert not fits(claim, 31.1)
    assert not fits(claim, 28.9)


def test_zero_is_no_fraction_of_everything():
    assert fits(claimed("0.3"), 34.9, 100)
    assert not fits(claimed("0"), 12.5, 100)


def test_is_cut():
    assert is_cut(claimed("27.61"), 27.6199)
    assert not is_cut(claimed("27.61"), 27.6149)
    assert not is_cut(claimed("27.61"), 27.6051)
    assert is_cut(claimed("0.279"), 27.96, 100)


def test_chance_is_the_share_of_claims_that_fit():
    # 20.5 is printed 20.5, cut or rounded: claims from 20.4 (cut) to 20.55, of those that are half
    # to twice as far from the official EER, 19.75 to 21.
    claim = claimed("20.5")
    assert chance(claim, [(20.5, 1)], 19.0) == pytest.approx(0.15 / 2.25, abs=1e-4)
    # What overlaps counts once: 20.4 to 20.6.
    assert chance(claim, [(20.5, 1), (20.55, 1)], 19.0) == pytest.approx(0.2 / 2.25, abs=1e-4)
    assert chance(claim, [], 19.0) == 0
    # On the other side, 18 to 21.25.
    assert chance(claim, [(20.5, 1)], 22.0) == pytest.approx(0.15 / 2.25, abs=1e-4)
    assert chance(claim, [(22.5, 1)], 22.0) == 0


def test_chance_is_measured_among_claims_that_are_refuted():
    # Up to half a unit above it is verified; ten units beyond are the fewest to be looked at.
    assert chance(claimed("27.93"), [(27.9249, 1)], 27.9249) == pytest.approx(0, abs=1e-3)
    claim = claimed("27.94")
    assert chance(claim, [(27.94, 1)], 27.92) == pytest.approx(0.015 / 0.1, abs=1e-3)
    below = claimed("27.90")
    assert chance(below, [(27.92, 1)], 27.92) == pytest.approx(0, abs=1e-3)
    assert chance(below, [(27.90, 1)], 27.92) == pytest.approx(0.015 / 0.1, abs=1e-3)


def test_chance_is_measured_near_the_claim_where_the_official_eer_is_far():
    claim = claimed("80.5")
    assert chance(claim, [(20.5, 1)], 20.0) == 0
    assert chance(claim, [(80.5, 1)], 20.0) == pytest.approx(0.15 / 4, abs=1e-4)
    assert chance(claim, [(80.5, 1)], None) == pytest.approx(0.15 / 4, abs=1e-4)


def test_chance_near_zero():
    # No claim is below 0: 0 to 2.4, and 0 to what of the official EER is verified.
    assert chance(claimed("0.4"), [(0.5, 1)], None) == pytest.approx(0.15 / 2.4, abs=1e-4)
    assert chance(claimed("0.1"), [(0.3, 1)], 0.5) == pytest.approx(0.1 / 0.3, abs=1e-3)
    # Nothing is left between 0 and the verified ones.
    assert chance(claimed("0.0"), [(0.1, 1)], 0.05) == pytest.approx(0.15, abs=1e-3)
