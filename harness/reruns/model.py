"""What a rerun is made of: scores that came again or not, experiments on the pair rule, outcomes.

Outcomes. A system is `not reproduced` when a list's scores differ from the submitted ones, or an
experiment moves them: one is enough. Else it is `not checkable` when the image (in an experiment,
too), the model, the speech or the submitted scores fail, and `reproduced` when all agrees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.metrics.agreement import ABSOLUTE_SHARE, EER_BAND, NOISE_SHARE, RANK_SHARE, Agreement
from harness.protocols.lists import Trial
from harness.submissions.certificates.predicate import Level, Outcome, Reason, State
from harness.submissions.model import Verdict, Verification

# The experiment that every other one is judged against: the same run once more.
REPETITION = "repetition"
# Another draw of an image's own noise may move a pair farther than the first did.
BEYOND_NOISE = 2.0
# Up to this share of the spread, in the same order, it looks like sums in another order or of
# another length (padded batches: up to 0.02), not like scores made from other scores.
SMALL_SHARE = 0.05
TOLERANCES = {
    "absolute_share": ABSOLUTE_SHARE,
    "rank_share": RANK_SHARE,
    "noise_share": NOISE_SHARE,
    "beyond_noise": BEYOND_NOISE,
    "eer_band": EER_BAND,
}


@dataclass(frozen=True)
class Compared:
    """Scores of one list, submitted and again. worst: the pair that differs most, with its scores.

    eers: submitted and again, in percent; None where not the whole list was scored.
    """

    list: str
    agreement: Agreement
    worst: Trial
    submitted: float
    again: float
    eers: tuple[float, float] | None = None

    @property
    def same(self) -> bool:
        """Whether the scores, or at least their order, and the EER came again."""
        return self.agreement.agreed != "differs" and (
            self.eers is None or abs(self.eers[1] - self.eers[0]) <= EER_BAND
        )


@dataclass(frozen=True)
class Finding:
    """An experiment on one list. experiment: its name, see `experiments`.

    pairs: those whose scores are compared. share: the largest movement, as a share of the spread
    of all scores of the first run. beyond: pairs that moved by more than noise. rank_share: the
    largest movement in rank among these pairs, by their number. said: why the image failed.
    """

    list: str
    experiment: str
    state: State
    pairs: int
    share: float = 0.0
    beyond: int = 0
    rank_share: float = 0.0
    said: str = ""

    @property
    def small(self) -> bool:
        """Moved, but no farther than sums of another order or length may."""
        return (
            self.state == "moved"
            and self.share < SMALL_SHARE
            and self.rank_share <= max(RANK_SHARE, 1 / self.pairs)
        )


@dataclass
class SystemRerun:
    """One system. reason, message: what ended it before its time; empty where nothing did."""

    system: str
    lists: list[Compared] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reason: Reason = ""
    message: str = ""

    @property
    def repeatable(self) -> bool:
        """Whether the same run gave the same scores. That it did not breaks no rule by itself."""
        return all(one.state == "kept" for one in self.findings if one.experiment == REPETITION)

    @property
    def outcome(self) -> Outcome:
        """See the module."""
        # What its own noise moves says nothing of the rule.
        states = {one.state for one in self.findings if one.experiment != REPETITION}
        if "moved" in states or not all(one.same for one in self.lists):
            return "not reproduced"
        failed = any(one.state == "failed" for one in self.findings)
        return "not checkable" if self.reason or failed or not self.lists else "reproduced"


@dataclass
class Rerun:
    """A submission's attacker, run again. verification: of the submission, alone.

    digest: of the image. seed: what the samples were drawn by.
    """

    verification: Verification
    digest: str
    level: Level
    seed: int
    systems: list[SystemRerun] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of the submission."""
        return self.verification.submissions[0].name

    @property
    def verdict(self) -> Verdict:
        """Of the verification."""
        return self.verification.verdict

    @property
    def outcome(self) -> Outcome:
        """The worst of the systems."""
        return worst(one.outcome for one in self.systems)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of several together: not reproduced before not checkable before reproduced."""
    found = set(outcomes)
    if "not reproduced" in found:
        return "not reproduced"
    return "reproduced" if found == {"reproduced"} else "not checkable"
