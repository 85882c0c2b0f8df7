"""Variables that numeric libraries read when they are loaded."""

from __future__ import annotations

import os

import pytest

from harness.runtime.environment import VARIABLES, settle


def test_what_is_not_set_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "environ", os.environ.copy())
    settle()
    # The value that PyTorch's notes on reproducibility ask for.
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


def test_what_is_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    monkeypatch.setattr(os, "environ", os.environ.copy())
    settle()
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"
