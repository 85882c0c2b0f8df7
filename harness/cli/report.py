"""`harness report`: the page of a benchmark from what is there."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from harness.cli.output import tell
from harness.cli.status import FAILED
from harness.errors import ConfigError, HarnessError


def register(commands: Any) -> None:
    command = commands.add_parser(
        "report",
        help="one static HTML page: results, ranking, evidence",
        description="One static HTML page of a benchmark, from the runs that have scores and from "
        "a ranking of submissions. `dvc repro` makes the page of all runs, with its tables and "
        "pictures as files, in results/BENCHMARK/report.",
    )
    command.add_argument(
        "benchmark",
        nargs="?",
        metavar="BENCHMARK",
        help="default: that of the ranking, or the one that params.yaml names",
    )
    command.add_argument(
        "--ranking",
        type=Path,
        metavar="FILE",
        help="what `harness rank --json` wrote: shown instead of a ranking of the runs' own "
        "attackers; needs no runs",
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where the page goes (default: results/BENCHMARK/report.html)",
    )
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.pipeline.layout import Layout
    from harness.pipeline.page import page_of
    from harness.reports.html.render import render
    from harness.runtime.files import write_text

    try:
        if parsed.ranking is not None and not parsed.ranking.exists():
            raise ConfigError(
                "no such file", where=parsed.ranking, fix="give what `harness rank --json` wrote"
            )
        page = page_of(parsed.benchmark, parsed.ranking)
    except HarnessError as error:
        tell(f"harness report: {error}")
        return FAILED
    output = parsed.output or Layout(page.benchmark).page
    write_text(output, render(page, _folder(output)))
    print(output)
    return 0


def _folder(output: Path) -> str | None:
    """The page's folder relative to this one; None outside of it, where it cannot link to files."""
    folder, here = output.resolve().parent, Path().resolve()
    return folder.relative_to(here).as_posix() if folder.is_relative_to(here) else None
