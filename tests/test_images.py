"""What makes the images, as far as no engine is needed: docker/build.py and the Dockerfiles."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from programs import loaded

from harness.errors import ContainerError
from harness.runtime.environment import VARIABLES

REPOSITORY = Path(__file__).resolve().parents[1]
SCRIPT = REPOSITORY / "docker" / "build.py"
BASE, OTHER = (f"sha256:{digit * 64}" for digit in "ab")
# The images that hold the harness.
HOLDERS = ("anonymizer-b2", "attacker", "verifier")
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def entry(digit: str) -> dict[str, str]:
    return {"digest": f"sha256:{digit * 64}", "lock_sha256": digit * 64, "code_sha256": digit * 64}


@pytest.fixture(scope="module")
def build() -> ModuleType:
    return loaded(SCRIPT)


def dockerfile(name: str) -> list[str]:
    text = (SCRIPT.parent / name / "Dockerfile").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_committed_lock_has_the_form_that_stages_depend_on() -> None:
    lock = yaml.safe_load((SCRIPT.parent / "images.lock").read_text(encoding="utf-8"))
    assert lock.keys() == {"process", "docker"}
    assert lock["process"] == {"anonymizer": "none", "attacker": "none"}
    images = dict(lock["docker"])
    assert re.fullmatch("sha256:[0-9a-f]{64}", images.pop("base"))
    assert {"anonymizer", "attacker", "verifier"} <= images.keys()
    for kind, built in images.items():
        for name, said in built.items():
            assert name.partition("-")[0] == kind
            assert said.keys() == {"digest", "lock_sha256", "code_sha256"}
            assert re.fullmatch("sha256:[0-9a-f]{64}", said["digest"])
            assert re.fullmatch("[0-9a-f]{64}", said["lock_sha256"])


def test_an_image_joins_what_was_built_on_the_same_base(build: ModuleType) -> None:
    one = build.recorded({}, BASE, "anonymizer-b2", entry("1"))
    both = build.recorded(one, BASE, "attacker", entry("2"))
    assert both == {
        "process": {"anonymizer": "none", "attacker": "none"},
        "docker": {
            "base": BASE,
            "anonymizer": {"anonymizer-b2": entry("1")},
            "attacker": {"attacker": entry("2")},
        },
    }
    again = build.recorded(both, BASE, "anonymizer-b2", entry("3"))
    assert again["docker"]["anonymizer"] == {"anonymizer-b2": entry("3")}
    assert again["docker"]["attacker"] == {"attacker": entry("2")}


def test_what_was_built_on_another_base_is_dropped(build: ModuleType) -> None:
    known = build.recorded({}, BASE, "anonymizer-b2", entry("1"))
    moved = build.recorded(known, OTHER, "attacker", entry("2"))
    assert moved["docker"] == {"base": OTHER, "attacker": {"attacker": entry("2")}}


def test_an_image_that_is_no_more_is_dropped(build: ModuleType) -> None:
    known = build.recorded({}, BASE, "attacker-gone", entry("1"))
    after = build.recorded(known, BASE, "attacker", entry("2"))
    assert after["docker"]["attacker"] == {"attacker": entry("2")}


def test_images_are_found_by_their_files(build: ModuleType) -> None:
    assert set(HOLDERS) <= set(build.IMAGES)
    # A Dockerfile, but no lock of its name; a lock, but no Dockerfile.
    assert not {"hostile", "full"} & set(build.IMAGES)
    assert build.IMAGES["attacker"] == build.IMAGES["attacker-vpc2024"] == "attacker"


@pytest.mark.parametrize("name", HOLDERS)
def test_dockerfiles_share_what_installs_the_harness(name: str) -> None:
    lines, shared = dockerfile(name), dockerfile("verifier")
    at = shared.index("COPY --from=build /new /opt/harness") + 1
    assert lines[:at] == shared[:at]
    assert lines[-3:-1] == ["USER 65532:65532", "WORKDIR /tmp"]
    assert lines[-1].startswith("ENTRYPOINT [")
    assert [line for line in lines if line.startswith("FROM")] == [
        "FROM ${PACKAGES} AS build",
        "FROM ${PACKAGES}",
    ]


def test_the_attacker_is_told_what_a_process_would_be() -> None:
    (line,) = (line for line in dockerfile("attacker") if "CUBLAS_WORKSPACE_CONFIG" in line)
    said = dict(pair.split("=") for pair in line.removeprefix("ENV ").split())
    assert said["CUBLAS_WORKSPACE_CONFIG"] == VARIABLES["CUBLAS_WORKSPACE_CONFIG"]
    assert said["NVIDIA_DRIVER_CAPABILITIES"] == "compute,utility"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], r"on which base\? OFFLINE=1 \(--offline\), or BASE=IMAGE@sha256:… \(--base\)"),
        (["--offline", "--base", f"debian@{BASE}"], "on which base"),
        (["--base", "debian:bookworm"], "name the base by its digest: IMAGE@sha256:…"),
        (["--base", ""], "name the base by its digest"),
        (["--base", f"@{BASE}"], "name the base by its digest"),
        (["--offline", "attaker"], "no image 'attaker': there are anonymizer-b2, attacker"),
        (["--offline", "../hostile"], "no image '../hostile'"),
        (["--online"], "unrecognized arguments: --online"),
    ],
)
def test_bad_use_gets_one_line(arguments: list[str], says: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 64
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert re.match(f"docker/build.py: {says}", line)


def test_a_missing_engine_gets_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--offline", "verifier"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"DOCKER_HOST": f"unix://{tmp_path}/none"},
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert re.match("docker/build.py: (no Docker engine|no command `docker`).*; ", line)


def test_revision_is_of_the_last_change_to_what_is_in_the_image(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)

    def git(*arguments: str) -> str:
        done = subprocess.run(
            [*GIT, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(*names: str) -> str:
        for name in names:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as stream:
                stream.write("one more line\n")
        git("add", "--all")
        git("commit", "--message", "changed")
        return git("rev-parse", "HEAD")

    git("init", "--quiet")
    first = commit("harness/errors.py", "requirements/attacker.lock", "docker/images.lock")
    assert build.revision("attacker") == first
    # What is not in it: the lock of images, another image's packages.
    other = commit("docker/images.lock", "requirements/verifier.lock", "docker/verifier/Dockerfile")
    assert build.revision("attacker") == first
    assert build.revision("verifier") == other
    assert build.revision("attacker-vpc2024") == first
    dockerfile = commit("docker/attacker/Dockerfile")
    assert build.revision("attacker-vpc2024") == dockerfile
    packages = commit("requirements/attacker.lock")
    assert build.revision("attacker") == packages
    assert build.revision("attacker-vpc2024") == dockerfile
    (tmp_path / "harness" / "new.py").write_text("", encoding="utf-8")
    assert build.revision("attacker") == f"{packages}-dirty"
    git("add", "--all")
    assert build.revision("verifier") == f"{other}-dirty"


def test_wheels_are_downloaded_once_whole_or_not_at_all(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requirements, store = tmp_path / "requirements", tmp_path / "wheels"
    requirements.mkdir()
    lock = requirements / "attacker.lock"
    lock.write_text("one\n", encoding="utf-8")
    monkeypatch.setattr(build, "REQUIREMENTS", requirements)
    monkeypatch.setattr(build, "WHEELS", store)
    asked: list[tuple[Any, ...]] = []

    # Stands for pip, which the tests cannot let reach a registry.
    def download(*command: Any, fails: bool = False) -> str:
        asked.append(command)
        Path(command[-1], "one.whl").write_bytes(b"wheel")
        if fails:
            raise ContainerError("pip failed")
        return ""

    monkeypatch.setattr(build, "run", lambda *command: download(*command, fails=True))
    with pytest.raises(ContainerError, match="pip failed"):
        build.wheels(lock)
    monkeypatch.setattr(build, "run", download)
    folder = build.wheels(lock)
    assert [path.name for path in folder.iterdir()] == ["one.whl"]
    assert {"--require-hashes", "--only-binary=:all:", lock} <= set(asked[0])
    assert build.wheels(lock) == folder
    assert len(asked) == 2
    lock.write_text("two\n", encoding="utf-8")
    assert build.wheels(lock) != folder
    assert not folder.exists()


def test_what_goes_into_an_image_can_be_read_there(build: ModuleType, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "folder").mkdir(parents=True)
    target.mkdir()
    for name, mode in (("start.py", 0o600), ("run.sh", 0o700), ("folder", 0o700)):
        (source / name).touch()
        (source / name).chmod(mode)
    build.copy(source.iterdir(), target)
    modes = {path.name: path.stat().st_mode & 0o777 for path in target.iterdir()}
    assert modes == {"start.py": 0o644, "run.sh": 0o755, "folder": 0o755}


@pytest.mark.heavy  # setuptools
def test_the_wheel_is_the_same_bytes_from_the_same_source(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    harness = tmp_path / "harness"
    harness.mkdir()
    (harness / "__init__.py").write_text('__version__ = "1.0"\n', encoding="utf-8")
    (harness / "errors.py").write_text("class E(Exception): ...\n", encoding="utf-8")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_bytes((REPOSITORY / name).read_bytes())
    (tmp_path / "one").mkdir()
    first = build.wheel(tmp_path / "one")
    # Another checkout of it: other times and another umask, and what an earlier build left.
    os.utime(harness / "errors.py", (1_000_000_000, 1_000_000_000))
    stale = tmp_path / "build" / "lib" / "harness"
    stale.mkdir(parents=True)
    (stale / "gone.py").write_text("", encoding="utf-8")
    (tmp_path / "two").mkdir()
    usual = os.umask(0o077)
    try:
        second = build.wheel(tmp_path / "two")
    finally:
        os.umask(usual)
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    assert not (tmp_path / "anonymization_harness.egg-info").exists()
    (harness / "errors.py").write_text("class F(Exception): ...\n", encoding="utf-8")
    (tmp_path / "three").mkdir()
    assert build.wheel(tmp_path / "three").read_bytes() != first.read_bytes()
