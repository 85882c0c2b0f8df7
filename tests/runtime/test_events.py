"""Events: all are heard, those that are part of the result are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import DataError
from harness.runtime.events import Event, Events, read_events


def test_listeners_hear_all_and_the_file_has_no_progress(tmp_path: Path) -> None:
    heard: list[Event] = []
    events = Events(heard.append)
    events.emit("run", stage="train", seed=1986)
    events.progress("train", 1, 2)
    events.emit("metric", name="loss", value=0.25, step=3)
    events.emit("done")
    events.write(tmp_path)
    assert heard[1] == {
        "event": "progress",
        "task": "train",
        "done": 1,
        "total": 2,
        "unit": "utterances",
    }
    recorded = [event for event in heard if event["event"] != "progress"]
    assert list(read_events(tmp_path / "events.jsonl")) == recorded == events.recorded
    assert (tmp_path / "events.jsonl").read_text() == (
        '{"event": "run", "seed": 1986, "stage": "train"}\n'
        '{"event": "metric", "name": "loss", "step": 3, "value": 0.25}\n'
        '{"event": "done"}\n'
    )


def test_unknown_kind_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError, match="metrics"):
        Events().emit("metrics")


def test_nan_is_not_json(tmp_path: Path) -> None:
    events = Events()
    events.emit("metric", name="loss", value=float("nan"))
    with pytest.raises(ValueError, match="not JSON compliant"):
        events.write(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"event": "do', "events.jsonl:2: not a JSON line; run the stage again"),
        ('["done"]', "events.jsonl:2: not an event"),
        ('{"event": "dune"}', "events.jsonl:2: not an event"),
        ('{"name": "x"}', "events.jsonl:2: not an event"),
    ],
)
def test_malformed_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "done"}\n' + line + "\n")
    with pytest.raises(DataError, match=message):
        list(read_events(path))
