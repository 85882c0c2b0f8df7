"""Scenarios: what the attacker is trained on, and which speech it compares.

Names as in the VoicePrivacy papers. `original`: original enrolment and trials; `ignorant`: original
enrolment, anonymized trials; `lazy-informed`: both anonymized, the attacker trained on original
speech; `semi-informed`: both anonymized, trained on speech of the same system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Speech = Literal["original", "anonymized"]


@dataclass(frozen=True)
class Scenario:
    """enrolment, trial, train: the kind of speech in each role."""

    name: str
    enrolment: Speech
    trial: Speech
    train: Speech


ORIGINAL = Scenario("original", "original", "original", "original")
IGNORANT = Scenario("ignorant", "original", "anonymized", "original")
LAZY_INFORMED = Scenario("lazy-informed", "anonymized", "anonymized", "original")
SEMI_INFORMED = Scenario("semi-informed", "anonymized", "anonymized", "anonymized")
SCENARIOS = (ORIGINAL, IGNORANT, LAZY_INFORMED, SEMI_INFORMED)


def of_system(is_original: bool) -> tuple[Scenario, ...]:
    """The scenarios that are run for a system: one for original speech, three for the others."""
    return (ORIGINAL,) if is_original else (IGNORANT, LAZY_INFORMED, SEMI_INFORMED)
