"""The MLflow store: where it is, opened safely, and left quiet.

The address is MLFLOW_TRACKING_URI, else `tracking.uri` of params.yaml, else an SQLite file under
`mlruns/`. SQLite files are made and opened under a lock, because processes that meet on a fresh
file crash in MLflow's migrations. MLflow is imported only when a store is opened: it takes a
second, and with tracking switched off it need not be installed.
"""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from harness.errors import TrackingError
from harness.runtime.parameters import Tracking
from harness.tracking.quiet import BRIEF, failures, quietly, reason, redacted

if TYPE_CHECKING:
    from mlflow.tracking import MlflowClient
    from sqlalchemy.engine import URL

URI_VARIABLE = "MLFLOW_TRACKING_URI"
FOLDER = "mlruns"
DATABASE = "mlflow.db"
EXPERIMENT_PREFIX = "harness/"
LOCK_SECONDS = 60
PORT_SECONDS = 4
SQLITE_HEADER = b"SQLite format 3\x00"
# A healthy database is not to be moved away: only damage warrants that.
REMAKE = "move the file away and run `harness track import`"
SQLITE_FIXES = {
    "locked": "wait until the process that writes it has ended",
    "disk is full": "free some space on its disk",
    "disk I/O error": "check its disk",
    "readonly": "check the owner and mode of the file and its folder",
    "unable to open": "check the owner and mode of the file and its folder",
    "schema": "run `mlflow db upgrade` on a copy of it",
    "malformed": REMAKE,
    "not a database": REMAKE,
    "not an SQLite file": REMAKE,
}
DEFAULT_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}


@dataclass(frozen=True)
class Store:
    """An open store. artifacts: folder for those of all experiments, None for the server's."""

    client: MlflowClient
    uri: str
    database: Path | None
    artifacts: Path | None

    def experiment(self, benchmark: str) -> str:
        """Id of the benchmark's experiment, made if absent. Raises TrackingError and failures()."""
        name = f"{EXPERIMENT_PREFIX}{benchmark}"
        found = self.client.get_experiment_by_name(name)
        if found is None:
            from mlflow.exceptions import MlflowException

            location = None if self.artifacts is None else (self.artifacts / name).as_uri()
            try:
                return str(self.client.create_experiment(name, artifact_location=location))
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
                # Another stage was first.
                found = self.client.get_experiment_by_name(name)
        if found is None or found.lifecycle_stage != "active":
            raise TrackingError(
                "the experiment is deleted",
                where=name,
                fix="restore it in the UI or `mlflow gc` it",
            )
        return str(found.experiment_id)


def store_uri(settings: Tracking, root: Path) -> str:
    """Address of the store: the environment, then params.yaml, then the file under `root`."""
    configured = os.environ.get(URI_VARIABLE) or settings.uri
    return configured or f"sqlite:///{root.absolute() / FOLDER / DATABASE}"


def open_store(settings: Tracking, root: Path = Path()) -> Store | None:
    """Open the store and make sure that it answers; None, without importing MLflow, when off.

    root: the repository. Raises TrackingError within seconds when the store cannot be used.
    """
    if not settings.enabled:
        return None
    uri = store_uri(settings, root)
    _require_address(uri)
    with quietly(BRIEF):
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise TrackingError(
                f"MLflow is not installed ({reason(error)})",
                fix="pip install 'anonymization-harness[pipeline]', "
                "or set tracking.enabled: false in params.yaml",
            ) from error
        try:
            with ExitStack() as stack:
                database, artifacts = _prepare(uri, root, stack)
                client = MlflowClient(tracking_uri=uri)
                client.search_experiments(max_results=1)
        except TrackingError:
            raise
        except failures() as error:
            raise TrackingError(
                f"the MLflow store cannot be used ({reason(error)})",
                where=redacted(uri),
                fix=_fix(uri, reason(error)),
            ) from error
    return Store(client, uri, database, artifacts)


def check_store(settings: Tracking, root: Path = Path()) -> None:
    """Fail now, not after hours of work. Raises TrackingError within seconds."""
    open_store(settings, root)


def _require_address(uri: str) -> None:
    try:
        _ = urlsplit(uri).port
    except ValueError as error:
        raise TrackingError(
            f"not an address ({reason(error)})",
            where=redacted(uri),
            fix=f"mend {URI_VARIABLE if os.environ.get(URI_VARIABLE) else 'tracking.uri'}; "
            "special characters of a password are written as %40",
        ) from error


