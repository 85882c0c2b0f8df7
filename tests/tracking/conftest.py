from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.runtime.events import Event
from harness.runtime.parameters import Tracking
from harness.tracking.store import Store, open_store

DIGEST = "0123456789abcdef" * 4


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("MLFLOW_", "_MLFLOW_")):
            monkeypatch.delenv(name)
    # The server of the tests is on this machine.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that MLflow has just made: copying it saves its migrations, over a second."""
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    open_store(Tracking(uri=f"sqlite:///{path}"))
    return path


@pytest.fixture
def repository(tmp_path: Path, empty_database: Path) -> Path:
    """A folder with an empty default store."""
    folder = tmp_path / "repository"
    (folder / "mlruns").mkdir(parents=True)
    shutil.copy(empty_database, folder / "mlruns" / "mlflow.db")
    return folder


@pytest.fixture
def store(repository: Path) -> Store:
    opened = open_store(Tracking(), repository)
    assert opened is not None
    return opened


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture
def run_event() -> Event:
    return {
        "event": "run",
        "stage": "train",
        "key": "train@demo-b2-ecapa-small-1986",
        "benchmark": "demo",
        "system": "b2",
        "attacker": "ecapa-small",
        "seed": 1986,
        "parameters": {"training": {"epochs": 6, "channels": [64, 64]}, "level": "utterance"},
        "datasets": [{"name": "demo/b2/train", "digest": DIGEST, "context": "training"}],
        "versions": {"torch": "2.14.1"},
        "device": "cpu",
    }


@pytest.fixture
def run_python() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a script in a fresh interpreter."""

    def run(script: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            **options,
        )

    return run
