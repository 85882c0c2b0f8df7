"""Strangers' programs behind bars: one container, its limits, and what came out of it.

A container has no network, a read-only root, no capabilities, no new privileges, the engine's
default seccomp profile and a user that is not root. It reads what is mounted below `/in`, writes to
`/out` and to a small `/tmp` and `/dev/shm`, and is gone when `run` returns, is interrupted, or
dies: a keeper process outlives the caller by what it takes to remove container and folder.

Limits that the kernel holds are exact: memory, processes, CPU, open files, size of a file, of
`/tmp` and of `/dev/shm`. The others are watched, and may be exceeded a little: see `watching`. What
the container leaves is read as hostile.

Two things a program can learn. The host's path of each input (`/proc/self/mountinfo`): folders
whose path tells a label or a name must not be mounted. And that its image ran before: which pages
of the image's files the host holds in memory is seen (`mincore`, or by the time a read takes) and
changed from within, so some kilobytes live from one run to the next.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import signal
import stat
import subprocess
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import ContainerError
from harness.runtime.containers.engine import docker, exists, image_digest, remove
from harness.runtime.containers.fence import MIB, Fence, Outcome, last_line
from harness.runtime.containers.taking import take
from harness.runtime.containers.watching import DISK_RESERVE, excess, watched
from harness.runtime.files import require_space

# Nobody's: what root starts runs as this user, so that no file of the host is its own.
STRANGER = 65532
NAME_PREFIX = "harness-"
GPU_DEVICE = Path("/dev/nvidiactl")
# The user's Docker configuration may set these in every container.
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY")
# Waits for its caller's word or death. In the second case the container may only be coming into
# being, so it is removed twice. Then the folder goes, whatever modes it was left in.
KEEPER = """
if ! read -r word; then
    docker rm --force --volumes "$1"; sleep 2; docker rm --force --volumes "$1"
fi
chmod -R u+rwx "$2"; rm -rf "$2"
"""


def run(
    image: str,
    arguments: Sequence[str],
    *,
    inputs: Mapping[str, Path],
    output: Path | None = None,
    fence: Fence | None = None,
    environment: Mapping[str, str] | None = None,
    gpus: bool = False,
    hear: Callable[[bytes], None] | None = None,
) -> Outcome:
    """Run one container to its end, and take what it wrote.

    inputs: what lies where below `/in`, read-only; other file systems mounted below one are not
    seen. output: folder that is filled with the regular files that the container left in `/out`,
    unless a limit ended it; it must be empty or absent. The files belong to the caller. gpus: pass
    the host's GPUs through, if it has any. hear: called with each line of standard output when it
    comes; hostile.

    Raises ContainerError when the engine or the image fails, or for links, devices and unprintable
    names in the output, and ResourceError when the disk is too full for the output.
    """
    fence = fence or Fence()
    # The digest is what runs: no name is resolved twice, and none becomes an option.
    digest = image_digest(image)
    name = f"{NAME_PREFIX}{uuid.uuid4().hex[:16]}"
    user, group = (os.getuid(), os.getgid()) if os.getuid() else (STRANGER, STRANGER)
    with _terminated_as_interrupt(), _kept(name) as written:
        require_space(written, fence.output * MIB + DISK_RESERVE)
        if not os.getuid():
            # The folder that holds it stays root's: nobody else on the host looks in.
            os.chown(written, user, group)
        command = [
            *("create", "--name", name, "--hostname", "container", "--log-driver", "none"),
            *("--user", f"{user}:{group}", *_bars(fence)),
            *(part for place, path in inputs.items() for part in _input(place, path)),
            *("--mount", _mount(written, "/out", "")),
            *(f"--env={variable}=" for name in PROXIES for variable in (name, name.lower())),
            *(("--gpus", "all") if gpus and GPU_DEVICE.exists() else ()),
            # Where the engine's own runtime is NVIDIA's, an image may ask by this variable.
            *(() if gpus else ("--env=NVIDIA_VISIBLE_DEVICES=void",)),
            *(f"--env={key}={value}" for key, value in (environment or {}).items()),
            digest,
            *arguments,
        ]
        try:
            created = docker(*command)
            if created.returncode:
                said = last_line(created.stderr) or "no reason given"
                raise ContainerError(
                    f"the engine did not create the container ({said})",
                    where=image,
                    fix="mend the image or the limits",
                )
            identity = created.stdout.decode().strip()
            outcome = watched(image, name, identity, written, fence, hear)
        finally:
            remove(name)
        if outcome.stopped is None:
            # Nothing writes any more: what escaped the watch between two looks is seen now.
            outcome = dataclasses.replace(outcome, stopped=excess(written, fence))
        if output is not None and outcome.stopped is None:
            take(written, output)
    return outcome


def _bars(fence: Fence) -> list[str]:
    temporary = f"rw,nosuid,nodev,size={fence.temporary}m,mode=1777"
    return [
        *("--network", "none", "--dns", "192.0.2.1", "--read-only", "--cap-drop", "ALL"),
        *("--security-opt", "no-new-privileges", "--ipc", "private", "--no-healthcheck"),
        *("--memory", f"{fence.memory}m", "--memory-swap", f"{fence.memory}m"),
        # Where the whole host runs short of memory, a stranger goes first.
        *("--oom-score-adj", "500", "--pids-limit", str(fence.processes)),
        *("--cpus", str(min(fence.cpus, os.cpu_count() or 1))),
        *("--ulimit", f"nofile={fence.open_files}:{fence.open_files}"),
        *("--ulimit", f"fsize={fence.file * MIB}:{fence.file * MIB}", "--ulimit", "core=0:0"),
        *("--tmpfs", f"/tmp:{temporary}", "--shm-size", f"{fence.temporary}m"),
    ]


def _input(place: str, path: Path) -> tuple[str, str]:
    target = PurePosixPath("/in", place)
    if ".." in target.parts or target.parts[:2] != ("/", "in") or not place:
        raise ContainerError("not a place below /in", where=repr(place), fix="name it plainly")
    if not path.exists():
        raise ContainerError("no such input", where=path, fix="make it first")
    needed = stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
    if not os.getuid() and path.stat().st_mode & needed != needed:
        raise ContainerError(
            f"the container's user {STRANGER} may not read it", where=path, fix="chmod o+rX"
        )
    return "--mount", _mount(path, str(target), "readonly")


def _mount(path: Path, target: str, readonly: str) -> str:
    # Non-recursive, since "read-only" holds for one file system, not for those mounted below it.
    fields = ["type=bind", f"source={path.resolve()}", f"target={target}", "bind-nonrecursive=true"]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields + [readonly] * bool(readonly))
    return line.getvalue()


@contextmanager
def _kept(name: str) -> Iterator[Path]:
    """An empty folder, guarded by a process that removes it and the container, come what may."""
    scratch = Path(tempfile.mkdtemp(prefix=NAME_PREFIX))
    with subprocess.Popen(
        ["sh", "-c", KEEPER, "sh", name, str(scratch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as keeper:
        assert keeper.stdin
        written = scratch / "out"
        written.mkdir(mode=0o700)
        try:
            yield written
        finally:
            with keeper.stdin:
                if not exists(name):
                    keeper.stdin.write(b"removed\n")


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
