"""What a container may use, and how it ended."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.errors import ConfigError, ContainerError

MIB = 1 << 20
SAID_LENGTH = 200


@dataclass(frozen=True)
class Fence:
    """Limits of a container.

    memory, file (the largest one), output, temporary (`/tmp` and `/dev/shm` each, both within
    memory), log (stdout and stderr together): MiB. cpus: may be a fraction; no more than there are.
    processes include threads. files: files and folders in `/out`. seconds: wall time. Raises
    ConfigError for a limit that would be none: 0 MiB of memory, not a number of seconds.
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

    def __post_init__(self) -> None:
        for name, limit in dataclasses.asdict(self).items():
            if not 0 < limit < math.inf:
                raise ConfigError(f"{limit} is no limit", where=name, fix="use a number above 0")


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
            said = last_line(self.stderr) or last_line(self.stdout) or "nothing said"
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


def shown(said: str) -> str:
    """A container's words on one short line, safe on a terminal; a lone surrogate becomes `?`."""
    return " ".join(printable(said.encode("utf-8", "replace")).split())[:SAID_LENGTH]


def last_line(said: bytes | bytearray) -> str:
    """The end of the last line that a container said, safe on a terminal; empty for none."""
    lines = printable(said[-4 * SAID_LENGTH :]).strip().splitlines()
    return " ".join(lines[-1].split())[-SAID_LENGTH:] if lines else ""
