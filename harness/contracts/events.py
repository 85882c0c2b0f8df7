"""What a container says, as events: for the listeners of a stage, and for a check of an image."""

from __future__ import annotations

from harness.errors import ContainerError, DataError
from harness.runtime.containers.fence import Outcome, printable
from harness.runtime.events import Event, Events, parse_event

STANDARD_OUTPUT = "its standard output"


class Hearing:
    """Passes the events of a container on to the listeners of a stage, as they come.

    `done` and `error` are not passed on: how the container ended is for `require` to say.
    """

    def __init__(self, image: str, events: Events | None = None) -> None:
        self._image, self._events = image, events
        self._count = 0
        self._error: str | None = None

    def __call__(self, line: bytes) -> None:
        """One line of standard output. Raises ContainerError for one that is no event."""
        self._count += 1
        try:
            event = parse_event(line, f"{STANDARD_OUTPUT}, line {self._count}")
        except DataError as error:
            raise ContainerError(
                f"{error.where}: {error.what}", where=self._image, fix="say events only (clause C5)"
            ) from error
        if event["event"] == "error":
            self._error = printable(event["message"].encode("utf-8", "replace"))
        elif self._events is not None and event["event"] != "done":
            self._pass_on(self._events, event)

    def _pass_on(self, events: Events, event: Event) -> None:
        events.emit(event["event"], **{k: v for k, v in event.items() if k != "event"})

    def require(self, outcome: Outcome) -> None:
        """Raise ContainerError, one line, unless the container ended well and said no error."""
        if self._error is not None:
            raise ContainerError(
                f"the container says: {self._error}",
                where=self._image,
                fix="mend the image or its input",
            )
        outcome.require(self._image)
