"""Strangers' programs behind bars: one container, its limits, and what came out of it.

A container has no network, a read-only root, no capabilities, no new privileges, the engine's
default seccomp profile and a user that is not root. It reads what is mounted below `/in`, writes to
`/out` and to a small `/tmp`, and is gone when `run` returns or is interrupted.

Limits that the kernel holds are exact: memory, processes, CPU, open files, size of a file, of
`/tmp`. Time, the log and the size of `/out` are watched: a container may exceed them by what it
does in WATCH_SECONDS before it is killed. What it leaves is read as hostile.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from harness.errors import ContainerError
from harness.runtime.files import CHUNK_BYTES, whole_file

# Nobody's: what root starts runs as this user, so that no file of the host is its own.
STRANGER = 65532
WATCH_SECONDS = 0.2
MIB = 1 << 20
ENGINE_SECONDS = 30
NAME_PREFIX = "harness-"
# Exit status of `docker run` when it is the engine that failed.
ENGINE_FAILED = 125
KILLED = 137


@dataclass(frozen=True)
class Fence:
    """Limits of a container. Sizes in MiB; cpus may be a fraction; seconds of wall time."""

    memory: int = 4096
    cpus: float = 2.0
    processes: int = 256
    open_files: int = 1024
    file: int = 1024
    output: int = 2048
    temporary: int = 256
    log: int = 4
    seconds: float = 3600.0


@dataclass(frozen=True)
class Outcome:
    """How a container ended. stopped: the limit that ended it, None if it ended by itself.

    stdout, stderr: what it said, at most the fence's log together.
    """

    status: int
    stopped: str | None
    stdout: bytes
    stderr: bytes


def require_engine() -> None:
    """Raises ContainerError unless a Docker engine answers."""
    try:
        done = subprocess.run(
            ["docker", "info", "--format", "{{.ServerVersion}}"],
            capture_output=True,
            text=True,
            timeout=ENGINE_SECONDS,
        )
    except FileNotFoundError as error:
        raise ContainerError("no command `docker`", fix="install Docker") from error
    except subprocess.TimeoutExpired as error:
        raise ContainerError("the Docker engine does not answer", fix="start it") from error
    if done.returncode or not done.stdout.strip():
        said = (done.stderr or done.stdout).strip().splitlines() or ["no answer"]
        raise ContainerError(f"no Docker engine ({said[-1]})", fix="start it, or join its group")


@contextmanager
def _engine_errors(image: str) -> Iterator[None]:
    try:
        yield
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise ContainerError(said[-1], where=image, fix="see `docker images`") from error


def image_digest(image: str) -> str:
    """The content hash (`sha256:…`) of an image on this machine. Raises ContainerError."""
    command = ["docker", "image", "inspect", "--format", "{{.Id}}", image]
    with _engine_errors(image):
        return subprocess.run(command, capture_output=True, check=True).stdout.decode().strip()


def run(
    image: str,
    arguments: Sequence[str],
    *,
    inputs: Mapping[str, Path],
    output: Path | None = None,
    fence: Fence | None = None,
    environment: Mapping[str, str] | None = None,
) -> Outcome:
    """Run one container to its end, and take what it wrote.

    inputs: what lies where below `/in`, read-only. output: folder that is filled with the regular
    files that the container left in `/out`, unless a limit ended it; it must be empty or absent.
    The files belong to the caller. Raises ContainerError when the engine fails, or for links and devices in the output.
    """
    fence = fence or Fence()
    name = f"{NAME_PREFIX}{uuid.uuid4().hex[:16]}"
    user, group = (os.getuid(), os.getgid()) if os.getuid() else (STRANGER, STRANGER)
    with tempfile.TemporaryDirectory(prefix=NAME_PREFIX) as scratch:
        written = Path(scratch, "out")
        written.mkdir(mode=0o700)
        if not os.getuid():
            os.chown(written, user, group)
            # The folder that holds it stays root's: nobody else on the host looks in.
        mounts = [_mount(path, f"/in/{place}", "ro") for place, path in inputs.items()]
        command = [
            *("docker", "run", "--name", name, "--log-driver", "none"),
            *("--network", "none", "--read-only", "--cap-drop", "ALL", "--ipc", "private"),
            *("--security-opt", "no-new-privileges", "--user", f"{user}:{group}"),
            *("--memory", f"{fence.memory}m", "--memory-swap", f"{fence.memory}m"),
            *("--cpus", str(fence.cpus), "--pids-limit", str(fence.processes)),
            *("--ulimit", f"nofile={fence.open_files}:{fence.open_files}"),
            *("--ulimit", f"fsize={fence.file * MIB}:{fence.file * MIB}", "--ulimit", "core=0:0"),
            *("--tmpfs", f"/tmp:rw,nosuid,nodev,size={fence.temporary}m,mode=1777"),
            *(part for mount in mounts for part in ("--mount", mount)),
            *("--mount", _mount(written, "/out", "rw")),
            *(f"--env={key}={value}" for key, value in (environment or {}).items()),
            image,
            *arguments,
        ]
        try:
            with _terminated_as_interrupt():
                outcome = _watched(command, name, written, fence)
        finally:
            subprocess.run(["docker", "rm", "--force", name], capture_output=True, check=False)
        if output is not None and outcome.stopped is None:
            _take(written, output, fence)
        return outcome


def _mount(path: Path, place: str, mode: str) -> str:
    source = str(path.resolve())
    if "," in source or '"' in source:
        raise ContainerError("a comma or quote in a path", where=source, fix="rename the folder")
    readonly = ",readonly" if mode == "ro" else ""
    return f"type=bind,source={source},target={place}{readonly}"


@contextmanager
def _terminated_as_interrupt() -> Iterator[None]:
    """While the block runs, SIGTERM ends it as Ctrl-C does, so that the container is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Log:
    """Reads a pipe to its end, keeps what the budget allows, and says when it is spent."""

    def __init__(self, pipe: IO[bytes], budget: list[int]) -> None:
        self.kept = bytearray()
        self._pipe, self._budget = pipe, budget
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        while chunk := os.read(self._pipe.fileno(), CHUNK_BYTES):
            self.kept += chunk[: max(self._budget[0], 0)]
            self._budget[0] -= len(chunk)


