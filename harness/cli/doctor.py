"""`harness doctor`: what this machine lacks for a benchmark."""

from __future__ import annotations

import argparse
from typing import Any


def register(commands: Any) -> None:
    """Add `doctor`."""
    doctor = commands.add_parser("doctor", help="say what this machine lacks for a benchmark")
    doctor.add_argument("benchmark", nargs="?", help="default: the one that params.yaml chooses")
    doctor.add_argument("--deep", action="store_true", help="also import torch and SpeechBrain")
    doctor.add_argument("--brief", action="store_true", help="print problems only")
    doctor.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.errors import ConfigError
    from harness.pipeline import runner
    from harness.pipeline.context import open_context
    from harness.runtime.doctor import examine
    from harness.runtime.environment import settle
    from harness.runtime.machine import failure
    from harness.runtime.parameters import load
    from harness.tracking.store import check_store

    settle()
    findings = examine(parsed.benchmark, deep=parsed.deep, check_store=check_store)
    if not any(f.subject == "parameters" and f.status == "problem" for f in findings):
        # Every system and attacker is built, as each stage does before it works.
        try:
            context = open_context(parsed.benchmark or load().benchmark.name)
            findings += runner.examine(context.parameters, context.benchmark)
        except ConfigError as error:
            findings = [one for one in findings if one.subject != "parameters"]
            findings.append(failure("parameters", error))
    if parsed.brief:
        findings = [finding for finding in findings if finding.status == "problem"]
        if not findings:
            return 0
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(f"{finding.status:8} {finding.subject:{width}}  {finding.text}")
        if finding.fix is not None:
            print(f"{'':8} {'':{width}}  mend: {finding.fix}")
    problems = sum(finding.status == "problem" for finding in findings)
    print(f"{problems} {'problem' if problems == 1 else 'problems'}")
    return 1 if problems else 0
