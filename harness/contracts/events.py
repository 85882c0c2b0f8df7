"""What a container says, as events: for the listeners of a stage, and for a check of an image.

Nothing that it says is passed on as it came: names and messages become short text that is safe on a
terminal, numbers are finite, and fields that no listener needs are gone.
"""

from __future__ import annotations

import math
from typing import Any

from harness.errors import ContainerError, DataError
from harness.runtime.containers.fence import Outcome, shown
from harness.runtime.events import Event, Events, parse_event

STANDARD_OUTPUT = "its standard output"
# Different metrics of one container; each becomes a curve.
MOST_METRICS = 100
COUNTS = range(1 << 63)
UNIT = "utterances"


class Hearing:
    """Passes progress, metrics and warnings of a container on to the listeners of a stage.

    `done` and `error` are not passed on: how the container ended is for `require` to say. Nor is
    `artifact`: the host alone says which files are kept.
    """

    def __init__(self, image: str, events: Events | None = None) -> None:
        self._image, self._events = image, events
        self._count = 0
        self._metrics: set[str] = set()
        self._error: str | None = None

    def __call__(self, line: bytes) -> None:
        """One line of standard output. Raises ContainerError for one that is no event of C5."""
        self._count += 1
        try:
            event = parse_event(line, STANDARD_OUTPUT)
        except DataError as error:
            raise self._refused(shown(error.what)) from error
        kind = event["event"]
        if kind == "run":
            raise self._refused("a run is for the host to tell of")
        if kind == "error":
            self._error = shown(event["message"])
        elif kind == "progress":
            self._pass_on(kind, self._progress(event))
        elif kind == "metric":
            self._pass_on(kind, self._metric(event))
        elif kind == "warning":
            self._pass_on(kind, {"message": shown(event["message"])})

    def _progress(self, event: Event) -> dict[str, Any]:
        task, unit = event.get("task"), event.get("unit", UNIT)
        numbers = {name: event.get(name) for name in ("done", "total")}
        if not isinstance(task, str) or not isinstance(unit, str):
            raise self._refused("progress of no task")
        if not all(type(number) is int and number in COUNTS for number in numbers.values()):
            raise self._refused("progress without whole numbers done and total")
        return {"task": shown(task), "unit": shown(unit), **numbers}

    def _metric(self, event: Event) -> dict[str, Any]:
        name = shown(event["name"])
        if not math.isfinite(event["value"]):
            raise self._refused(f"metric {name} is not finite")
        self._metrics.add(name)
        if len(self._metrics) > MOST_METRICS:
            raise self._refused(f"more than {MOST_METRICS} different metrics")
        step = {"step": event["step"]} if "step" in event else {}
        return {"name": name, "value": event["value"], **step}

    def _pass_on(self, kind: str, fields: dict[str, Any]) -> None:
        if self._events is not None:
            self._events.emit(kind, **fields)

    def _refused(self, what: str) -> ContainerError:
        return ContainerError(
            f"{STANDARD_OUTPUT}, line {self._count}: {what}",
            where=self._image,
            fix="say events as clause C5 has them",
        )

    def require(self, outcome: Outcome) -> None:
        """Raise ContainerError, one line, unless the container ended well and said no error."""
        if self._error is not None:
            raise ContainerError(
                f"the container says: {self._error}",
                where=self._image,
                fix="mend the image or its input",
            )
        outcome.require(self._image)
