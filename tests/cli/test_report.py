"""`harness report`: a page from what is there, or one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
import scored_demo

from harness.cli.main import main
from harness.metrics.resampling import Sampling
from harness.pipeline.context import open_context
from harness.ranking.document import to_json
from harness.ranking.model import FORMAT, Method, Ranking

pytestmark = pytest.mark.heavy


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ranking(benchmark: str = "vpac2025") -> bytes:
    method = Method(*(getattr(Sampling(), name) for name in ("draws", "level", "unit", "seed")))
    return to_json(Ranking(FORMAT, "0", benchmark, "Teams of <b>2025", method, (), ())).encode()


def line(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_ranking_alone(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.json").write_bytes(ranking())
    assert main(["report", "vpac2025", "--ranking", "r.json", "--output", "page.html"]) == 0
    assert capsys.readouterr().out == "page.html\n"
    page = Path("page.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "r.json" in page
    assert "Teams of <b>" not in page


def test_the_page_goes_beside_the_results(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.json").write_bytes(ranking())
    assert main(["report", "--ranking", "r.json"]) == 0
    assert capsys.readouterr().out == "results/vpac2025/report.html\n"
    assert Path("results/vpac2025/report.html").is_file()


def test_results_of_runs(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored_demo.make(systems=("orig",), attackers=("weak",))
    assert main(["report"]) == 0
    assert capsys.readouterr().out == "results/demo/report.html\n"
    page = Path("results/demo/report.html").read_text(encoding="utf-8")
    assert 'href="averages.csv"' in page
    assert main(["report", "demo", "--output", str(empty.parent / f"{empty.name}.html")]) == 0
    outside = (empty.parent / f"{empty.name}.html").read_text(encoding="utf-8")
    # From elsewhere nothing can be linked, and no path of this machine is told.
    assert "results/demo/averages.csv" in outside
    assert 'averages.csv"' not in outside
    assert str(empty) not in outside


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "params.yaml: no such file"),
        (["demo"], "results/demo: nothing to show: no scores here; run `dvc repro`, or give"),
        (["demo", "--ranking", "r.json"], "a ranking of vpac2025, not of demo"),
        (
            ["--ranking", "other.json"],
            "other.json: no such file; give what `harness rank --json` wrote",
        ),
        (["--ranking", "bad.json"], "bad.json: no JSON document"),
        (["vpac"], "unknown benchmark 'vpac'; did you mean 'vpac2025'?"),
    ],
)
def test_faults_are_one_line(
    arguments: list[str], said: str, empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("r.json").write_bytes(ranking())
    Path("bad.json").write_bytes(b"{")
    assert main(["report", *arguments]) == 1
    message = line(capsys)
    assert message.startswith("harness report: ")
    assert said in message
    assert not Path("results").exists()


def test_wrong_usage(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["report", "demo", "second"])
    assert stopped.value.code == 64
    assert "unrecognized arguments" in line(capsys)


def test_a_benchmark_that_is_not_the_current_one(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scored_demo.make(systems=("orig",), attackers=("weak",))
    assert open_context("demo").benchmark.name == "demo"
    Path("r.json").write_bytes(ranking())
    assert main(["report", "--ranking", "r.json"]) == 0
    assert capsys.readouterr().out == "results/vpac2025/report.html\n"
    assert main(["report", "vpac2025"]) == 1
    assert "results/vpac2025: nothing to show" in line(capsys)
