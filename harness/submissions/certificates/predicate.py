"""What a certificate states, version 1 of its predicate.

Rates are in percent. Fields are fixed by the version that PREDICATE_TYPE names.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.submissions.codes import Severity
from harness.submissions.model import Estimator, Verdict

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:anonymization-harness:verification:v1"


@dataclass(frozen=True)
class Subject:
    """A file or folder. digest: by in-toto's name of the algorithm, hexadecimal."""

    name: str
    digest: dict[str, str]


@dataclass(frozen=True)
class Tool:
    """The harness. source_sha256: over all files of the package."""

    version: str
    source_sha256: str


@dataclass(frozen=True)
class CertifiedTrials:
    """A trial list. sha256: of the official text."""

    list: str
    sha256: str
    n_target: int
    n_nontarget: int


@dataclass(frozen=True)
class CertifiedList:
    """The scores of a system for a list. eer_percent: by estimator; None: not checkable.

    threshold, misses, false_alarms: of the official EER.
    """

    system: str
    list: str
    file: str
    sha256: str
    eer_percent: dict[str, float] | None
    threshold: float | None
    misses: int | None
    false_alarms: int | None


@dataclass(frozen=True)
class CertifiedClaim:
    """A claimed EER. claimed_text: with its printed digits; recomputed: None: not checkable."""

    system: str
    list: str
    claimed: float
    claimed_text: str
    recomputed: float | None
    verdict: Verdict
    remark: str
    estimator: Estimator
    file: str
    line: int | None


@dataclass(frozen=True)
class CertifiedCheck:
    """A fault or a remark, see `codes`."""

    code: str
    severity: Severity
    file: str | None
    line: int | None
    count: int
    message: str


@dataclass(frozen=True)
class CertifiedExplanation:
    """A sentence on a claim that does not hold."""

    system: str
    list: str
    kind: Literal["change", "none", "feasibility"]
    sentence: str
    changes: tuple[str, ...]


@dataclass(frozen=True)
class Certified:
    """All of it. subject: the submission, then its score files."""

    subject: tuple[Subject, ...]
    harness: Tool
    benchmark: str
    verdict: Verdict
    trials: tuple[CertifiedTrials, ...]
    lists: tuple[CertifiedList, ...]
    claims: tuple[CertifiedClaim, ...]
    checks: tuple[CertifiedCheck, ...]
    explanations: tuple[CertifiedExplanation, ...]
