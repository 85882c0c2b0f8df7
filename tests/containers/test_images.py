"""What is in the images of `make images`, as whom they run, what they say they are."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from containers.conftest import BASE, docker
from harness.runtime.environment import VARIABLES
from harness.runtime.files import code_fingerprint, sha256_file

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("engine")]

REPOSITORY = Path(__file__).resolve().parents[2]
LOCK = REPOSITORY / "docker" / "images.lock"
# The images that hold the harness, and whether torch has to be in them.
HOLDERS = {"anonymizer-b2": False, "attacker": True, "verifier": False}
PYTHON = "/opt/harness/bin/python"
VERIFIER_BYTES = 350_000_000
TORCH = "import torch, speechbrain, harness.attackers.ecapa.scoring; print(torch.__version__)"


def recorded() -> dict[str, dict[str, str]]:
    """What images.lock says of each image by its name."""
    lock = yaml.safe_load(LOCK.read_text(encoding="utf-8"))["docker"]
    return {
        name: said for kind, built in lock.items() if kind != "base" for name, said in built.items()
    }


def described(image: str) -> dict[str, Any]:
    (found,) = json.loads(docker("image", "inspect", image))
    return dict(found)


def inside(image: str, program: str) -> str:
    """What a Python program says in an image, without a home, a network or a root to write to."""
    return docker(
        *("run", "--rm", "--network", "none", "--read-only"),
        *("--user", "65532", "--cap-drop", "ALL"),
        *("--tmpfs", "/tmp:size=256m", "--entrypoint", PYTHON, image, "-W", "error", "-c", program),
    )


@pytest.mark.parametrize("name", HOLDERS)
def test_images_are_what_the_lock_says(name: str) -> None:
    said = recorded()[name]
    packages = sha256_file(REPOSITORY / "requirements" / f"{name}.lock")
    assert said == {
        "digest": described(f"harness-{name}")["Id"],
        "lock_sha256": packages,
        "code_sha256": code_fingerprint(),
    }
    base = yaml.safe_load(LOCK.read_text(encoding="utf-8"))["docker"]["base"]
    assert base == described(BASE)["Id"]
    labels = described(f"harness-{name}")["Config"]["Labels"]
    assert re.fullmatch("[0-9a-f]{40}(-dirty)?", labels.pop("org.opencontainers.image.revision"))
    assert labels == {
        "org.opencontainers.image.title": f"anonymization-harness {name}",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.base.digest": base,
        "anonymization-harness.lock.sha256": packages,
        "anonymization-harness.code.sha256": code_fingerprint(),
    }


@pytest.mark.parametrize("name", HOLDERS)
def test_images_run_as_nobody_and_hold_what_they_need(name: str) -> None:
    config = described(f"harness-{name}")["Config"]
    assert config["User"] == "65532:65532"
    assert not config.get("Volumes")
    assert not config.get("Cmd")
    program = """
import importlib.util, os, sys
import harness.cli.main
print(os.getuid(), importlib.util.find_spec("torch") is not None, importlib.util.find_spec("pip"))
print(harness.__file__, sorted(os.listdir("/tmp")))
print([name for name in ("/wheels", "/pip", "/new") if os.path.exists(name)])
"""
    assert inside(f"harness-{name}", program).splitlines() == [
        f"65532 {HOLDERS[name]} None",
        "/opt/harness/lib/python3.11/site-packages/harness/__init__.py []",
        "[]",
    ]


def test_the_verifier_is_small() -> None:
    assert described("harness-verifier")["Size"] < VERIFIER_BYTES


def test_the_attacker_loads_without_a_home_and_leaves_nothing_in_tmp() -> None:
    program = (
        f"import os; {TORCH}; print(os.listdir('/tmp'), os.environ['CUBLAS_WORKSPACE_CONFIG'])"
    )
    version, left = inside("harness-attacker", program).splitlines()
    locked = (REPOSITORY / "requirements" / "attacker.lock").read_text(encoding="utf-8")
    assert f"\ntorch=={version.partition('+')[0]} " in locked
    assert left == f"[] {VARIABLES['CUBLAS_WORKSPACE_CONFIG']}"


def test_the_same_content_has_the_same_digest() -> None:
    def built() -> tuple[str, str]:
        command = [sys.executable, REPOSITORY / "docker" / "build.py", "--offline", "verifier"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        return done.stdout, LOCK.read_text(encoding="utf-8")

    before = LOCK.read_bytes()
    try:
        first = built()
        # What is newer, but says the same.
        os.utime(REPOSITORY / "harness" / "errors.py")
        assert built() == first
    finally:
        # A test decides on no image that stages depend on.
        LOCK.write_bytes(before)
    assert re.fullmatch(r"harness-verifier sha256:[0-9a-f]{64}\n", first[0])
