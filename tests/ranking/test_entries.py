"""What an entry counts as, from what was found in its submission."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from harness.metrics.eer import EqualErrorRate
from harness.ranking.entries import (
    OF_A_LIST,
    OF_AUDIO,
    SUSPICIOUS,
    UNOFFICIAL_AS_A_WHOLE,
    _curve,
    all_pairs,
    contestants_of,
    status_of,
    systems_of,
)
from harness.submissions.codes import CODES, SEVERITY
from harness.submissions.model import Check, ClaimResult, ListResult, Scores, SubmissionResult
from harness.submissions.reference import Reference, from_trials

from .contests import LISTS, edition, labels_of, list_name, scores_of, trials_of

EDITION = edition()
TARGET = labels_of("dev", "f")
NAMES = [one.trials for one in EDITION.lists]
EER = EqualErrorRate(0.25, 0.0, 24, 312, 96, 1248)


def claim(system: str, name: str, verdict: Any = "verified", **fields: Any) -> ClaimResult:
    recomputed = None if verdict == "not checkable" else 25.0
    return ClaimResult(
        system, name, Decimal(fields.pop("claimed", "25.000")), recomputed, verdict, "EER", **fields
    )


def submission(*checks: Check, **changes: Any) -> SubmissionResult:
    """Two systems whose claims all hold."""
    files = {f"{system}/{name}": system for system in ("A1", "A2") for name in NAMES}
    scores = Scores(np.zeros(3, np.float32), np.zeros(3, np.float32))
    result = SubmissionResult(
        "x.zip",
        score_files=files,
        lists=[
            ListResult(system, name, f"{system}/{name}", "0" * 64, scores, EER)
            for system in ("A1", "A2")
            for name in NAMES
        ],
        claims=[claim(system, name) for system in ("A1", "A2") for name in NAMES],
        checks=list(checks),
    )
    return replace(result, **changes)


def status(result: SubmissionResult, system: str = "A1", refuted: str | None = None) -> str:
    return status_of(result, system, EDITION, refuted)[0]


def test_without_fault_it_is_official() -> None:
    assert status_of(submission(), "A1", EDITION, None) == ("official", ())


@pytest.mark.parametrize("estimator", ["official", "rocch"])
def test_any_false_claim_of_the_system_refutes(estimator: str) -> None:
    result = submission()
    result.claims.append(
        claim("A1", "average dev", "refuted", claimed="21.50", estimator=estimator)
    )
    assert status_of(result, "A1", EDITION, None) == (
        "refuted",
        ("average dev: 21.50 is claimed, and its scores give 25.000",),
    )
    assert status(result, "A2") == "official"
    # Before everything else.
    result.checks += [Check("late", "late"), Check("archive-limit", "too large")]
    result.lists.pop(0)
    assert status(result) == "refuted"


def test_a_rerun_refutes() -> None:
    assert status_of(submission(), "A1", EDITION, "other scores") == ("refuted", ("other scores",))


def test_every_list_needs_an_eer_and_a_claim() -> None:
    no_eer = submission()
    no_eer.lists[0] = replace(no_eer.lists[0], eer=None)
    assert status_of(no_eer, "A1", EDITION, None) == ("not checkable", (f"{NAMES[0]}: no EER",))
    absent = submission()
    del absent.lists[0]
    assert status(absent) == "not checkable"
    unclaimed = submission()
    del unclaimed.claims[0]
    assert status_of(unclaimed, "A1", EDITION, None)[1] == (f"{NAMES[0]}: no claim",)
    for result in (no_eer, absent, unclaimed):
        assert status(result, "A2") == "official"


def test_a_claim_of_the_average_is_one_of_its_lists() -> None:
    result = submission(claims=[claim("A1", "average dev"), claim("A1", "average test")])
    assert status(result) == "official"
    # Another estimator's number is no claim of the official one.
    del result.claims[1]
    result.claims += [claim("A1", name, estimator="rocch") for name in NAMES[2:]]
    assert status_of(result, "A1", EDITION, None)[1] == tuple(f"{n}: no claim" for n in NAMES[2:])


def test_a_claim_without_a_verdict() -> None:
    result = submission()
    result.claims.append(claim("A2", "average dev", "not checkable"))
    assert status(result, "A1") == "official"
    assert status(result, "A2") == "not checkable"
    # Of which system nobody knows: it touches all.
    result.claims[-1] = claim("unnamed", "average dev", "not checkable")
    assert status(result, "A1") == status(result, "A2") == "not checkable"


@pytest.mark.parametrize(
    ("check", "a1", "a2"),
    [
        (Check("archive-limit", "too large"), "not checkable", "not checkable"),
        (Check("description-unreadable", "no YAML", "submission.yaml"), *["not checkable"] * 2),
        (Check("claim-unreadable", "no table", "results.csv"), *["not checkable"] * 2),
        (Check("hash-mismatch", "not there", "description.pdf"), *["not checkable"] * 2),
        (Check("hash-mismatch", "another", f"A2/{NAMES[1]}"), "official", "not checkable"),
        (Check("pair-missing", "a trial", f"A1/{NAMES[1]}"), "not checkable", "official"),
        (Check("list-missing", "A3 has no scores for"), "official", "official"),
        (Check("claim-without-scores", "A3 is claimed", "EER"), "official", "official"),
        (Check("sign-reversed", "EER above 50 %", f"A1/{NAMES[1]}"), "official", "official"),
        (Check("scores-shared", "with y.zip"), "official", "official"),
        (Check("resource-undeclared", "no date"), "unofficial", "unofficial"),
        (Check("resource-unlisted", "not there"), "unofficial", "unofficial"),
        (Check("late", "received later"), "late", "late"),
    ],
    ids=lambda value: value.code if isinstance(value, Check) else value,
)
def test_what_a_check_touches(check: Check, a1: str, a2: str) -> None:
    result = submission(check)
    assert (status(result, "A1"), status(result, "A2")) == (a1, a2)


def test_an_own_anonymizer_touches_that_system() -> None:
    check = Check("own-anonymizer", "the team's own a2: not official")
    result = submission(check, own_anonymizers=("a2",))
    assert (status(result, "A1"), status(result, "A2")) == ("official", "unofficial")
    assert status_of(result, "A2", EDITION, None)[1] == (check.message,)
    # A system of the edition that was not attacked.
    result = submission(check, own_anonymizers=("a3",))
    assert (status(result, "A1"), status(result, "A2")) == ("official", "official")
    # By a name that neither scores nor the edition have it could be any.
    result = submission(check, own_anonymizers=("A-2",))
    assert (status(result, "A1"), status(result, "A2")) == ("unofficial", "unofficial")


def test_late_comes_before_unofficial_and_both_are_told() -> None:
    result = submission(Check("resource-unlisted", "not there"), Check("late", "received later"))
    assert status_of(result, "A1", EDITION, None) == ("late", ("received later", "not there"))


def test_what_looks_odd_about_scores_stands_beside_the_entry() -> None:
    result = submission(
        *(Check("perfect-separation", f"apart in {n}", f"A1/{NAMES[n]}") for n in range(3)),
        Check("scores-shared", "as y.zip", f"A2/{NAMES[0]}"),
        Check("scores-tied", "many", f"A2/{NAMES[0]}"),
    )
    assert status_of(result, "A1", EDITION, None) == (
        "official",
        ("perfect-separation: apart in 0 (and 2 more)",),
    )
    assert status_of(result, "A2", EDITION, None) == ("official", ("scores-shared: as y.zip",))
    result.checks.append(Check("late", "received later"))
    assert status_of(result, "A2", EDITION, None) == (
        "late",
        ("received later", "scores-shared: as y.zip"),
    )


def test_many_reasons_are_cut() -> None:
    checks = [Check("claim-unreadable", f"file {n}") for n in range(9)]
    assert status_of(submission(*checks), "A1", EDITION, None)[1] == (
        "claim-unreadable: file 0",
        "claim-unreadable: file 1",
        "claim-unreadable: file 2",
        "and 6 more",
    )


def test_the_codes_that_are_named_here_exist() -> None:
    assert {SEVERITY[code] for code in OF_A_LIST} == {"unscorable"}
    assert {SEVERITY[code] for code in UNOFFICIAL_AS_A_WHOLE} == {"error"}
    assert set(SUSPICIOUS) <= set(SEVERITY)
    audio = {code for code in SEVERITY if code.startswith("audio-") and SEVERITY[code] == "error"}
    assert set(OF_AUDIO) == audio
    assert {"late", "own-anonymizer"} <= {code.name for code in CODES}


def test_which_systems_it_has() -> None:
    result = submission(
        score_files={"a": "A2", "b": "orig", "c": "A2", "d": "other", "e": "unnamed"}
    )
    result.claims = [claim("A3", NAMES[0]), claim("unnamed", NAMES[0]), claim("A2", NAMES[1])]
    assert systems_of(result, EDITION) == ["A2", "A3"]
    # An edition without systems has those that are named, or the one that is not.
    anything = replace(EDITION, systems={})
    assert systems_of(result, anything) == ["A2", "other", "unnamed", "A3"]


def test_claims_without_scores_are_an_entry_that_is_not_checkable() -> None:
    result = SubmissionResult("x.zip", claims=[claim("A1", NAMES[0], "not checkable")])
    (one,) = contestants_of(result, "Team", EDITION, Reference({}), {}, {})
    assert (one.system, one.status, one.lists) == ("A1", "not checkable", {})


def test_scores_become_a_contestant() -> None:
    reference = Reference(
        {
            list_name(*of): from_trials(EDITION.lists[n], trials_of(*of), "")
            for n, of in enumerate(LISTS)
        }
    )
    pairs = all_pairs(reference)
    first = pairs[NAMES[0]]
    assert first is not None
    assert (first.enrolled[0], first.trial[0], first.trial[-1]) == ("df00", "df00", "df13")
    result = submission()
    scores = scores_of(2.0, "dev", "f")
    result.lists = [replace(result.lists[0], scores=Scores(scores, scores))]
    one, other = contestants_of(result, "Team", EDITION, reference, pairs, {"A2": "why"})
    assert (one.attacker, one.entry, one.system, one.status) == (
        "Team",
        "x.zip",
        "A1",
        "not checkable",
    )
    assert (other.status, other.reasons, other.lists) == ("refuted", ("why",), {})
    held = one.lists[NAMES[0]]
    assert held.scores.shape == (1, 1344)
    assert (held.scores[0] == scores).all()
    (rate,) = held.rates
    assert (rate.percent, rate.misses, rate.n_target) == (25.0, 24, 96)
    assert (rate.split, rate.gender, rate.file) == ("dev", "f", f"A1/{NAMES[0]}")
    assert rate.speakers is not None
    assert list(rate.speakers) == [f"df{n:02d}" for n in range(12)]
    # From accepting everything to rejecting everything.
    assert rate.det[0] == (1.0, 0.0)
    assert rate.det[-1] == (0.0, 1.0)
    assert 20 <= len(rate.det) <= 60
    # Dense where few nontargets are accepted, as a probit scale shows it.
    assert sum(0 < false_alarm < 0.05 for false_alarm, _ in rate.det) >= 5
    points = {
        (round(np.mean(scores[~TARGET] > score), 5), round(np.mean(scores[TARGET] <= score), 5))
        for score in scores
    }
    assert set(rate.det[1:]) <= points


@pytest.mark.parametrize("sign", [1, -1])
def test_the_curve_of_classes_that_are_apart(sign: int) -> None:
    # At the middle both rates are 0, or both are 1.
    target, nontarget = np.array([3.0, 4.0]) * sign, np.array([1.0, 2.0]) * sign
    curve = _curve(target.astype(np.float32), nontarget.astype(np.float32))
    middle = (0.0, 0.0) if sign == 1 else (1.0, 1.0)
    assert (curve[0], curve[-1]) == ((1.0, 0.0), (0.0, 1.0))
    assert middle in curve
