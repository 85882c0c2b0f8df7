"""The command `harness`."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from harness import __version__
from harness.cli import (
    cert,
    compare,
    conformance,
    contract,
    corpus,
    difflock,
    doctor,
    eer,
    listen,
    pack,
    rank,
    report,
    rerun,
    stage,
    systems,
    track,
    verify,
)
from harness.cli.output import prepare, reader_left, silence, tell
from harness.cli.status import FAILED, INTERNAL_ERROR, INTERRUPTED, USAGE_ERROR
from harness.errors import HarnessError


class Parser(argparse.ArgumentParser):
    """Usage errors are one line and have an exit status of their own."""

    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(USAGE_ERROR, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="harness", description=__doc__)
    top.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (
        *(stage, corpus, verify, rank, report, rerun, pack, eer, cert, track, compare),
        *(listen, difflock, doctor, conformance, contract, systems),
    ):
        module.register(commands)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    prepare()
    parsed = parser().parse_args(arguments)
    try:
        status = int(parsed.handler(parsed))
        sys.stdout.flush()
        return status
    except HarnessError as error:
        tell(f"harness: {error}")
        return FAILED
    except OSError as error:
        # Nobody reads on, as in `harness … | head`: there is nobody to tell.
        if isinstance(error, BrokenPipeError) and reader_left():
            silence()
        else:
            tell(f"harness: {_system_error(error)}")
        return FAILED
    except KeyboardInterrupt:
        print("harness: interrupted; run it again to go on", file=sys.stderr)
        return INTERRUPTED
    except Exception:  # noqa: BLE001
        # A fault of ours, told whole; Python's own status, 1, would say refuted or failed.
        traceback.print_exc()
        return INTERNAL_ERROR


def _system_error(error: OSError) -> str:
    """One line: what the system says about which file."""
    paths = [
        os.fsdecode(p) for p in (error.filename, error.filename2) if isinstance(p, str | bytes)
    ]
    said = error.strerror or str(error) or type(error).__name__
    return " ".join(": ".join([*paths, said]).split())


if __name__ == "__main__":
    sys.exit(main())
