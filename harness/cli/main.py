"""The command `harness`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from harness import __version__
from harness.cli import corpus, difflock, doctor, stage, track
from harness.errors import HarnessError

USAGE_ERROR = 64
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """Usage errors are one line and have an exit status of their own."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(USAGE_ERROR, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="harness", description=__doc__)
    top.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (stage, corpus, track, difflock, doctor):
        module.register(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = parser().parse_args(arguments)
    try:
        return int(parsed.handler(parsed))
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("harness: interrupted; run it again to go on", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
