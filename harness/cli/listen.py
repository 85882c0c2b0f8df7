"""`harness listen`: a page to hear what systems do."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.cli.output import tell
from harness.cli.status import FAILED, USAGE_ERROR
from harness.errors import ConfigError, HarnessError, ResourceError

# What draws the page, each with its extra; the light environment lacks them.
PACKAGES = {"jinja2": "pipeline", "matplotlib": "pipeline", "pyworld": "knn-vc"}
FILE_NAME = "listen.html"


def register(commands: Any) -> None:
    command = commands.add_parser(
        "listen",
        help="one static HTML page: original and anonymized speech to be heard and seen",
        description="One static HTML page with some utterances, original and as each system made "
        "them, side by side: sound, spectrogram, F0. It holds everything and fetches nothing; each "
        "second of sound takes about 60 kB. Exit status: 0 written, 1 error, 64 wrong usage.",
    )
    command.add_argument(
        "systems",
        nargs="+",
        metavar="SYSTEM",
        help="a system of the benchmark; the original is always there",
    )
    command.add_argument(
        "--benchmark", metavar="NAME", help="default: the one that params.yaml names"
    )
    command.add_argument(
        "--set",
        metavar="NAME",
        help="the set that utterances are taken from (default: the benchmark's first trial sets)",
    )
    which = command.add_mutually_exclusive_group()
    which.add_argument(
        "--utterances",
        type=int,
        default=2,
        metavar="N",
        help="the first N of each gender, of different speakers (default: 2)",
    )
    which.add_argument(
        "--utterance",
        action="append",
        default=[],
        metavar="NAME",
        help="this one instead; can be given several times",
    )
    command.add_argument(
        "--seconds",
        type=float,
        default=8.0,
        metavar="S",
        help="of an utterance at most, from its beginning (default: 8)",
    )
    command.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where the page goes (default: results/BENCHMARK/listen.html)",
    )
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    try:
        output, said = _written(parsed)
    except ConfigError as error:
        tell(f"harness listen: {error}")
        return USAGE_ERROR
    except HarnessError as error:
        tell(f"harness listen: {error}")
        return FAILED
    print(f"{output}: {said}")
    return 0


def _written(parsed: argparse.Namespace) -> tuple[Path, str]:
    """Write the page; returns where it is, and what is on it."""
    for name, extra in PACKAGES.items():
        if find_spec(name) is None:
            raise ResourceError(
                "not installed", where=name, fix=f"pip install 'anonymization-harness[{extra}]'"
            )
    from harness.pipeline.layout import Layout
    from harness.pipeline.listen import Choice, page_of
    from harness.reports.html.listen import render
    from harness.runtime.files import write_text

    output: Path | None = parsed.output
    if output is not None and output.is_dir():
        raise ConfigError("a folder", where=output, fix="give the file that the page goes to")
    choice = Choice(tuple(parsed.utterance), parsed.utterances, parsed.set, parsed.seconds)
    page = page_of(parsed.benchmark, parsed.systems, choice)
    text = render(page)
    output = output or Layout(page.benchmark).results / FILE_NAME
    try:
        write_text(output, text)
    except OSError as error:
        raise ResourceError(
            f"cannot be written ({error.strerror})", where=output, fix="give another --output"
        ) from error
    count, versions = len(page.utterances), 1 + len(page.systems)
    utterances = "1 utterance" if count == 1 else f"{count} utterances"
    return output, f"{utterances} × {versions}, {len(text) / 1e6:.1f} MB"
