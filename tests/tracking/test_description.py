from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.runtime.events import Event
from harness.tracking.description import Told, description, literal, run_name


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        (
            {"stage": "score", "seed": 1986, "attacker": "ecapa", "system": "b2"},
            "score b2 · ecapa · seed 1986",
        ),
        ({"stage": "verify", "submission": "team.zip"}, "verify team.zip"),
        ({"stage": "leaderboard", "attacker": "ecapa"}, "leaderboard ecapa"),
        ({"stage": "leaderboard"}, "leaderboard demo"),
        ({"stage": "verify", "submission": "a\n\x1b[2Jb\udcff"}, "verify a \\x1b[2Jb?"),
    ],
)
def test_names_tell_runs_apart(fields: Event, name: str) -> None:
    assert run_name({"event": "run", "key": "k", "benchmark": "demo", **fields}) == name


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("b2", "`b2`"),
        ("a`b|c", "`a\\x60b\\x7cc`"),
        ("", "` `"),
        ("a\nb", "`a b`"),
        (1986, "`1986`"),
    ],
)
def test_literal(text: object, span: str) -> None:
    assert literal(text) == span


@given(st.text(max_size=400))
def test_literal_is_one_code_span_on_one_line(text: str) -> None:
    span = literal(text)
    assert span[0] == span[-1] == "`"
    assert not set("`|") & set(span[1:-1])
    assert span[1:-1].strip("`")
    assert span.isprintable()


def told(run: Event, metrics: dict[str, float] | None = None) -> Told:
    whole = {"event": "run", "stage": "score", "key": "k", "benchmark": "demo", **run}
    return Told(whole, dvc_stage="score@demo", metrics=metrics or {})


def test_eers_stand_in_a_table_by_the_last_part_of_their_names() -> None:
    metrics = {
        "train_loss": 1.0,
        "eer/semi-informed/test/b2": 19.2837,
        "eer/semi-informed/test/b3": 27.0,
        "eer/original/test/orig": 9.999,
    }
    table = description(told({}, metrics=metrics)).split("\n\n")[2]
    assert table.replace("&ensp;", "").splitlines() == [
        "| EER in percent | `b2` | `b3` | `orig` |",
        "|---|---:|---:|---:|",
        "| `semi-informed/test` | 19.28 | 27.00 |  |",
        "| `original/test` |  |  | 10.00 |",
    ]


def test_stage_that_is_not_known_and_has_no_eers() -> None:
    assert description(told({"stage": "other", "seed": 7})).split("\n\n") == [
        "benchmark `demo` · seed `7`",
        "DVC stage `score@demo`",
    ]


def test_too_many_columns_are_left_out_and_said_so() -> None:
    text = description(told({}, metrics={f"eer/a/{number}": 1.0 for number in range(9)}))
    assert "`7`" in text
    assert "`8`" not in text
    assert "The rest is in the metrics and files" in text


def test_no_longer_than_mlflow_takes_and_cut_between_lines() -> None:
    metrics = {f"eer/{number}{'x' * 90}/f": 1.0 for number in range(200)}
    text = description(told({}, metrics=metrics))
    assert 7500 < len(text) <= 8000
    assert text.endswith("\n\n*The rest is in the metrics and files of this run.*")
    assert all(line.count("`") % 2 == 0 for line in text.splitlines())
