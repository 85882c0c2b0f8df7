from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from harness.errors import TrackingError
from harness.runtime.events import Event, Events
from harness.runtime.parameters import Tracking
from harness.tracking.sink import RunSink
from harness.tracking.store import Store, check_store, open_store, store_uri

pytestmark = pytest.mark.heavy

Python = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def read_only_folder(empty_database: Path) -> Iterator[Path]:
    """A repository whose mlruns may not be written, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp())
    mlruns = folder / "mlruns"
    mlruns.mkdir()
    folder.chmod(0o755)
    mlruns.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        mlruns.chmod(0o755)
        shutil.rmtree(folder)


def columns(database: Path, query: str) -> list[str]:
    connection = sqlite3.connect(database)
    try:
        return [row[0] for row in connection.execute(query)]
    finally:
        connection.close()


def test_switched_off_imports_no_mlflow(run_python: Python) -> None:
    finished = run_python(
        "import sys\n"
        "from harness.runtime.parameters import Tracking\n"
        "from harness.tracking import importer, sink, store\n"
        "assert store.open_store(Tracking(enabled=False)) is None\n"
        "store.check_store(Tracking(enabled=False))\n"
        "print('mlflow' in sys.modules)\n"
    )
    assert (finished.stdout, finished.stderr) == ("False\n", "")


def test_address_comes_from_environment_then_file_then_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = Path("/repository")
    assert store_uri(Tracking(), root) == "sqlite:////repository/mlruns/mlflow.db"
    assert store_uri(Tracking(uri="http://there:5000"), root) == "http://there:5000"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://elsewhere:5000")
    assert store_uri(Tracking(uri="http://there:5000"), root) == "http://elsewhere:5000"
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "")
    assert store_uri(Tracking(uri="http://there:5000"), root) == "http://there:5000"


def test_fresh_store_is_made_in_silence_and_keeps_artifacts_beside_it(
    run_python: Python, tmp_path: Path
) -> None:
    root = tmp_path / "a place #1 é"
    # What a process that was killed in MLflow's migrations leaves.
    (root / "mlruns").mkdir(parents=True)
    (root / "mlruns" / ".mlflow.db.part").write_bytes(b"half")
    script = (
        "import os, sys; from pathlib import Path\n"
        "from harness.runtime.parameters import Tracking\n"
        "from harness.tracking.store import open_store\n"
        "asked = []\n"
        "listen = lambda event, _: asked.append(event) if event == 'socket.getaddrinfo' else None\n"
        "sys.addaudithook(listen)\n"
        "before = dict(os.environ)\n"
        "store = open_store(Tracking(), Path(sys.argv[1]))\n"
        "run = store.client.create_run(store.experiment('demo'))\n"
        "Path('det.png').write_bytes(b'png')\n"
        "store.client.log_artifact(run.info.run_id, 'det.png')\n"
        "print(run.info.run_id, len(asked), os.environ == before)\n"
    )
    # MLflow sends nothing from what it takes for tests, so it must not see that this is one.
    inherited = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    finished = run_python(script, root, cwd=tmp_path, env=inherited)
    assert finished.stderr == ""
    identifier, hosts_asked, unchanged = finished.stdout.split()
    assert (hosts_asked, unchanged) == ("0", "True")
    assert sorted(path.name for path in (root / "mlruns").iterdir()) == [
        "artifacts",
        "mlflow.db",
        "mlflow.db.lock",
    ]
    kept = root / "mlruns" / "artifacts" / "harness" / "demo" / identifier / "artifacts" / "det.png"
    assert kept.read_bytes() == b"png"


# Forked from one process that has imported MLflow, so that they really start together.
STARTS_AT_ONCE = """
import multiprocessing, sys
from pathlib import Path
from harness.tracking.quiet import quietly
with quietly({}):
    import mlflow.tracking, mlflow.store.tracking.sqlalchemy_store
from harness.runtime.events import Events
from harness.runtime.parameters import Tracking
from harness.tracking.sink import RunSink
from harness.tracking.store import open_store

root = Path(sys.argv[1])
context = multiprocessing.get_context("fork")
barrier = context.Barrier(6)

