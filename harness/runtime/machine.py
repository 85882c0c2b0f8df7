"""What a machine has: interpreter, packages, git, DVC, Docker, GPU; each a finding of `doctor`."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from harness.errors import HarnessError
from harness.runtime.parameters import FILE_NAME

DISTRIBUTION = "anonymization-harness"
LOCK = "requirements/full.lock"
LOCKED_PYTHON = (3, 11)
COMMAND_SECONDS = 20
# Packages that differ from the lock and are named.
NAMED = 5

Status = Literal["ok", "note", "problem"]


@dataclass(frozen=True)
class Finding:
    """One thing looked at. problem: the benchmark cannot run; note: it can, but know this.

    fix: the command that mends it, None where there is nothing to mend.
    """

    subject: str
    status: Status
    text: str
    fix: str | None = None


def failure(subject: str, error: HarnessError) -> Finding:
    """An error as a problem."""
    text = error.what if error.where is None else f"{error.where}: {error.what}"
    return Finding(subject, "problem", " ".join(text.split()), error.fix)


def python() -> Finding:
    """The interpreter against the one that the lock was made for."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] == LOCKED_PYTHON:
        return Finding("python", "ok", version)
    locked = ".".join(map(str, LOCKED_PYTHON))
    text = f"{version}; the locked packages are for {locked}"
    return Finding("python", "note", text, f"make .venv PYTHON=python{locked}")


def git(root: Path) -> Finding:
    """Git, and `root` in a repository: DVC wants both."""
    done = _run("git", "-C", str(root), "rev-parse", "--short", "HEAD")
    if done is None:
        return Finding("git", "problem", "not installed", "sudo apt-get install git")
    if done.returncode == 0:
        return Finding("git", "ok", f"commit {done.stdout.strip()}")
    if "safe.directory" in done.stderr:
        fix = f"git config --global --add safe.directory {root.resolve()}"
        return Finding("git", "problem", "the repository belongs to another user", fix)
    fix = "git init && git add . && git commit -m start"
    return Finding("git", "problem", "no repository with a commit here", fix)


def pipeline(root: Path) -> Finding:
    """DVC's files, and the two commands that `dvc repro` starts."""
    absent = [name for name in (".dvc", "dvc.yaml") if not (root / name).exists()]
    if absent:
        text = f"no {' and no '.join(absent)} here"
        return Finding("dvc", "problem", text, "cd to the repository's root")
    unseen = [name for name in ("dvc", "harness") if shutil.which(name) is None]
    if unseen:
        text = f"not on PATH: {', '.join(unseen)}"
        return Finding("dvc", "note", text, "make repro, or . .venv/bin/activate before dvc repro")
    return Finding("dvc", "ok", f"dvc repro runs {shutil.which('harness')}")


def docker(needed: bool) -> Finding:
    """Client and daemon. needed: by the runner, or by a system or attacker that is an image."""
    status: Status = "problem" if needed else "note"
    purpose = "" if needed else "; only images need it"
    if shutil.which("docker") is None:
        fix = "sudo apt-get install docker.io"
        return Finding("docker", status, f"not installed{purpose}", fix)
    done = _run("docker", "version", "--format", "{{.Server.Version}}")
    if done is not None and done.returncode == 0:
        return Finding("docker", "ok", f"server {done.stdout.strip()}")
    if done is not None and "permission denied" in done.stderr.lower():
        fix = "sudo usermod -aG docker $USER, then log in again"
        return Finding("docker", status, f"the daemon refuses this user{purpose}", fix)
    return Finding(
        "docker", status, f"the daemon does not answer{purpose}", "sudo systemctl start docker"
    )


def locked_versions(lock: Path) -> dict[str, str]:
    """Name to version of every package that a lock file pins."""
    text = lock.read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))


def needed_packages(extras: Iterable[str]) -> list[str]:
    """Names of the packages that this one declares, with those of `extras`."""
    chosen = {None, *extras}
    try:
        declared = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return [DISTRIBUTION]
    matches = (
        re.match(r"""([\w.-]+)(?:.*extra == ["']([\w-]+)["'])?""", line) for line in declared
    )
    return [match[1] for match in matches if match is not None and match[2] in chosen]


def packages(lock: Path, needed: Iterable[str]) -> Finding:
    """Installed versions against the lock. Missing is a problem, another version a note."""
    fix = f"python -m pip install --require-hashes -r {LOCK}"
    missing = [name for name in needed if _version(name) is None]
    if DISTRIBUTION in missing:
        return Finding("packages", "problem", "the harness is not installed", "pip install -e .")
    if missing:
        return Finding("packages", "problem", f"not installed: {', '.join(missing)}", fix)
    if not lock.is_file():
        return Finding(
            "packages", "note", f"no {LOCK} to compare with", "git checkout requirements"
        )
    locked = locked_versions(lock)
    found = {name: _version(name) for name in locked}
    # A build's own mark (2.14.1+cpu) is no other version.
    other = [
        f"{name} {found[name] or 'absent'} (locked {version})"
        for name, version in locked.items()
        if (found[name] or "").partition("+")[0] != version
    ]
    if other:
        text = f"{len(other)} of {len(locked)} differ from the lock, so results may: "
        return Finding("packages", "note", text + ", ".join(other[:NAMED]), fix)
    return Finding("packages", "ok", f"all {len(locked)} as locked")


def imports(name: str) -> Finding:
    """Whether a package can be loaded, with the libraries it stands on."""
    try:
        importlib.import_module(name)
    except (ImportError, OSError, RuntimeError) as error:
        gist = (str(error).splitlines() or [type(error).__name__])[0]
        return Finding(name, "problem", f"cannot be imported ({gist})", "rm -r .venv && make .venv")
    return Finding(name, "ok", f"{_version(name)}, imports")


def gpu(device: str, deep: bool) -> Finding:
    """The device that attackers would use. deep: ask torch instead of the driver."""
    if device == "cpu":
        return Finding("gpu", "ok", f"not asked for (runtime.device: cpu in {FILE_NAME})")
    names = _torch_gpus() if deep else _driver_gpus()
    if names:
        return Finding("gpu", "ok", ", ".join(names))
    if device == "cuda":
        fix = f"set runtime.device: auto in {FILE_NAME}"
        return Finding("gpu", "problem", "none found, but runtime.device is cuda", fix)
    return Finding("gpu", "note", "none found: attackers train on the CPU")


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _run(*command: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _driver_gpus() -> list[str]:
    done = _run("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    return done.stdout.split("\n")[:-1] if done is not None and done.returncode == 0 else []


def _torch_gpus() -> list[str]:
    try:
        torch = importlib.import_module("torch")
    except (ImportError, OSError, RuntimeError):
        return []
    return [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
