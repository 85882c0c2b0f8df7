"""Starts the MLflow server of compose.yaml inside its image.

Runs are in SQLite on the volume /data, or in the service `postgres` where its password is given;
artifacts and users are on /data in either case. What is wrong is one line, exit status 1.
"""

from __future__ import annotations

import os
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

DATA = Path("/data")
SERVER = "/opt/harness/bin/mlflow"
POSTGRES = ("postgres", 5432)
POSTGRES_SECONDS = 60.0
SETTINGS = {
    "MLFLOW_AUTH_CONFIG_PATH": "/opt/harness/auth.ini",
    # A route that has no rule is closed.
    "MLFLOW_BASIC_AUTH_FAIL_CLOSED": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
}


def backend(environment: Mapping[str, str]) -> str:
    """Address of the database of runs. Raises ValueError where the profile has no password."""
    if environment.get("POSTGRES_PASSWORD"):
        # The password itself goes by PGPASSWORD: addresses end up in logs.
        return f"postgresql+psycopg://mlflow@{POSTGRES[0]}/mlflow"
    if "postgres" in environment.get("COMPOSE_PROFILES", "").split(","):
        raise ValueError("the profile postgres needs POSTGRES_PASSWORD in docker/.env")
    return f"sqlite:///{DATA}/mlflow.db"


def await_postgres(seconds: float) -> None:
    """Return once the database takes connections; raises ValueError if it does not in time."""
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(POSTGRES, timeout=4).close()
            return
        except OSError as error:
            if time.monotonic() >= end:
                raise ValueError(
                    f"POSTGRES_PASSWORD is given, but the service postgres is silent ({error}); "
                    "set COMPOSE_PROFILES=postgres in docker/.env, or see that service's log"
                ) from error
        time.sleep(0.5)


def main() -> None:
    try:
        uri = backend(os.environ)
        if uri.startswith("postgresql"):
            await_postgres(POSTGRES_SECONDS)
    except ValueError as error:
        sys.exit(f"mlflow: {error}")
    environment = dict(os.environ) | SETTINGS
    environment["PGPASSWORD"] = environment.pop("POSTGRES_PASSWORD", "")
    # It signs the pages of one server process; a restart may change it.
    environment["MLFLOW_FLASK_SERVER_SECRET_KEY"] = secrets.token_hex(32)
    command = [
        *(SERVER, "server", "--app-name", "basic-auth", "--workers", "1"),
        *("--host", "0.0.0.0", "--port", "5000"),
        *("--backend-store-uri", uri, "--artifacts-destination", str(DATA / "artifacts")),
    ]
    os.execve(SERVER, command, environment)


if __name__ == "__main__":
    main()
