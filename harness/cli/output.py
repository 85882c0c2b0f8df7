"""What commands write to a terminal: nothing that it would obey, whatever it can show."""

from __future__ import annotations

import io
import os
import select
import sys

from harness.submissions.shown import printable

STANDARD_OUTPUT = 1


def prepare() -> None:
    """Let standard output and error take any text: closed, or of an encoding that lacks some."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def tell(line: str) -> None:
    """One line for people, such as an error."""
    print(printable(line), file=sys.stderr)


def show(text: str) -> None:
    """The result of a command whose exit status says more than done or failed.

    That nobody reads on, as in `harness … | head`, changes no such status. Raises OSError for
    everything else that hinders.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        left = isinstance(error, BrokenPipeError) and reader_left()
        # What could not be written would be tried again at the end of Python, with a status of 120.
        silence()
        if not left:
            raise


def reader_left() -> bool:
    """Whether the other end of standard output is closed."""
    output = select.poll()
    output.register(STANDARD_OUTPUT, 0)
    return any(state & (select.POLLERR | select.POLLHUP) for _, state in output.poll(0))


def silence() -> None:
    """Send what standard output still holds nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), STANDARD_OUTPUT)
