from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import TrackingError
from harness.runtime.events import Event
from harness.runtime.parameters import Tracking
from harness.tracking.importer import import_runs
from harness.tracking.sink import RunSink
from harness.tracking.store import URI_VARIABLE, Store, check_store, open_store

pytestmark = pytest.mark.heavy

Python = Callable[..., "subprocess.CompletedProcess[str]"]
DIGEST = "0123456789abcdef" * 4


def metric(name: str, value: float, step: int) -> Event:
    return {"event": "metric", "name": name, "value": value, "step": step}


def record(folder: Path, *events: Event) -> str:
    """Write events.jsonl and return its SHA-256."""
    folder.mkdir(parents=True, exist_ok=True)
    data = "".join(json.dumps(event) + "\n" for event in events).encode()
    (folder / "events.jsonl").write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def history(store: Store, run_id: str, name: str) -> list[tuple[int, float]]:
    return [(entry.step, entry.value) for entry in store.client.get_metric_history(run_id, name)]


def sink_of(store: Store, repository: Path, identity: str = "abc") -> RunSink:
    return RunSink(store, identity=identity, dvc_stage="train@demo-b2", root=repository)


def test_run_holds_all_that_its_events_say(
    store: Store, repository: Path, run_event: Event
) -> None:
    folder = repository / "models" / "b2"
    name = "eer/lazy-informed/test/f"
    events = [
        run_event,
        metric("train_loss", 2.5, 0),
        metric("train_loss", 1.25, 1),
        metric(name, 12.5, 0),
        {"event": "artifact", "path": "det.png"},
        {"event": "artifact", "path": "plots/roc.svg"},
        {"event": "warning", "message": "3 utterances are short"},
        {"event": "done"},
    ]
    sha256 = record(folder, *events)
    (folder / "det.png").write_bytes(b"png")
    (folder / "plots").mkdir()
    (folder / "plots" / "roc.svg").write_bytes(b"svg")
    with sink_of(store, repository) as sink:
        for event in events:
            sink(event)
        sink({"event": "progress", "task": "train", "done": 1, "total": 2, "unit": "utterances"})
        assert sink.run is not None
        assert store.client.get_run(sink.run.run_id).info.status == "RUNNING"
        sink.finish(folder)
    assert sink.problems == []
    run = store.client.get_run(sink.run.run_id)
    assert run.info.run_name == "train b2 · ecapa-small · seed 1986"
    assert run.info.status == "FINISHED"
    assert run.data.params == {
        "training.epochs": "6",
        "training.channels": "[64, 64]",
        "level": "utterance",
    }
    assert history(store, run.info.run_id, "train_loss") == [(0, 2.5), (1, 1.25)]
    assert history(store, run.info.run_id, name) == [(0, 12.5)]
    assert (
        run.data.tags.items()
        >= {
            "harness.stage": "train",
            "harness.key": "train@demo-b2-ecapa-small-1986",
            "harness.dvc_stage": "train@demo-b2",
            "harness.seed": "1986",
            "harness.device": "cpu",
            "harness.version.torch": "2.14.1",
            "harness.source": "live",
            "harness.events_sha256": sha256,
            "harness.dirty": "unknown",
            "mlflow.source.git.commit": "unknown",
        }.items()
    )
    assert run.data.tags["mlflow.note.content"].split("\n\n") == [
        "An attacker trained on the speech of one system.",
        "benchmark `demo` · system `b2` · attacker `ecapa-small` · seed `1986` · device `cpu`",
        "- `warning: 3 utterances are short`",
        "| EER in percent | &ensp;`f` |\n|---|---:|\n| `lazy-informed/test` | &ensp;12.50 |",
        "files `models/b2` · DVC stage `train@demo-b2`",
    ]
    (dataset_input,) = run.inputs.dataset_inputs
    assert dataset_input.dataset.name == "demo/b2/train"
    assert dataset_input.dataset.digest == DIGEST[:36]
    assert json.loads(dataset_input.dataset.source)["sha256"] == DIGEST
    assert [(tag.key, tag.value) for tag in dataset_input.tags] == [
        ("mlflow.data.context", "training")
    ]
    kept = repository / "mlruns/artifacts/harness/demo" / run.info.run_id / "artifacts"
    files = [str(path.relative_to(kept)) for path in kept.rglob("*") if path.is_file()]
    assert sorted(files) == ["det.png", "events.jsonl", "plots/roc.svg"]


