"""What all tests share: real data where they are present, and an environment without settings."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# How fast a machine is decides no test. All else is as hypothesis has it, on CI too.
settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")

REPOSITORY = Path(__file__).resolve().parents[1]
# Relative to the repository. Read before any test starts: tests run without the variable.
TEST_DATA = REPOSITORY / os.environ.get("HARNESS_TEST_DATA", "../shared")
TEST_FOLDERS = ("speech/LibriSpeech", "speech/emodb", "vpc-lists")
SETTINGS = ("HARNESS_", "MLFLOW_", "_MLFLOW_", "DVC_")
HEAVY = re.compile(r"^pytestmark = .*pytest\.mark\.heavy\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `-m "not heavy"`, do not even import a module marked so: its imports would fail."""
    if config.option.markexpr != "not heavy" or collection_path.suffix != ".py":
        return None
    return True if HEAVY.search(collection_path.read_text(encoding="utf-8")) else None


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees what a developer has set."""
    for name in os.environ:
        if name.startswith(SETTINGS):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_lazy_modules() -> None:
    """Hypothesis looks at every loaded module, and SpeechBrain's lazy ones fail when looked at."""
    for name, module in list(sys.modules.items()):
        if type(module).__module__ == "speechbrain.utils.importutils":
            del sys.modules[name]


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder with real speech and lists; tests that need it are skipped without."""
    absent = [name for name in TEST_FOLDERS if not (TEST_DATA / name).is_dir()]
    if absent:
        pytest.skip(f"no {', '.join(absent)} in {TEST_DATA}; set HARNESS_TEST_DATA")
    return TEST_DATA.resolve()