def stage(number):
    barrier.wait(60)
    store = open_store(Tracking(), root)
    barrier.wait(60)
    store.experiment("demo")
    sink = RunSink(store, identity=f"i{number}", dvc_stage="train", root=root)
    events = Events(sink)
    events.emit("run", stage="train", key=f"k{number}", benchmark="demo", parameters={"n": number})
    for step in range(20):
        events.emit("metric", name="train_loss", value=number + step / 100, step=step)
    events.emit("done")
    out = root / "models" / str(number)
    out.mkdir(parents=True)
    events.write(out)
    sink.finish(out)
    assert not sink.problems, sink.problems

processes = [context.Process(target=stage, args=(number,)) for number in range(6)]
for process in processes:
    process.start()
for process in processes:
    process.join()
print([process.exitcode for process in processes])
"""


def test_six_processes_meet_on_a_fresh_store(tmp_path: Path, run_python: Python) -> None:
    finished = run_python(STARTS_AT_ONCE, tmp_path)
    assert (finished.stdout, finished.stderr) == ("[0, 0, 0, 0, 0, 0]\n", "")
    database = tmp_path / "mlruns" / "mlflow.db"
    assert columns(database, "SELECT name FROM experiments WHERE name != 'Default'") == [
        "harness/demo"
    ]
    assert columns(database, "SELECT status FROM runs") == ["FINISHED"] * 6
    assert columns(database, "SELECT count(*) FROM metrics") == [120]
    assert columns(database, "SELECT sum(value) FROM metrics") == [pytest.approx(20 * 15 + 6 * 1.9)]


def test_server_that_is_away_is_named(monkeypatch: pytest.MonkeyPatch, free_port: int) -> None:
    with pytest.raises(TrackingError, match=r"start the server, or set tracking.enabled: false"):
        check_store(Tracking(uri=f"http://127.0.0.1:{free_port}"))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://me:secret@127.0.0.1:{free_port}")
    with pytest.raises(TrackingError, match="or unset MLFLOW_TRACKING_URI") as caught:
        check_store(Tracking())
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


class Deaf:
    """A server that takes connections and never answers; it hangs up at once, or holds on."""

    def __init__(self, hangs_up: bool) -> None:
        self.connections: list[socket.socket] = []
        self._hangs_up = hangs_up
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        self.uri = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections.append(connection)
                if self._hangs_up:
                    connection.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for each in (self._listener, *self.connections):
            each.close()


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The time limit of each request that is sent, in seconds."""
    from requests.adapters import HTTPAdapter

    seen: list[object] = []
    send = HTTPAdapter.send

    def spy(self: HTTPAdapter, *arguments: Any, **options: Any) -> Any:
        seen.append(options["timeout"])
        return send(self, *arguments, **options)

    monkeypatch.setattr(HTTPAdapter, "send", spy)
    return seen


