"""Each attack of the hostile image is refused or stopped, told in one line, and leaves nothing."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from containers.conftest import Record
from harness.errors import ContainerError
from harness.runtime.containers import running, watching
from harness.runtime.containers.fence import MIB, Fence, Outcome, printable
from harness.runtime.containers.running import run

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("clean")]

FENCE = Fence(
    memory=128,
    processes=32,
    open_files=64,
    file=24,
    output=48,
    files=500,
    temporary=16,
    log=1,
    seconds=30.0,
)
NO_ROUTE = "unreachable|resolution|known"
DENIED = "ermission denied|not permitted|ead-only|No such file|unshare"

# Attack: the bar, what the attack says that it met.
REFUSED = {
    "network": ("no network", NO_ROUTE),
    "network_host": ("no network", "no interface but lo"),
    "dns": ("no network", NO_ROUTE),
    "raw_socket": ("no capabilities", DENIED),
    "fork_bomb": ("32 processes", r"unavailable after (2\d|3[01]) children"),
    "threads": ("32 processes", r"start new thread after (2\d|3[01]) threads"),
    "big_file": ("file of 24 MiB", r"too large after 24\.0 MiB"),
    "temporary": ("/tmp of 16 MiB", r"No space left on device after 16\.0 MiB"),
    "shared_memory": ("/dev/shm of 16 MiB", r"No space left on device after 16\.0 MiB"),
    "inputs": ("read-only inputs", "Read-only"),
    "inputs_add": ("read-only inputs", "Read-only"),
    "inputs_mode": ("read-only inputs", "Read-only|not permitted"),
    "root": ("read-only root", "Read-only"),
    "root_folder": ("read-only root", "Read-only"),
    "proc_sys": ("/proc/sys read-only", "Read-only"),
    "sysrq": ("/proc read-only", DENIED),
    "cgroup": ("cgroups read-only", DENIED),
    "setuid": ("no new privileges", r"effective user [1-9]\d*\b"),
    "capabilities": ("no capabilities, no root", "not permitted"),
    "chown": ("no capabilities", "not permitted"),
    "mount": ("no capabilities", "not permitted"),
    "user_namespace": ("seccomp", "not permitted"),
    "host_files": ("own file system", DENIED),
    "host_processes": ("own processes", "no process but its own"),
    "kill_host": ("own processes", "No such process"),
    "device": ("no capabilities", "not permitted"),
    "kernel_memory": ("no devices", DENIED),
    "gpu": ("no GPU unless asked", "NVIDIA_VISIBLE_DEVICES=void"),
    "environment": ("nothing of the host's", "nothing of the host's"),
    "open_files": ("64 open files", r"Too many open files.* after [56]\d files"),
    "core_dump": ("no core dumps", "not allowed|not permitted|exceeds"),
    "hard_link_input": ("inputs on a mount of their own", "cross-device|not permitted"),
    "health": ("no health check", "did not run"),
}
# Attack: the limit, what the outcome says.
STOPPED = {
    "memory": ("128 MiB of memory", "used more than 128 MiB of memory"),
    "disk": ("48 MiB of output", "wrote more than 48 MiB of output"),
    "deleted_files": ("48 MiB of output", "wrote more than 48 MiB of output"),
    "sparse_file": ("48 MiB of output", "wrote more than 48 MiB of output"),
    "inodes": ("500 files of output", "wrote more than 500 files"),
    "deep_folders": ("folders 12 deep", "nested folders deeper than 12"),
    "log_stdout": ("1 MiB of log", "wrote more than 1 MiB of log"),
    "log_stderr": ("1 MiB of log", "wrote more than 1 MiB of log"),
    "log_endless_line": ("1 MiB of log", "wrote more than 1 MiB of log"),
    "endless": ("2 seconds", "ran longer than 2 seconds"),
    "ignore_sigterm": ("2 seconds", "ran longer than 2 seconds"),
}
# Attack: what is said of the output that it left.
LEFT = {
    "symbolic_link": "left a symbolic link",
    "folder_link": "left a symbolic link",
    "hard_link": "left a hard link",
    "named_pipe": "left a named pipe",
    "unix_socket": "left a socket",
    "odd_name": r"\\x1b\]0;owned\\x07\\nverified: the container left a name",
    "undecodable_name": "left a name that is too long or cannot be printed",
    "long_name": "left a name that is too long or cannot be printed",
}
# Attack: the exit status; what it leaves is taken, or nothing is.
HARMLESS = {
    "crash": ("no core dumps", 0, {}),
    "setuid_output": ("contents only, no modes", 0, {"program"}),
    "daemon": ("gone with its first process", 0, {}),
}


def attack(
    image: str, name: str, token: str, data: Path, output: Path, fence: Fence = FENCE
) -> Outcome:
    return run(image, [name, token], inputs={"data": data}, output=output, fence=fence)


class Overshoot:
    """Records what was there when a container had been killed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
        self.nbytes = self.files = 0
        self.logs: list[watching._Log] = []
        remove, log = running.remove, watching._Log

        def measured(name: str) -> None:
            listed = subprocess.run(
                ["find", *scratch.glob("*/out"), "-printf", "%b\\n"],
                capture_output=True,
                check=True,
            )
            blocks = [int(number) for number in listed.stdout.split()]
            self.files, self.nbytes = len(blocks) - 1, 512 * sum(blocks)
            remove(name)

        def logged(*arguments: object) -> watching._Log:
            self.logs.append(log(*arguments))  # type: ignore[arg-type]
            return self.logs[-1]

        monkeypatch.setattr(running, "remove", measured)
        monkeypatch.setattr(watching, "_Log", logged)

    def told(self, name: str, outcome: Outcome, seconds: float) -> str:
        if name == "disk":
            return f"{self.nbytes / MIB:.0f} MiB were written"
        if name == "deleted_files":
            return f"{8 * len(outcome.stdout.split())} MiB were written"
        if name == "inodes":
            return f"{self.files} files were made"
        if name == "deep_folders":
            return f"{self.files} folders were made"
        if name.startswith("log_"):
            return f"{1 - self.logs[0].left / MIB:.1f} MiB were said"
        if name in ("endless", "ignore_sigterm"):
            return f"removed after {seconds:.1f} s"
        return "exact"


