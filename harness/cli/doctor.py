"""`harness doctor`: what this machine lacks for a benchmark."""

from __future__ import annotations

import argparse
from typing import Any


def register(commands: Any) -> None:
    """Add `doctor`."""
    doctor = commands.add_parser("doctor", help="say what this machine lacks for a benchmark")
    doctor.add_argument("benchmark", nargs="?", help="default: the one that params.yaml chooses")
    doctor.add_argument("--deep", action="store_true", help="also import torch and SpeechBrain")
    doctor.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.runtime.doctor import examine
    from harness.runtime.environment import settle
    from harness.tracking.store import check_store

    settle()
    findings = examine(parsed.benchmark, deep=parsed.deep, check_store=check_store)
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        print(f"{finding.status:8} {finding.subject:{width}}  {finding.text}")
        if finding.fix is not None:
            print(f"{'':8} {'':{width}}  mend: {finding.fix}")
    problems = sum(finding.status == "problem" for finding in findings)
    print(f"{problems} {'problem' if problems == 1 else 'problems'}")
    return 1 if problems else 0
