"""What a rerun is made of: scores that came again or not, experiments on the pair rule, outcomes.

Outcomes. A system is `not reproduced` when a list's scores differ from the submitted ones, or an
experiment moves them: one is enough. Else it is `not checkable` when the image (in an experiment,
too), the model, the speech or the submitted scores fail, or when the image's own noise would hide
what breaks the rule; and `reproduced` when all agrees. That an inaudible change moves scores is a
note: honest attackers may do so.
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
# The one whose movement is a suspicion, and decides nothing.
INAUDIBLE = "inaudible"
# Another draw of an image's own noise may move a pair farther than the first did.
BEYOND_NOISE = 2.0
# What two runs may differ by that both give the submitted scores. An image with more noise could
# hide any movement in it.
MOST_NOISE = 2 * ABSOLUTE_SHARE
# Honest attackers move by up to 0.011 of the spread when loud samples change by their last bit.
INAUDIBLE_SHARE = 0.05
# Up to this share of the spread, in the same order, it looks like sums in another order or of
# another length (padded batches: up to 0.02), not like scores made from other scores.
SMALL_SHARE = 0.05
TOLERANCES = {
    "absolute_share": ABSOLUTE_SHARE,
    "rank_share": RANK_SHARE,
    "noise_share": NOISE_SHARE,
    "beyond_noise": BEYOND_NOISE,
    "most_noise": MOST_NOISE,
    "inaudible_share": INAUDIBLE_SHARE,
    "eer_band": EER_BAND,
}


@dataclass(frozen=True)
class Compared:
    """Scores of one list, submitted and again. worst: the pair that differs most, with its scores.

    eers: submitted and again, in percent; None where not the whole list was scored. enrolments,
    trials: SHA-256 of the manifests of the speech.
    """

    list: str
    agreement: Agreement
    worst: Trial
    submitted: float
    again: float
    enrolments: str
    trials: str
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
            and self.experiment != INAUDIBLE
            and self.share < SMALL_SHARE
            and self.rank_share <= max(RANK_SHARE, 1 / self.pairs)
        )


@dataclass
class SystemRerun:
    """One system. model: fingerprint of its folder; None where the image has its own.

    reason, message: what ended it before its time; empty where nothing did.
    """

    system: str
    lists: list[Compared] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    reason: Reason = ""
    message: str = ""
    model: str | None = None

    @property
    def repeatable(self) -> bool:
        """Whether the same run gave the same scores. That it did not breaks no rule by itself."""
        return all(one.state == "kept" for one in self.findings if one.experiment == REPETITION)

    @property
    def noisy(self) -> bool:
        """Whether its own noise is more than scores that come again have."""
        return any(one.experiment == REPETITION and one.share > MOST_NOISE for one in self.findings)

    @property
    def outcome(self) -> Outcome:
        """See the module."""
        # What its own noise moves says nothing of the rule.
        notes = (REPETITION, INAUDIBLE)
        states = {one.state for one in self.findings if one.experiment not in notes}
        if "moved" in states or not all(one.same for one in self.lists):
            return "not reproduced"
        failed = any(one.state == "failed" for one in self.findings)
        unclear = self.reason or failed or self.noisy or not self.lists
        return "not checkable" if unclear else "reproduced"


@dataclass
class Rerun:
    """A submission's attacker, run again. verification: of the submission, alone.

    digest: of the image. parameters: fingerprint of those that it was given. seed: what the samples
    were drawn by.
    """

    verification: Verification
    digest: str
    parameters: str
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
