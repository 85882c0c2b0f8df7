"""A stage that is told to MLflow while it works."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from harness.pipeline.context import Context
from harness.runtime.events import Events
from harness.runtime.files import fingerprint
from harness.tracking.sink import RunSink
from harness.tracking.store import open_store


@contextmanager
def tracked(context: Context, key: str, identity: Any) -> Iterator[tuple[Events, RunSink | None]]:
    """Events that also become an MLflow run, unless tracking is off.

    Raises TrackingError at once when the store cannot be reached.
    """
    store = open_store(context.parameters.tracking)
    if store is None:
        yield Events(*context.listeners), None
        return
    with RunSink(store, identity=fingerprint(identity), dvc_stage=key) as sink:
        yield Events(*context.listeners, sink), sink


def problems(sink: RunSink | None) -> str:
    """What went wrong with tracking, to stand behind a result line."""
    return "" if sink is None or not sink.problems else f" (tracking: {'; '.join(sink.problems)})"
