"""The MLflow server of compose.yaml, up for real: with and without passwords, down and up again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from containers.conftest import docker
from harness.errors import TrackingError
from harness.runtime.events import Events
from harness.runtime.parameters import Tracking
from harness.tracking.sink import RunSink
from harness.tracking.store import open_store

pytestmark = pytest.mark.containers

REPOSITORY = Path(__file__).resolve().parents[2]
PASSWORD = "correct-horse-battery"
DATABASE_PASSWORD = "it's a $ecret"  # what a shell or an address would take for its own
COMMANDS = [
    command
    for command in (["docker-compose"], ["docker", "compose"])
    if shutil.which(command[0])
    and not subprocess.run([*command, "version"], capture_output=True, check=False).returncode
]


def test_there_is_a_compose_command() -> None:
    assert COMMANDS, "install Debian's docker-compose, or Docker's plug-in"


@dataclass
class Server:
    """The compose file under a project of its own, where no .env lies beside it."""

    compose: list[str]
    environment: dict[str, str]

    def make(self, target: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["make", "--silent", target, f"COMPOSE={' '.join(self.compose)}"],
            cwd=REPOSITORY,
            env=self.environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    def containers(self, *options: str) -> list[str]:
        project = self.compose[self.compose.index("--project-name") + 1]
        label = f"label=com.docker.compose.project={project}"
        return docker("ps", "--quiet", "--filter", label, *options).split()


@pytest.fixture(params=COMMANDS, ids=lambda command: command[-1])
def server(
    request: pytest.FixtureRequest, clean: None, token: str, tmp_path: Path
) -> Iterator[Server]:
    file = shutil.copy(REPOSITORY / "docker" / "compose.yaml", tmp_path)
    compose = [*request.param, "--project-name", token.rstrip("-"), "--file", str(file)]
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    made = Server(compose, {**os.environ, "MLFLOW_ADDRESS": address})
    yield made
    variables = {"MLFLOW_AUTH_ADMIN_PASSWORD": "-", "COMPOSE_PROFILES": "postgres"}
    subprocess.run(
        [*compose, "down", "--volumes"],
        env=made.environment | variables,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def log_in(monkeypatch: pytest.MonkeyPatch, server: Server) -> Callable[[str | None], None]:
    """Sets what a person sets to reach the server, with a password or without."""

    def set_variables(password: str | None) -> None:
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        address = server.environment["MLFLOW_ADDRESS"]
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"http://{address}")
        if password is not None:
            monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "admin")
            monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", password)

    return set_variables


def log_run(folder: Path) -> str:
    """Log a run with a metric and an artifact, as a stage does; its id."""
    store = open_store(Tracking())
    assert store is not None
    folder.mkdir()
    (folder / "curve.txt").write_text("0.5", encoding="utf-8")
    with RunSink(store, identity="compose", dvc_stage="train@demo") as sink:
        events = Events(sink)
        events.emit("run", stage="train", key="train@demo", benchmark="demo")
        events.emit("metric", name="loss", value=0.5, step=1)
        events.emit("artifact", path="curve.txt")
        events.emit("done")
        events.write(folder)
        sink.finish(folder)
    assert sink.problems == []
    assert sink.run is not None
    return sink.run.run_id


def assert_holds(run_id: str, folder: Path) -> None:
    store = open_store(Tracking())
    assert store is not None
    run = store.client.get_run(run_id)
    assert (run.info.status, run.data.metrics) == ("FINISHED", {"loss": 0.5})
    folder.mkdir()
    path = store.client.download_artifacts(run_id, "curve.txt", str(folder))
    assert Path(path).read_text(encoding="utf-8") == "0.5"


def test_without_a_password_nothing_starts(server: Server) -> None:
    done = server.make("up")
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    assert len(said) == 1
    assert "give the server a password" in said[0]
    assert server.containers("--all") == []


def test_a_short_password_is_refused_and_nothing_runs(server: Server) -> None:
    done = server.make("up", MLFLOW_AUTH_ADMIN_PASSWORD="short")
    assert done.returncode != 0
    assert "Password must be at least 12 characters" in done.stderr
    assert server.containers() == []


def test_a_run_outlives_the_server_and_strangers_see_nothing(
    server: Server, log_in: Callable[[str | None], None], tmp_path: Path
) -> None:
    done = server.make("up", MLFLOW_AUTH_ADMIN_PASSWORD=PASSWORD)
    assert done.returncode == 0, done.stderr
    assert f"http://{server.environment['MLFLOW_ADDRESS']}" in done.stdout
    log_in(None)
    with pytest.raises(TrackingError, match="401"):
        open_store(Tracking())
    log_in("wrong-horse-battery")
    with pytest.raises(TrackingError, match="401"):
        open_store(Tracking())
    log_in(PASSWORD)
    run_id = log_run(tmp_path / "run")
    assert_holds(run_id, tmp_path / "before")
    assert server.make("down").returncode == 0
    assert server.containers("--all") == []
    assert server.make("up", MLFLOW_AUTH_ADMIN_PASSWORD=PASSWORD).returncode == 0
    assert_holds(run_id, tmp_path / "after")


def test_another_name_of_the_server_is_refused(
    server: Server, log_in: Callable[[str | None], None]
) -> None:
    import requests

    assert server.make("up", MLFLOW_AUTH_ADMIN_PASSWORD=PASSWORD).returncode == 0
    log_in(None)
    url = f"http://{server.environment['MLFLOW_ADDRESS']}/api/2.0/mlflow/experiments/search"
    query = {"params": {"max_results": 1}, "auth": ("admin", PASSWORD), "timeout": 30}
    assert requests.get(url, **query).status_code == 200
    rebound = requests.get(url, headers={"Host": "rebound.example"}, **query)
    assert rebound.status_code == 403
    (container,) = server.containers()
    refused = subprocess.run(
        ["docker", "exec", container, "touch", "/opt/harness/x"], capture_output=True, check=False
    )
    assert b"Read-only" in refused.stderr
    assert docker("exec", container, "id", "-u") == "65532"


@pytest.fixture(scope="session")
def postgres(engine: None) -> None:
    """The image of PostgreSQL, made from Debian's packages where it is missing."""
    if not docker("images", "--quiet", "harness-postgres"):
        subprocess.run(["sh", "docker/postgres/build.sh"], cwd=REPOSITORY, check=True)


