"""`harness report`: the page of a benchmark from what is there."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.cli.output import tell
from harness.cli.status import FAILED, USAGE_ERROR
from harness.errors import ConfigError, HarnessError, ResourceError

# What draws a page; the light environment lacks both.
PACKAGES = ("jinja2", "matplotlib")
RANKING = "what `harness rank --json` wrote"


def register(commands: Any) -> None:
    command = commands.add_parser(
        "report",
        help="one static HTML page: results, ranking, evidence",
        description="One static HTML page of a benchmark, from the runs that have scores and from "
        "a ranking of submissions. `dvc repro` makes the page of all runs, with its tables and "
        "pictures as files, in results/BENCHMARK/report. Exit status: 0 written, 1 error, 64 wrong "
        "usage.",
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
    try:
        output = _written(parsed)
    except ConfigError as error:
        tell(f"harness report: {error}")
        return USAGE_ERROR
    except HarnessError as error:
        tell(f"harness report: {error}")
        return FAILED
    print(output)
    return 0


def _written(parsed: argparse.Namespace) -> Path:
    """Write the page; returns where it is."""
    _require_packages()
    from harness.pipeline.layout import Layout
    from harness.pipeline.page import page_of
    from harness.reports.html.render import render
    from harness.runtime.files import write_text

    ranking: Path | None = parsed.ranking
    if ranking is not None and not ranking.exists():
        raise ConfigError("no such file", where=ranking, fix=f"give {RANKING}")
    if ranking is not None and ranking.is_dir():
        raise ConfigError("a folder", where=ranking, fix=f"give the file: {RANKING}")
    page = page_of(parsed.benchmark, ranking)
    output: Path = parsed.output or Layout(page.benchmark).page
    write_text(output, render(page, _folder(output)))
    return output


def _require_packages() -> None:
    absent = [name for name in PACKAGES if find_spec(name) is None]
    if absent:
        raise ResourceError(
            "not installed",
            where=" and ".join(absent),
            fix="pip install 'anonymization-harness[pipeline]'",
        )


def _folder(output: Path) -> str | None:
    """The page's folder relative to this one; None outside of it, where it cannot link to files."""
    folder, here = output.resolve().parent, Path().resolve()
    return folder.relative_to(here).as_posix() if folder.is_relative_to(here) else None
