"""The challenges' codes as a system of params.yaml: what a user sees. No engine is needed.

In place of the fence the entry program is started as it is, on the folders that the host made.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.anonymizers.base import Job
from harness.contracts import working
from harness.contracts.anonymizer.image import ImageAnonymizer
from harness.contracts.inputs import Held
from harness.errors import ContainerError
from harness.runtime.containers.fence import Fence, Outcome
from harness.runtime.events import Event, Events
from upstream.standin import WEIGHTS, Installed, ramp

DIGEST = f"sha256:{'a' * 64}"
SPEECH = [(Job(f"u000{n}", 2**62 + n), Held(ramp(n))) for n in (1, 2, 3)]


@pytest.fixture(params=["B1.a", "B5"])
def installed(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Installed:
    installed = Installed(tmp_path, request.param)

    def run(
        image: str,
        arguments: Sequence[str],
        *,
        inputs: Mapping[str, Path],
        output: Path,
        fence: Fence,
        gpus: bool,
        hear: Callable[[bytes], None],
    ) -> Outcome:
        (folder,) = {path.parent for path in inputs.values()}
        output.mkdir()
        command = installed.command(folder, output)
        assert command.pop() == arguments[0]
        done = subprocess.run(
            [*command, *arguments], env=installed.environment(), capture_output=True, check=False
        )
        for line in done.stdout.splitlines():
            hear(line)
        assert len(done.stdout) + len(done.stderr) < fence.log << 20
        return Outcome(done.returncode, None, done.stdout, done.stderr)

    monkeypatch.setattr(working, "run", run)
    return installed


def test_it_takes_part_as_a_type_image(installed: Installed, tmp_path: Path) -> None:
    told: list[Event] = []
    anonymizer = ImageAnonymizer(image=DIGEST)
    with anonymizer.batch(SPEECH, work=tmp_path / "batch", events=Events(told.append)) as made:
        for job, held in SPEECH:
            samples = made[job.utterance]()
            assert len(samples) == 6400
            assert np.corrcoef(samples, held.samples)[0, 1] > 0.999
    assert [event["done"] for event in told if event["event"] == "progress"] == [1, 2, 3]
    warned = [event["message"] for event in told if event["event"] == "warning"]
    assert len(warned) == (2 if installed.system == "B1.a" else 0)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("weights", r"u0001: \w+\.\w+ ended with status 1 \(FileNotFoundError: .*No such file"),
        ("crash", r"u0002: \w+\.\w+ ended with status \d \(RuntimeError: out of memory\)"),
        ("nothing", r"u0002: \w+\.\w+ made 0 files of it, not one \(output will be in"),
        ("rate", r"u0002\.wav: what was made is not whole mono 16 kHz WAV of 16-bit PCM"),
    ],
)
def test_a_failure_is_one_line_for_its_user(
    installed: Installed, tmp_path: Path, fault: str, said: str
) -> None:
    if fault == "weights":
        (installed.home / WEIGHTS[installed.system]).unlink()
    else:
        installed.faults(u0002=fault)
    anonymizer = ImageAnonymizer(image=DIGEST)
    with (
        pytest.raises(ContainerError, match=f"^{DIGEST}: the container says: .*{said}") as caught,
        anonymizer.batch(SPEECH, work=tmp_path / "batch"),
    ):
        pass
    assert len(str(caught.value).splitlines()) == 1
    # Nothing of it is left to be taken.
    assert not (tmp_path / "batch").exists()


def test_a_parameter_is_refused_in_one_line(installed: Installed) -> None:
    anonymizer = ImageAnonymizer(image=DIGEST, parameters={"gender": "m"})
    with pytest.raises(ContainerError, match="unknown parameter 'gender'; there is none"):
        anonymizer.anonymize(ramp(1), Job("u0001", 1))


def test_a_speaker_has_one_seed(installed: Installed, tmp_path: Path) -> None:
    """At level speaker the host gives all utterances of a speaker one seed; it reaches the code."""
    jobs = [Job(f"u000{n}", 7, None, "s0001") for n in (1, 2)]
    anonymizer = ImageAnonymizer(image=DIGEST, level="speaker")
    speech = [(job, Held(ramp(3))) for job in jobs]
    with anonymizer.batch(speech, work=tmp_path / "batch") as made:
        np.testing.assert_array_equal(made["u0001"](), made["u0002"]())
