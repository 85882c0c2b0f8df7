"""`harness diff-lock`: a rebuilt result against the committed one."""

from __future__ import annotations

import argparse
from pathlib import PurePosixPath
from typing import Any


def register(commands: Any) -> None:
    command = commands.add_parser(
        "diff-lock",
        help="compare the rebuilt result with the committed one",
        description="Compare the rebuilt result with the committed one. First everything that the "
        "benchmark read and wrote is hashed again and held against dvc.lock: that reads every byte "
        "of it, about 50 GB at full scale.",
    )
    command.add_argument(
        "benchmark", nargs="?", help="default: the one that params.yaml names", metavar="BENCHMARK"
    )
    command.add_argument("--rev", default="HEAD", help="commit to compare with (default: HEAD)")
    command.add_argument(
        "--band",
        type=float,
        metavar="POINTS",
        help="percentage points by which an EER average may differ (default: 2)",
    )
    command.add_argument(
        "--list-band",
        type=float,
        metavar="POINTS",
        help="the same for a single list, whose EER has fewer trials (default: twice the band)",
    )
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.pipeline.layout import Layout
    from harness.reports import lockdiff
    from harness.runtime.parameters import load

    benchmark = parsed.benchmark or load().benchmark.name
    results = PurePosixPath(Layout(benchmark).results)
    band = lockdiff.EER_BAND_POINTS if parsed.band is None else parsed.band
    comparison = lockdiff.compare(
        lockdiff.from_commit(benchmark, results, parsed.rev),
        lockdiff.from_workspace(benchmark, results),
        results,
        band,
        parsed.list_band,
    )
    print(lockdiff.to_text(comparison), end="")
    return 1 if comparison.verdict == "different" else 0