def test_runs_lie_in_postgres(
    server: Server, postgres: None, log_in: Callable[[str | None], None], tmp_path: Path
) -> None:
    variables = {
        "MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD,
        "COMPOSE_PROFILES": "postgres",
        "POSTGRES_PASSWORD": DATABASE_PASSWORD,
    }
    done = server.make("up", **variables)
    assert done.returncode == 0, done.stderr
    log_in(PASSWORD)
    run_id = log_run(tmp_path / "run")
    (database,) = server.containers("--filter", "label=com.docker.compose.service=postgres")
    asked = ("psql", "-h", "127.0.0.1", "-U", "mlflow", "-tAc", "SELECT run_uuid FROM runs")
    password = f"PGPASSWORD={DATABASE_PASSWORD}"
    assert docker("exec", "--env", password, database, *asked) == run_id
    wrong = ["docker", "exec", "--env", "PGPASSWORD=wrong", database, *asked]
    refused = subprocess.run(wrong, capture_output=True, text=True, check=False)
    assert "password authentication failed" in refused.stderr
    assert server.make("down").returncode == 0
    assert server.containers("--all") == []
    assert server.make("up", **variables).returncode == 0
    assert_holds(run_id, tmp_path / "after")


def test_the_profile_postgres_without_its_password_is_refused(
    server: Server, postgres: None
) -> None:
    variables = {"MLFLOW_AUTH_ADMIN_PASSWORD": PASSWORD, "COMPOSE_PROFILES": "postgres"}
    done = server.make("up", **variables)
    assert done.returncode != 0
    assert "the profile postgres needs POSTGRES_PASSWORD" in done.stderr
    assert server.containers() == []
