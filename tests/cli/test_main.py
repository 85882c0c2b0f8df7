from __future__ import annotations

import argparse
import os
import subprocess
import sys

import pytest

import harness
from harness.cli import main as command
from harness.errors import ConfigError

HEAVY = ("torch", "mlflow", "dvc", "pandas", "numpy", "speechbrain", "yaml")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli.main", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.fixture
def with_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser whose one command raises what its argument names."""
    raised = {
        "error": ConfigError("two\nlines", where="params.yaml", fix="mend it"),
        "interrupt": KeyboardInterrupt(),
        "bug": RuntimeError("a bug"),
        "exists": FileExistsError(17, "File exists", "a/b"),
        "nameless": OSError("odd"),
        "worker": BrokenPipeError(32, "Broken pipe"),
    }

    def handler(parsed: argparse.Namespace) -> int:
        if parsed.what in raised:
            raise raised[parsed.what]
        return int(parsed.what)

    def parser() -> argparse.ArgumentParser:
        top = command.Parser(prog="harness")
        top.add_argument("what")
        top.set_defaults(handler=handler)
        return top

    monkeypatch.setattr(command, "parser", parser)


@pytest.mark.usefixtures("with_handler")
@pytest.mark.parametrize(
    ("what", "status", "text"),
    [
        ("0", 0, ""),
        ("1", 1, ""),
        ("error", 1, "harness: params.yaml: two lines; mend it\n"),
        ("exists", 1, "harness: a/b: File exists\n"),
        ("nameless", 1, "harness: odd\n"),
        ("worker", 1, "harness: Broken pipe\n"),
        ("interrupt", 130, "harness: interrupted; run it again to go on\n"),
    ],
)
def test_exit_status_and_one_line(
    capsys: pytest.CaptureFixture[str], what: str, status: int, text: str
) -> None:
    assert command.main([what]) == status
    assert capsys.readouterr() == ("", text)


@pytest.mark.usefixtures("with_handler")
def test_a_bug_keeps_its_traceback_and_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["bug"]) == 70
    said = capsys.readouterr().err
    assert said.startswith("Traceback (most recent call last):")
    assert said.endswith("RuntimeError: a bug\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "harness: the following arguments are required: COMMAND; see `harness --help`\n"),
        (("corpus",), "harness corpus: the following arguments are required: COMMAND"),
        (("stage", "train", "demo", "b2", "ecapa", "first"), "harness stage train: argument seed"),
    ],
)
def test_usage_errors_are_one_line_and_exit_64(arguments: tuple[str, ...], text: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (64, "")
    assert done.stderr.startswith(text)
    assert done.stderr.count("\n") == 1


def test_nobody_reads_on_is_quiet() -> None:
    code = (
        "import sys\nfrom harness.cli import main as command\n"
        "def tell(parsed):\n    print('x' * int(parsed.length))\n    return 0\n"
        "def parser():\n    top = command.Parser()\n    top.add_argument('length')\n"
        "    top.set_defaults(handler=tell)\n    return top\n"
        "command.parser = parser\nsys.exit(command.main())"
    )
    for length in ("1", "1000000"):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-c", code, length], stdout=writing, stderr=subprocess.PIPE, timeout=60
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (1, b"")


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"harness {harness.__version__}\n")


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in ("stage", "corpus", "verify", "pack", "eer", "cert", "track", "doctor"):
        assert f"    {name} " in done.stdout


def test_the_command_line_itself_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom harness.cli.main import main, parser\nparser()\n"
        "try: main(['--version'])\nexcept SystemExit as end: assert not end.code\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [f"harness {harness.__version__}", "[]"], done.stderr
