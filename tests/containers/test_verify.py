"""`harness verify --container`: a verification inside the image equals one outside."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from containers.conftest import docker
from harness.cli.main import main
from harness.errors import IntegrityError
from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import read_trials
from harness.protocols.protocol import load
from harness.submissions import contained
from harness.submissions.document import schema

pytestmark = pytest.mark.containers


@pytest.fixture(scope="module")
def team(engine: None, test_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one system on the real lists, each with its EER."""
    docker("image", "inspect", contained.IMAGE)
    folder = tmp_path_factory.mktemp("submission") / "team"
    for listed in load("vpac2025").lists:
        trials = read_trials(test_data / "vpc-lists" / listed.trials / "trials")
        target = np.array([trial.target for trial in trials])
        scores = np.random.default_rng(5).normal(size=len(trials)) + target
        place = folder / "B3" / f"{listed.enrolments}-{listed.trials}"
        place.mkdir(parents=True)
        lines = zip(trials, scores.astype(np.float32), strict=True)
        (place / "scores").write_text(
            "".join(f"{t.enrolment} {t.utterance} {score!s}\n" for t, score in lines)
        )
        eer = equal_error_rate(scores[target], scores[~target]).rate
        (place / "EER").write_text(f"{eer!r}\n")
    return folder


@pytest.fixture
def archive(team: Path, tmp_path: Path) -> Path:
    return Path(shutil.make_archive(str(tmp_path / "team"), "zip", team.parent, "team"))


def verify(*arguments: object) -> int:
    return main(["verify", *map(str, arguments)])


def test_inside_equals_outside(
    archive: Path, clean: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(archive, "--json", tmp_path / "outside.json") == 0
    outside = capsys.readouterr().out
    assert verify(archive, "--json", tmp_path / "inside.json", "--container") == 0
    assert capsys.readouterr().out == outside
    assert (tmp_path / "inside.json").read_bytes() == (tmp_path / "outside.json").read_bytes()
    assert (tmp_path / "inside.json").stat().st_uid == tmp_path.stat().st_uid


def test_options_and_statuses_go_through(
    team: Path, test_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported = tmp_path / "reported.csv"
    reported.write_text("system,list,EER\nB4,libri_dev_trials_f,12.3\n")
    arguments = ("--trials", test_data / "vpc-lists", "--reported", reported, "--system", "B4")
    assert verify(team, "--container", *arguments) == 1
    said = capsys.readouterr().out
    assert said.startswith("team: REFUTED (vpac2025)")
    assert "B4 libri_dev_trials_f: no single change" in said
    assert verify(team, "--container", "--max-members", 3) == 2
    assert "--max-members" in capsys.readouterr().out
    (tmp_path / "lists").mkdir(mode=0o755)
    assert verify(team, "--container", "--trials", tmp_path / "lists") == 64
    assert capsys.readouterr().err.count("\n") == 1


def test_the_certificate_is_signed_outside(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "key"
    assert main(["cert", "keygen", str(key)]) == 0
    for name, options in (("inside", ["--container"]), ("outside", [])):
        written = ("--certificate", tmp_path / name, "--key", f"{key}.key")
        assert verify(archive, *written, *options) == 0
    assert (tmp_path / "inside").read_bytes() == (tmp_path / "outside").read_bytes()
    check = ["cert", "check", str(tmp_path / "inside"), "--key", f"{key}.pub"]
    assert main([*check, "--submission", str(archive)]) == 0


def test_other_bytes_are_noticed(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contained, "sha256_file", lambda path: "0" * 64)
    with pytest.raises(IntegrityError, match=r"zip: the container verified sha256:\w{64}, the"):
        contained.verify_contained(archive, {}, [])


@pytest.mark.parametrize("jobs", [1, 2])
def test_several_are_verified_each_by_itself(
    jobs: int,
    clean: None,
    archive: Path,
    team: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One cannot be read by anybody else, one is refuted, and the others go on."""
    locked = Path(shutil.copytree(team, tmp_path / "locked"))
    locked.chmod(0o700)
    wrong = Path(shutil.copytree(team, tmp_path / "wrong"))
    next(wrong.rglob("EER")).write_text("0.123\n")
    paths = (locked, archive, wrong)
    report = tmp_path / "report.json"
    assert verify(*paths, "--container", "--jobs", jobs, "--json", report) == 1
    said = capsys.readouterr().out
    summary = [line.split(maxsplit=1) for line in said.splitlines()[-4:]]
    assert summary[0] == ["submission", "verdict"]
    assert summary[1][0] == "locked"
    assert summary[1][1].startswith("not checkable  ")
    assert summary[1][1].endswith("may not read it; chmod o+rX")
    assert summary[2:] == [["team.zip", "verified"], ["wrong", "refuted"]]
    assert "wrong: REFUTED (vpac2025)" in said
    document = json.loads(report.read_text())
    jsonschema.validate(document, json.loads(schema()))
    assert document["verdict"] == "refuted"
    verdicts = {one["name"]: one["verdict"] for one in document["submissions"]}
    assert verdicts == {"locked": "not checkable", "team.zip": "verified", "wrong": "refuted"}
    assert len(document["trials"]) == 4
    # What stands there of each is what one alone gives.
    assert verify(wrong, "--container", "--json", tmp_path / "alone.json") == 1
    alone = json.loads((tmp_path / "alone.json").read_text())
    for part in contained.PARTS:
        assert [one for one in document[part] if one["submission"] == "wrong"] == alone[part]


def test_several_of_one_name_are_refused(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").mkdir()
    shutil.copy(archive, tmp_path / "other")
    assert verify(archive, tmp_path / "other" / archive.name, "--container") == 64
    assert "two submissions have one name" in capsys.readouterr().err


def test_a_bomb_ends_inside(
    tmp_path: Path, engine: None, capsys: pytest.CaptureFixture[str]
) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("B3/scores", bytes(300 << 20))
    assert verify(bomb, "--container", "--json", tmp_path / "report.json") == 2
    codes = {
        check["code"] for check in json.loads((tmp_path / "report.json").read_text())["checks"]
    }
    assert codes == {"archive-limit"}
    capsys.readouterr()
