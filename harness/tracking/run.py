"""A run of the MLflow store: begun or continued, and written within MLflow's limits."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from harness.tracking.fields import DIGEST_CHARACTERS, TAG_CHARACTERS, field_name, shortened
from harness.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Metric, Run

IDENTITY_TAG = "harness.identity"
# Metrics wait for others, but not for long: someone may be watching the curve.
FLUSH_METRICS = 100
FLUSH_SECONDS = 2.0


class TrackedRun:
    """One run. All methods raise what `failures()` names when the store fails."""

    def __init__(self, store: Store, run: Run, milliseconds: int | None) -> None:
        self.client = store.client
        self.run_id: str = run.info.run_id
        self.milliseconds = milliseconds
        self._logged = {
            (name, metric.step, metric.value)
            for name in run.data.metrics
            for metric in self.client.get_metric_history(self.run_id, name)
        }
        self._pending: list[Metric] = []
        self._flushed = 0.0

    @classmethod
    def begin(
        cls,
        store: Store,
        *,
        benchmark: str,
        name: str,
        identity: str,
        parameters: Mapping[str, str],
        milliseconds: int | None,
    ) -> TrackedRun:
        """Continue the run that was left RUNNING with this identity, or create one.

        milliseconds: a fixed time (since 1970) for everything in the run, None for the clock's.
        """
        from mlflow.entities import Param

        client = store.client
        experiment = store.experiment(benchmark)
        left = client.search_runs(
            [experiment],
            filter_string=f"tags.`{IDENTITY_TAG}` = '{identity}' AND attributes.status = 'RUNNING'",
            order_by=["attributes.start_time DESC"],
        )
        # MLflow does not let a parameter change, so a run with others cannot go on.
        fitting = (run for run in left if run.data.params.items() <= parameters.items())
        found = next(fitting, None) or client.create_run(
            experiment,
            start_time=now(milliseconds),
            run_name=name,
            # With its identity from the first moment, a run is found again after a kill.
            tags={IDENTITY_TAG: identity},
        )
        tracked = cls(store, found, milliseconds)
        missing = [
            Param(key, text) for key, text in parameters.items() if key not in found.data.params
        ]
        # Parameters, tags and metrics go apart: together the longest would exceed 1 MB a request.
        client.log_batch(tracked.run_id, params=missing, synchronous=True)
        return tracked

    def set_tags(self, tags: Mapping[str, str]) -> None:
        """Set tags; a text that is too long is cut."""
        from mlflow.entities import RunTag

        entities = [RunTag(name, shortened(text, TAG_CHARACTERS)) for name, text in tags.items()]
        self.client.log_batch(self.run_id, tags=entities, synchronous=True)

    def log_datasets(self, datasets: Sequence[Mapping[str, str]]) -> None:
        """Log inputs, each with `name`, `digest` (SHA-256) and `context`."""
        from mlflow.entities import Dataset, DatasetInput, InputTag

        inputs = [
            DatasetInput(
                Dataset(
                    name=dataset["name"],
                    # MLflow takes 36 characters; the whole hash is in the source.
                    digest=dataset["digest"][:DIGEST_CHARACTERS],
                    source_type="corpus",
                    source=json.dumps({"corpus": dataset["name"], "sha256": dataset["digest"]}),
                ),
                tags=[InputTag("mlflow.data.context", dataset["context"])],
            )
            for dataset in datasets
        ]
        if inputs:
            self.client.log_inputs(self.run_id, inputs)

    def add_metric(self, name: str, value: float, step: int) -> None:
        """Log a metric, unless the run has this value at this step already."""
        from mlflow.entities import Metric

        key = (field_name(name), step, value)
        if key not in self._logged:
            self._logged.add(key)
            self._pending.append(Metric(key[0], value, now(self.milliseconds), step))
        late = time.monotonic() - self._flushed > FLUSH_SECONDS
        if late or len(self._pending) >= FLUSH_METRICS:
            self.flush()

    def flush(self) -> None:
        """Send the metrics that wait."""
        if self._pending:
            self.client.log_batch(self.run_id, metrics=self._pending, synchronous=True)
        self._pending.clear()
        self._flushed = time.monotonic()

    def log_artifact(self, folder: Path, path: str) -> bool:
        """Keep a file or folder of `folder` under the same path; False if there is none inside."""
        relative = PurePosixPath(os.path.normpath(path))
        source = folder / relative
        if relative.is_absolute() or ".." in relative.parts or not source.exists():
            return False
        if source.is_dir():
            self.client.log_artifacts(self.run_id, str(source), str(relative))
        else:
            parent = None if relative.parent == PurePosixPath(".") else str(relative.parent)
            self.client.log_artifact(self.run_id, str(source), parent)
        return True

    def end(self, status: str, description: str) -> None:
        """Send what waits, describe the run in Markdown, and give it its final status."""
        self.flush()
        self.set_tags({"mlflow.note.content": description})
        self.client.set_terminated(self.run_id, status=status, end_time=now(self.milliseconds))


def now(milliseconds: int | None) -> int:
    """The fixed time if there is one, else the clock's, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000 if milliseconds is None else milliseconds
