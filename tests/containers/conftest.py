"""A Docker engine, the hostile image, a host that must be clean after each test, and the table."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from harness.contracts.clauses import Finding
from harness.errors import ContainerError
from harness.runtime.containers import engine as docker_engine
from harness.runtime.containers import running

BASE = "harness-base:bookworm"
HERE = Path(__file__).resolve().parent
HOSTILE = HERE.parents[1] / "docker" / "hostile"
# Read before any test starts: tests run without the variable.
REQUIRED = bool(os.environ.get("HARNESS_REQUIRE_DOCKER"))
ROWS = pytest.StashKey[list[tuple[str, str, str]]]()
Record = Callable[[str, str, str], None]
Build = Callable[[dict[str, str]], str]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Minutes, and an engine: only where they are asked for."""
    if not REQUIRED:
        skip = pytest.mark.skip(reason="containers: run make test-containers")
        for item in items:
            if item.path.is_relative_to(HERE):
                item.add_marker(skip)


def docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def present(image: str) -> str:
    """An image of `make images`; the test fails without it, or without an engine."""
    try:
        docker_engine.require_engine()
        docker_engine.image_digest(image)
    except ContainerError as error:
        pytest.fail(f"{error} (make images OFFLINE=1)")
    return image


def assert_conforms(said: str, image: str, clauses: Iterable[str]) -> None:
    """What `harness conformance` printed: an image keeps every clause."""
    *lines, last = said.splitlines()
    assert [line.split()[:2] for line in lines] == [[clause, "kept"] for clause in clauses]
    assert last == f"{image}: conforms"


def assert_breaks(findings: Iterable[Finding], clause: str, said: str) -> None:
    """One clause alone is broken, and one printable line says `said` of it."""
    broken = {finding.clause: finding.said for finding in findings if finding.state == "broken"}
    assert broken.keys() == {clause}
    assert said in broken[clause]
    assert broken[clause].isprintable()


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would what tests start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def engine() -> None:
    """A Docker engine with the base image."""
    present(BASE)


def _built(target: str) -> Iterator[str]:
    tag = f"harness-test-{target}-{uuid.uuid4().hex[:8]}"
    docker(
        *("build", "--network", "none", "--quiet", "--target", target, "--tag", tag),
        *("--build-arg", f"BASE_IMAGE={BASE}", str(HOSTILE)),
    )
    yield tag
    docker("image", "rm", "--force", tag)


@pytest.fixture(scope="session")
def hostile(engine: None) -> Iterator[str]:
    """The image whose commands are the attacks of attack.py."""
    yield from _built("hostile")


@pytest.fixture(scope="session")
def volumes(hostile: str) -> Iterator[str]:
    """The hostile image, with a declared volume."""
    yield from _built("volumes")


@pytest.fixture
def build(engine: None, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Build]:
    """Builds the module's EXAMPLE with parts of its files replaced; gone after the test."""
    example: Path = request.module.EXAMPLE
    tags = []

    def built(changes: dict[str, str]) -> str:
        texts = {path.name: path.read_text(encoding="utf-8") for path in example.iterdir()}
        for old, new in changes.items():
            (name,) = (name for name, text in texts.items() if text.count(old) == 1)
            texts[name] = texts[name].replace(old, new)
        context = tmp_path / "context"
        context.mkdir()
        for name, text in texts.items():
            (context / name).write_text(text, encoding="utf-8")
        tag = f"harness-test-{example.name}-{uuid.uuid4().hex[:8]}"
        docker(
            *("build", "--network", "none", "--quiet", "--tag", tag),
            *("--build-arg", f"BASE_IMAGE={BASE}", str(context)),
        )
        tags.append(tag)
        return tag

    yield built
    for tag in tags:
        docker("image", "rm", "--force", tag)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Names containers, folders and processes of one test, and holds its temporary folders."""
    token = f"harness-test-{uuid.uuid4().hex[:12]}-"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(running, "NAME_PREFIX", token)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    return token


@pytest.fixture
def clean(token: str, engine: None) -> Iterator[None]:
    """After the test no container, volume, process or temporary folder of it is left."""
    before = set(docker("volume", "ls", "--quiet").split())
    yield
    assert leftovers(token) == []
    assert set(docker("volume", "ls", "--quiet").split()) <= before


def leftovers(token: str, seconds: float = 0.0) -> list[str]:
    """What is left on the host under a name; a wait of some seconds for it to go, if it must."""
    end = time.monotonic() + seconds
    while True:
        found = docker("ps", "--all", "--quiet", "--filter", f"name={token}").split()
        found += [str(path) for path in Path(tempfile.gettempdir()).glob(f"{token}*")]
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                command = path.read_bytes()
            except OSError:
                continue
            if token.encode() in command and path.parent.name != str(os.getpid()):
                found.append(command.decode("utf-8", "replace"))
        if not found or time.monotonic() >= end:
            return found
        time.sleep(0.1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An input folder with one file."""
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "file").write_text("speech", encoding="utf-8")
    (folder / "file").chmod(0o644)
    return folder


@pytest.fixture
def record(request: pytest.FixtureRequest) -> Record:
    """Adds a row to the table at the end of the tests: attack, limit, outcome."""
    rows = request.config.stash.setdefault(ROWS, [])
    return lambda attack, limit, outcome: rows.append((attack, limit, outcome))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = config.stash.get(ROWS, [])
    if rows:
        terminalreporter.section("what the hostile image tried")
        for row in (("attack", "limit", "outcome"), ("---", "---", "---"), *rows):
            terminalreporter.write_line("| " + " | ".join(row) + " |")
