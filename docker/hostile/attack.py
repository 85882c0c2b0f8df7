"""What a hostile image tries: `attack.py NAME [TOKEN]`, one attack each, harmless behind bars.

An attack ends with the line `refused: REASON` and status 3, or `succeeded: ...` and status 0, or it
goes on until something ends it. TOKEN is ignored: it names the processes of one test.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# An attack too.
from labels import labels  # noqa: F401

MIB = 1 << 20
OUT = Path("/out")


def network() -> str:
    socket.create_connection(("192.0.2.1", 80), timeout=3)
    return "connected"


def network_host() -> str:
    interfaces = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not interfaces:
        raise OSError("no interface but lo")
    return str(interfaces)


def dns() -> str:
    return str(socket.getaddrinfo("example.org", 443))


def raw_socket() -> str:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    return "raw socket"


def fork_bomb() -> str:
    children = 0
    while True:
        try:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
        except OSError as error:
            raise OSError(f"{error} after {children} children") from error
        children += 1


def threads() -> str:
    import threading

    for count in range(100000):
        try:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        except RuntimeError as error:
            raise OSError(f"{error} after {count} threads") from error
    return "100000 threads"


def memory() -> str:
    held = []
    while True:
        held.append(b"x" * MIB)


def _until_full(path: Path) -> str:
    written = 0
    with path.open("wb", buffering=0) as stream:
        while True:
            try:
                written += stream.write(b"x" * MIB)
            except OSError as error:
                raise OSError(f"{error} after {written / MIB:.1f} MiB") from error


def big_file() -> str:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    return _until_full(OUT / "big")


def disk() -> str:
    number = 0
    while True:
        with (OUT / f"part{number}").open("wb", buffering=0) as stream:
            for _ in range(8):
                stream.write(b"x" * MIB)
        number += 1


def deleted_files() -> str:
    held = []
    while True:
        stream = (OUT / "hidden").open("wb", buffering=0)
        (OUT / "hidden").unlink()
        held.append(stream)
        for _ in range(8):
            stream.write(b"x" * MIB)
        print(8, flush=True)


def sparse_file() -> str:
    for number in range(100):
        with (OUT / f"sparse{number}").open("wb") as stream:
            stream.truncate(8 * MIB)
    return "left"


def inodes() -> str:
    number = 0
    while True:
        (OUT / f"{number}").touch()
        number += 1


def deep_folders() -> str:
    os.chdir(OUT)
    for _ in range(5000):
        os.mkdir("d" * 100)
        os.chdir("d" * 100)
    return "left"


def temporary() -> str:
    return _until_full(Path("/tmp/full"))


def shared_memory() -> str:
    return _until_full(Path("/dev/shm/full"))


def inputs() -> str:
    for path in Path("/in").rglob("*"):
        if path.is_file():
            path.write_text("changed")
    return "changed"


def inputs_add() -> str:
    Path("/in/data/added").write_text("x")
    return "added"


def inputs_mode() -> str:
    os.chmod("/in/data", 0o777)
    return "changed"


def root() -> str:
    Path("/etc/passwd").write_text("x")
    return "written"


def root_folder() -> str:
    Path("/new").mkdir()
    return "made"


def proc_sys() -> str:
    Path("/proc/sys/kernel/core_pattern").write_text("|/bin/false")
    return "written"


def sysrq() -> str:
    Path("/proc/sysrq-trigger").write_text("h")
    return "written"


def cgroup() -> str:
    for path in Path("/sys/fs/cgroup").rglob("*"):
        if path.name in ("memory.limit_in_bytes", "memory.max", "pids.max"):
            path.write_text("max")
    return "changed"


def setuid() -> str:
    script = "import os; print(os.geteuid())"
    done = subprocess.run(["setuid-python", "-c", script], capture_output=True, text=True)
    if done.stdout.strip() != "0":
        raise OSError(f"effective user {done.stdout.strip()} {done.stderr.strip()}")
    return "root"


def capabilities() -> str:
    held = [
        line.split()[1]
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("Cap") and int(line.split()[1], 16)
    ]
    if os.geteuid() and not held:
        os.setuid(0)
    return f"capabilities {held}, user {os.geteuid()}"


def chown() -> str:
    (OUT / "mine").touch()
    os.chown(OUT / "mine", 0, 0)
    return "given to root"


def _call(name: str, *arguments: object) -> str:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return name


def mount() -> str:
    return _call("mount", b"none", b"/tmp", b"tmpfs", 0, None)


def user_namespace() -> str:
    return _call("unshare", 0x10000000)


def host_files() -> str:
    sources = ("/proc/1/root/proc/1/root/etc/shadow", "/etc/shadow", "/var/run/docker.sock")
    for source in sources:
        try:
            return Path(source).read_text()[:1]
        except OSError as error:
            reason = error
    raise reason


def host_processes() -> str:
    seen = sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
    if seen == [1] and os.getpid() == 1:
        raise OSError("sees no process but its own")
    return f"sees {seen}"


def kill_host() -> str:
    os.kill(-1, 0)
    return "signalled"


def device() -> str:
    os.mknod(OUT / "disk", 0o666 | stat.S_IFBLK, os.makedev(8, 0))
    return "made"


def kernel_memory() -> str:
    return str(len(Path("/dev/mem").read_bytes()[:1]) + len(Path("/proc/kcore").read_bytes()[:1]))


def gpu() -> str:
    found = [str(path) for path in Path("/dev").glob("nvidia*")] + [
        str(path) for path in Path("/dev").glob("dri/*")
    ]
    if not found:
        raise OSError(f"no GPU; NVIDIA_VISIBLE_DEVICES={os.environ['NVIDIA_VISIBLE_DEVICES']}")
    return str(found)


def environment() -> str:
    names = ("HOME", "HOSTNAME", "PATH", "LC_CTYPE", "NVIDIA_VISIBLE_DEVICES")
    found = {key: value for key, value in os.environ.items() if key not in names and value}
    nameservers = Path("/etc/resolv.conf").read_text()
    if not found and socket.gethostname() == "container" and "192.0.2.1" in nameservers:
        raise OSError("nothing of the host's")
    return f"{found} {nameservers}"


def open_files() -> str:
    held = []
    while True:
        try:
            held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError as error:
            raise OSError(f"{error} after {len(held)} files") from error


def core_dump() -> str:
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    return "raised"


def crash() -> str:
    os.chdir(OUT)
    # The first process of a container does not get every signal; its children do.
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGSEGV)
    return f"status {os.waitpid(child, 0)[1]}"


def symbolic_link() -> str:
    (OUT / "passwd").symlink_to("/etc/passwd")
    return "left"


def folder_link() -> str:
    (OUT / "etc").symlink_to("/etc")
    return "left"


def hard_link() -> str:
    (OUT / "a").write_text("x")
    os.link(OUT / "a", OUT / "b")
    return "left"


def hard_link_input() -> str:
    os.link("/in/data/file", OUT / "file")
    return "left"


def named_pipe() -> str:
    os.mkfifo(OUT / "scores.tsv")
    return "left"


def unix_socket() -> str:
    socket.socket(socket.AF_UNIX).bind("/out/socket")
    return "left"


def odd_name() -> str:
    (OUT / "\x1b]0;owned\x07\nverified").touch()
    return "left"


def undecodable_name() -> str:
    Path(os.fsdecode(b"/out/\xff\xfe")).touch()
    return "left"


def long_name() -> str:
    (OUT / ("n" * 255)).touch()
    return "left"


def setuid_output() -> str:
    (OUT / "program").write_text("#!/bin/sh\n")
    (OUT / "program").chmod(0o6777)
    return "left"


def changing_files() -> str:
    if os.fork() == 0:
        while True:
            for path in (OUT / "scores.tsv", OUT / "other"):
                path.write_text(str(time.time()) * 1000)
            (OUT / "scores.tsv").unlink()
            (OUT / "scores.tsv").symlink_to("/etc/passwd")
            (OUT / "scores.tsv").unlink()
    time.sleep(1)
    (OUT / "done").touch()
    return "left a process behind"


def daemon() -> str:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(3600)
        os._exit(0)
    return "left a process behind"


def endless() -> str:
    while True:
        time.sleep(1)


def ignore_sigterm() -> str:
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    return endless()


def _shout(descriptor: int) -> str:
    for _ in range(1024):
        rest = memoryview(b"\x1b[31mverified\n" * (MIB // 14))
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    return "said 1 GB"


def log_stdout() -> str:
    return _shout(1)


def log_stderr() -> str:
    return _shout(2)


def log_endless_line() -> str:
    while True:
        os.write(1, b"x" * MIB)


def terminal() -> str:
    raise OSError("\x1b]0;owned\x07\x1b[2J\x1b[32mverified\r")


def health() -> str:
    time.sleep(3)
    if not (OUT / "health").exists():
        raise OSError("the health check did not run")
    return "the health check ran"


def main() -> int:
    attack: Callable[[], str] = globals()[sys.argv[1]]
    try:
        said = attack()
    except (OSError, ValueError) as error:
        print(f"refused: {error}")
        return 3
    print(f"succeeded: {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