KILLED = """
import json, os, signal, sys
from pathlib import Path
from harness.runtime.parameters import Tracking
from harness.tracking.sink import RunSink
from harness.tracking.store import open_store

root = Path(sys.argv[1])
sink = RunSink(open_store(Tracking(), root), identity="abc", dvc_stage="train@demo-b2", root=root)
for event in json.loads(sys.argv[2]):
    sink(event)
print(sink.run.run_id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_run_of_a_killed_process_is_continued(
    store: Store, repository: Path, run_event: Event, run_python: Python
) -> None:
    losses = [metric("train_loss", 2.0 - step / 4, step) for step in range(4)]
    before = json.dumps([run_event, *losses[:2], {"event": "done"}])
    killed = run_python(KILLED, repository, before)
    assert killed.returncode == -signal.SIGKILL
    folder = repository / "models"
    record(folder, run_event, *losses, {"event": "done"})
    # What is begun again from the start must not stand twice.
    other, same = sink_of(store, repository, "other"), sink_of(store, repository)
    for sink in (other, same):
        for event in (run_event, *losses):
            sink(event)
        sink.finish(folder)
        assert sink.problems == []
    assert other.run is not None
    assert same.run is not None
    assert same.run.run_id == killed.stdout.strip()
    assert other.run.run_id != same.run.run_id
    expected = [(0, 2.0), (1, 1.75), (2, 1.5), (3, 1.25)]
    assert history(store, same.run.run_id, "train_loss") == expected
    assert store.client.get_run(same.run.run_id).info.status == "FINISHED"
    after = sink_of(store, repository)
    after(run_event)
    assert after.run is not None
    assert after.run.run_id != same.run.run_id


def test_run_left_with_other_parameters_is_not_continued(
    store: Store, repository: Path, run_event: Event
) -> None:
    left, new = sink_of(store, repository), sink_of(store, repository)
    left(run_event)
    new({**run_event, "parameters": {"level": "speaker"}})
    assert left.run is not None
    assert new.run is not None
    assert new.run.run_id != left.run.run_id
    assert new.problems == []


@pytest.mark.parametrize(
    ("exception", "status"),
    [(ValueError("no speech"), "FAILED"), (KeyboardInterrupt(), "KILLED"), (None, "FAILED")],
)
def test_run_of_a_stage_that_did_not_finish(
    store: Store, repository: Path, run_event: Event, exception: BaseException | None, status: str
) -> None:
    sink = sink_of(store, repository)
    sink(run_event)
    sink(metric("train_loss", 2.0, 0))
    sink(metric("train_loss", 1.0, 1))
    sink.close(exception)
    assert sink.run is not None
    run = store.client.get_run(sink.run.run_id)
    assert run.info.status == status
    assert history(store, run.info.run_id, "train_loss") == [(0, 2.0), (1, 1.0)]
    assert "harness.events_sha256" not in run.data.tags
    if isinstance(exception, ValueError):
        assert "\n- `ended by ValueError: no speech`\n" in run.data.tags["mlflow.note.content"]
    assert "files" not in run.data.tags["mlflow.note.content"]


def test_files_of_elsewhere_are_not_placed_and_tables_are_marked(
    store: Store, repository: Path, run_event: Event, tmp_path: Path
) -> None:
    folder = tmp_path / "elsewhere"
    table = {"event": "artifact", "path": "table.json", "type": "table"}
    record(folder, run_event, table, {**table, "path": "gone.json"})
    (folder / "table.json").write_text('{"columns": [], "data": []}')
    sink = sink_of(store, repository)
    sink.finish(folder)
    assert sink.run is not None
    tags = store.client.get_run(sink.run.run_id).data.tags
    assert json.loads(tags["mlflow.loggedArtifacts"]) == [{"path": "table.json", "type": "table"}]
    assert "elsewhere" not in tags["mlflow.note.content"]


HOSTILE = (
    "`x`|![a](http://evil/b.png) <script>alert(1)</script> www.evil.org \x1b[31m\u202e\udcff\n# h"
)


def test_strangers_words_are_harmless(store: Store, repository: Path) -> None:
    folder = repository / "submissions" / "reports"
    run: Event = {
        "event": "run",
        "stage": "verify",
        "key": f"verify@demo-{HOSTILE}",
        "benchmark": "demo",
        "submission": HOSTILE,
        "parameters": {"p": HOSTILE},
    }
    names = (f"eer/{HOSTILE}/list", f"eer/b2/{HOSTILE}")
    warning = {"event": "warning", "message": HOSTILE}
    record(folder, run, *(metric(name, 5.0, 0) for name in names), warning)
    sink = sink_of(store, repository)
    sink.finish(folder)
    assert sink.problems == []
    assert sink.run is not None
    found = store.client.get_run(sink.run.run_id)
    assert found.info.run_name.isprintable()
    for line in found.data.tags["mlflow.note.content"].splitlines():
        assert line.isprintable()
        # Every second part is within a code span.
        outside = "".join(line.split("`")[::2])
        assert line.count("`") % 2 == 0
        assert not re.search(r"evil|script|[<#!\[]|\x1b", outside), outside
        if line.startswith("| "):
            assert line.count("|") == 4


@pytest.mark.parametrize("path", ["det.png", "../secret.txt", "/etc/hostname"])
def test_artifact_that_is_not_in_the_folder_is_a_problem_and_not_kept(
    store: Store, repository: Path, run_event: Event, path: str
) -> None:
    folder = repository / "models" / "b2"
    record(folder, run_event, {"event": "artifact", "path": path})
    (folder.parent / "secret.txt").write_text("secret")
    sink = sink_of(store, repository)
    sink.finish(folder)
    assert [path in problem for problem in sink.problems] == [True]
    assert sink.run is not None
    kept = [file.path for file in store.client.list_artifacts(sink.run.run_id)]
    assert kept == ["events.jsonl"]
    assert store.client.get_run(sink.run.run_id).info.status == "FINISHED"


def test_database_that_breaks_costs_one_warning_and_not_the_stage(
    store: Store, repository: Path, run_event: Event, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = repository / "models"
    record(folder, run_event, metric("train_loss", 1.0, 0))
    sink = sink_of(store, repository)
    sink(run_event)
    connection = sqlite3.connect(repository / "mlruns" / "mlflow.db")
    connection.execute("DROP TABLE latest_metrics")
    connection.close()
    for step in range(300):
        sink(metric("train_loss", 1.0, step))
    sink.finish(folder)
    sink.close()
    (problem,) = sink.problems
    assert "latest_metrics" in problem
    assert "harness track import" in problem
    assert not sink.finished
    assert capfd.readouterr() == ("", "")


def unused_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Server:
    """A real MLflow server on this machine, which can be killed and started again."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.uri = f"http://127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-m", "mlflow", "server", "--workers", "1"),
                *("--host", "127.0.0.1", "--port", str(self.port)),
                *("--backend-store-uri", f"sqlite:///{self.folder}/mlflow.db"),
                *("--artifacts-destination", str(self.folder / "artifacts")),
            ],
            cwd=self.folder,
            env={
                **{name: text for name, text in os.environ.items() if name != URI_VARIABLE},
                "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
                "MLFLOW_DISABLE_TELEMETRY": "true",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 90
        while True:
            try:
                check_store(Tracking(uri=self.uri))
                return
            except TrackingError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)

    def kill(self) -> None:
        if self.process is not None:
            # Its workers are processes of their own.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(timeout=30)
            self.process = None


