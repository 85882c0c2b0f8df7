"""The runner: whose the outputs are, what interrupts leave, and what a container is given."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import harness
from containers.conftest import BASE, docker, leftovers
from harness.errors import ContainerError, ResourceError
from harness.runtime.containers import engine, running, watching
from harness.runtime.containers.engine import image_digest
from harness.runtime.containers.fence import Fence, Outcome, printable
from harness.runtime.containers.running import run

pytestmark = [pytest.mark.containers, pytest.mark.usefixtures("clean")]

FENCE = Fence(memory=128, processes=32, output=48, files=500, temporary=16, log=1, seconds=30.0)
SHELL = ("sh", "-c")
# Runs one container under a name and an output folder, in a process of its own.
CALLER = """
import json, os, sys, tempfile, threading
from pathlib import Path
from harness.errors import HarnessError
from harness.runtime.containers import fence, running

prefix, scratch, image, output, in_thread, *arguments = sys.argv[1:]
running.NAME_PREFIX, tempfile.tempdir = prefix, scratch

def work():
    outcome = running.run(
        image, arguments, inputs={}, output=Path(output), fence=fence.Fence(seconds=60)
    )
    print(json.dumps([outcome.status, outcome.stopped, outcome.stdout.decode()]))

if in_thread == "True":
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    work()
"""


def shell(script: str, output: Path | None = None, **more: object) -> Outcome:
    given: dict[str, object] = {"inputs": {}, "fence": FENCE, **more}
    return run(BASE, [*SHELL, script], output=output, **given)  # type: ignore[arg-type]


def caller(
    token: str, scratch: Path, arguments: list[str], *, image: str = BASE, in_thread: bool = False
) -> list[str]:
    given = [token, str(scratch), image, str(scratch / "output"), str(in_thread)]
    return [sys.executable, "-c", CALLER, *given, *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(harness.__file__).resolve().parents[1])}


def test_outputs_belong_to_the_caller(tmp_path: Path) -> None:
    script = "mkdir -p /out/a/b; id -u > /out/a/b/id; chmod 400 /out/a/b/id; chmod 500 /out/a/b"
    outcome = shell(script, tmp_path / "output")
    assert outcome == Outcome(0, None, b"", b"")
    written = tmp_path / "output" / "a" / "b" / "id"
    user = int(written.read_text(encoding="utf-8"))
    assert user == (os.getuid() or running.STRANGER)
    for path in (tmp_path / "output", *(tmp_path / "output").rglob("*")):
        assert (path.lstat().st_uid, path.lstat().st_gid) == (os.getuid(), os.getgid())
    shutil.rmtree(tmp_path / "output")


@pytest.mark.skipif(os.getuid() != 0, reason="another user is tried by root only")
@pytest.mark.parametrize("script", ["id -u > /out/id", "mkdir -m 0 /out/a; chmod 0 /out"])
def test_outputs_belong_to_another_caller(token: str, script: str) -> None:
    user, group = 61234, Path("/var/run/docker.sock").stat().st_gid
    # Not below the folder of pytest, which is its user's alone.
    with tempfile.TemporaryDirectory(dir="/tmp", prefix=token) as folder:
        scratch = Path(folder)
        os.chown(scratch, user, user)
        # No new program: another user may not be let at this Python's files.
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([group])
                os.setgid(user)
                os.setuid(user)
                os.environ["HOME"] = tempfile.tempdir = folder
                outcome = shell(script, scratch / "output")
                (scratch / "outcome").write_text(repr(outcome), encoding="utf-8")
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        outcome = (scratch / "outcome").read_text(encoding="utf-8")
        left = sorted(path.name for path in scratch.iterdir())
        if "mkdir" in script:
            stopped = "locked a folder of its output"
            assert left == ["outcome"]
        else:
            stopped = None
            assert left == ["outcome", "output"]
            assert (scratch / "output" / "id").read_text(encoding="utf-8") == f"{user}\n"
            assert (scratch / "output" / "id").stat().st_uid == user
        assert outcome == repr(Outcome(0, stopped, b"", b""))


@pytest.mark.parametrize(
    ("number", "in_thread", "seconds"),
    [
        (signal.SIGINT, False, 0),
        (signal.SIGTERM, False, 0),
        # These end the caller at once; what keeps the container removes it.
        (signal.SIGTERM, True, 10),
        (signal.SIGKILL, False, 10),
    ],
)
def test_interrupted(
    hostile: str, token: str, tmp_path: Path, number: int, in_thread: bool, seconds: float
) -> None:
    command = caller(token, tmp_path, ["ignore_sigterm", token], image=hostile, in_thread=in_thread)
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE) as process:
        end = time.monotonic() + 20
        while not docker("ps", "--quiet", "--filter", f"name={token}"):
            assert time.monotonic() < end
            time.sleep(0.05)
        process.send_signal(number)
        process.wait(20)
    assert process.returncode != 0
    assert [found for found in leftovers(token, seconds) if CALLER not in found] == []
    assert list(tmp_path.glob(f"{token}*")) == []
    assert not (tmp_path / "output").exists()


def test_handler_of_sigterm_is_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    shell("true")
    assert signal.getsignal(signal.SIGTERM) is before


def test_many_at_once(tmp_path: Path) -> None:
    statuses: dict[int, int] = {}

    def work(number: int) -> None:
        outcome = shell(f"echo {number} > /out/n; exit {number}", tmp_path / str(number))
        statuses[number] = outcome.status

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {number: number for number in range(4)}
    assert (tmp_path / "3" / "n").read_text(encoding="utf-8") == "3\n"


def test_paths_that_docker_would_misread(tmp_path: Path) -> None:
    folder = tmp_path / 'a,readonly=false,"b" c:d'
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "file").write_text("speech", encoding="utf-8")
    outcome = shell("cat /in/x,y/file; touch /in/x,y/new", inputs={"x,y": folder})
    assert outcome.stdout == b"speech"
    assert outcome.status == 1
    assert b"Read-only" in outcome.stderr


@pytest.mark.parametrize("place", ["../out", "/etc", "a/../../proc", ""])
def test_places_outside_in_are_refused(data: Path, place: str) -> None:
    with pytest.raises(ContainerError, match="^'.*': not a place below /in; name it plainly$"):
        shell("true", inputs={place: data})


def test_inputs_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(ContainerError, match="none: no such input; make it first"):
        shell("true", inputs={"data": tmp_path / "none"})


@pytest.mark.skipif(os.getuid() != 0, reason="any other user's container runs as that user")
def test_inputs_that_its_user_may_not_read(data: Path) -> None:
    data.chmod(0o700)
    with pytest.raises(ContainerError, match="user 65532 may not read it; chmod o"):
        shell("true", inputs={"data": data})


@pytest.mark.skipif(os.getuid() != 0, reason="mounts something")
def test_what_is_mounted_below_an_input_is_not_seen(data: Path) -> None:
    (data / "below").mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=777", "none", data / "below"], check=True)
    try:
        outcome = shell("touch /in/data/below/new", inputs={"data": data})
        assert b"Read-only" in outcome.stderr
        assert list((data / "below").iterdir()) == []
    finally:
        subprocess.run(["umount", data / "below"], check=True)


def test_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    proxies = {"default": {"httpProxy": "http://user:password@proxy.example:1"}}
    configuration = tmp_path / "docker"
    configuration.mkdir()
    (configuration / "config.json").write_text(json.dumps({"proxies": proxies}), encoding="utf-8")
    monkeypatch.setenv("DOCKER_CONFIG", str(configuration))
    monkeypatch.setenv("HOST_SECRET", "secret")
    outcome = shell("env", environment={"SEED": "a b=c\nd"})
    assert b"SEED=a b=c\nd\n" in outcome.stdout
    assert b"secret" not in outcome.stdout
    assert b"password" not in outcome.stdout


@pytest.mark.parametrize(("asked", "present"), [(True, True), (True, False), (False, True)])
def test_gpus_when_asked_and_present(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: bool, present: bool
) -> None:
    given: list[str] = []
    docker_command = running.docker

    def seen(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        if arguments[0] == "create":
            given.extend(arguments)
            arguments = tuple(part for part in arguments if part not in ("--gpus", "all"))
        return docker_command(*arguments)

    monkeypatch.setattr(running, "docker", seen)
    monkeypatch.setattr(running, "GPU_DEVICE", tmp_path if present else tmp_path / "none")
    assert shell("true", gpus=asked).status == 0
    assert ("--gpus" in given) is (asked and present)
    assert ("--env=NVIDIA_VISIBLE_DEVICES=void" in given) is not asked


def test_commands_that_cannot_be_run() -> None:
    with pytest.raises(ContainerError, match="^harness-base:bookworm: the engine did not run it"):
        run(BASE, ["/no/such/command"], inputs={}, fence=FENCE)


def test_limits_that_the_engine_refuses() -> None:
    fence = dataclasses.replace(FENCE, memory=1)
    with pytest.raises(ContainerError, match="did not create the container .*emory"):
        shell("true", fence=fence)


def test_a_full_disk_is_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "DISK_RESERVE", 1 << 60)
    with pytest.raises(ResourceError, match="free, .* needed; free some space"):
        shell("true")


def test_a_disk_that_runs_full_stops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "DISK_RESERVE", 1 << 60)
    monkeypatch.setattr(running, "require_space", lambda path, nbytes: None)
    outcome = shell("sleep 20")
    assert outcome.stopped == f"left less than {1 << 40} MiB of the host's disk"


def test_no_docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("PATH", str(tmp_path))
        with pytest.raises(ContainerError, match="^no command `docker`; install Docker$"):
            shell("true")


def test_no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
        with pytest.raises(ContainerError, match="^no Docker engine .*; start it, or join"):
            engine.require_engine()


def test_digest_of_an_image() -> None:
    assert image_digest(BASE) == docker("image", "inspect", "--format", "{{.Id}}", BASE)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (b"plain \xc3\xa9\n\tline", "plain é\n\tline"),
        (b"\x1b[31mred\x07\r", r"\x1b[31mred\x07\r"),
        ("‮right to left".encode(), r"\u202eright to left"),
        (b"\xff", "\ufffd"),
    ],
)
def test_printable(said: bytes, text: str) -> None:
    assert printable(said) == text


def test_outcome_in_one_line() -> None:
    Outcome(0, None, b"", b"").require("image")
    Outcome(3, None, b"", b"").require("image", accepted=(0, 3))
    with pytest.raises(ContainerError, match=r"^image: .* with status 1 \(last\); mend the image"):
        Outcome(1, None, b"out", b"first\nlast\n").require("image")
    with pytest.raises(ContainerError, match=r"^image: .* with status 1 \(nothing said\); mend"):
        Outcome(1, None, b"", b"\n").require("image")


def test_what_it_says_is_heard_as_it_comes(data: Path) -> None:
    heard = []

    def hear(line: bytes) -> None:
        heard.append(line)
        (data / "go").touch()

    script = "echo one; until [ -e /in/data/go ]; do sleep 0.1; done; echo two; printf three"
    outcome = shell(script, inputs={"data": data}, hear=hear)
    assert outcome.stopped is None
    # What is no whole line may be half a line.
    assert heard == [b"one", b"two"]
    assert outcome.stdout == b"one\ntwo\nthree"


def test_a_listener_ends_a_container() -> None:
    def refuse(line: bytes) -> None:
        raise ContainerError(f"not {line.decode()}")

    with pytest.raises(ContainerError, match="^not one$"):
        shell("echo one; sleep 600", hear=refuse)
