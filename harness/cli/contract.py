"""`harness contract …`: what the harness's own images run inside; see docs/contracts.md."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.status import FAILED
from harness.errors import HarnessError

if TYPE_CHECKING:
    from harness.runtime.events import Event, Events

    Program = Callable[[Mapping[str, Any], Path, Path, Events], None]

VERBS = {
    "anonymize": "/in/audio to /out/audio",
    "train": "/in/train to /out/model",
    "score": "/in/enrolments, /in/trials, /in/pairs.tsv to /out/scores.tsv",
}


def register(commands: Any) -> None:
    contract = commands.add_parser("contract", help="run as an image of docs/contracts.md does")
    contract.add_argument(
        "--type", metavar="NAME", help="the system's type where /in/params.json names none"
    )
    contract.add_argument(
        "--in", type=Path, default=Path("/in"), metavar="DIR", dest="inputs", help="(default: /in)"
    )
    contract.add_argument("--out", type=Path, default=Path("/out"), metavar="DIR", dest="outputs")
    verbs = contract.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb, text in VERBS.items():
        verbs.add_parser(verb, help=text)
    contract.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.runtime.environment import settle
    from harness.runtime.events import Events

    settle()
    events = Events(_Voice())
    defaults = {} if parsed.type is None else {"type": parsed.type}
    try:
        _program(parsed.verb)(defaults, parsed.inputs, parsed.outputs, events)
    except Exception as error:
        # Clause C7: one error event, the last of all; also for a fault of ours, told whole later.
        events.emit("error", message=str(error) or type(error).__name__)
        if isinstance(error, HarnessError | OSError):
            return FAILED
        raise
    events.emit("done")
    return 0


def _program(verb: str) -> Program:
    if verb == "anonymize":
        from harness.contracts.anonymizer.program import anonymize

        return anonymize
    from harness.contracts.attacker import program

    return {"train": program.train, "score": program.score}[verb]


class _Voice:
    """Says events as JSON lines; of the progress of a task, each whole percent once."""

    def __init__(self) -> None:
        self._said: tuple[str, int] | None = None

    def __call__(self, event: Event) -> None:
        if event["event"] == "progress":
            now = (event["task"], 100 * event["done"] // max(event["total"], 1))
            if now == self._said:
                return
            self._said = now
        print(json.dumps(event, sort_keys=True), flush=True)
