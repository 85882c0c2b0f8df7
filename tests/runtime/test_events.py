"""Events: all are heard, those that are part of the result are recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import DataError
from harness.runtime.events import Event, Events, read_events


def test_listeners_hear_all_and_the_file_has_no_progress(tmp_path: Path) -> None:
    heard: list[Event] = []
    events = Events(heard.append)
    events.emit("run", stage="train", key="k", benchmark="demo", seed=1986)
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
        '{"benchmark": "demo", "event": "run", "key": "k", "seed": 1986, "stage": "train"}\n'
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


RUN = '{"event": "run", "stage": "s", "key": "k", "benchmark": "b", %s}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"event": "do', "events.jsonl:2: not a JSON line; run the stage again"),
        ('["done"]', "events.jsonl:2: not an event"),
        ('{"event": "dune"}', "events.jsonl:2: not an event"),
        ('{"name": "x"}', "events.jsonl:2: not an event"),
        ('{"event": ["run"]}', "events.jsonl:2: not an event"),
        (5000 * "[" + 5000 * "]", "events.jsonl:2: not a JSON line"),
        ('{"event": "done", "n": ' + 5000 * "1" + "}", "events.jsonl:2: not a JSON line"),
        ('{"event": "run", "stage": "s", "key": "k"}', "run event without 'benchmark'; run the"),
        (
            '{"event": "run", "stage": 1, "key": "k", "benchmark": "b"}',
            "run event whose stage is 1",
        ),
        (RUN % '"parameters": [1]', r"run event whose parameters is \[1\]"),
        (RUN % '"versions": "x"', "run event whose versions is 'x'"),
        (RUN % '"datasets": {}', "run event whose datasets is {}"),
        (
            RUN % '"datasets": [1]',
            "run event with a dataset that lacks one of name, digest, context",
        ),
        (RUN % '"datasets": [{"name": "x", "digest": 5}]', "run event with a dataset that lacks"),
        ('{"event": "metric", "name": "x"}', "events.jsonl:2: metric event without 'value'"),
        ('{"event": "metric", "value": 1}', "metric event without 'name'"),
        ('{"event": "metric", "name": "x", "value": "1"}', "metric event whose value is '1'"),
        ('{"event": "metric", "name": "x", "value": true}', "metric event whose value is True"),
        (
            '{"event": "metric", "name": "x", "value": 1, "step": 1.5}',
            "metric event whose step is 1.5",
        ),
        (
            '{"event": "metric", "name": "x", "value": 1, "step": 99999999999999999999}',
            "metric event whose step is 9999",
        ),
        ('{"event": "artifact", "path": null}', "artifact event whose path is None"),
        ('{"event": "warning"}', "warning event without 'message'"),
    ],
)
def test_malformed_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "done"}\n' + line + "\n")
    with pytest.raises(DataError, match=message):
        list(read_events(path))


def test_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"event": "done"}\n{"event": "\xff"}\n')
    with pytest.raises(DataError, match="events.jsonl:2: not a JSON line"):
        list(read_events(path))
