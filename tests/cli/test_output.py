"""What a real standard output does to the exit status: a reader that left, a full disk, none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main as command
from harness.cli.output import tell

SHOWS = """
from harness.cli import main as command
from harness.cli.output import show
import harness.cli.verify as verify

verify._reference_text = lambda parsed: show("ü\\x9b" * {times}) or 2
raise SystemExit(command.main(["verify", "--codes"]))
"""


def run(stdout: int, times: int, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-c", SHOWS.format(times=times)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("times", [1, 100_000])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_left_changes_no_status(times: int, unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        assert run(write, times, PYTHONUNBUFFERED=unbuffered) == (2, "")
    finally:
        os.close(write)


def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "wb") as full:
        status, error = run(full.fileno(), 1, PYTHONUNBUFFERED="")
    # Not 120, as Python ends when it cannot write at its end.
    assert (status, error) == (1, "harness: No space left on device\n")


def test_an_encoding_that_lacks_characters() -> None:
    assert run(subprocess.DEVNULL, 1, PYTHONIOENCODING="ascii") == (2, "")


def test_no_standard_output() -> None:
    command = f"{sys.executable} -m harness.cli.main verify --codes >&-"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_error_is_one_line_that_nobody_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    tell("harness: a\x1b[2J\nb: ü")
    assert capsys.readouterr().err == "harness: a\\x1b[2J\\nb: ü\n"


def test_a_stranger_s_scores_tell_a_terminal_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trials, scores = tmp_path / "trials", tmp_path / "scores"
    trials.write_text("a a-1 target\na b-1 nontarget\n")
    scores.write_text("a\x1b[2J b 1\na\x1b[2J b 1\n")
    assert command.main(["eer", "--trials", str(trials), "--scores", str(scores)]) == 1
    assert "\x1b" not in capsys.readouterr().err
