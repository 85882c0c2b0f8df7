"""From paths to verdicts, on small submissions; each fault by itself is in test_codes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import making
import numpy as np
import pytest
import small

from harness.errors import ConfigError, ListError
from harness.metrics.estimators import ESTIMATORS, rocch
from harness.submissions.limits import Limits
from harness.submissions.model import Verification
from harness.submissions.reference import GENERATED, READ
from harness.submissions.verification import Options, verify

EDITION = small.edition()
PAIR = "tiny_dev_enrolls_A1-tiny_dev_trials_f_A1"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return small.clean(tmp_path / "team")


def place(folder: Path, system: str = "A1", split: str = "dev", gender: str = "f") -> Path:
    enrolments, name = small.enrolments_name(split), small.list_name(split, gender)
    return folder / f"exp/asv_anon_{system}/{enrolments}_{system}-{name}_{system}"


def codes(verification: Verification) -> list[str]:
    return [check.code for one in verification.submissions for check in one.checks]


def run(paths: Sequence[Path] | Path, **options: object) -> Verification:
    paths = [paths] if isinstance(paths, Path) else paths
    return verify(paths, EDITION, Options(**options))  # type: ignore[arg-type]


def test_a_clean_submission(folder: Path) -> None:
    found = run(folder)
    assert (found.verdict, codes(found)) == ("verified", [])
    result = found.submissions[0]
    assert result.name == "team"
    assert len(result.claims) == 8
    assert result.explanations == []
    for one in result.lists:
        split, gender = one.list.split("_")[1], one.list[-1]
        assert one.eer is not None
        assert one.eer.rate == small.eer_of(one.system, split, gender)
    assert {one.origin for one in found.reference.lists.values()} == {GENERATED}


def test_lists_from_a_folder_give_the_same(folder: Path, tmp_path: Path) -> None:
    found = run(folder, trials=small.write_lists(tmp_path / "lists"))
    assert (found.verdict, codes(found)) == ("verified", [])
    assert {one.origin for one in found.reference.lists.values()} == {READ}
    with pytest.raises(ListError, match="no trial list of tiny"):
        run(folder, trials=tmp_path)


def test_a_false_claim_is_refuted_and_explained(folder: Path) -> None:
    (place(folder) / "EER").write_text("0.2\n")
    found = run(folder)
    assert found.verdict == "refuted"
    refuted = [claim for claim in found.submissions[0].claims if claim.verdict == "refuted"]
    assert [(one.system, one.list, float(one.claimed)) for one in refuted] == [
        ("A1", "tiny_dev_trials_f", 20.0)
    ]
    assert refuted[0].recomputed == pytest.approx(22.8, abs=1e-4)
    (explanation,) = found.submissions[0].explanations
    assert (explanation.system, explanation.list) == ("A1", "tiny_dev_trials_f")
    assert explanation.kind in ("change", "none")


def test_scores_without_claims_are_not_checkable(folder: Path) -> None:
    for path in folder.rglob("EER"):
        path.unlink()
    found = run(folder)
    assert found.verdict == "not checkable"
    assert set(codes(found)) == {"claim-missing"}
    assert "give it with --reported" in found.submissions[0].checks[0].message
    assert found.submissions[0].lists[0].eer is not None


def test_an_average_covers_its_lists(folder: Path, tmp_path: Path) -> None:
    for path in folder.rglob("EER"):
        path.unlink()
    lines = ["system,split,gender,eer_percent"]
    for system in small.SYSTEMS:
        for split in small.SPLITS:
            mean = np.mean([small.eer_of(system, split, gender) for gender in small.GENDERS])
            lines.append(f"{system},{split},mean,{100 * mean:.2f}")
    reported = tmp_path / "reported.csv"
    reported.write_text("\n".join(lines) + "\n")
    found = run(folder, reported=reported)
    assert (found.verdict, codes(found)) == ("verified", [])
    assert [claim.list for claim in found.submissions[0].claims] == 2 * [
        "average dev",
        "average test",
    ]
    reported.write_text(reported.read_text().replace("mean,2", "mean,3"))
    assert run(folder, reported=reported).verdict == "refuted"


def test_a_claim_without_scores(folder: Path) -> None:
    (place(folder) / "scores").unlink()
    found = run(folder)
    assert found.verdict == "not checkable"
    assert "list-missing" in codes(found)
    assert [one.kind for one in found.submissions[0].explanations] == ["feasibility"]


def test_claims_of_scores_that_cannot_be_told_apart_are_not_without_scores(folder: Path) -> None:
    shutil.copytree(place(folder), folder / "old" / "A1" / PAIR)
    (folder / "old" / "A1" / PAIR / "EER").unlink()
    found = run(folder)
    assert (found.verdict, codes(found)) == ("not checkable", ["scores-ambiguous"])


def test_claims_of_scores_above_a_limit_are_not_without_scores(folder: Path) -> None:
    found = run(folder, limits=Limits(line=4))
    assert set(codes(found)) == {"file-limit"}


@pytest.mark.parametrize("swapped", ["columns", "genders"])
def test_what_stands_in_the_wrong_place_is_said_where_it_explains(
    swapped: str, folder: Path
) -> None:
    files = [place(folder, gender=gender) / "scores" for gender in "fm"]
    if swapped == "columns":
        lines = [line.split() for line in files[0].read_text().splitlines()]
        files[0].write_text("".join(f"{b} {a} {score}\n" for a, b, score in lines))
        expected = [f"the first two columns of {files[0].relative_to(folder)} are exchanged"]
    else:
        texts = [file.read_text() for file in files]
        for file, text in zip(files, reversed(texts), strict=True):
            file.write_text(text)
        expected = [
            f"tiny_dev_trials_{gender} is read from {file.relative_to(folder)}"
            for gender, file in zip("fm", reversed(files), strict=True)
        ]
    (place(folder) / "EER").write_text("0.22800000012345\n")
    said = [one.sentence for one in run(folder).submissions[0].explanations]
    assert [sentence.partition(" when ")[2] for sentence in said] == expected
    assert said[0].startswith("22.8000 is the EER when ")


def test_an_unknown_list_asks_for_the_folder(folder: Path, tmp_path: Path) -> None:
    for system in small.SYSTEMS:
        path = place(folder, system) / "scores"
        lines = [line for line in path.read_text().splitlines() if "df0-1-0000" not in line]
        path.write_text("\n".join(lines) + "\n")
    found = run(folder)
    assert found.verdict == "not checkable"
    assert "trials-unknown" in codes(found)
    found = run(folder, trials=small.write_lists(tmp_path / "lists"))
    assert found.verdict == "not checkable"
    missing = [c for c in found.submissions[0].checks if c.code == "pair-missing"]
    assert [check.count for check in missing] == [5, 5]


def test_several_submissions(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "team"
    small.clean(other, ("A1",))
    (place(other) / "EER").write_text("0.2\n")
    nothing = tmp_path / "nothing.zip"
    nothing.write_bytes(b"no archive at all")
    found = run([folder, other, nothing])
    assert [one.verdict for one in found.submissions] == ["verified", "refuted", "not checkable"]
    assert found.verdict == "refuted"
    # Two of one name are told apart by their paths.
    assert [one.name for one in found.submissions] == [str(folder), str(other), "nothing.zip"]
    assert "archive-unreadable" in codes(found)
    # The same scores in two submissions: a note, and no verdict.
    shared = [c for one in found.submissions for c in one.checks if c.code == "scores-shared"]
    assert {check.submission for check in shared} == {str(folder), str(other)}
    assert all(c.submission == one.name for one in found.submissions for c in one.checks)


def test_reported_must_be_claims(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.csv"):
        run(folder, reported=tmp_path / "no.csv")


def test_of_a_refused_submission_claims_and_time_still_count(tmp_path: Path) -> None:
    path = tmp_path / "team.zip"
    path.write_bytes(b"no archive at all")
    # One fault is one check: that there are no scores is no news.
    assert codes(run(path)) == ["archive-unreadable"]
    reported = tmp_path / "reported.csv"
    reported.write_text("system,list,EER\nA1,tiny_dev_trials_f,22.800\n")
    found = run(path, reported=reported, received=datetime(2025, 1, 1, tzinfo=UTC))
    assert codes(found) == ["archive-unreadable", "late", "claim-without-scores"]
    (claim,) = found.submissions[0].claims
    assert claim.verdict == "not checkable"
    (explanation,) = found.submissions[0].explanations
    assert explanation.kind == "feasibility"
    assert "17 of 75" in explanation.sentence


def test_each_submission_came_at_its_own_time(tmp_path: Path) -> None:
    paths = [small.clean(tmp_path / name) for name in ("early", "late", "unknown")]
    received = {
        "early": datetime(2024, 12, 1, tzinfo=UTC),
        "late": datetime(2025, 1, 1, tzinfo=UTC),
    }
    found = verify(paths, EDITION, Options(received=received))
    late = [
        check.submission
        for one in found.submissions
        for check in one.checks
        if check.code == "late"
    ]
    assert late == ["late"]


def test_whose_scores_are_whose(tmp_path: Path) -> None:
    (path,) = making.described(tmp_path, "own_anonymizers: [A1]\n").paths
    (result,) = run(path).submissions
    assert (result.team, result.own_anonymizers) == ("team", ("A1",))
    assert set(result.score_files.values()) == {"A1"}
    assert {one.file for one in result.lists} == set(result.score_files)
    # Without a description nobody says.
    (path / "submission.yaml").unlink()
    (result,) = run(path).submissions
    assert (result.team, result.own_anonymizers) == (None, ())


def test_reported_claims_of_other_teams_are_left_out(folder: Path, tmp_path: Path) -> None:
    reported = tmp_path / "reported.csv"
    eer = 100 * small.eer_of("A1", "dev", "f")
    reported.write_text(
        f"system,list,EER\nA1,tiny_dev_trials_f,{eer:.3f}\nX9,tiny_dev_trials_f,1.234\n"
    )
    found = run(folder, reported=reported)
    assert found.verdict == "verified"
    assert {claim.system for claim in found.submissions[0].claims} == {"A1", "A2"}


def test_a_fault_of_reported_claims_is_told(folder: Path, tmp_path: Path) -> None:
    reported = tmp_path / "reported.csv"
    reported.write_text("system,list,EER\nA1,tiny_dev_trials_f,about 20\nA1,average dev,0\n")
    found = run(folder, reported=reported)
    assert "claim-unreadable" in codes(found)


def test_reported_claims_without_a_system_are_of_the_one_named(
    folder: Path, tmp_path: Path
) -> None:
    shutil.rmtree(place(folder, "A2").parent)
    reported = tmp_path / "reported.csv"
    eer = 100 * small.eer_of("A1", "dev", "f")
    reported.write_text(f"list,EER\ntiny_dev_trials_f,{eer:.3f}\n")
    found = run(folder, reported=reported, system="A1")
    assert (found.verdict, {claim.system for claim in found.submissions[0].claims}) == (
        "verified",
        {"A1"},
    )
    reported.write_text(f"system,list,EER\nA2,tiny_dev_trials_f,{eer:.3f}\n")
    with pytest.raises(ConfigError, match=r"reported\.csv: no EER of A1"):
        run(folder, reported=reported, system="A1")


def test_the_time_for_explanations_is_kept(folder: Path) -> None:
    (place(folder) / "EER").write_text("0.2\n")
    (explanation,) = run(folder, explain_seconds=0.0).submissions[0].explanations
    assert (explanation.kind, explanation.changes) == ("none", ())
    assert "the time cap ended the search" in explanation.sentence


def test_a_submission_is_called_by_its_name_from_within(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run(Path()).submissions[0].name == "team"


def test_lists_are_in_the_order_of_the_edition(folder: Path) -> None:
    # A system that the edition does not know comes last, and where a file lies says nothing.
    for path in (folder / "exp/asv_anon_A1").iterdir():
        path.rename(path.with_name(path.name.replace("_A1", "_A0")))
    (folder / "exp/asv_anon_A1").rename(folder / "exp/asv_anon_A0")
    moved = place(folder, "A2")
    (folder / "z").mkdir()
    moved.rename(folder / "z" / moved.name)
    assert [(one.system, one.list) for one in run(folder).submissions[0].lists] == [
        (system, listed.trials) for system in ("A2", "A0") for listed in EDITION.lists
    ]


def test_an_archive_says_the_same(folder: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "team"), "gztar", folder.parent, "team"))
    found = run(archive)
    assert (found.verdict, codes(found)) == ("verified", [])
    assert found.submissions[0].sha256 is not None


def test_an_eer_of_another_estimator_is_no_claim_of_the_official_one(folder: Path) -> None:
    pair = place(folder)
    (pair / "EER").unlink()
    scores = small.scores_of("A1", "dev", "f")
    target = np.array([trial.target for trial in small.trials_of("dev", "f")])
    number = 100 * rocch(scores[target], scores[~target])
    block = f"ASV-tiny_dev_enrolls_A1-tiny_dev_trials_f_A1\n  ROCCH-EER: {number:.3f}%\n"
    (folder / "results.txt").write_text(block)
    found = run(folder)
    assert [one.verdict for one in found.submissions[0].claims] == ["verified"] * 8
    assert codes(found) == ["claim-missing"]
    assert found.verdict == "not checkable"


def test_an_estimator_is_run_once_for_a_list(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    def counted(target: object, nontarget: object) -> float:
        runs.append(target)
        return 0.25

    monkeypatch.setitem(ESTIMATORS, "rocch", counted)
    block = "ASV-tiny_dev_enrolls_A1-tiny_dev_trials_f_A1\n"
    block += "".join(f"  ROCCH-EER: 25.{i:04}%\n" for i in range(4))
    (folder / "results.txt").write_text(block)
    assert run(folder).verdict == "verified"
    assert len(runs) == 1
