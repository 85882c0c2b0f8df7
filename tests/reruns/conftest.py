from __future__ import annotations

from pathlib import Path

import pytest

from harness.contracts.inputs import Circumstances
from harness.reruns import scoring
from harness.reruns.scoring import Image
from harness.runtime.containers.fence import Fence
from reruns import spoken
from reruns.standin import DIGEST, StandIn, scores_of


@pytest.fixture(scope="session")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spoken.write_speech(tmp_path_factory.mktemp("speech"))


@pytest.fixture(scope="session")
def honest(speech: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The submission of an honest attacker; not to be changed."""
    return spoken.write_submission(
        tmp_path_factory.mktemp("honest") / "team",
        lambda system, trials: scores_of(speech, system, trials),
    )


@pytest.fixture
def standin(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """What is run in the place of every container."""
    made = StandIn()
    monkeypatch.setattr(scoring, "score", made)
    return made


@pytest.fixture
def image() -> Image:
    return Image(DIGEST, None, {}, Circumstances(threads=2), Fence())
