"""What a verification is made of: checks, claims, scored lists, verdicts.

Rates are in percent, as challenges print them; lists are named by their trial set, averages by
`average <split>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt

from harness.metrics.eer import EqualErrorRate
from harness.protocols.protocol import Protocol
from harness.submissions.codes import PRECEDENCE, SEVERITY, Severity
from harness.submissions.reference import Reference, ReferenceList

Verdict = Literal["verified", "refuted", "not checkable"]
# Which estimator a file's number is defined by; `official` is the edition's.
Estimator = Literal["official", "rocch"]

AVERAGE = "average"


def average_name(split: str) -> str:
    """The name that an average of the lists of a split has in claims and tables."""
    return f"{AVERAGE} {split}"


def lists_of(name: str, protocol: Protocol) -> tuple[str, ...]:
    """The lists that a claim is about, in the edition's order: one, or those that are averaged."""
    return tuple(
        listed.trials
        for listed in protocol.lists
        if name in (listed.trials, average_name(listed.split))
    )


@dataclass(frozen=True)
class Check:
    """A fault or a remark. code: see `codes`. file, line: where it is first; count: how often."""

    code: str
    message: str
    file: str | None = None
    line: int | None = None
    count: int = 1
    submission: str = ""

    @property
    def severity(self) -> Severity:
        """Of its code."""
        return SEVERITY[self.code]


def primary(checks: Iterable[Check]) -> str | None:
    """The code that names the fault best, by the precedence of `codes`; None without checks."""
    return min((check.code for check in checks), key=PRECEDENCE.__getitem__, default=None)


@dataclass(frozen=True)
class Claim:
    """An EER that a submission states.

    system: None where the file does not say it. list: a list's name or an `average_name`.
    percent: exactly as printed, in percent; its exponent is the last printed digit.
    """

    system: str | None
    list: str
    percent: Decimal
    file: str
    line: int | None = None
    estimator: Estimator = "official"

    @property
    def unit(self) -> Decimal:
        """One unit of the last printed digit, in percentage points."""
        exponent = self.percent.as_tuple().exponent
        return Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)


@dataclass(frozen=True)
class MeasureClaim:
    """A value that a submission states of another measure than the EER, which no scores give.

    system: as of a claim. dataset, split, gender: what it is of; gender None: of all speakers.
    value: exactly as printed, in the measure's unit. needs: what it would take to compute it.
    """

    system: str | None
    measure: str
    dataset: str
    split: str
    gender: str | None
    value: Decimal
    file: str
    line: int | None = None
    needs: str = ""
    submission: str = ""

    @property
    def place(self) -> tuple[str, str, str | None]:
        """Data set, split and gender."""
        return self.dataset, self.split, self.gender


@dataclass(frozen=True)
class Scores:
    """Scores of one list as a file gave them, in the order of the list, shape (n_trials,).

    first, last: what stood first and last for a trial, as float32; NaN where there was none. They
    are the same array unless a pair stood twice with different scores.
    """

    first: npt.NDArray[np.float32]
    last: npt.NDArray[np.float32]


@dataclass(frozen=True)
class ListResult:
    """One list of one system: its file, its scores and, where it can be scored, its EER."""

    system: str
    list: str
    file: str
    sha256: str
    scores: Scores | None
    eer: EqualErrorRate | None


@dataclass(frozen=True)
class ClaimResult:
    """A claim beside the recomputed EER, both in percent. remark: why the verdict, if not plain."""

    system: str
    list: str
    claimed: Decimal
    recomputed: float | None
    verdict: Verdict
    file: str
    line: int | None = None
    estimator: Estimator = "official"
    remark: str = ""
    submission: str = ""


@dataclass(frozen=True)
class Explanation:
    """One sentence on a claim. changes: what was done differently to get the claimed number.

    kind: `change` (found), `none` (nothing fits), `feasibility` (a claim without scores).
    """

    system: str
    list: str
    kind: Literal["change", "none", "feasibility"]
    sentence: str
    changes: tuple[str, ...] = ()
    submission: str = ""


@dataclass
class SubmissionResult:
    """All that was found in one submission. sha256: of the archive, None for a folder.

    verdict: of its EERs; claims of other measures (`measures`) are never checkable here.
    team, own_anonymizers: as it says of itself. score_files: the system of each file that claims to
    hold scores, by path, whether it could be read or not. stated: lists of unknown hash, by name,
    as its own scores state them.
    """

    name: str
    sha256: str | None = None
    team: str | None = None
    own_anonymizers: tuple[str, ...] = ()
    score_files: dict[str, str] = field(default_factory=dict)
    stated: Mapping[str, ReferenceList] = field(default_factory=dict)
    verdict: Verdict = "not checkable"
    lists: list[ListResult] = field(default_factory=list)
    claims: list[ClaimResult] = field(default_factory=list)
    measures: list[MeasureClaim] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    explanations: list[Explanation] = field(default_factory=list)

    def averages(self, protocol: Protocol) -> dict[tuple[str, str], float]:
        """Average EERs in percent by system and average, where every list of a split has an EER."""
        means = {}
        for system in dict.fromkeys(one.system for one in self.lists):
            rates = {
                one.list: one.eer.rate
                for one in self.lists
                if one.system == system and one.eer is not None
            }
            for split in (average.split for average in protocol.averages):
                if protocol.weights(split).keys() <= rates.keys():
                    means[system, average_name(split)] = 100 * protocol.average(split, rates)
        return means


@dataclass
class Verification:
    """Submissions verified together. verdict: the worst, refuted before not checkable.

    reference: the lists that all of them are held against.
    """

    protocol: Protocol
    reference: Reference
    submissions: list[SubmissionResult]
    verdict: Verdict = "not checkable"

    def reference_of(self, result: SubmissionResult) -> Reference:
        """What one of them is held against: the lists of all, and those that it states itself."""
        lists = {**self.reference.lists, **result.stated}
        names = [one.trials for one in self.protocol.lists if one.trials in lists]
        return Reference({name: lists[name] for name in names})
