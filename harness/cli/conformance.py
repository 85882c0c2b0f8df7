"""`harness conformance …`: does an image keep docs/contracts.md?"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import show, tell
from harness.errors import ConfigError, HarnessError

if TYPE_CHECKING:
    from harness.contracts.clauses import Finding

CONFORMS, BROKEN, NOT_CHECKABLE = 0, 1, 2


def register(commands: Any) -> None:
    conformance = commands.add_parser(
        "conformance",
        help="does an image keep the contract?",
        description="Run an image on tiny speech, and name each clause of docs/contracts.md that "
        "it breaks. Exit status: 0 it conforms, 1 a clause is broken, 2 not checkable.",
    )
    kinds = conformance.add_subparsers(dest="kind", required=True, metavar="KIND")
    anonymizer = kinds.add_parser("anonymizer", help="check an anonymizer")
    anonymizer.add_argument(
        "--unseeded", action="store_true", help="the system draws nothing: do not check A9"
    )
    anonymizer.set_defaults(handler=run, check=_check_anonymizer)
    attacker = kinds.add_parser("attacker", help="check an attacker")
    attacker.add_argument(
        "--untrained", action="store_true", help="it carries its models: do not train it first"
    )
    attacker.add_argument(
        "--system", default="", metavar="NAME", help="the anonymizer that it is told to attack"
    )
    attacker.set_defaults(handler=run, check=_check_attacker)
    for kind in (anonymizer, attacker):
        kind.add_argument("image", metavar="IMAGE")
        kind.add_argument(
            "--params", type=Path, metavar="FILE", help="its parameters, JSON (default: none)"
        )
        kind.add_argument(
            "--seconds", type=float, metavar="S", help="most time for each run (default: 300)"
        )
        kind.add_argument(
            "--memory", type=int, metavar="MIB", help="most memory for each run (default: 4096)"
        )


def run(parsed: argparse.Namespace) -> int:
    from harness.contracts.clauses import CLAUSES
    from harness.contracts.inputs import read_parameters

    limits = {"seconds": parsed.seconds, "memory": parsed.memory}
    given = {name: value for name, value in limits.items() if value is not None}
    try:
        if parsed.params is not None and not parsed.params.is_file():
            raise ConfigError("no such file", where=parsed.params, fix="name the right one")
        parameters = {} if parsed.params is None else read_parameters(parsed.params)
        findings: list[Finding] = parsed.check(parsed, parameters, given)
    except HarnessError as error:
        tell(f"harness conformance: {error}")
        return NOT_CHECKABLE
    lines = []
    for finding in findings:
        line = f"{finding.clause:<5}{finding.state:<13}{CLAUSES[finding.clause]}"
        lines.append(f"{line}: {finding.said}" if finding.said else line)
    broken = sum(finding.state == "broken" for finding in findings)
    lines.append(
        f"{parsed.image}: "
        + (f"{broken} clause{'s' * (broken > 1)} broken" if broken else "conforms")
    )
    show("".join(f"{line}\n" for line in lines))
    return BROKEN if broken else CONFORMS


def _check_anonymizer(
    parsed: argparse.Namespace, parameters: dict[str, Any], limits: dict[str, Any]
) -> list[Finding]:
    from harness.contracts.anonymizer.conformance import FENCE, check

    fence = dataclasses.replace(FENCE, **limits)
    return check(parsed.image, parameters, seeded=not parsed.unseeded, fence=fence)


def _check_attacker(
    parsed: argparse.Namespace, parameters: dict[str, Any], limits: dict[str, Any]
) -> list[Finding]:
    from harness.contracts.attacker.conformance import FENCE, check

    fence = dataclasses.replace(FENCE, **limits)
    return check(
        parsed.image,
        parameters,
        trained=not parsed.untrained,
        system=parsed.system,
        fence=fence,
    )