def test_every_attack_is_tried() -> None:
    """labels: in test_labels."""
    program = Path(__file__).resolve().parents[2] / "docker" / "hostile" / "attack.py"
    attacks = set(re.findall(r"^def ([a-z]\w+)\(", program.read_text(encoding="utf-8"), re.M))
    tried = {*REFUSED, *STOPPED, *LEFT, *HARMLESS, "changing_files", "terminal"}
    assert attacks - {"main"} == tried


@pytest.mark.parametrize("name", REFUSED)
def test_refused(
    hostile: str, name: str, token: str, data: Path, tmp_path: Path, record: Record
) -> None:
    outcome = attack(hostile, name, token, data, tmp_path / "output")
    said = printable(outcome.stdout).strip()
    assert outcome.stopped is None
    assert outcome.status == 3, said
    bar, met = REFUSED[name]
    assert re.search(f"refused: .*({met})", said), said
    assert (data / "file").read_text(encoding="utf-8") == "speech"
    assert data.stat().st_mode & 0o777 == 0o755
    with pytest.raises(ContainerError, match="ended with status 3 .refused: ") as caught:
        outcome.require("hostile")
    assert len(str(caught.value).splitlines()) == 1
    record(name, bar, said)


@pytest.mark.parametrize("name", STOPPED)
def test_stopped(
    hostile: str,
    name: str,
    token: str,
    data: Path,
    tmp_path: Path,
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overshoot = Overshoot(monkeypatch, tmp_path / "scratch")
    limit, says = STOPPED[name]
    seconds = 2.0 if "seconds" in limit else FENCE.seconds
    began = time.monotonic()
    outcome = attack(
        hostile, name, token, data, tmp_path / "output", replace(FENCE, seconds=seconds)
    )
    elapsed = time.monotonic() - began
    assert outcome.stopped == says
    assert len(outcome.stdout) + len(outcome.stderr) <= FENCE.log * MIB
    assert not (tmp_path / "output").exists()
    with pytest.raises(ContainerError, match=f"^hostile: the container {says}; ") as caught:
        outcome.require("hostile")
    assert len(str(caught.value).splitlines()) == 1
    record(name, limit, f"stopped: {says}; {overshoot.told(name, outcome, elapsed)}")


@pytest.mark.parametrize("name", LEFT)
def test_left(
    hostile: str, name: str, token: str, data: Path, tmp_path: Path, record: Record
) -> None:
    with pytest.raises(ContainerError, match=LEFT[name]) as caught:
        attack(hostile, name, token, data, tmp_path / "output")
    assert str(caught.value).isprintable()
    assert not (tmp_path / "output").exists()
    record(name, "plain files with printable names", str(caught.value))


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless(
    hostile: str, name: str, token: str, data: Path, tmp_path: Path, record: Record
) -> None:
    bar, status, left = HARMLESS[name]
    outcome = attack(hostile, name, token, data, tmp_path / "output")
    assert (outcome.status, outcome.stopped) == (status, None)
    found = {path.name: path.stat().st_mode & 0o7111 for path in (tmp_path / "output").iterdir()}
    assert found == dict.fromkeys(left, 0)
    record(name, bar, f"status {status}; taken: {', '.join(left) or 'nothing'}")


def test_files_that_change_are_copied_when_nothing_writes_any_more(
    hostile: str, token: str, data: Path, tmp_path: Path, record: Record
) -> None:
    # Where the link stood at the end, it is refused; else one whole version is taken.
    with contextlib.suppress(ContainerError):
        outcome = attack(hostile, "changing_files", token, data, tmp_path / "output")
        assert outcome.status == 0
        assert (tmp_path / "output" / "done").exists()
    for path in (tmp_path / "output").glob("*"):
        assert not path.is_symlink()
    record("changing_files", "copied when it is gone", "one state, or the link refused")


def test_what_it_says_does_not_reach_the_terminal(
    hostile: str, token: str, data: Path, tmp_path: Path, record: Record
) -> None:
    outcome = attack(hostile, "terminal", token, data, tmp_path / "output")
    assert b"\x1b[2J" in outcome.stdout
    with pytest.raises(ContainerError, match=re.escape(r"refused: \x1b]0;owned\x07\x1b[2J")) as e:
        outcome.require("hostile")
    assert str(e.value).isprintable()
    record("terminal", "printable text", str(e.value))


def test_declared_volumes_are_refused(
    volumes: str, token: str, data: Path, tmp_path: Path, record: Record
) -> None:
    with pytest.raises(ContainerError, match="the image declares volumes; build it wi") as caught:
        attack(volumes, "endless", token, data, tmp_path / "output")
    record("VOLUME in the image", "refused before it runs", caught.value.what)


@pytest.mark.parametrize("image", ["--privileged", "", "harness-no-such-image", "-v/:/host"])
def test_image_names_are_not_options(image: str, token: str, tmp_path: Path) -> None:
    inputs: Mapping[str, Path] = {}
    with pytest.raises(ContainerError, match="^'.*': .*; see `docker images`"):
        run(image, ["endless"], inputs=inputs, output=tmp_path / "output")
