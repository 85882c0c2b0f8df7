"""Events: what a stage says while it works, as JSON lines.

A stage emits; listeners (a progress bar, the MLflow store) hear every event at once. Events that
are part of the result go to `events.jsonl` in the stage's output folder; they hold no time, host,
path or run id, so that the same inputs give the same bytes, and the runs of the MLflow store can be
made again from them.

Kinds: `run` (first: what was run, on which data, with which parameters), `metric`, `artifact`,
`warning`, `error`, `done`; and `progress`, which is heard but never recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.runtime.files import write_text

KINDS = ("run", "metric", "artifact", "warning", "error", "done", "progress")
FILE_NAME = "events.jsonl"
FIX = "run the stage again"

# Fields that readers of the file rely on.
REQUIRED: dict[str, dict[str, tuple[type, ...]]] = {
    "run": {"stage": (str,), "key": (str,), "benchmark": (str,)},
    "metric": {"name": (str,), "value": (int, float)},
    "artifact": {"path": (str,)},
    "warning": {"message": (str,)},
    "error": {"message": (str,)},
}
OPTIONAL: dict[str, dict[str, tuple[type, ...]]] = {
    "run": {"parameters": (dict,), "versions": (dict,), "datasets": (list,)},
    "metric": {"step": (int,)},
}
DATASET_FIELDS = ("name", "digest", "context")

Event = dict[str, Any]
Listener = Callable[[Event], None]


class Events:
    """Collects a stage's events and passes each on to the listeners."""

    def __init__(self, *listeners: Listener) -> None:
        self.listeners = list(listeners)
        self.recorded: list[Event] = []

    def emit(self, kind: str, **fields: Any) -> None:
        """Tell all listeners; record the event unless it is `progress`."""
        assert kind in KINDS, kind
        event = {"event": kind, **fields}
        if kind != "progress":
            self.recorded.append(event)
        for listener in self.listeners:
            listener(event)

    def progress(self, task: str, done: int, total: int, unit: str = "utterances") -> None:
        """Work done so far; shown to a person, not recorded."""
        self.emit("progress", task=task, done=done, total=total, unit=unit)

    def write(self, folder: Path) -> None:
        """Write the recorded events to `folder/events.jsonl`."""
        lines = (json.dumps(event, sort_keys=True, allow_nan=False) for event in self.recorded)
        write_text(folder / FILE_NAME, "".join(line + "\n" for line in lines))


def read_events(path: Path) -> Iterator[Event]:
    """Events of a file, in order. Raises DataError as `parse_event` does."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            yield parse_event(line, f"{path}:{number}")


def parse_event(line: bytes, where: str) -> Event:
    """The event of a line. where: file and line, for errors.

    Raises DataError on a line that is not an event, or lacks what every event of its kind has.
    """
    try:
        event = json.loads(line.decode("utf-8"))
    # ValueError: no JSON, no UTF-8, or an integer of thousands of digits.
    except (ValueError, RecursionError) as error:
        raise DataError("not a JSON line", where=where, fix=FIX) from error
    if not isinstance(event, dict) or event.get("event") not in KINDS:
        raise DataError("not an event", where=where, fix=FIX)
    fault = _fault(event)
    if fault is not None:
        raise DataError(fault, where=where, fix=FIX)
    return event


def _fault(event: Event) -> str | None:
    """What is wrong with an event's fields, if anything."""
    kind = event["event"]
    for name in REQUIRED.get(kind, {}):
        if name not in event:
            return f"{kind} event without {name!r}"
    for name, types in (REQUIRED.get(kind, {}) | OPTIONAL.get(kind, {})).items():
        if name in event and not _is_one(event[name], types):
            return f"{kind} event whose {name} is {event[name]!r}"
    for dataset in event.get("datasets", []) if kind == "run" else []:
        if not isinstance(dataset, dict) or not all(
            isinstance(dataset.get(name), str) for name in DATASET_FIELDS
        ):
            return f"run event with a dataset that lacks one of {', '.join(DATASET_FIELDS)}"
    return None


def _is_one(value: object, types: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return False
    # MLflow's databases hold integers of 64 bits.
    return isinstance(value, types) and not (
        isinstance(value, int) and not -(2**63) <= value < 2**63
    )
