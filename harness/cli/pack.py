"""`harness pack`: a submission that `harness verify` accepts, from a folder of scores."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import tell
from harness.cli.status import FAILED, USAGE_ERROR
from harness.cli.verify import add_trials, trials_folder
from harness.errors import ConfigError, ListError

if TYPE_CHECKING:
    from harness.submissions.packing.packing import Packing


def register(commands: Any) -> None:
    command = commands.add_parser(
        "pack",
        help="build a submission from a folder of scores",
        description="Check the scores of each system, compute their EERs (or check those given), "
        "and write one archive with submission.yaml, the system description and the scores. The "
        "same input gives the same bytes. Nothing is written unless `harness verify` would call it "
        "verified. Exit status: 0 written, 1 refused, 64 wrong usage.",
    )
    command.add_argument("--benchmark", default="vpac2025", help="edition (default: vpac2025)")
    command.add_argument(
        "--scores", type=Path, required=True, metavar="DIR", help="folder with scores, any layout"
    )
    command.add_argument("--team", required=True, metavar="NAME")
    command.add_argument(
        "--description", type=Path, required=True, metavar="PDF", help="the system description"
    )
    command.add_argument("--output", type=Path, required=True, metavar="FILE.zip|.tar.gz")
    command.add_argument("--force", action="store_true", help="replace FILE")
    command.add_argument("--system", metavar="NAME", help="the system, where there is only one")
    command.add_argument(
        "--claims", type=Path, metavar="FILE", help="EERs to state (default: they are computed)"
    )
    add_trials(command)
    command.add_argument(
        "--resources",
        type=Path,
        metavar="YAML",
        help="data and models from outside: `resources:`, a list of name, kind (data or model), "
        "source, and declared (the day, YYYY-MM-DD)",
    )
    command.add_argument(
        "--resources-list",
        type=Path,
        metavar="FILE",
        help="the edition's final list of data and models, one name a line",
    )
    command.add_argument(
        "--own-anonymizer",
        action="append",
        default=[],
        metavar="SYSTEM",
        help="a system that the team itself made; may be given again",
    )
    command.add_argument(
        "--own-code-released", metavar="DATE", help="day on which its code became public"
    )
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    try:
        packing = _pack(parsed)
    except (ConfigError, ListError) as error:
        tell(f"harness pack: {error}")
        return USAGE_ERROR
    for fault in packing.faults:
        tell(f"harness pack: {fault}")
    if packing.description is None:
        count = len(packing.faults)
        tell(f"harness pack: nothing written, {count} {'fault' if count == 1 else 'faults'}")
        return FAILED
    for warning in packing.warnings:
        tell(f"harness pack: warning: {warning}")
    for system, claims in packing.description.claims.items():
        for name, percent in claims.items():
            print(f"{system:12}{name:28}{percent:>10} %")
    print(f"{parsed.output}  sha256:{packing.sha256}")
    return 0


def _pack(parsed: argparse.Namespace) -> Packing:
    from harness.protocols import protocol
    from harness.submissions.contents.rules import read_resources
    from harness.submissions.packing.packing import Draft, pack, read_declared
    from harness.submissions.verification import Options

    if not parsed.scores.exists():
        raise ConfigError("no such folder", where=parsed.scores, fix="give the folder with scores")
    draft = Draft(
        team=parsed.team,
        description=parsed.description,
        system=parsed.system,
        claims=parsed.claims,
        resources=() if parsed.resources is None else read_declared(parsed.resources),
        own_anonymizers=tuple(parsed.own_anonymizer),
        own_code_released=parsed.own_code_released,
    )
    options = Options(
        trials=trials_folder(parsed),
        system=parsed.system,
        listed_resources=(
            None if parsed.resources_list is None else read_resources(parsed.resources_list)
        ),
    )
    return pack(
        parsed.scores,
        parsed.output,
        draft,
        protocol.load(parsed.benchmark),
        options,
        replace_existing=parsed.force,
    )
