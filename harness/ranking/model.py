"""A ranking as plain data: what `harness rank --json` writes and the report shows.

Rates are in percent, as challenges print them. Intervals have the level that `Method` says; where
one would mislead it is absent, with a reason. Texts of strangers (names of teams, files, remarks)
are as they came: whoever shows them makes them harmless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FORMAT = 1

Status = Literal["official", "unofficial", "late", "refuted", "not checkable"]
# Of these a rank is never given: their claims do not hold, or could not be held against scores.
APART: tuple[Status, ...] = ("refuted", "not checkable")


@dataclass(frozen=True)
class Estimate:
    """An EER, or a mean of EERs. low, high: ends of the interval; None with the reason."""

    percent: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True)
class ListRate:
    """One list scored by one attacker of one training.

    det: false-alarm and miss rates as fractions, at some thresholds. speakers: EER in percent of
    each enrolled speaker, None where the speaker has trials of one class alone. file, sha256: of
    the scores. seed: of the training; None where it is not told.
    """

    list: str
    split: str
    gender: str
    percent: float
    misses: int
    false_alarms: int
    n_target: int
    n_nontarget: int
    file: str
    sha256: str
    seed: int | None = None
    det: tuple[tuple[float, float], ...] = ()
    speakers: dict[str, float | None] | None = None


@dataclass(frozen=True)
class Row:
    """One attacker against one system.

    attacker: the team, or the attacker's name in params.yaml. entry: where it comes from, the name
    of an `Evidence`. reasons: why it is not official, or stands apart, and
    what looks odd about its scores. counted: whether it is the
    entry that counts of those of its team. averages: by split; the mean over trainings where there
    are several, and deviations: their standard deviation, in points. rank: from 1, ties share the
    better; None unless it is official and counts. ranks: its interval. tier: from 1. would_rank:
    for one that is not ranked but could be, the rank it would have among those that are.
    """

    attacker: str
    entry: str
    status: Status
    reasons: tuple[str, ...] = ()
    counted: bool = True
    rates: tuple[ListRate, ...] = ()
    averages: dict[str, Estimate] | None = None
    deviations: dict[str, float] | None = None
    rank: int | None = None
    ranks: tuple[int, int] | None = None
    tier: int | None = None
    would_rank: int | None = None


@dataclass(frozen=True)
class Reference:
    """A published EER that stands beside a board and is never ranked."""

    label: str
    split: str
    percent: float
    source: str


@dataclass(frozen=True)
class Board:
    """The attackers of one system as shown: ranked ones by rank, then others, then those apart.

    split: the one that ranks. strongest: the lowest EER of all verified rows, with the interval of
    a minimum; strongest_of: whose it is, several where they tie.
    """

    system: str
    title: str
    split: str
    rows: tuple[Row, ...]
    references: tuple[Reference, ...] = ()
    strongest: Estimate | None = None
    strongest_of: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OverallRow:
    """place: ties share the better. score: what the rule ranks by. ranks: by system; missing: the
    systems that the team has no counted entry for."""

    attacker: str
    place: int
    score: float
    ranks: dict[str, int]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Overall:
    """All systems together. rule: spelled out. top: how many are invited; a tie may add some."""

    rule: str
    top: int
    rows: tuple[OverallRow, ...]


@dataclass(frozen=True)
class Without:
    """The systems' order when one attacker is left out. order: most private first. moved: the
    systems whose place differs from that with all attackers."""

    attacker: str
    order: tuple[str, ...]
    moved: tuple[str, ...]


@dataclass(frozen=True)
class TwoSided:
    """Anonymizers against attackers. privacy: of each system the strongest attacker's EER.

    systems: most private first; those with no verified attack are left out. places: of each, ties
    share the better. strongest: of each whose EER that is, several where they tie. note: how to
    read the interval of a minimum.
    """

    systems: tuple[str, ...]
    places: dict[str, int]
    attackers: tuple[str, ...]
    privacy: dict[str, Estimate]
    strongest: dict[str, tuple[str, ...]]
    without: tuple[Without, ...]
    note: str


@dataclass(frozen=True)
class ClaimLine:
    """A claim beside what its scores give. claimed: as printed, percent."""

    system: str
    list: str
    claimed: str
    recomputed: float | None
    verdict: str
    file: str
    remark: str = ""


@dataclass(frozen=True)
class CheckLine:
    """A check. severity: note, error or unscorable."""

    code: str
    severity: str
    message: str
    file: str | None = None
    line: int | None = None
    count: int = 1


@dataclass(frozen=True)
class CertificateLine:
    """A signed certificate of this archive. keyid: who signed. rerun: verdict of running the
    attacker again, None where it was not. file, sha256: of the certificate itself."""

    file: str
    sha256: str
    keyid: str
    verdict: str
    rerun: str | None = None


@dataclass(frozen=True)
class Evidence:
    """A submission: what was found in it, and by which file that can be checked.

    name: of the archive. sha256: of the archive; None for a folder. received: as the organizer
    said, ISO 8601.
    """

    name: str
    attacker: str
    verdict: str
    sha256: str | None = None
    received: str | None = None
    claims: tuple[ClaimLine, ...] = ()
    checks: tuple[CheckLine, ...] = ()
    explanations: tuple[str, ...] = ()
    certificate: CertificateLine | None = None


@dataclass(frozen=True)
class Method:
    """How intervals, ranks and tiers were made. unit: what is resampled. level: a fraction."""

    draws: int
    level: float
    unit: str
    seed: int


@dataclass(frozen=True)
class Ranking:
    """All of it. rules: the edition's rules as applied, one sentence each. remarks: what whoever
    ranked should know, one sentence each."""

    format: int
    harness: str
    benchmark: str
    title: str
    method: Method
    rules: tuple[str, ...]
    boards: tuple[Board, ...]
    overall: Overall | None = None
    two_sided: TwoSided | None = None
    evidence: tuple[Evidence, ...] = ()
    remarks: tuple[str, ...] = ()