def _fix(uri: str, why: str) -> str:
    """What to do about a store that cannot be used because of `why`."""
    scheme = urlsplit(uri).scheme
    off = "set tracking.enabled: false in params.yaml"
    if os.environ.get(URI_VARIABLE):
        off += f", or unset {URI_VARIABLE}"
    if scheme in ("", "file"):
        return f"MLflow no longer writes plain folders: use sqlite:///{FOLDER}/{DATABASE}, or {off}"
    if scheme.startswith("sqlite"):
        for words, fix in SQLITE_FIXES.items():
            if words in why:
                return f"{fix}, or {off}"
        return f"try `sqlite3 FILE 'PRAGMA integrity_check'`, or {off}"
    if "401" in why:
        return f"set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or {off}"
    return f"start the server, or {off}"


def _prepare(uri: str, root: Path, stack: ExitStack) -> tuple[Path | None, Path | None]:
    """Database file (SQLite) and artifact folder of an address; holds the file's lock."""
    if urlsplit(uri).scheme.split("+")[0] not in ("sqlite", *DEFAULT_PORTS):
        return None, None
    from sqlalchemy.engine import make_url

    url = make_url(uri)
    if url.get_backend_name() != "sqlite":
        _check_port(url)
        return None, root.absolute() / FOLDER / "artifacts"
    if url.database in (None, "", ":memory:"):
        raise TrackingError(
            "a store in memory forgets every run",
            where=uri,
            fix=f"use sqlite:///{FOLDER}/{DATABASE}",
        )
    database = Path(str(url.database)).absolute()
    if database.is_dir():
        raise TrackingError("is a folder", where=database, fix="name a file in it, like mlflow.db")
    try:
        stack.enter_context(_locked(database))
        if database.is_file() and database.stat().st_size:
            with database.open("rb+") as stream:
                if stream.read(len(SQLITE_HEADER)) != SQLITE_HEADER:
                    why = "not an SQLite file"
                    raise TrackingError(why, where=database, fix=_fix(uri, why))
            _relocate(database)
        else:
            _initialise(database)
    except TimeoutError as error:
        raise TrackingError(
            f"another process has held its lock for {LOCK_SECONDS} s",
            where=database,
            fix="wait until that process has ended",
        ) from error
    except OSError as error:
        raise TrackingError(
            f"cannot write the MLflow store ({error.strerror or reason(error)})",
            where=database,
            fix="check the owner and mode of the folder, or set tracking.enabled: false "
            "in params.yaml",
        ) from error
    return database, database.parent / "artifacts"


def _check_port(url: URL) -> None:
    # MLflow retries a database that is away for minutes, and has no setting for that.
    if url.host is not None:
        address = (url.host, url.port or DEFAULT_PORTS[url.get_backend_name()])
        socket.create_connection(address, timeout=PORT_SECONDS).close()


@contextmanager
def _locked(database: Path) -> Iterator[None]:
    from filelock import FileLock

    database.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(database.with_name(f"{database.name}.lock"), timeout=LOCK_SECONDS):
        yield


def _initialise(database: Path) -> None:
    """Make the tables aside and rename: a process killed in a migration leaves no half a file."""
    from mlflow.tracking import MlflowClient

    part = database.with_name(f".{database.name}.part")
    for leftover in (part, part.with_name(f"{part.name}-journal")):
        leftover.unlink(missing_ok=True)
    MlflowClient(tracking_uri=f"sqlite:///{part}")
    part.replace(database)


def _relocate(database: Path) -> None:
    """Follow a repository that was moved or mounted elsewhere: MLflow stores absolute paths."""
    connection = sqlite3.connect(database, timeout=LOCK_SECONDS)
    try:
        if not connection.execute(
            "SELECT 1 FROM sqlite_master WHERE name = 'experiments'"
        ).fetchone():
            return
        rows = connection.execute(
            "SELECT experiment_id, name, artifact_location FROM experiments WHERE name LIKE ?",
            (f"{EXPERIMENT_PREFIX}%",),
        ).fetchall()
        for identifier, name, location in rows:
            place = (database.parent / "artifacts" / name).as_uri()
            ours = unquote(urlsplit(location).path).endswith(f"/artifacts/{name}")
            if ours and location.startswith("file:") and location != place:
                connection.execute(
                    "UPDATE experiments SET artifact_location = ? WHERE experiment_id = ?",
                    (place, identifier),
                )
                connection.execute(
                    "UPDATE runs SET artifact_uri = ? || substr(artifact_uri, ?) "
                    "WHERE experiment_id = ? AND substr(artifact_uri, 1, ?) = ?",
                    (place, len(location) + 1, identifier, len(location) + 1, f"{location}/"),
                )
        connection.commit()
    finally:
        connection.close()
