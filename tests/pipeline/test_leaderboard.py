"""The leaderboard's runs, read back from a real MLflow store."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.pipeline.leaderboard import log_leaderboard, write_leaderboard
from harness.ranking.model import Estimate
from harness.reports.page import ResultRow, Utility
from harness.reports.tradeoff import Kept, Tradeoff
from harness.runtime.parameters import Tracking
from harness.tracking.importer import import_runs
from harness.tracking.store import Store, open_store

pytestmark = pytest.mark.heavy

REPORT = Path("results/demo/report")
ATTACKERS = {"small": {"type": "ecapa", "epochs": 6}, "large": {"type": "ecapa", "epochs": 12}}
FILES = ["events.jsonl", "table.json", "table.png"]


def row(system: str, attacker: str, scenario: str, mean: Estimate, **fields: Any) -> ResultRow:
    return ResultRow(
        **{
            "system": system,
            "attacker": attacker,
            "scenario": scenario,
            "split": "test",
            "by_gender": {"f": 1.0, "m": 1.0},
            "mean": mean,
            "deviation": 0.25,
            "seeds": {1986: 1.0, 1987: 1.0},
            "published": None,
            "source": None,
            "file": "results/demo/eer.csv",
            **fields,
        }
    )


ROWS = (
    row("orig", "small", "original", Estimate(9.8114, 4.0, 15.5), published="8.77"),
    row("orig", "large", "original", Estimate(7.0, None, None, "too few speakers")),
    row("b2", "small", "semi-informed", Estimate(19.28049, 14.1, 25.0)),
    row("b2", "large", "semi-informed", Estimate(16.5, 12.0, 22.0), seeds={1986: 1.0}),
)


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)


def opened() -> Store:
    store = open_store(Tracking())
    assert store is not None
    return store


def runs() -> dict[str, Any]:
    """Runs of the store by name, each name once."""
    store = opened()
    found = store.client.search_runs([store.experiment("demo")])
    assert len({run.info.run_name for run in found}) == len(found)
    return {run.info.run_name: run for run in found}


def test_one_run_of_the_whole_and_one_of_each_attacker() -> None:
    write_leaderboard(REPORT, "demo", ROWS, ATTACKERS)
    assert log_leaderboard(REPORT, Tracking()) == []
    found = runs()
    assert set(found) == {"leaderboard demo", "leaderboard small", "leaderboard large"}
    whole = found["leaderboard demo"]
    assert whole.info.status == "FINISHED"
    assert whole.data.metrics == {
        "eer/original/test/orig/small": 9.811,
        "eer/original/test/orig/large": 7.0,
        "eer/semi-informed/test/b2/small": 19.28,
        "eer/semi-informed/test/b2/large": 16.5,
    }
    assert whole.data.params == {
        "systems": "orig, b2",
        "attackers": "small, large",
        "seeds": "1986, 1987",
    }
    tags = whole.data.tags
    assert tags["harness.stage"] == "leaderboard"
    assert tags["harness.dvc_stage"] == "report@demo"
    assert tags["harness.source"] == "live"
    assert json.loads(tags["mlflow.loggedArtifacts"]) == [{"path": "table.json", "type": "table"}]
    note = tags["mlflow.note.content"].replace("&ensp;", "")
    assert "| `semi-informed/test/b2` | 19.28 | 16.50 |" in note
    assert "files `results/demo/report/leaderboard`" in note
    kept = [file.path for file in opened().client.list_artifacts(whole.info.run_id)]
    assert sorted(kept) == FILES


def test_attackers_line_up_in_a_comparison() -> None:
    write_leaderboard(REPORT, "demo", ROWS, ATTACKERS)
    log_leaderboard(REPORT, Tracking())
    found = runs()
    small, large = found["leaderboard small"], found["leaderboard large"]
    assert small.data.metrics == {
        "eer/original/test/orig": 9.811,
        "eer/semi-informed/test/b2": 19.28,
    }
    assert large.data.metrics.keys() == small.data.metrics.keys()
    assert small.data.params == {
        "systems": "orig, b2",
        "seeds": "1986, 1987",
        "attacker.type": "ecapa",
        "attacker.epochs": "6",
    }
    assert large.data.params["attacker.epochs"] == "12"
    assert large.data.tags["harness.attacker"] == "large"


def test_the_same_leaderboard_is_one_run_and_another_is_another() -> None:
    write_leaderboard(REPORT, "demo", ROWS, ATTACKERS)
    for _ in range(2):
        assert log_leaderboard(REPORT, Tracking()) == []
    assert len(runs()) == 3
    assert import_runs(opened(), Path()).imported == ()
    better = replace(ROWS[3], mean=Estimate(15.0))
    write_leaderboard(REPORT, "demo", (*ROWS[:3], better), ATTACKERS)
    log_leaderboard(REPORT, Tracking())
    store = opened()
    names = [r.info.run_name for r in store.client.search_runs([store.experiment("demo")])]
    assert sorted(names) == sorted(
        ["leaderboard demo", "leaderboard large"] * 2 + ["leaderboard small"]
    )


def test_a_lost_store_is_made_again_from_the_files() -> None:
    write_leaderboard(REPORT, "demo", ROWS, ATTACKERS)
    assert log_leaderboard(REPORT, Tracking(enabled=False)) == []
    assert not Path("mlruns").exists()
    assert len(import_runs(opened(), Path()).imported) == 3
    assert set(runs()) == {"leaderboard demo", "leaderboard small", "leaderboard large"}
    assert runs()["leaderboard demo"].data.tags["harness.source"] == "import"


def test_files_are_those_of_the_rows_alone() -> None:
    write_leaderboard(REPORT, "demo", ROWS, ATTACKERS)
    write_leaderboard(Path("again"), "demo", ROWS, ATTACKERS)
    one, other = (
        {path.relative_to(place): path.read_bytes() for path in place.rglob("*") if path.is_file()}
        for place in (REPORT, Path("again"))
    )
    assert one == other
    board = Path("leaderboard")
    assert set(one) == {board / place / name for place in ("", *ATTACKERS) for name in FILES}
    table = json.loads(one[board / "large" / "table.json"])
    assert [dict(zip(table["columns"], line, strict=True)) for line in table["data"]] == [
        {
            "system": "orig",
            "attacker": "large",
            "scenario": "original",
            "split": "test",
            "EER in percent": 7.0,
            "low": None,
            "high": None,
            "no interval because": "too few speakers",
            "deviation over seeds": 0.25,
            "seeds": 2,
            "published": None,
        },
        {
            "system": "b2",
            "attacker": "large",
            "scenario": "semi-informed",
            "split": "test",
            "EER in percent": 16.5,
            "low": 12.0,
            "high": 22.0,
            "no interval because": None,
            "deviation over seeds": 0.25,
            "seeds": 1,
            "published": None,
        },
    ]
    assert one[board / "table.png"].startswith(b"\x89PNG")
    assert one[board / "table.png"] != one[board / "large" / "table.png"]


def test_utility_stands_in_the_run_of_the_whole() -> None:
    eer = Kept("EER", "small", "", 1.0, None, None, 1.0, 0.0)
    wer = Kept("WER", "wer", "libri", 8.12345, None, None, 8.12345, 0.0)
    gone = Kept("UAR", "emotion", "emodb", 25.0, None, None, 70.0, 1.0)
    shown = Utility(
        (
            Tradeoff("orig", "test", (eer, wer), 0.0, None),
            Tradeoff("b2", "test", (eer, wer, gone), -1.0, True),
            Tradeoff("b2", "dev", (eer, replace(wer, value=9.0)), 0.0, True),
        ),
        "orig",
        (),
    )
    rows = (*ROWS, replace(ROWS[3], split="dev"))
    write_leaderboard(REPORT, "demo", rows, ATTACKERS, shown)
    assert log_leaderboard(REPORT, Tracking()) == []
    found = runs()
    metrics = found["leaderboard demo"].data.metrics
    assert {name: value for name, value in metrics.items() if name.startswith("utility/")} == {
        "utility/test/WER/wer/libri/orig": 8.123,
        "utility/test/WER/wer/libri/b2": 8.123,
        "utility/test/UAR/emotion/emodb/b2": 25.0,
        "utility/dev/WER/wer/libri/b2": 9.0,
    }
    assert not [name for name in found["leaderboard small"].data.metrics if "WER" in name]
    table = json.loads((REPORT / "leaderboard/table.json").read_text(encoding="utf-8"))
    lines = [dict(zip(table["columns"], line, strict=True)) for line in table["data"]]
    assert [
        (one["system"], one["WER, wer, libri"], one["UAR, emotion, emodb"]) for one in lines
    ] == [
        ("orig", 8.123, None),
        ("orig", 8.123, None),
        ("b2", 8.123, 25.0),
        ("b2", 8.123, 25.0),
        ("b2", 9.0, None),
    ]
    of_one = json.loads((REPORT / "leaderboard/small/table.json").read_text(encoding="utf-8"))
    assert "WER, wer, libri" not in of_one["columns"]


def test_a_store_that_fails_is_a_problem_and_not_an_error() -> None:
    write_leaderboard(REPORT, "demo", ROWS, ATTACKERS)
    (problem,) = log_leaderboard(REPORT, Tracking(uri="sqlite:///results"))
    assert "is a folder" in problem
