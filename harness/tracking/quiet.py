"""Calls into MLflow: quiet, patient within limits, and their errors as one line."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from harness.errors import TrackingError

LEVEL_VARIABLE = "MLFLOW_LOGGING_LEVEL"
# What they report, the last failure says again, or nobody needs: every retry, every migration.
LOGGERS = ("mlflow", "alembic", "urllib3.connectionpool")
# MLflow's settings during our calls, each only where the user has not set it.
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    LEVEL_VARIABLE: "CRITICAL",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
# A server that is up answers at once; MLflow's own limits wait many minutes for one that is not.
BRIEF = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "4", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}
# In the middle of a long stage: sit out a restart of the server, about half a minute.
PATIENT = {"MLFLOW_HTTP_REQUEST_TIMEOUT": "30", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "4"}
GIST_CHARACTERS = 300
# Clients of artifact stores raise their own errors; they are known only once imported.
ARTIFACT_CLIENT_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("boto3.exceptions", "Boto3Error"),
    ("google.api_core.exceptions", "GoogleAPIError"),
    ("azure.core.exceptions", "AzureError"),
)


@contextmanager
def quietly(limits: Mapping[str, str]) -> Iterator[None]:
    """Run MLflow calls without log lines, warnings and telemetry, within HTTP `limits`."""
    added = [name for name in (*QUIET, *limits) if name not in os.environ]
    loggers = [logging.getLogger(name) for name in LOGGERS if LEVEL_VARIABLE in added]
    levels = [logger.level for logger in loggers]
    os.environ.update({name: {**QUIET, **limits}[name] for name in added})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for logger in loggers:
                logger.setLevel(logging.CRITICAL)
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        for name in added:
            os.environ.pop(name, None)


def failures() -> tuple[type[Exception], ...]:
    """What MLflow and what it stands on raise when a store fails."""
    from mlflow.exceptions import MlflowException
    from requests.exceptions import RequestException
    from sqlalchemy.exc import SQLAlchemyError

    clients = (
        getattr(sys.modules[module], name)
        for module, name in ARTIFACT_CLIENT_ERRORS
        if module in sys.modules
    )
    known = (MlflowException, RequestException, SQLAlchemyError, sqlite3.Error, OSError)
    return (*known, ImportError, TrackingError, *clients)


def reason(error: BaseException) -> str:
    """The gist of a foreign error in one line, without passwords of addresses."""
    innermost = error
    while (deeper := innermost.__cause__ or innermost.__context__) is not None:
        innermost = deeper
    # `Connection refused` says more than the layers of HTTP above it.
    gist = innermost if isinstance(innermost, OSError) else error
    text = " ".join((str(gist).splitlines() or [""])[0].split()) or type(gist).__name__
    return redacted(text if len(text) <= GIST_CHARACTERS else text[: GIST_CHARACTERS - 1] + "…")


def redacted(text: str) -> str:
    """A text with the `user:password@` of every address in it replaced."""
    return re.sub(r"(?<=://)[^/@\s]+@", "…@", text)
