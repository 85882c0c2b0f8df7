"""What whoever ranks is told of submissions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.ranking.contest import Contestant
from harness.ranking.register import Registered
from harness.ranking.remarks import not_registered, on_no_board, suspicious
from harness.submissions.model import Check, SubmissionResult

from .contests import edition

EDITION = edition()
REGISTER = Path("folder/entries.csv")


def result(name: str, *checks: tuple[str, str]) -> SubmissionResult:
    return SubmissionResult(name, checks=[Check(*one) for one in checks])


def test_what_is_on_no_board_is_told_with_its_cause() -> None:
    results = [
        result("shown.zip", ("archive-unreadable", "corrupt")),
        result(
            "cause.zip",
            ("final-newline", "no line end"),
            ("system-unknown", "B9 is none"),
            # No cause, though it comes first by precedence.
            ("scores-shared", "as y.zip"),
        ),
        result("plain.zip"),
    ]
    shown = [Contestant("Team", "shown.zip", "A1", "not checkable", (), {})]
    assert list(on_no_board(results, shown, EDITION)) == [
        "cause.zip: on no board, has no scores of a system of field (system-unknown: B9 is none)",
        "plain.zip: on no board, has no scores of a system of field",
    ]


@pytest.mark.parametrize(
    "code",
    ["perfect-separation", "scores-shared", "enrolment-ignored", "label-precision", "label-order"],
)
def test_scores_that_look_made_or_copied_are_told(code: str) -> None:
    results = [result("a.zip", ("scores-tied", "many")), result("b.zip", *[(code, "odd")] * 2)]
    (said,) = suspicious(results)
    assert said.startswith(f"b.zip: {code}: that its EERs are verified does not say that an att")


def test_what_the_register_lacks_is_told() -> None:
    register = {
        "whole.zip": Registered(None, datetime(2024, 12, 1, tzinfo=UTC)),
        "timeless.zip": Registered("Team", None),
    }
    results = [result("whole.zip"), result("timeless.zip"), result("absent.zip")]
    assert list(not_registered(results, register, REGISTER, EDITION)) == [
        "timeless.zip: no time in entries.csv: not checked for lateness",
        "absent.zip: no row in entries.csv: a team of its own, not checked for lateness",
    ]
    # Where there is no deadline a time says nothing.
    undated = replace(EDITION, dates={})
    assert list(not_registered(results, register, REGISTER, undated)) == [
        "absent.zip: no row in entries.csv: a team of its own",
    ]
