"""What a person sees of a stage: each warning once, on standard error."""

from __future__ import annotations

import pytest

from harness.cli.progress import ProgressBars
from harness.runtime.events import Events


def test_a_warning_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    events = Events(ProgressBars())
    for message in ("3 of 9 became silent", "3 of 9 became silent", "\x1b]0;owned\x07"):
        events.emit("warning", message=message)
        events.progress("anonymize b2", 1, 9)
    said = capsys.readouterr()
    assert said.out == ""
    # What moves is for terminals; what a container said cannot write to one.
    assert said.err.splitlines() == [
        "harness: warning: 3 of 9 became silent",
        r"harness: warning: \x1b]0;owned\x07",
    ]
