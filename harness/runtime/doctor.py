"""What this machine lacks for a benchmark, each with the command that mends it.

Everything is looked up, nothing is computed or installed; the MLflow store alone is opened, and so
made when it is new. Only `deep` imports torch and SpeechBrain, which takes seconds.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from harness.errors import ConfigError, HarnessError
from harness.protocols import protocol as protocols
from harness.protocols.protocol import Protocol
from harness.protocols.typed import did_you_mean
from harness.runtime.parameters import (
    FILE_NAME,
    LIBRISPEECH_VARIABLE,
    LISTS_VARIABLE,
    Benchmark,
    Parameters,
    Tracking,
    load,
)

DISTRIBUTION = "anonymization-harness"
LOCK = "requirements/full.lock"
LOCKED_PYTHON = (3, 11)
DEEP_IMPORTS = ("torch", "torchaudio", "speechbrain")
COMMAND_SECONDS = 20

# 16 kHz, 16 bit, mono as FLAC; mean length of an utterance (LibriSpeech: 12.3 s in train-clean-360).
FLAC_BYTES_A_SECOND = 18_000
SECONDS = {"voices": 4.0, "excerpt": 10.0, "lists": 12.5}
# Weights, optimiser state and scores of one training run of the official size.
RUN_BYTES = 200_000_000
# DVC's cache holds what the folders hold.
COPIES = 2

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


def examine(
    benchmark: str | None,
    *,
    deep: bool,
    check_store: Callable[[Tracking], None],
    root: Path = Path(),
) -> list[Finding]:
    """Look at everything that `benchmark` needs; None: the one that params.yaml chooses.

    check_store: raises TrackingError when the MLflow store cannot be used.
    Raises ConfigError for a benchmark that params.yaml does not name.
    """
    findings = [python(), git(root), pipeline(root), docker()]
    try:
        parameters = load(root / FILE_NAME)
    except ConfigError as error:
        return [*findings, _failure("parameters", error)]
    chosen = _choose(parameters, benchmark)
    try:
        protocol = protocols.load(chosen.name)
    except ConfigError as error:
        return [*findings, _failure("parameters", error)]
    findings.append(Finding("parameters", "ok", f"{FILE_NAME} is valid, benchmark {chosen.name}"))
    findings.append(packages(root / LOCK, needed_packages(_extras(parameters, chosen, protocol))))
    if deep:
        findings += [imports(name) for name in DEEP_IMPORTS]
    findings.append(gpu(parameters.runtime.device, deep))
    findings += sources(parameters, protocol)
    findings.append(disk(root, chosen, protocol))
    findings.append(store(parameters.tracking, check_store))
    return findings


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


def docker() -> Finding:
    """Client and daemon; only systems and attackers that come as images need them."""
    purpose = "only images need it"
    if shutil.which("docker") is None:
        fix = "sudo apt-get install docker.io"
        return Finding("docker", "note", f"not installed; {purpose}", fix)
    done = _run("docker", "version", "--format", "{{.Server.Version}}")
    if done is not None and done.returncode == 0:
        return Finding("docker", "ok", f"server {done.stdout.strip()}")
    if done is not None and "permission denied" in done.stderr.lower():
        fix = "sudo usermod -aG docker $USER, then log in again"
        return Finding("docker", "note", f"the daemon refuses this user; {purpose}", fix)
    return Finding(
        "docker", "note", f"the daemon does not answer; {purpose}", "sudo systemctl start docker"
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
    matches = (re.match(r"""([\w.-]+)(?:.*extra == ["'](\w+)["'])?""", line) for line in declared)
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
        return Finding("packages", "note", f"no {LOCK} to compare with", "git checkout requirements")
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
        return Finding("packages", "note", text + ", ".join(other[:5]), fix)
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


def sources(parameters: Parameters, protocol: Protocol) -> list[Finding]:
    """The folders with speech and lists from outside that the protocol takes its sets from."""
    if protocol.source.kind == "voices":
        return [Finding("speech", "ok", "made on the spot")]
    findings = []
    lists = parameters.folder(LISTS_VARIABLE)
    if protocol.source.kind == "lists":
        # Training speech may lie in LibriSpeech, so its Kaldi folder may be absent.
        names = [dataset.name for dataset in protocol.sets if dataset.role != "train"]
        fix = f"export {LISTS_VARIABLE}=/path/to/folder/with/{names[0]}"
        findings.append(_folder("lists", lists, LISTS_VARIABLE, names, fix))
    speech = parameters.folder(LIBRISPEECH_VARIABLE)
    subsets = list(dict.fromkeys(s.subset for s in protocol.sets if s.subset))
    if speech is None and lists is not None:
        absent = [s.name for s in protocol.sets if not (lists / s.name / "wav.scp").is_file()]
        if not absent:
            return [*findings, Finding("librispeech", "ok", "not needed: the lists name audio")]
    if speech is not None and (speech / "LibriSpeech").is_dir():
        speech = speech / "LibriSpeech"
    fix = f"export {LIBRISPEECH_VARIABLE}=/path/to/LibriSpeech"
    return [*findings, _folder("librispeech", speech, LIBRISPEECH_VARIABLE, subsets, fix)]


def needed_bytes(benchmark: Benchmark, protocol: Protocol) -> int:
    """About how much disk a whole run of the benchmark takes, DVC's cache included."""
    utterances = sum(dataset.utterances for dataset in protocol.sets)
    corpus = utterances * SECONDS[protocol.source.kind] * FLAC_BYTES_A_SECOND
    runs = len(benchmark.systems) * len(benchmark.attackers) * len(benchmark.seeds)
    return round(COPIES * (corpus * (1 + len(benchmark.systems)) + runs * RUN_BYTES))


def disk(root: Path, benchmark: Benchmark, protocol: Protocol) -> Finding:
    """Free space against what the benchmark has yet to write."""
    made = sum(
        file.stat().st_size
        for folder in ("data", "models")
        for file in (root / folder / benchmark.name).rglob("*")
        if file.is_file()
    )
    needed = max(0, needed_bytes(benchmark, protocol) - COPIES * made) / 1e9
    free = shutil.disk_usage(root).free / 1e9
    text = f"{free:,.1f} GB free, about {needed:,.1f} GB needed"
    if free < needed:
        return Finding("disk", "problem", text, "dvc cache dir --local /path/on/a/larger/disk")
    return Finding("disk", "ok", text)


def store(tracking: Tracking, check_store: Callable[[Tracking], None]) -> Finding:
    """Whether the MLflow store answers."""
    if not tracking.enabled:
        return Finding("tracking", "note", f"off (tracking.enabled: false in {FILE_NAME})")
    try:
        check_store(tracking)
    except HarnessError as error:
        return _failure("tracking", error)
    return Finding("tracking", "ok", "the MLflow store answers")


def _choose(parameters: Parameters, name: str | None) -> Benchmark:
    known = {**parameters.benchmarks, parameters.benchmark.name: parameters.benchmark}
    if name is None:
        return parameters.benchmark
    if name not in known:
        hint = did_you_mean(name, known)
        raise ConfigError(f"no benchmark {name!r}", where=FILE_NAME, fix=hint)
    return known[name]


def _extras(parameters: Parameters, benchmark: Benchmark, protocol: Protocol) -> set[str]:
    types = {str(parameters.anonymizers[system]["type"]) for system in benchmark.systems}
    voices = {"demo"} if protocol.source.kind == "voices" else set()
    return {"pipeline", "attacker", *types, *voices}


def _folder(
    subject: str, folder: Path | None, variable: str, names: Iterable[str], fix: str
) -> Finding:
    if folder is None:
        return Finding(subject, "problem", f"{variable} is not set", fix)
    if not folder.is_dir():
        return Finding(subject, "problem", f"no such folder: {folder}", fix)
    absent = [name for name in names if not (folder / name).is_dir()]
    if absent:
        return Finding(subject, "problem", f"no {', '.join(absent)} in {folder}", fix)
    return Finding(subject, "ok", str(folder))


def _failure(subject: str, error: HarnessError) -> Finding:
    text = error.what if error.where is None else f"{error.where}: {error.what}"
    return Finding(subject, "problem", " ".join(text.split()), error.fix)


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