# MLflow's own limits are eight tries of two minutes each.
@pytest.mark.parametrize(("hangs_up", "users", "limit"), [(True, None, 4), (False, "1", 1)])
def test_server_that_does_not_answer_is_asked_twice_within_our_limit_or_the_users(
    hangs_up: bool,
    users: str | None,
    limit: int,
    limits: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if users is not None:
        monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", users)
    server = Deaf(hangs_up)
    try:
        with pytest.raises(TrackingError, match="start the server"):
            check_store(Tracking(uri=server.uri))
    finally:
        server.close()
    assert len(server.connections) == 2
    assert set(limits) == {limit}
    assert os.environ.get("MLFLOW_HTTP_REQUEST_TIMEOUT") == users
    assert "MLFLOW_HTTP_REQUEST_MAX_RETRIES" not in os.environ


def test_database_server_that_is_away_is_named_at_once(free_port: int) -> None:
    uri = f"postgresql://me:secret@127.0.0.1:{free_port}/mlflow"
    with pytest.raises(TrackingError, match=r"//…@127.*refused.*start the server"):
        check_store(Tracking(uri=uri))


@pytest.mark.parametrize("uri", ["file:./mlruns", "./mlruns"])
def test_plain_folders_are_refused_with_the_address_to_use(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TrackingError, match=r"use sqlite:///mlruns/mlflow\.db"):
        check_store(Tracking(uri=uri))


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("ftp://there", "unsupported URI"),
        ("sqlite://", "in memory forgets"),
        ("sqlite:///{folder}", "is a folder"),
        ("sqlite:///{folder}/file/mlflow.db", "check the owner and mode"),
        ("sqlite:///{folder}/file", "not an SQLite file"),
    ],
)
def test_addresses_that_cannot_be_used(uri: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else, of some length")
    with pytest.raises(TrackingError, match=message):
        check_store(Tracking(uri=uri.format(folder=tmp_path)))


@pytest.mark.parametrize("uri", ["http://[bad", "postgresql://me:secret@h:notaport/x"])
def test_what_is_no_address(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TrackingError, match=r"not an address \(.*mend tracking\.uri;") as caught:
        check_store(Tracking(uri=uri))
    assert "secret" not in str(caught.value)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    with pytest.raises(TrackingError, match=r"not an address .*mend MLFLOW_TRACKING_URI;"):
        check_store(Tracking())


def test_locked_database_is_not_to_be_moved_away(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.tracking.store.LOCK_SECONDS", 0.2)
    database = repository / "mlruns" / "mlflow.db"
    connection = sqlite3.connect(database, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TrackingError, match=r"is locked\); wait until the process") as caught:
            check_store(Tracking(), repository)
    finally:
        connection.close()
    assert "move" not in str(caught.value)
    with (
        FileLock(f"{database}.lock"),
        pytest.raises(TrackingError, match=r"held its lock for 0\.2 s; wait until that"),
    ):
        check_store(Tracking(), repository)


@pytest.mark.parametrize(
    ("why", "advice"),
    [
        ("database or disk is full", "free some space"),
        ("attempt to write a readonly database", "check the owner and mode of the file"),
        ("something else", "integrity_check"),
        ("database disk image is malformed", "move the file away and run `harness track import`"),
    ],
)
def test_only_damage_warrants_moving_a_database_away(
    why: str, advice: str, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Path) -> None:
        raise sqlite3.OperationalError(why)

    monkeypatch.setattr("harness.tracking.store._relocate", fail)
    with pytest.raises(TrackingError, match=rf"\({why}\); .*{advice}") as caught:
        check_store(Tracking(), repository)
    assert ("move" in str(caught.value)) == ("malformed" in why)


def test_read_only_folder(read_only_folder: Path) -> None:
    with pytest.raises(TrackingError, match=r"mlruns.*Permission denied.*owner and mode"):
        check_store(Tracking(), read_only_folder)


def test_read_only_database(read_only_folder: Path, empty_database: Path) -> None:
    effective = os.geteuid()
    os.seteuid(os.getuid())
    (read_only_folder / "mlruns").chmod(0o777)
    shutil.copy(empty_database, read_only_folder / "mlruns" / "mlflow.db")
    (read_only_folder / "mlruns" / "mlflow.db").chmod(0o444)
    os.seteuid(effective)
    with pytest.raises(TrackingError, match=r"mlflow.db: .*Permission denied"):
        check_store(Tracking(), read_only_folder)


def test_experiment_is_made_once_for_each_benchmark(store: Store) -> None:
    first = store.experiment("demo")
    assert store.experiment("demo") == first
    assert store.experiment("libri-mini") != first
    assert store.client.get_experiment(first).name == "harness/demo"


def test_deleted_experiment_is_named(store: Store) -> None:
    store.client.delete_experiment(store.experiment("demo"))
    with pytest.raises(TrackingError, match="harness/demo: the experiment is deleted"):
        store.experiment("demo")


def test_artifacts_follow_a_repository_that_is_moved(
    store: Store, repository: Path, run_event: Event, tmp_path: Path
) -> None:
    out = repository / "models"
    out.mkdir()
    sink = RunSink(store, identity="i", dvc_stage="train", root=repository)
    events = Events(sink)
    events.emit(**{"kind" if name == "event" else name: value for name, value in run_event.items()})
    events.write(out)
    sink.finish(out)
    assert sink.run is not None
    moved = tmp_path / "moved"
    shutil.move(repository, moved)
    opened = open_store(Tracking(), moved)
    assert opened is not None
    uri = opened.client.get_run(sink.run.run_id).info.artifact_uri
    place = moved / "mlruns" / "artifacts" / "harness" / "demo"
    assert uri == f"{place.as_uri()}/{sink.run.run_id}/artifacts"
    assert [file.path for file in opened.client.list_artifacts(sink.run.run_id)] == ["events.jsonl"]
    experiment = opened.client.get_experiment(opened.experiment("demo"))
    assert experiment.artifact_location == place.as_uri()
