from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from harness.cli.track import register
from harness.errors import TrackingError
from harness.runtime.events import Event

pytestmark = pytest.mark.heavy

PARAMETERS = Path(__file__).parents[2] / "params.yaml"


def harness(*arguments: str) -> int:
    parser = argparse.ArgumentParser("harness")
    register(parser.add_subparsers())
    args = parser.parse_args(arguments)
    status: int = args.handler(args)
    return status


@pytest.fixture
def _inside(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "params.yaml").write_text(PARAMETERS.read_text())
    monkeypatch.chdir(repository)


@pytest.mark.usefixtures("_inside")
def test_check_names_the_store(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert harness("track", "check") == 0
    expected = f"tracking works: sqlite:///{repository}/mlruns/mlflow.db\n"
    assert capsys.readouterr() == (expected, "")


@pytest.mark.usefixtures("_inside")
def test_check_fails_where_the_store_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, free_port: int
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://127.0.0.1:{free_port}")
    with pytest.raises(TrackingError, match="unset MLFLOW_TRACKING_URI"):
        harness("track", "check")


@pytest.mark.usefixtures("_inside")
def test_import_counts_runs(
    repository: Path, run_event: Event, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = repository / "models" / "b2"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_text(json.dumps(run_event) + "\n")
    assert harness("track", "import", "--benchmark", "libri-mini") == 0
    assert harness("track", "import") == 0
    assert harness("track", "import", "--benchmark", "demo") == 0
    assert capsys.readouterr().out.splitlines() == [
        "0 runs imported, 0 already there",
        "1 runs imported, 0 already there",
        "0 runs imported, 1 already there",
    ]


@pytest.mark.usefixtures("_inside")
def test_tracking_that_is_off(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (repository / "params.yaml").read_text()
    assert "enabled: true" in text
    (repository / "params.yaml").write_text(text.replace("enabled: true", "enabled: false"))
    assert harness("track", "import") == 0
    assert capsys.readouterr().out.startswith("tracking is off")
