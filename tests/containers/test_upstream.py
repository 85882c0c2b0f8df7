"""Images of the challenges' own systems, built by build.sh of stand-ins for their codes."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from upstream import codes, standin

from containers.conftest import BASE, assert_conforms, docker
from harness.anonymizers.base import Job
from harness.cli.main import main
from harness.contracts.anonymizer.conformance import CHECKED
from harness.contracts.anonymizer.image import ImageAnonymizer
from harness.contracts.inputs import Held
from harness.errors import ContainerError

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("engine")]

NAME = "harness-test-anonymizer-vpc"
SYSTEMS = ("B1.a", "B1.b", "B3", "B5")


def packed(files: Mapping[str, str], mode: str = "w", below: str = "") -> bytes:
    """A tar archive. mode: `w`, or `w:gz`. below: a folder above all of it."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode=mode) as archive:  # type: ignore[call-overload]
        for name, text in files.items():
            entry = tarfile.TarInfo(below + name)
            entry.size, entry.mode = len(text.encode()), 0o755 if text.startswith("#!") else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    return content.getvalue()


def zipped(files: Mapping[str, str]) -> bytes:
    """A zip archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def wheels() -> bytes:
    """Stand-ins for the packages, as pip takes them."""
    found = {}
    for name, version, text in (
        ("numpy", "1.0", codes.NUMPY),
        ("torch", "2.0.1", codes.TORCH),
        ("torchaudio", "2.0.2", ""),
    ):
        told = f"{name}-{version}.dist-info"
        found[f"{name}-{version}-py3-none-any.whl"] = {
            f"{name}.py": text,
            f"{told}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
            f"{told}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{told}/RECORD": "",
        }
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, files in found.items():
            wheel = zipped(files)
            entry = tarfile.TarInfo(name)
            entry.size = len(wheel)
            archive.addfile(entry, io.BytesIO(wheel))
    return content.getvalue()


def inputs() -> dict[str, bytes]:
    """What a user would bring."""
    old, new = (f"Voice-Privacy-Challenge-{edition}-at/" for edition in standin.EDITIONS)
    installed = {
        name: text.format(place="/tmp/upstream") for name, text in codes.INSTALLED_2022.items()
    }
    return {
        "voice-privacy-challenge-2022.tar.gz": packed(codes.FILES_2022 | codes.SHARED, "w:gz", old),
        "installed-2022.tar": packed(installed),
        "models.2022.tar.gz": packed(codes.MODELS_2022, "w:gz"),
        "pool-2022.tar": packed(codes.POOL_2022),
        "voice-privacy-challenge-2024.tar.gz": packed(codes.code_2024(), "w:gz", new),
        "wheels.tar": wheels(),
        "anonymization.zip": zipped({"weights": "weights"}),
        "asr.zip": zipped({"asr": "weights"}),
        "tts.zip": zipped({"tts": "weights"}),
        "torch-hub-b5.tar": packed({"hub/weights": "weights"}),
    }


class Repository:
    """A copy of docker/ as far as it is needed, for hashes must not be recorded in the real one."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder = root, root / "inputs"
        shutil.copytree(standin.IMAGE, root / "docker" / standin.IMAGE.name)
        shutil.copy(standin.IMAGE.parent / "inputs.py", root / "docker")
        self.folder.mkdir()
        for name, content in inputs().items():
            (self.folder / name).write_bytes(content)

    def build(self, system: str) -> subprocess.CompletedProcess[str]:
        """Record the hashes, and build."""
        lock = f"docker/{standin.IMAGE.name}/inputs.lock"
        environment = os.environ | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        record = ("python", "docker/inputs.py", "record", lock, str(self.folder))
        script = f"docker/{standin.IMAGE.name}/build.sh"
        for command in (
            [*record, "--system", system],
            ["sh", script, system, str(self.folder), BASE, NAME],
        ):
            done = subprocess.run(
                command, cwd=self.root, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                break
        return done


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Images by their systems."""
    repository = Repository(tmp_path_factory.mktemp("repository"))
    built = {}
    for system in SYSTEMS:
        done = repository.build(system)
        assert done.returncode == 0, done.stdout + done.stderr
        built[system] = f"{NAME}:{system.lower()}"
    yield built
    docker("image", "rm", "--force", *built.values())


@pytest.mark.parametrize("system", SYSTEMS)
def test_they_conform(
    images: dict[str, str], system: str, clean: None, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["conformance", "anonymizer", images[system]])
    said = capsys.readouterr().out
    assert status == 0, said
    assert_conforms(said, images[system], CHECKED)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_user_sees_one_line_of_a_failure(
    images: dict[str, str], system: str, clean: None, tmp_path: Path
) -> None:
    """One whose weights are gone: an image made on top of it."""
    image = f"{NAME}-without-{uuid.uuid4().hex[:8]}"
    lines = (f"FROM {images[system]}", "USER 0", f"RUN rm /opt/vpc/{standin.WEIGHTS[system]}")
    (tmp_path / "Dockerfile").write_text("\n".join([*lines, "USER 65532:65532", ""]))
    docker("build", "--network", "none", "--quiet", "--tag", image, str(tmp_path))
    try:
        digest = docker("image", "inspect", "--format", "{{.Id}}", image)
        anonymizer = ImageAnonymizer(image=digest)
        speech = [(Job("u0001", 1), Held(standin.ramp(1)))]
        said = f"^{digest}: the container says: u0001: .* ended with status 1 .*No such file.*; "
        with (
            pytest.raises(ContainerError, match=said) as caught,
            anonymizer.batch(speech, work=tmp_path / "batch"),
        ):
            pass
        assert len(str(caught.value).splitlines()) == 1
    finally:
        docker("image", "rm", "--force", image)


@pytest.mark.parametrize(
    ("name", "archive", "said"),
    [
        (
            "models.2022.tar.gz",
            packed({k: v for k, v in codes.MODELS_2022.items() if "4_nsf" not in k}, "w:gz"),
            "no 4_nsf in the models or the pool",
        ),
        ("pool-2022.tar", packed({"data/x": ""}), "no .*/spk_xvector.scp in the models or"),
        (
            "voice-privacy-challenge-2022.tar.gz",
            packed(codes.FILES_2022 | {codes.GPU_2022: codes.CPU_SCRIPT}, "w:gz", "at/"),
            "extract_ppg_256.sh does not say use_gpu=yes",
        ),
    ],
)
def test_inputs_that_are_others_make_no_image(
    tmp_path: Path, name: str, archive: bytes, said: str
) -> None:
    repository = Repository(tmp_path)
    (repository.folder / name).write_bytes(archive)
    done = repository.build("B1.a")
    assert done.returncode != 0
    assert re.search(said, done.stdout + done.stderr)
