from __future__ import annotations

import logging
import os
import warnings

import pytest

from harness.tracking.quiet import BRIEF, quietly, reason


def test_settings_hold_only_inside_and_spare_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "77")
    before = dict(os.environ)
    with quietly(BRIEF):
        assert os.environ["MLFLOW_DISABLE_TELEMETRY"] == "true"
        assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "1"
        assert os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"] == "77"
        warnings.warn("MLflow's own", DeprecationWarning, stacklevel=1)
    assert dict(os.environ) == before


def test_log_lines_are_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("mlflow")
    level = logger.level
    with quietly({}):
        assert not logger.isEnabledFor(logging.ERROR)
    assert logger.level == level
    monkeypatch.setenv("MLFLOW_LOGGING_LEVEL", "DEBUG")
    with quietly({}):
        assert logger.level == level


def test_reason_is_one_line_with_the_cause_and_without_passwords() -> None:
    error = ValueError("Max retries exceeded")
    error.__cause__ = ConnectionRefusedError(111, "Connection refused")
    assert reason(error) == "[Errno 111] Connection refused"
    assert reason(ValueError("bad\nsecond line")) == "bad"
    assert reason(ValueError()) == "ValueError"
    assert reason(ValueError("no http://me:secret@there:5000/x")) == "no http://…@there:5000/x"
