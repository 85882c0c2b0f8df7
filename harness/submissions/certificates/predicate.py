"""What a certificate states: a verification, and in version 2 of the predicate also reruns.

Rates are in percent. Fields are fixed by the version that the predicate's type names. Version 2 is
written only where there is a rerun, so whoever knows version 1 reads all other certificates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.metrics.agreement import Agreed
from harness.submissions.codes import Severity
from harness.submissions.model import Estimator, Verdict

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:anonymization-harness:verification:v1"
PREDICATE_TYPE_RERUN = "urn:anonymization-harness:verification:v2"

Outcome = Literal["reproduced", "not reproduced", "not checkable"]
Level = Literal["sample", "full"]
State = Literal["kept", "moved", "failed"]
# What ended the rerun of a system before its time.
Reason = Literal["", "scores", "speech", "model", "image"]


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
class RerunList:
    """Scores of a list, submitted and again. same: within the tolerances, the EERs too.

    share, rank_share: largest difference as a share of the spread of the submitted scores, and
    largest movement in rank as a share of the pairs. beyond: pairs that differ by more than the
    tolerance. enrolments_sha256, trials_sha256: of the manifests of the speech, which hold the hash
    of each utterance. worst: `<enrolled speaker> <trial utterance>` of the largest difference, with
    both scores. share: None where all submitted scores are the same and others came. eer_submitted,
    eer_again: None where only a sample was scored.
    """

    list: str
    enrolments_sha256: str
    trials_sha256: str
    same: bool
    pairs: int
    agreed: Agreed
    share: float | None
    rank_share: float
    beyond: int
    worst: str
    submitted: float
    again: float
    eer_submitted: float | None
    eer_again: float | None


@dataclass(frozen=True)
class RerunExperiment:
    """A run with something changed that no pair has to do with; shares as of a `RerunList`.

    small: it moved, no farther than padding or the order of sums may, and the order is the same.
    What moves by the experiment `inaudible` is a note, and no part of the outcome.
    """

    list: str
    experiment: str
    state: State
    small: bool
    pairs: int
    share: float | None
    rank_share: float
    beyond: int
    sentence: str


@dataclass(frozen=True)
class RerunSystem:
    """An attacker against one system, run again.

    model_sha256: over the names and contents of the model's files; None: the image has its own.
    """

    system: str
    model_sha256: str | None
    outcome: Outcome
    reason: Reason
    repeatable: bool
    lists: tuple[RerunList, ...]
    experiments: tuple[RerunExperiment, ...]


@dataclass(frozen=True)
class CertifiedRerun:
    """An attacker's image, run again. image: its digest. seed: samples were drawn by it.

    parameters_sha256: of the parameters that it was given.
    """

    image: str
    parameters_sha256: str
    level: Level
    seed: int
    outcome: Outcome
    tolerances: dict[str, float]
    systems: tuple[RerunSystem, ...]


@dataclass(frozen=True)
class Certified:
    """All of it. subject: the submission, then its score files. reruns: of version 2."""

    subject: tuple[Subject, ...]
    harness: Tool
    benchmark: str
    verdict: Verdict
    trials: tuple[CertifiedTrials, ...]
    lists: tuple[CertifiedList, ...]
    claims: tuple[CertifiedClaim, ...]
    checks: tuple[CertifiedCheck, ...]
    explanations: tuple[CertifiedExplanation, ...]
    reruns: tuple[CertifiedRerun, ...] = ()
