"""A verification made by hand, for tests of what is written about one."""

from __future__ import annotations

from decimal import Decimal

import small

from harness.metrics.eer import EqualErrorRate
from harness.submissions.model import (
    Check,
    ClaimResult,
    Explanation,
    ListResult,
    Scores,
    SubmissionResult,
    Verification,
)
from harness.submissions.reference import Reference, from_trials

DIGEST = "0123456789abcdef" * 4
NAME = "team.zip"


def verification() -> Verification:
    """One refuted submission: a claim each verified, truncated, refuted and not checkable."""
    edition = small.edition()
    reference = Reference(
        {
            listed.trials: from_trials(listed, small.trials_of(listed.split, listed.gender), "test")
            for listed in edition.lists
        }
    )
    scores = small.scores_of("A1", "dev", "f")
    result = SubmissionResult(
        NAME,
        sha256=DIGEST,
        verdict="refuted",
        lists=[
            ListResult(
                "A1",
                "tiny_dev_trials_f",
                "x/scores",
                DIGEST,
                Scores(scores, scores),
                # 17/75 and 86/375 are 22.667 % and 22.933 %: their mean is 22.8 %.
                EqualErrorRate((17 / 75 + 86 / 375) / 2, 0.9, 17, 86, 75, 375),
            ),
            ListResult("A1", "tiny_dev_trials_m", "y/scores", DIGEST, None, None),
        ],
        claims=[
            claim("tiny_dev_trials_f", "22.800", 22.8, "verified", "x/EER"),
            claim("tiny_dev_trials_f", "22.800", 22.8, "verified", "results.csv", 2),
            claim("tiny_dev_trials_f", "21.5", 22.8, "refuted", "other.csv", 3),
            claim("tiny_dev_trials_m", "21.3", None, "not checkable", "y/EER"),
            claim("average dev", "22.0", 22.0666, "verified", "results.csv", 4, "truncated"),
        ],
        checks=[
            Check("order", "lines are not in order", "x/scores", 7, 12, NAME),
            Check("pair-missing", "2 pairs have no score", "y/scores", None, 2, NAME),
        ],
        explanations=[
            Explanation(
                "A1", "tiny_dev_trials_f", "change", "21.5 is another", ("estimator",), NAME
            )
        ],
    )
    return Verification(edition, reference, [result], "refuted")


def claim(
    name: str,
    text: str,
    recomputed: float | None,
    verdict: str,
    file: str,
    line: int | None = None,
    remark: str = "",
) -> ClaimResult:
    return ClaimResult(
        "A1",
        name,
        Decimal(text),
        recomputed,
        verdict,  # type: ignore[arg-type]
        file,
        line,
        remark=remark,
        submission=NAME,
    )
