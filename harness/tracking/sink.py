"""One MLflow run out of one stage's events, live or from its file.

The sink listens to a stage. Its store may fail at any time: the stage goes on, and `problems` says
what a person should know. `finish` replays the recorded file against what the run already holds,
so a run ends complete whether the stage was resumed, the store was away, or nobody was listening.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from harness.runtime.events import FILE_NAME, Event, read_events
from harness.runtime.files import sha256_file
from harness.tracking.description import Told, description, run_name
from harness.tracking.fields import flattened, run_tags, source_tags, unknown_source_tags
from harness.tracking.quiet import PATIENT, failures, quietly, reason
from harness.tracking.run import IDENTITY_TAG, TrackedRun
from harness.tracking.store import Store

EVENTS_TAG = "harness.events_sha256"
SOURCE_TAG = "harness.source"
LIVE = "live"
IMPORT = "import"
# What the UI reads to show a file of JSON as a table.
TABLES_TAG = "mlflow.loggedArtifacts"
TABLE = "table"


class RunSink:
    """An events listener that keeps one MLflow run.

    identity: what determines the stage's work; a run left RUNNING with it is continued.
    dvc_stage: name of the stage in dvc.yaml. source: LIVE or IMPORT. root: the repository.
    milliseconds: a fixed time (since 1970) for everything in the run, None for the clock's.
    """

    def __init__(
        self,
        store: Store,
        *,
        identity: str,
        dvc_stage: str,
        source: str = LIVE,
        root: Path = Path(),
        milliseconds: int | None = None,
    ) -> None:
        self.store = store
        self.identity = identity
        self.dvc_stage = dvc_stage
        self.source = source
        self.root = root
        self.milliseconds = milliseconds
        self.run: TrackedRun | None = None
        self.finished = False
        self._loss: str | None = None
        self._missing: list[str] = []
        self._told: Told | None = None
        self._artifacts: list[Event] = []

    def __enter__(self) -> RunSink:
        return self

    def __exit__(self, kind: object, exception: BaseException | None, trace: object) -> None:
        self.close(exception)

    @property
    def problems(self) -> list[str]:
        """What went wrong with tracking, one line each; empty when the run is as it should be."""
        return [*self._missing, *([] if self._loss is None else [self._loss])]

    def __call__(self, event: Event) -> None:
        """Log an event; never raises because of the store."""
        if event["event"] != "progress":
            self._attempt(lambda: self._hear(event))

    def finish(self, folder: Path) -> None:
        """End the run as FINISHED, with the files of `folder`, where `events.jsonl` now lies.

        Also mends a run that lacks events because the store was away meanwhile.
        """
        recorded = list(read_events(folder / FILE_NAME))
        if self._loss is not None:
            self._loss = None
            self.run = None
        self._artifacts.clear()
        self.finished = self._attempt(lambda: self._finish(recorded, folder))

    def close(self, exception: BaseException | None = None) -> None:
        """End a run that `finish` did not: KILLED by an interrupt or an exit, else FAILED."""
        run, told = self.run, self._told
        if self.finished or run is None or told is None:
            return
        self.finished = True
        status = "KILLED" if isinstance(exception, (KeyboardInterrupt, SystemExit)) else "FAILED"
        if exception is not None:
            told.notes.append(f"ended by {type(exception).__name__}: {exception}")
        self._attempt(lambda: run.end(status, description(told)))

    def _attempt(self, action: Callable[[], None]) -> bool:
        if self._loss is not None:
            return False
        with quietly(PATIENT):
            try:
                action()
            except failures() as error:
                self._loss = (
                    f"the MLflow store failed ({reason(error)}): the stage's results are not "
                    "affected; run `harness track import` when the store works again"
                )
                return False
        return True

    def _hear(self, event: Event) -> None:
        kind = event["event"]
        if kind == "run":
            self.run = self.run or self._begin(event)
            self._told = Told(event, self.dvc_stage)
        elif self.run is None or self._told is None:
            return
        elif kind == "metric":
            self.run.add_metric(event["name"], float(event["value"]), int(event.get("step", 0)))
            self._told.metrics[event["name"]] = float(event["value"])
        elif kind == "artifact":
            self._artifacts.append(event)
        elif kind in ("warning", "error"):
            self._told.notes.append(f"{kind}: {event['message']}")
        elif kind == "done":
            self.run.flush()

    def _begin(self, event: Event) -> TrackedRun:
        tags = {
            **run_tags(event),
            "harness.dvc_stage": self.dvc_stage,
            IDENTITY_TAG: self.identity,
            SOURCE_TAG: self.source,
            "mlflow.source.name": f"harness {event['stage']}",
            "mlflow.source.type": "LOCAL",
            **(source_tags(self.root) if self.source == LIVE else unknown_source_tags()),
        }
        run = TrackedRun.begin(
            self.store,
            benchmark=event["benchmark"],
            name=run_name(event),
            identity=self.identity,
            parameters=flattened(event.get("parameters", {})),
            milliseconds=self.milliseconds,
        )
        run.set_tags(tags)
        run.log_datasets(event.get("datasets", []))
        return run

    def _finish(self, recorded: list[Event], folder: Path) -> None:
        for event in recorded:
            self._hear(event)
        if self.run is None or self._told is None:
            return
        tables = []
        for event in self._artifacts:
            path = event["path"]
            if not self.run.log_artifact(folder, path):
                self._missing.append(f"{folder}: no file {path!r} to keep as an artifact")
            elif event.get("type") == TABLE:
                tables.append({"path": path, "type": TABLE})
        self.run.log_artifact(folder, FILE_NAME)
        tags = {EVENTS_TAG: sha256_file(folder / FILE_NAME)}
        if tables:
            tags[TABLES_TAG] = json.dumps(tables)
        self.run.set_tags(tags)
        root, place = self.root.absolute(), folder.absolute()
        if place.is_relative_to(root):
            self._told.place = place.relative_to(root).as_posix()
        self.run.end("FINISHED", description(self._told))
