"""What a container says reaches listeners as short, safe text and finite numbers, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.contracts.events import MOST_METRICS, Hearing
from harness.errors import ContainerError
from harness.runtime.containers.fence import SAID_LENGTH, Outcome
from harness.runtime.events import Event, Events

WELL = Outcome(0, None, b"", b"")


def line(**event: Any) -> bytes:
    return json.dumps(event).encode()


def heard(*lines: bytes) -> list[Event]:
    told: list[Event] = []
    hearing = Hearing("image", Events(told.append))
    for one in lines:
        hearing(one)
    return told


def test_progress_metrics_and_warnings_are_passed_on_at_once() -> None:
    said = [
        {"event": "progress", "task": "train", "done": 3, "total": 9, "unit": "steps"},
        {"event": "metric", "name": "train_loss", "value": 0.1, "step": 2},
        {"event": "metric", "name": "speakers", "value": 40},
        {"event": "warning", "message": "short utterance"},
    ]
    told: list[Event] = []
    hearing = Hearing("image", Events(told.append))
    for number, event in enumerate(said, start=1):
        hearing(line(**event))
        assert told == said[:number]


def test_a_unit_need_not_be_said() -> None:
    (told,) = heard(line(event="progress", task="score", done=0, total=1))
    assert told["unit"] == "utterances"


def test_what_is_for_the_host_to_say_is_not_passed_on() -> None:
    assert heard(line(event="done"), line(event="artifact", path="/etc/passwd")) == []
    further = {"event": "metric", "name": "x", "value": 1, "run": "1", "path": "/etc"}
    assert heard(line(**further)) == [{"event": "metric", "name": "x", "value": 1}]


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (b"loading weights", "not a JSON line"),
        (b'{"event": "started"}', "not an event"),
        (b"\xff", "not a JSON line"),
        (b"[" * 100_000, "not a JSON line"),
        (b'{"event": "metric", "name": "eer", "value": NaN}', "metric eer is not finite"),
        (b'{"event": "metric", "name": "eer", "value": -Infinity}', "metric eer is not finite"),
        (b'{"event": "metric", "name": "eer", "value": 1e999}', "metric eer is not finite"),
        (b'{"event": "metric", "name": "eer", "value": "1"}', "whose value is '1'"),
        (b'{"event": "metric", "name": "eer", "value": true}', "whose value is True"),
        (line(event="metric", name="eer", value=10**30), "whose value is 1"),
        (line(event="metric", name="eer", value=1, step=1.5), "whose step is 1.5"),
        (line(event="metric", value=1), "without 'name'"),
        (line(event="progress"), "progress of no task"),
        (line(event="progress", task="x", done=1), "done and total"),
        (line(event="progress", task="x", done=-1, total=3), "done and total"),
        (line(event="progress", task="x", done=1, total=2**63), "done and total"),
        (line(event="progress", task="x", done=True, total=3), "done and total"),
        (line(event="progress", task="x", done=0.5, total=3), "done and total"),
        (line(event="progress", task="x", done=1, total=3, unit=7), "progress of no task"),
        (
            line(event="run", stage="score", key="score@vpac2025", benchmark="vpac2025"),
            "a run is for the host to tell of",
        ),
    ],
)
def test_what_is_no_event_of_the_contract_ends_the_container(said: bytes, fault: str) -> None:
    with pytest.raises(ContainerError, match=r"^image: its standard output, line 2: ") as caught:
        heard(line(event="progress", task="x", done=0, total=1), said)
    assert fault in str(caught.value)
    assert str(caught.value).endswith("; say events as clause C5 has them")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 2 * SAID_LENGTH


def test_names_cannot_reach_a_terminal_or_fill_it() -> None:
    red = "\x1b[31mred\n\u202e\ud800" + "x" * 10_000
    told = heard(
        line(event="metric", name=red, value=1),
        line(event="warning", message=red),
        line(event="progress", task=red, done=0, total=1, unit=red),
    )
    texts = [
        event[name]
        for event in told
        for name in ("name", "message", "task", "unit")
        if name in event
    ]
    assert len(texts) == 4
    assert all(text.startswith(r"\x1b[31mred \u202e?xxx") for text in texts)
    assert {len(text) for text in texts} == {SAID_LENGTH}


def test_a_hundred_curves_are_enough() -> None:
    names = [line(event="metric", name=f"m{number}", value=1) for number in range(MOST_METRICS)]
    assert len(heard(*names, *names)) == 2 * MOST_METRICS
    with pytest.raises(ContainerError, match=r"line 101: more than 100 different metrics"):
        heard(*names, line(event="metric", name="one more", value=1))


def test_how_it_ended() -> None:
    hearing = Hearing("image")
    hearing(line(event="done"))
    hearing.require(WELL)
    with pytest.raises(ContainerError, match=r"^image: .* with status 3 \(\\x1b\[1mno weights\)"):
        hearing.require(Outcome(3, None, b"", b"Traceback\n\x1b[1mno weights\n"))
    hearing(line(event="error", message="u0001.wav: \x1b[1mnot speech\n" + "x" * 1000))
    with pytest.raises(ContainerError, match=r"^image: .* says: u0001\.wav: \\x1b\[1mnot") as told:
        hearing.require(WELL)
    assert len(str(told.value)) < 2 * SAID_LENGTH
