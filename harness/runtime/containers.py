"""Strangers' programs behind bars: one container, its limits, and what came out of it.

A container has no network, a read-only root, no capabilities, no new privileges, the engine's
default seccomp profile and a user that is not root. It reads what is mounted below `/in`, writes to
`/out` and to a small `/tmp` and `/dev/shm`, and is gone when `run` returns, is interrupted, or
dies: a keeper process outlives the caller by what it takes to remove container and folder.

Limits that the kernel holds are exact: memory, processes, CPU, open files, size of a file, of
`/tmp` and of `/dev/shm`. Time, the log, and the size and number of files in `/out` are watched: a
container may exceed them by what it does in WATCH_SECONDS and in the engine's time to kill it, half
a second together. What hides from the watch (a deleted file kept open by tricks) ends where the
disk has DISK_RESERVE left. What the container leaves is read as hostile.

One thing a program can learn: the host's path of each input (`/proc/self/mountinfo`). Folders
whose path tells a label or a name must not be mounted.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
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
from pathlib import Path, PurePosixPath
from typing import IO, Any

from harness.errors import ContainerError
from harness.runtime.files import CHUNK_BYTES, require_space, whole_file

# Nobody's: what root starts runs as this user, so that no file of the host is its own.
STRANGER = 65532
WATCH_SECONDS = 0.2
# A look at the output takes at most this part of the time.
WATCH_SHARE = 0.25
MIB = 1 << 20
DISK_RESERVE = 256 * MIB
# Deepest folder below `/out`; with names of NAME_BYTES a path stays below the system's limit.
DEPTH = 12
NAME_BYTES = 200
ENGINE_SECONDS = 60
NAME_PREFIX = "harness-"
SAID_LENGTH = 200
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
KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISREG, "a hard link"),
)


@dataclass(frozen=True)
class Fence:
    """Limits of a container.

    memory, file (the largest one), output, temporary (`/tmp` and `/dev/shm` each, both within
    memory), log (stdout and stderr together): MiB. cpus: may be a fraction; no more than there are.
    processes include threads. files: files and folders in `/out`. seconds: wall time.
    """

    memory: int = 4096
    cpus: float = 2.0
    processes: int = 256
    open_files: int = 1024
    file: int = 1024
    output: int = 2048
    files: int = 20000
    temporary: int = 256
    log: int = 4
    seconds: float = 3600.0


@dataclass(frozen=True)
class Outcome:
    """How a container ended. stopped: the limit that ended it, None if it ended by itself.

    stdout, stderr: what it said, at most the fence's log together; hostile, see `printable`.
    """

    status: int
    stopped: str | None
    stdout: bytes
    stderr: bytes

    def require(self, image: str, accepted: Sequence[int] = (0,)) -> None:
        """Raise ContainerError, one line, if a limit ended it or its exit status is another."""
        if self.stopped is not None:
            raise ContainerError(
                f"the container {self.stopped}", where=image, fix="mend the image, or allow more"
            )
        if self.status not in accepted:
            said = _last_line(self.stderr) or _last_line(self.stdout) or "nothing said"
            raise ContainerError(
                f"the container ended with status {self.status} ({said})",
                where=image,
                fix="mend the image or its input",
            )


def printable(said: bytes | bytearray) -> str:
    """What a container said, as text that is safe on a terminal: controls become `\\x1b`, ..."""
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in said.decode("utf-8", "replace")
    )


def _last_line(said: bytes | bytearray) -> str:
    lines = printable(said[-4 * SAID_LENGTH :]).strip().splitlines()
    return lines[-1].strip()[-SAID_LENGTH:] if lines else ""


def _docker(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a short command of the engine. Its own session: Ctrl-C does not cut it short."""
    try:
        return subprocess.run(
            ["docker", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ENGINE_SECONDS,
            start_new_session=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise ContainerError("no command `docker`", fix="install Docker") from error
    except subprocess.TimeoutExpired as error:
        raise ContainerError("the Docker engine does not answer", fix="start it") from error


def require_engine() -> None:
    """Raises ContainerError unless a Docker engine answers."""
    done = _docker("info", "--format", "{{.ServerVersion}}")
    if done.returncode or not done.stdout.strip():
        said = _last_line(done.stderr) or _last_line(done.stdout) or "no answer"
        raise ContainerError(f"no Docker engine ({said})", fix="start it, or join its group")


def image_digest(image: str) -> str:
    """The content hash (`sha256:…`) of an image on this machine.

    Raises ContainerError where there is none, and for an image that may not be run.
    """
    done = _docker("image", "inspect", "--format", "{{json .}}", "--", image)
    if done.returncode:
        said = _last_line(done.stderr) or "no reason given"
        raise ContainerError(said, where=repr(image), fix="see `docker images`")
    described = json.loads(done.stdout)
    if (described.get("Config") or {}).get("Volumes"):
        # Each would be a folder of the host's disk, writable, without a limit.
        raise ContainerError(
            "the image declares volumes", where=image, fix="build it without VOLUME"
        )
    return str(described["Id"])


def run(
    image: str,
    arguments: Sequence[str],
    *,
    inputs: Mapping[str, Path],
    output: Path | None = None,
    fence: Fence | None = None,
    environment: Mapping[str, str] | None = None,
    gpus: bool = False,
) -> Outcome:
    """Run one container to its end, and take what it wrote.

    inputs: what lies where below `/in`, read-only; other file systems mounted below one are not
    seen. output: folder that is filled with the regular files that the container left in `/out`,
    unless a limit ended it; it must be empty or absent. The files belong to the caller. gpus: pass
    the host's GPUs through, if it has any.

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
            created = _docker(*command)
            if created.returncode:
                said = _last_line(created.stderr) or "no reason given"
                raise ContainerError(
                    f"the engine did not create the container ({said})",
                    where=image,
                    fix="mend the image or the limits",
                )
            outcome = _watched(image, name, created.stdout.decode().strip(), written, fence)
        finally:
            _remove(name)
        if outcome.stopped is None:
            # Nothing writes any more: what escaped the watch between two looks is seen now.
            outcome = dataclasses.replace(outcome, stopped=_excess(written, fence))
        if output is not None and outcome.stopped is None:
            _take(written, output)
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
                if not _exists(name):
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


class _Log:
    """What a container says on two pipes, up to a budget. wake: set when spent, or at the end."""

    def __init__(self, pipes: Sequence[IO[bytes]], budget: int) -> None:
        self.kept = [bytearray() for _ in pipes]
        self.wake = threading.Event()
        self.left = budget
        self._lock = threading.Lock()
        self._open = len(pipes)
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


def _watched(image: str, name: str, identity: str, written: Path, fence: Fence) -> Outcome:
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
                began = time.monotonic()
                if log.left < 0:
                    stopped = f"wrote more than {fence.log} MiB of log"
                elif began >= end:
                    stopped = f"ran longer than {fence.seconds:g} seconds"
                elif log.wake.is_set():
                    break
                else:
                    stopped = _excess(written, fence, _deleted(identity, written))
                    pause = max(WATCH_SECONDS, (time.monotonic() - began) / WATCH_SHARE)
        finally:
            _docker("kill", name)
            with suppress(subprocess.TimeoutExpired):
                process.wait(ENGINE_SECONDS)
            process.kill()
            for thread in log.threads:
                thread.join(ENGINE_SECONDS)
    state = json.loads(_docker("inspect", "--format", "{{json .State}}", name).stdout or b"{}")
    if state.get("Status") != "exited":
        said = _last_line(str(state.get("Error") or "").encode()) or _last_line(log.kept[1])
        raise ContainerError(
            f"the engine did not run it ({said})", where=image, fix="mend the image or its command"
        )
    if stopped is None and log.left < 0:
        stopped = f"wrote more than {fence.log} MiB of log"
    if stopped is None and state["OOMKilled"]:
        stopped = f"used more than {fence.memory} MiB of memory"
    return Outcome(state["ExitCode"], stopped, bytes(log.kept[0]), bytes(log.kept[1]))


def _exists(name: str) -> bool:
    # An engine that fails has not said that it is gone.
    return b"No such container" not in _docker("container", "inspect", name).stderr


def _remove(name: str) -> None:
    _docker("rm", "--force", "--volumes", name)
    if _exists(name):
        raise ContainerError(
            "the engine did not remove the container", where=name, fix=f"docker rm --force {name}"
        )


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


def _excess(written: Path, fence: Fence, nbytes: int = 0) -> str | None:
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


def _take(written: Path, output: Path) -> None:
    """Copy the regular files of a container that is gone; nothing is followed."""
    files, folders = [], [output]
    for root, below, names in os.walk(written, followlinks=False):
        for name in sorted((*below, *names)):
            path = Path(root, name)
            place = path.relative_to(written)
            found = path.lstat()
            if not name.isprintable() or len(os.fsencode(name)) > NAME_BYTES:
                raise _refused("a name that is too long or cannot be printed", place)
            if stat.S_ISDIR(found.st_mode):
                folders.append(output / place)
            elif stat.S_ISREG(found.st_mode) and found.st_nlink == 1:
                files.append(place)
            else:
                kinds = [kind for is_kind, kind in KINDS if is_kind(found.st_mode)]
                raise _refused((*kinds, "a device")[0], place)
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    for place in files:
        with whole_file(output / place) as part:
            descriptor = os.open(written / place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as stream, part.open("xb") as copy:
                shutil.copyfileobj(stream, copy, CHUNK_BYTES)


def _refused(what: str, place: Path) -> ContainerError:
    where = printable(os.fsencode(Path("/out", place))).replace("\n", r"\n")[:SAID_LENGTH]
    return ContainerError(f"the container left {what}", where=where, fix="plain files only")