@pytest.fixture(scope="module")
def _server(tmp_path_factory: pytest.TempPathFactory, empty_database: Path) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    shutil.copy(empty_database, folder / "mlflow.db")
    made = Server(folder, unused_port())
    yield made
    made.kill()


@pytest.fixture
def server(_server: Server) -> Server:
    """Started here, where the environment is clean."""
    if _server.process is None:
        _server.start()
    return _server


def test_run_on_a_server_that_goes_away_and_comes_back(
    server: Server, run_event: Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(URI_VARIABLE, server.uri)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    store = open_store(Tracking(uri="sqlite:///not-this-one.db"), tmp_path)
    assert store is not None
    folder = tmp_path / "models" / "b2"
    losses = [metric("train_loss", 2.0 - step / 4, step) for step in range(4)]
    record(folder, run_event, *losses, {"event": "artifact", "path": "plots/det.png"})
    (folder / "plots").mkdir()
    (folder / "plots" / "det.png").write_bytes(b"png")
    sink = sink_of(store, tmp_path)
    sink(run_event)
    sink(losses[0])
    assert sink.run is not None
    begun = sink.run.run_id
    server.kill()
    for event in (*losses[1:], {"event": "done"}):
        sink(event)
    (problem,) = sink.problems
    assert re.search(r"the MLflow store failed \(.*(refused|reset)", problem)
    server.start()
    sink.finish(folder)
    assert sink.problems == []
    assert sink.run.run_id == begun
    run = store.client.get_run(begun)
    assert run.info.status == "FINISHED"
    assert history(store, begun, "train_loss") == [(0, 2.0), (1, 1.75), (2, 1.5), (3, 1.25)]
    kept = list((server.folder / "artifacts").rglob("det.png"))
    assert [path.read_bytes() for path in kept] == [b"png"]
    assert kept[0].match(f"{begun}/artifacts/plots/det.png")
    assert import_runs(store, tmp_path).already == (folder / "events.jsonl",)
    assert not (tmp_path / "mlruns").exists()


def test_more_than_a_server_takes_at_once(server: Server, run_event: Event, tmp_path: Path) -> None:
    store = open_store(Tracking(uri=server.uri), tmp_path)
    assert store is not None
    run_event["parameters"] = {f"p{number}": "é" * 7000 for number in range(120)}
    run_event["versions"] = {f"package{number}": "1" for number in range(120)}
    folder = tmp_path / "models"
    record(folder, run_event, *(metric("loss", 0.5, step) for step in range(2500)))
    sink = sink_of(store, tmp_path)
    sink.finish(folder)
    assert sink.problems == []
    assert sink.run is not None
    run = store.client.get_run(sink.run.run_id)
    assert len(run.data.params) == 120
    assert {len(value) for value in run.data.params.values()} == {6000}
    assert run.data.tags["harness.version.package119"] == "1"
    assert len(history(store, sink.run.run_id, "loss")) == 2500
