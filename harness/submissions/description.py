"""`submission.yaml`: what a team says of its submission."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

FILE_NAME = "submission.yaml"


@dataclass(frozen=True)
class Resource:
    """Data or a model from outside the challenge. declared: date of the declaration, YYYY-MM-DD."""

    name: str
    kind: Literal["data", "model"]
    source: str
    declared: str | None = None


@dataclass(frozen=True)
class Description:
    """The file as a whole.

    claims: EER in percent as text (so that its digits are kept), by system and list or average.
    description: path of the system description within the submission. own_anonymizers: systems
    that the team itself made; own_code_released: date (YYYY-MM-DD) when their code became public.
    files: SHA-256 of every other file, by its path beside submission.yaml.
    """

    format: Literal[1]
    benchmark: str
    team: str
    description: str
    systems: tuple[str, ...]
    claims: dict[str, dict[str, str]]
    files: dict[str, str]
    resources: tuple[Resource, ...] = ()
    own_anonymizers: tuple[str, ...] = ()
    own_code_released: str | None = None
    notes: dict[str, str] = field(default_factory=dict)
