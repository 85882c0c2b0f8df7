"""`harness contract …`: what the harness's own images run inside; see docs/contracts.md."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any


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
    verbs.add_parser("anonymize", help="/in/audio to /out/audio").set_defaults(handler=anonymize)


def anonymize(parsed: argparse.Namespace) -> int:
    from harness.contracts.anonymize import anonymize
    from harness.runtime.events import Event, Events

    def say(event: Event) -> None:
        print(json.dumps(event, sort_keys=True), flush=True)

    return anonymize(parsed.type, parsed.inputs, parsed.outputs, Events(say))
