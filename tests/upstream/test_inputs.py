"""The inputs that a user brings, and what is built of them; a stand-in takes Docker's place."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from programs import loaded

from upstream.standin import EDITION, IMAGE, SYSTEMS

DOCKER = IMAGE.parent
A, B = b"weights of one", b"weights of another"
SHA256_A = hashlib.sha256(A).hexdigest()
# Keeps what it is asked for, and the names of the files that it is given.
FAKE_DOCKER = """\
#!/bin/sh
cd "$(dirname "$0")" && echo "$@" > asked && tar -t > given
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "inputs.lock"
    entry = {"from": "the release", "systems": ["B3"], "sha256": None}
    entries = {"one.zip": dict(entry), "two.zip": dict(entry)}
    entries["other.zip"] = entry | {"systems": ["B4"]}
    path.write_text(yaml.safe_dump(entries), encoding="utf-8")
    (tmp_path / "inputs").mkdir()
    return path


def inputs(verb: str, lock: Path, system: str = "B3") -> subprocess.CompletedProcess[str]:
    folder = lock.parent / "inputs"
    return subprocess.run(
        [sys.executable, DOCKER / "inputs.py", verb, lock, folder, "--system", system],
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_is_missing_is_named_in_one_line(lock: Path) -> None:
    (lock.parent / "inputs" / "one.zip").write_bytes(A)
    for verb in ("check", "record"):
        done = inputs(verb, lock)
        assert done.returncode == 3
        (line,) = done.stderr.splitlines()
        assert re.search(r"inputs/two.zip: is missing; it is: the release$", line)
    assert done.stdout == ""
    assert yaml.safe_load(lock.read_text(encoding="utf-8"))["one.zip"]["sha256"] is None


def test_a_hash_is_recorded_once_and_others_are_refused(lock: Path) -> None:
    folder = lock.parent / "inputs"
    (folder / "one.zip").write_bytes(A)
    (folder / "two.zip").write_bytes(A)
    done = inputs("check", lock)
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "one.zip: its hash was never recorded; if you trust it: python docker/inputs" in line
    done = inputs("record", lock)
    assert done.returncode == 0
    assert f"first use, vouched for by nobody but you: one.zip {SHA256_A}" in done.stderr
    assert inputs("check", lock).stdout == "one.zip\ntwo.zip\n"
    (folder / "two.zip").write_bytes(B)
    for verb in ("check", "record"):
        done = inputs(verb, lock)
        assert done.returncode == 4
        (line,) = done.stderr.splitlines()
        assert f"{hashlib.sha256(B).hexdigest()}, but {SHA256_A} was recorded" in line
    recorded = yaml.safe_load(lock.read_text(encoding="utf-8"))
    assert recorded["two.zip"] == {"from": "the release", "systems": ["B3"], "sha256": SHA256_A}
    assert recorded["other.zip"]["sha256"] is None


def test_a_lock_that_is_malformed_is_refused(lock: Path) -> None:
    lock.write_text(lock.read_text(encoding="utf-8").replace("null", "abc"), encoding="utf-8")
    done = inputs("check", lock)
    assert done.returncode == 1
    assert "the entry 'one.zip' is malformed" in done.stderr
    assert inputs("check", lock.with_name("none.lock")).returncode == 1


def test_an_unknown_system_is_named(lock: Path) -> None:
    done = inputs("check", lock, "B7")
    assert done.returncode == 1
    assert "no system 'B7'; use one of B3, B4" in done.stderr


def test_the_lock_names_what_each_system_needs() -> None:
    entries = loaded(DOCKER / "inputs.py").read_lock(IMAGE / "inputs.lock")
    assert {system for entry in entries.values() for system in entry["systems"]} == set(SYSTEMS)
    for name, entry in entries.items():
        # Those of 2024's release are unpacked in a loop.
        for edition in {EDITION[system] for system in entry["systems"]}:
            dockerfile = (IMAGE / f"{edition}.Dockerfile").read_text(encoding="utf-8")
            assert name.removesuffix(".zip") in dockerfile
    weights = {s: [n for n, e in entries.items() if e["systems"] == [s]] for s in ("B3", "B5")}
    # Release v2.0 of DigitalPhonetics/speaker-anonymization holds three archives.
    assert weights["B3"] == ["anonymization.zip", "asr.zip", "tts.zip"]
    assert weights["B5"] == ["torch-hub-b5.tar"]
    assert [name for name, entry in entries.items() if "B1.a" in entry["systems"]] == [
        "voice-privacy-challenge-2022.tar.gz",
        "installed-2022.tar",
        "models.2022.tar.gz",
        "pool-2022.tar",
    ]


class Repository:
    """A copy of docker/ as far as it is needed, a folder of inputs, and a stand-in for Docker."""

    def __init__(self, folder: Path) -> None:
        self.root, self.inputs, self.bin = (folder / name for name in ("root", "inputs", "bin"))
        shutil.copytree(IMAGE, self.root / "docker" / IMAGE.name)
        shutil.copy(DOCKER / "inputs.py", self.root / "docker")
        self.inputs.mkdir()
        self.bin.mkdir()
        (self.bin / "docker").write_text(FAKE_DOCKER, encoding="utf-8")
        (self.bin / "docker").chmod(0o755)

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """A command in its root."""
        folder = Path(sys.executable).parent
        return subprocess.run(
            [*command],
            cwd=self.root,
            env={"PATH": f"{self.bin}:{folder}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )

    def build(self, system: str) -> subprocess.CompletedProcess[str]:
        """build.sh as its usage has it."""
        script = f"docker/{IMAGE.name}/build.sh"
        return self.run("sh", script, system, str(self.inputs), "base")

    def bring(self, system: str, *, record: bool = True) -> list[str]:
        """Put the inputs of a system there."""
        lock = f"docker/{IMAGE.name}/inputs.lock"
        entries = yaml.safe_load((self.root / lock).read_text(encoding="utf-8"))
        names = [name for name, entry in entries.items() if system in entry["systems"]]
        for name in names:
            (self.inputs / name).write_text(name, encoding="utf-8")
        if record:
            script = ("python", "docker/inputs.py", "record", lock, str(self.inputs))
            assert self.run(*script, "--system", system).returncode == 0
        return names


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.mark.parametrize(
    ("system", "missing"),
    [
        (
            "B1.a",
            "voice-privacy-challenge-2022.tar.gz: is missing (and 3 more: installed-2022.tar, "
            "models.2022.tar.gz, pool-2022.tar); it is: the source archive of the repository",
        ),
        ("B5", "voice-privacy-challenge-2024.tar.gz: is missing (and 2 more: wheels.tar, torch"),
    ],
)
def test_a_build_without_its_inputs_ends_before_docker(
    repository: Repository, system: str, missing: str
) -> None:
    done = repository.build(system)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert missing in line
    assert not (repository.bin / "asked").exists()


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_build_of_what_is_not_pinned_ends_before_docker(
    repository: Repository, system: str
) -> None:
    names = repository.bring(system, record=False)
    done = repository.build(system)
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert f"{names[0]}: its hash was never recorded; if you trust it: python docker" in line
    repository.bring(system)
    (repository.inputs / names[-1]).write_text("another", encoding="utf-8")
    done = repository.build(system)
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert f"{names[-1]}: has sha256 " in line
    assert not (repository.bin / "asked").exists()


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_build_gives_docker_what_the_dockerfile_copies(
    repository: Repository, system: str
) -> None:
    names = repository.bring(system)
    done = repository.build(system)
    assert (done.returncode, done.stderr) == (0, "")
    edition = EDITION[system]
    assert (repository.bin / "asked").read_text(encoding="utf-8").split() == [
        *("build", "--network", "none", "--file", f"{edition}.Dockerfile"),
        *("--tag", f"harness-anonymizer-vpc:{system.lower()}"),
        *("--build-arg", "BASE_IMAGE=base", "--build-arg", f"SYSTEM={system}", "-"),
    ]
    given = (repository.bin / "given").read_text(encoding="utf-8").split()
    seeding = ["seeding/", "seeding/sitecustomize.py"] if edition == 2024 else []
    own = [f"{edition}.Dockerfile", "anonymize.py", "systems.py", *seeding]
    assert sorted(given) == sorted([*own, *names])


def test_without_its_libraries_nothing_runs_unseeded(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise ImportError('no numpy')\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", "print('went on')"],
        env={"PYTHONPATH": f"{IMAGE / 'seeding'}:{tmp_path}", "HARNESS_SEED": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "seeding: no numpy\n")