def _watched(command: Sequence[str], name: str, written: Path, fence: Fence) -> Outcome:
    budget = [fence.log * MIB]
    # Its own session: Ctrl-C on a terminal reaches this process, which then removes the container.
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        logs = [_Log(process.stdout, budget), _Log(process.stderr, budget)]
        end = time.monotonic() + fence.seconds
        stopped = None
        try:
            while process.poll() is None:
                if time.monotonic() >= end:
                    stopped = f"ran longer than {fence.seconds:g} seconds"
                elif budget[0] < 0:
                    stopped = f"wrote more than {fence.log} MiB of log"
                elif _size(written) > fence.output * MIB:
                    stopped = f"wrote more than {fence.output} MiB of output"
                if stopped is not None:
                    break
                with suppress(subprocess.TimeoutExpired):
                    process.wait(WATCH_SECONDS)
            if stopped is None and _killed_for_memory(name):
                stopped = f"used more than {fence.memory} MiB of memory"
        finally:
            subprocess.run(["docker", "kill", name], capture_output=True, check=False)
            process.wait(ENGINE_SECONDS)
            for log in logs:
                log.thread.join(ENGINE_SECONDS)
    stdout, stderr = (bytes(log.kept) for log in logs)
    if stopped is None and process.returncode == ENGINE_FAILED and not _exists(name):
        said = stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise ContainerError(f"the engine did not start it ({said[-1]})", where=command[-1])
    return Outcome(process.returncode, stopped, stdout, stderr)


def _exists(name: str) -> bool:
    inspect = ["docker", "container", "inspect", name]
    return subprocess.run(inspect, capture_output=True, check=False).returncode == 0


def _killed_for_memory(name: str) -> bool:
    inspect = ["docker", "container", "inspect", "--format", "{{json .State.OOMKilled}}", name]
    done = subprocess.run(inspect, capture_output=True, check=False)
    return done.stdout.strip() == b"true"


def _size(folder: Path) -> int:
    """Bytes on disk below a folder that is being written by a stranger."""
    total = 0
    for root, folders, files in os.walk(folder, onerror=None, followlinks=False):
        for name in (*folders, *files):
            with suppress(OSError):
                total += os.lstat(Path(root, name)).st_blocks * 512
    return total


def _take(written: Path, output: Path, fence: Fence) -> None:
    """Copy the regular files of a stopped container's output; nothing is followed."""
    if _size(written) > fence.output * MIB:
        raise ContainerError(
            f"the container wrote more than {fence.output} MiB", where="/out", fix="raise the limit"
        )
    output.mkdir(parents=True, exist_ok=True)
    for root, folders, files in os.walk(written, followlinks=False):
        for name in (*folders, *files):
            path = Path(root, name)
            place = path.relative_to(written)
            found = path.lstat()
            if stat.S_ISDIR(found.st_mode):
                (output / place).mkdir(exist_ok=True)
            elif stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
                with (
                    os.fdopen(descriptor, "rb") as stream,
                    whole_file(output / place) as part,
                    part.open("wb") as copy,
                ):
                    shutil.copyfileobj(stream, copy, CHUNK_BYTES)
            else:
                raise ContainerError(
                    "the container left a link or a device",
                    where=f"/out/{place}",
                    fix="it may write regular files only",
                )
