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
    """Events of a file, in order. Raises DataError on a line that is not an event."""
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                event = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(
                    "not a JSON line", where=f"{path}:{number}", fix="run the stage again"
                ) from error
            if not isinstance(event, dict) or event.get("event") not in KINDS:
                raise DataError("not an event", where=f"{path}:{number}", fix="run the stage again")
            yield event
