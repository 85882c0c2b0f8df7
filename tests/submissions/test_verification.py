"""From paths to verdicts, on small submissions; each fault by itself is in test_codes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import small

from harness.errors import ConfigError, ListError
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


def test_an_archive_says_the_same(folder: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "team"), "gztar", folder.parent, "team"))
    found = run(archive)
    assert (found.verdict, codes(found)) == ("verified", [])
    assert found.submissions[0].sha256 is not None
