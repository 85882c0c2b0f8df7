from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import DataError, TrackingError
from harness.runtime.events import Event
from harness.tracking.importer import import_runs
from harness.tracking.sink import RunSink
from harness.tracking.store import Store

pytestmark = pytest.mark.heavy

TRAIN = "train b2 · ecapa-small · seed 1986"
SCORE = "score b2 · ecapa-small · seed 7"


def record(path: Path, *events: Event) -> Path:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


@pytest.fixture
def files(repository: Path, run_event: Event) -> list[Path]:
    """Outputs of two stages of one benchmark and one of another; and one that is no run."""
    loss = {"event": "metric", "name": "train_loss", "value": 1.5, "step": 3}
    done = {"event": "done"}
    score = {**run_event, "stage": "score", "key": "score@demo-b2", "seed": 7}
    other = {**run_event, "benchmark": "libri-mini"}
    record(repository / "results" / "demo" / "corpus" / "events.jsonl", loss, done)
    return [
        record(repository / "models" / "demo" / "b2" / "events.jsonl", run_event, loss, done),
        record(repository / "models" / "libri" / "b2" / "events.jsonl", other, loss, done),
        record(repository / "results" / "demo" / "b2" / "events.jsonl", score, done),
    ]


def runs(store: Store, benchmark: str) -> dict[str, dict[str, str]]:
    found = store.client.search_runs([store.experiment(benchmark)])
    return {run.info.run_name: run.data.tags for run in found}


def test_each_run_is_imported_once(store: Store, repository: Path, files: list[Path]) -> None:
    first = import_runs(store, repository)
    assert first.imported == tuple(files)
    assert first.already == ()
    again = import_runs(store, repository)
    assert again.imported == ()
    assert again.already == tuple(files)
    tags = runs(store, "demo")
    assert sorted(tags) == [SCORE, TRAIN]
    assert sorted(runs(store, "libri-mini")) == [TRAIN]
    assert tags[SCORE]["harness.source"] == "import"
    assert tags[SCORE]["mlflow.source.git.commit"] == "unknown"


def test_imported_run_has_the_time_of_its_file(
    store: Store, repository: Path, files: list[Path]
) -> None:
    import_runs(store, repository, "libri-mini")
    (run,) = store.client.search_runs([store.experiment("libri-mini")])
    written = files[1].stat().st_mtime_ns // 1_000_000
    assert (run.info.start_time, run.info.end_time) == (written, written)
    (loss,) = store.client.get_metric_history(run.info.run_id, "train_loss")
    assert (loss.value, loss.step, loss.timestamp) == (1.5, 3, written)


def test_live_run_of_the_same_events_is_already_there(
    store: Store, repository: Path, files: list[Path]
) -> None:
    with RunSink(store, identity="abc", dvc_stage="train", root=repository) as sink:
        sink.finish(files[0].parent)
    report = import_runs(store, repository)
    assert report.already == (files[0],)
    assert report.imported == tuple(files[1:])
    assert runs(store, "demo")[TRAIN]["harness.source"] == "live"


def test_only_one_benchmark(store: Store, repository: Path, files: list[Path]) -> None:
    report = import_runs(store, repository, "libri-mini")
    assert report.imported == (files[1],)
    assert runs(store, "demo") == {}


def test_artifacts_that_are_gone_are_reported(
    store: Store, repository: Path, run_event: Event
) -> None:
    record(
        repository / "models" / "events.jsonl", run_event, {"event": "artifact", "path": "det.png"}
    )
    (problem,) = import_runs(store, repository).problems
    assert "det.png" in problem


def test_damaged_file_is_named(store: Store, repository: Path, files: list[Path]) -> None:
    with files[0].open("a") as stream:
        stream.write("{half")
    with pytest.raises(DataError, match=r"models/demo/b2/events.jsonl:4: not a JSON line"):
        import_runs(store, repository)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"event": "metric", "name": "x"}', "events.jsonl:4: metric event without 'value'"),
        (b'{"event": "run", "stage": "s"}', "events.jsonl:4: run event without 'key'"),
        (b'{"event": "\xff"}', "events.jsonl:4: not a JSON line"),
    ],
)
def test_malformed_event_is_named(
    store: Store, repository: Path, files: list[Path], line: bytes, message: str
) -> None:
    with files[0].open("ab") as stream:
        stream.write(line)
    with pytest.raises(DataError, match=message):
        import_runs(store, repository)


def test_store_that_fails_is_one_line(store: Store, repository: Path, files: list[Path]) -> None:
    store.client.delete_experiment(store.experiment("demo"))
    with pytest.raises(TrackingError, match="experiment is deleted"):
        import_runs(store, repository)
