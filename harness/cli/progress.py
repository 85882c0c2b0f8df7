"""What a person sees of a stage while it works: progress, and warnings.

Progress bars are shown on a terminal, for work that takes longer than two seconds.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from harness.runtime.events import Event
from harness.submissions.shown import printable

if TYPE_CHECKING:
    from tqdm import tqdm

DELAY_SECONDS = 2.0


class ProgressBars:
    """An events listener that draws one bar at a time, and tells each warning once."""

    def __init__(self) -> None:
        self._bar: tqdm[Any] | None = None
        self._task: str | None = None
        self._shown = sys.stderr.isatty()
        self._told: set[str] = set()

    def __call__(self, event: Event) -> None:
        if event["event"] == "warning":
            self._warn(event["message"])
        if event["event"] != "progress" or not self._shown:
            return
        if event["task"] != self._task:
            self.close()
            from tqdm import tqdm

            self._task = event["task"]
            self._bar = tqdm(
                total=event["total"],
                desc=event["task"],
                unit=f" {event['unit']}",
                delay=DELAY_SECONDS,
                leave=False,
            )
        if self._bar is not None:
            self._bar.update(event["done"] - self._bar.n)

    def _warn(self, message: str) -> None:
        # A container says the same of each shard, and what it says is a stranger's.
        if message not in self._told:
            self._told.add(message)
            self.close()
            print(f"harness: warning: {printable(message)}", file=sys.stderr)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
        self._bar = self._task = None
