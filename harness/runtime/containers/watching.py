"""The watch over a running container: time, log, and what it writes.

Time, the log, and the size and number of files in `/out` are watched: a container may exceed them
by what it does in WATCH_SECONDS and in the engine's time to kill it, half a second together. What
hides from the watch (a deleted file kept open by tricks) ends where the disk has DISK_RESERVE left.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from harness.errors import ContainerError
from harness.runtime.containers.engine import ENGINE_SECONDS, docker
from harness.runtime.containers.fence import MIB, Fence, Outcome, last_line
from harness.runtime.files import CHUNK_BYTES

WATCH_SECONDS = 0.2
# A look at the output takes at most this part of the time.
WATCH_SHARE = 0.25
DISK_RESERVE = 256 * MIB
# Deepest folder below `/out`; with names of NAME_BYTES a path stays below the system's limit.
DEPTH = 12


class _Log:
    """What a container says on two pipes, up to a budget. wake: set when spent, or at the end."""

    def __init__(self, pipes: Sequence[IO[bytes]], budget: int) -> None:
        self.kept = [bytearray() for _ in pipes]
        self.wake = threading.Event()
        self.left = budget
        self._lock = threading.Lock()
        self._open = len(pipes)
        self._told = 0
        self.threads = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in zip(pipes, self.kept, strict=True)
        ]
        for thread in self.threads:
            thread.start()

    def _read(self, pipe: IO[bytes], kept: bytearray) -> None:
        while chunk := os.read(pipe.fileno(), CHUNK_BYTES):
            with self._lock:
                kept += chunk[: max(self.left, 0)]
                self.left -= len(chunk)
            if self.left < 0:
                self.wake.set()
        with self._lock:
            self._open -= 1
            if not self._open:
                self.wake.set()

    def tell(self, hear: Callable[[bytes], None] | None) -> None:
        """Pass on the whole lines of the first pipe that were not passed on yet."""
        if hear is None:
            return
        with self._lock:
            end = self.kept[0].rfind(b"\n") + 1
            lines = bytes(self.kept[0][self._told : end]).splitlines()
            self._told = max(self._told, end)
        for line in lines:
            hear(line)


def watched(
    image: str,
    name: str,
    identity: str,
    written: Path,
    fence: Fence,
    hear: Callable[[bytes], None] | None,
) -> Outcome:
    """Start a created container, and watch it to its end.

    identity: its long id. written: the folder behind `/out`. hear: called with each whole line of
    its standard output; what it raises ends the container. Raises ContainerError when the engine
    does not run it.
    """
    # Its own session: Ctrl-C on a terminal reaches this process, which then removes the container.
    with subprocess.Popen(
        ["docker", "start", "--attach", name],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stderr
        log = _Log([process.stdout, process.stderr], fence.log * MIB)
        end = time.monotonic() + fence.seconds
        stopped, pause = None, WATCH_SECONDS
        try:
            while stopped is None and process.poll() is None:
                log.wake.wait(max(0.0, min(pause, end - time.monotonic())))
                log.tell(hear)
                began = time.monotonic()
                if log.left < 0:
                    stopped = f"wrote more than {fence.log} MiB of log"
                elif began >= end:
                    stopped = f"ran longer than {fence.seconds:g} seconds"
                elif log.wake.is_set():
                    break
                else:
                    stopped = excess(written, fence, _deleted(identity, written))
                    pause = max(WATCH_SECONDS, (time.monotonic() - began) / WATCH_SHARE)
        finally:
            docker("kill", name)
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENGINE_SECONDS)
            process.kill()
            for thread in log.threads:
                thread.join(ENGINE_SECONDS)
    log.tell(hear)
    said = docker("inspect", "--format", "{{json .State}}", name).stdout.strip()
    state = json.loads(said or b"{}")
    if state.get("Status") != "exited":
        why = last_line(str(state.get("Error") or "").encode()) or last_line(log.kept[1])
        raise ContainerError(
            f"the engine did not run it ({why})", where=image, fix="mend the image or its command"
        )
    if stopped is None and log.left < 0:
        stopped = f"wrote more than {fence.log} MiB of log"
    if stopped is None and state["OOMKilled"]:
        stopped = f"used more than {fence.memory} MiB of memory"
    return Outcome(state["ExitCode"], stopped, bytes(log.kept[0]), bytes(log.kept[1]))


def _deleted(identity: str, written: Path) -> int:
    """Bytes of files that a container has deleted but keeps open, which no folder shows."""
    device, sizes = written.stat().st_dev, {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if identity not in (process / "cgroup").read_text():
                continue
            for descriptor in os.scandir(process / "fd"):
                with suppress(OSError):
                    found = descriptor.stat()
                    if found.st_dev == device and not found.st_nlink:
                        sizes[found.st_ino] = _nbytes(found)
    return sum(sizes.values())


def _nbytes(found: os.stat_result) -> int:
    """Bytes on disk, or in a copy: one of a sparse file is as large as it says."""
    whole = found.st_size if stat.S_ISREG(found.st_mode) else 0
    return max(found.st_blocks * 512, whole)


def excess(written: Path, fence: Fence, nbytes: int = 0) -> str | None:
    """What is too much below a folder that a stranger may be writing, None if nothing is.

    nbytes: what is there and not to be seen. Ends at the first excess: how long it takes is not
    the stranger's choice.
    """
    too_large = f"wrote more than {fence.output} MiB of output"
    if nbytes > fence.output * MIB:
        return too_large
    if shutil.disk_usage(written).free < DISK_RESERVE:
        return f"left less than {DISK_RESERVE // MIB} MiB of the host's disk"
    count, waiting = 0, [(written, 0)]
    while waiting:
        folder, depth = waiting.pop()
        if depth > DEPTH:
            return f"nested folders deeper than {DEPTH}"
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except PermissionError:
            return "locked a folder of its output"
        except OSError:
            # Gone, or another thing, since its parent was read.
            continue
        try:
            with os.scandir(descriptor) as entries:
                for entry in entries:
                    count += 1
                    with suppress(OSError):
                        found = entry.stat(follow_symlinks=False)
                        nbytes += _nbytes(found)
                        if stat.S_ISDIR(found.st_mode):
                            waiting.append((folder / entry.name, depth + 1))
                    if count > fence.files:
                        return f"wrote more than {fence.files} files"
                    if nbytes > fence.output * MIB:
                        return too_large
        finally:
            os.close(descriptor)
    return None
