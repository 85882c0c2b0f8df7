"""The stage `verify` for real: DVC and MLflow, in a fresh repository with these files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from repository import Repository

from harness.protocols import protocol

pytestmark = pytest.mark.heavy

REPORTS = "submissions/reports/vpac2025"


@pytest.fixture
def repository(tmp_path: Path, test_data: Path) -> Repository:
    """With an inbox of two submissions: one without a claim, one that is no archive."""
    repository = Repository(tmp_path / "repository")
    inbox = repository.path / "submissions/inbox/vpac2025"
    random = np.random.default_rng(1)
    for listed in protocol.load("vpac2025").lists:
        trials = (test_data / "vpc-lists" / listed.trials / "trials").read_text().splitlines()
        place = tmp_path / "team" / "B3" / f"{listed.enrolments}-{listed.trials}"
        place.mkdir(parents=True)
        scores = random.normal(size=len(trials)) + [t.endswith(" target") for t in trials]
        lines = [f"{t.rpartition(' ')[0]} {s}\n" for t, s in zip(trials, scores, strict=True)]
        (place / "scores").write_text("".join(lines))
    inbox.mkdir(parents=True)
    shutil.make_archive(str(inbox / "team"), "zip", tmp_path / "team")
    (inbox / "broken.zip").write_bytes(b"no archive")
    return repository


def test_an_inbox_becomes_reports_and_runs(repository: Repository) -> None:
    said = repository.run("dvc", "repro", "submissions/dvc.yaml")
    assert "broken.zip: not checkable" in said
    assert "team.zip: not checkable" in said
    reports = repository.path / REPORTS
    report = json.loads((reports / "team.zip/verification.json").read_text())
    assert {check["code"] for check in report["checks"]} == {"claim-missing"}
    assert len(report["lists"]) == 4
    text = "".join(path.read_text() for path in reports.rglob("*.*") if path.is_file())
    assert str(repository.path) not in text

    runs = repository.runs().set_index("tags.mlflow.runName")
    assert set(runs.index) == {"verify broken.zip", "verify team.zip"}
    assert set(runs["status"]) == {"FINISHED"}
    one = runs.loc["verify team.zip"]
    assert one["tags.harness.verdict"] == "not checkable"
    assert f"files `{REPORTS}/team.zip`" in one["tags.mlflow.note.content"]
    by_list = {each["list"]: each["eer_percent"] for each in report["lists"]}
    for name, eer in by_list.items():
        assert abs(one[f"metrics.eer/B3/{name}"] - eer) < 0.001

    # The same inbox: nothing to do. A fresh store: the runs come back from the reports.
    assert repository.repro("submissions/dvc.yaml") == set()
    os.remove(repository.path / "mlruns/mlflow.db")
    assert "2 runs imported" in repository.run("harness", "track", "import")


def test_tracking_of_a_single_verification(repository: Repository) -> None:
    path = "submissions/inbox/vpac2025/team.zip"
    repository.run("harness", "verify", path, "--track", code=2)
    assert list(repository.runs()["tags.harness.stage"]) == ["verify"]
