from __future__ import annotations

import argparse
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
        ("interrupt", 130, "harness: interrupted; run it again to go on\n"),
    ],
)
def test_exit_status_and_one_line(
    capsys: pytest.CaptureFixture[str], what: str, status: int, text: str
) -> None:
    assert command.main([what]) == status
    assert capsys.readouterr() == ("", text)


@pytest.mark.usefixtures("with_handler")
def test_a_bug_keeps_its_traceback() -> None:
    with pytest.raises(RuntimeError, match="a bug"):
        command.main(["bug"])


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


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"harness {harness.__version__}\n")


def test_help_names_every_command() -> None:
    done = run("--help")
    assert done.returncode == 0
    for name in ("stage", "corpus", "track", "doctor"):
        assert f"    {name} " in done.stdout


def test_the_command_line_itself_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom harness.cli.main import main, parser\nparser()\n"
        "try: main(['--version'])\nexcept SystemExit as end: assert not end.code\n"
        f"print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [f"harness {harness.__version__}", "[]"], done.stderr
