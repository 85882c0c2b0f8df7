"""`harness report`: a page from what is there, or one clear line."""

from __future__ import annotations

import sys
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
    ("arguments", "status", "said"),
    [
        ([], 64, "params.yaml: no such file"),
        (["demo"], 1, "results/demo: nothing to show: no scores here; run `dvc repro`, or give"),
        (["demo", "--ranking", "r.json"], 64, "a ranking of vpac2025, not of demo"),
        (
            ["--ranking", "other.json"],
            64,
            "other.json: no such file; give what `harness rank --json` wrote",
        ),
        (["--ranking", "."], 64, ".: a folder; give the file: what `harness rank --json` wrote"),
        (["--ranking", "bad.json"], 64, "bad.json: no JSON document"),
        (["vpac"], 64, "harness report: unknown benchmark 'vpac'; known are: demo, "),
        (
            ["vpc2022"],
            64,
            "harness report: vpc2022 ranks anonymizers, and has no page; run "
            "`harness rank --benchmark vpc2022`",
        ),
        (["--ranking", "2024.json"], 64, "2024.json: vpc2024 ranks anonymizers, and has no page"),
        (["--ranking", "odd.json"], 64, "odd.json: unknown benchmark 'dem'; did you mean 'demo'?"),
    ],
)
def test_faults_are_one_line(
    arguments: list[str],
    status: int,
    said: str,
    empty: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, benchmark in (("r", "vpac2025"), ("2024", "vpc2024"), ("odd", "dem")):
        Path(f"{name}.json").write_bytes(ranking(benchmark))
    Path("bad.json").write_bytes(b"{")
    assert main(["report", *arguments]) == status
    message = line(capsys)
    assert message.startswith("harness report: ")
    assert said in message
    assert not Path("results").exists()


def test_help_says_what_a_status_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="^0$"):
        main(["report", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Exit status: 0 written, 1 error, 64 wrong usage." in said


@pytest.mark.parametrize("absent", ["jinja2", "matplotlib"])
def test_without_what_draws_a_page(
    absent: str, empty: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("r.json").write_bytes(ranking())
    # Python takes it for a module that is not there.
    monkeypatch.setitem(sys.modules, absent, None)
    assert main(["report", "--ranking", "r.json"]) == 1
    assert line(capsys) == (
        f"harness report: {absent}: not installed; pip install 'anonymization-harness[pipeline]'\n"
    )


def test_wrong_usage(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="^64$"):
        main(["report", "demo", "second"])
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
