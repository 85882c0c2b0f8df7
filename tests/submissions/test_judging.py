"""Claims beside what they are about: other files, averages, another estimator."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
import small

from harness.metrics.estimators import rocch
from harness.submissions.judging import recompute
from harness.submissions.model import Claim, Explanation, SubmissionResult
from harness.submissions.verification import Options, verify

F, M = "tiny_dev_trials_f", "tiny_dev_trials_m"


def scores_file(folder: Path, gender: str) -> Path:
    (path,) = folder.glob(f"exp/asv_anon_A1/*dev_trials_{gender}_A1/scores")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The score files of both genders of dev have changed places; the EER files have not."""
    folder = small.clean(tmp_path / "team", ("A1",))
    one, other = scores_file(folder, "f"), scores_file(folder, "m")
    text = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(text)
    return folder


def result(folder: Path, reported: str | None = None) -> SubmissionResult:
    path = None
    if reported is not None:
        path = folder.with_name("reported.csv")
        path.write_text(f"system,list,EER\n{reported}\n")
    return verify([folder], small.edition(), Options(reported=path)).submissions[0]


def explanations(found: SubmissionResult) -> dict[str, Explanation]:
    return {one.list: one for one in found.explanations}


def test_a_claim_that_holds_once_files_are_read_for_what_they_hold(folder: Path) -> None:
    found = result(folder)
    assert found.verdict == "not checkable"
    (of_f, of_m) = (explanations(found)[name] for name in (F, M))
    assert (of_f.kind, of_f.changes) == ("change", (f"read: {F}",))
    assert (of_m.kind, of_m.changes) == ("change", (f"read: {M}",))
    # The scores of F lie where those of M should.
    place = scores_file(folder, "m").relative_to(folder)
    assert f" is the EER when {F} is read from {place}" in of_f.sentence


def test_so_does_the_claim_of_their_average(folder: Path) -> None:
    mean = 50 * sum(small.eer_of("A1", "dev", gender) for gender in small.GENDERS)
    found = explanations(result(folder, f"A1,average dev,{mean:.3f}"))["average dev"]
    assert found.changes == (f"read: {F}", f"read: {M}")
    assert all(f"{name} is read from " in found.sentence for name in (F, M))


def test_a_claim_that_holds_once_columns_are_exchanged(tmp_path: Path) -> None:
    folder = small.clean(tmp_path / "team", ("A1",))
    path = scores_file(folder, "f")
    fields = [line.split(" ") for line in path.read_text().splitlines()]
    path.write_text("".join(f"{second} {first} {score}\n" for first, second, score in fields))
    (explanation,) = result(folder).explanations
    assert (explanation.list, explanation.changes) == (F, (f"read: {F}",))
    place = path.relative_to(folder)
    assert explanation.sentence.endswith(f"the first two columns of {place} are exchanged")


def test_a_claim_that_does_not_hold_even_so(folder: Path) -> None:
    path = scores_file(folder, "f").with_name("EER")
    path.write_text("0.01234\n")
    found = explanations(result(folder))[F]
    assert not any(change.startswith("read: ") for change in found.changes)
    # What was read for what it holds is compared all the same.
    assert found.kind in ("change", "none")


def test_an_average_of_which_a_list_cannot_be_scored(folder: Path) -> None:
    found = result(folder, "A1,average dev,22.067\nA1,average test,1.234")
    averages = {one.list: one for one in found.claims if one.list.startswith("average")}
    assert averages["average dev"].recomputed is None
    assert averages["average dev"].verdict == "not checkable"
    mean = 50 * sum(small.eer_of("A1", "test", gender) for gender in small.GENDERS)
    assert averages["average test"].recomputed == pytest.approx(mean)


def test_a_claim_of_another_estimator_is_held_to_it(tmp_path: Path) -> None:
    found = verify([small.clean(tmp_path / "team", ("A1",))], small.edition())
    lists = {(one.system, one.list): one for one in found.submissions[0].lists}
    scores, target = small.scores_of("A1", "dev", "f"), found.reference.lists[F].target
    official = Claim("A1", F, Decimal("22.800"), "results.txt")
    given = (lists, found.protocol, found.reference)
    assert recompute(official, "A1", *given) == 100 * small.eer_of("A1", "dev", "f")
    expected = 100 * rocch(scores[target], scores[~target])
    assert recompute(replace(official, estimator="rocch"), "A1", *given) == expected
    assert expected != 100 * small.eer_of("A1", "dev", "f")


@pytest.mark.parametrize(("claim", "coarse"), [("22", True), ("2E+1", True), ("22.0", False)])
def test_a_claim_without_decimals_is_coarse(folder: Path, claim: str, coarse: bool) -> None:
    codes = {one.code for one in result(folder, f"A1,{F},{claim}").checks}
    assert ("claim-coarse" in codes) == coarse


def test_two_systems_leave_a_claim_without_one_unnamed(tmp_path: Path) -> None:
    folder = small.clean(tmp_path / "team")
    eer = 100 * small.eer_of("A1", "dev", "f")
    path = tmp_path / "reported.csv"
    path.write_text(f"list,EER\n{F},{eer:.3f}\n")
    found = verify([folder], small.edition(), Options(reported=path)).submissions[0]
    (claim,) = [one for one in found.claims if one.file.endswith("reported.csv")]
    assert (claim.system, claim.verdict) == ("unnamed", "not checkable")
