"""Scenarios, as the VoicePrivacy 2024 plan and the papers name them."""

from __future__ import annotations

import pytest

from harness.protocols.scenarios import SCENARIOS, of_system

ORIGINAL, ANONYMIZED = "original", "anonymized"


@pytest.mark.parametrize(
    ("name", "enrolment", "trial", "train"),
    [
        ("original", ORIGINAL, ORIGINAL, ORIGINAL),
        ("ignorant", ORIGINAL, ANONYMIZED, ORIGINAL),
        ("lazy-informed", ANONYMIZED, ANONYMIZED, ORIGINAL),
        ("semi-informed", ANONYMIZED, ANONYMIZED, ANONYMIZED),
    ],
)
def test_definitions(name: str, enrolment: str, trial: str, train: str) -> None:
    (found,) = [scenario for scenario in SCENARIOS if scenario.name == name]
    assert (found.enrolment, found.trial, found.train) == (enrolment, trial, train)


def test_scenarios_of_a_system() -> None:
    assert [s.name for s in of_system(is_original=True)] == ["original"]
    assert [s.name for s in of_system(is_original=False)] == [
        "ignorant",
        "lazy-informed",
        "semi-informed",
    ]
