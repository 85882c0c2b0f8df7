"""`harness compare A B`: what differs between two attackers, and is it more than chance?

`--json` writes one object: `format` (1) and `harness`, the version that wrote it; `first` and
`second` (`name`, `benchmark`, `system`, `attacker`, `seeds`); `inputs`, those that differ (`kind`,
`name`, `first`, `second`), and `remarks`; `rows`, each of a `scenario` and `split`, with `first`
and `second` (`mean`, `deviation`, `trainings`), `difference`, `low` and `high` in percent, `p`,
`finding` (`more`, `more, seeds aside`, `not more`, `cannot tell` or `identical`) and `sentence`;
and `method` (`draws`, `level`, `unit`, `seed`).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import show, tell
from harness.cli.status import FAILED, USAGE_ERROR
from harness.cli.verify import write_json
from harness.errors import ConfigError, HarnessError

if TYPE_CHECKING:
    from harness.reports.difference_text import Difference


def register(commands: Any) -> None:
    """Add `compare`."""
    command = commands.add_parser(
        "compare",
        help="what differs between two attackers' scores, and is it more than chance?",
        description="Compare the scores of two attackers, or of one before and after a change: "
        "what differs in data, parameters, code, image, environment and seeds, and whether the "
        "EERs differ by more than trials, speakers and seeds explain. A and B are "
        "[REV:]results/BENCHMARK/scores/SYSTEM/ATTACKER, or [REV:]SYSTEM/ATTACKER in the benchmark "
        "of params.yaml, with /seed-N behind it for one training; REV is a commit whose files DVC "
        "brings, without it they are those of the workspace. Exit status: 0 whatever is found, 1 "
        "not readable, 64 wrong usage.",
    )
    command.add_argument("first", metavar="A", help="scores, such as HEAD~1:b2/ecapa-demo")
    command.add_argument("second", metavar="B", help="scores, such as b2/ecapa-demo")
    command.add_argument("--draws", type=int, default=2000, metavar="N", help="default: 2000")
    command.add_argument(
        "--level", type=float, default=0.95, metavar="FRACTION", help="how sure (default: 0.95)"
    )
    command.add_argument(
        "--unit",
        choices=("speakers", "trials"),
        default="speakers",
        help="what is drawn (default: speakers; trials take the speakers as given)",
    )
    command.add_argument("--seed", type=int, default=1986, metavar="N", help="of the draws")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result (-: stdout)")
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.reports.difference_text import to_document, to_text
    from harness.submissions.shown import json_text

    try:
        difference = _compared(parsed)
    except ConfigError as error:
        tell(f"harness compare: {error}")
        return USAGE_ERROR
    except HarnessError as error:
        tell(f"harness compare: {error}")
        return FAILED
    if parsed.json is not None:
        write_json(parsed.json, json_text(to_document(difference)))
    if str(parsed.json) != "-":
        show(to_text(difference))
    return 0


def _compared(parsed: argparse.Namespace) -> Difference:
    from harness.metrics.resampling import Sampling
    from harness.pipeline.fetched import find, parse
    from harness.protocols import protocol
    from harness.reports.difference import difference_rows
    from harness.reports.difference_inputs import input_differences
    from harness.reports.difference_text import Difference
    from harness.runtime.parameters import load

    benchmark = load().benchmark.name
    sampling = Sampling(parsed.draws, parsed.level, parsed.unit, parsed.seed)
    wanted = [parse(text, benchmark) for text in (parsed.first, parsed.second)]
    if wanted[0].benchmark != wanted[1].benchmark:
        raise ConfigError(
            f"one is of {wanted[0].benchmark}, the other of {wanted[1].benchmark}",
            where=f"{parsed.first} and {parsed.second}",
            fix="compare scores of one benchmark",
        )
    edition = protocol.load(wanted[0].benchmark)
    with tempfile.TemporaryDirectory(prefix="harness-compare-") as work:
        first, second = (
            find(one, Path(work, name)) for one, name in zip(wanted, "ab", strict=True)
        )
        rows = difference_rows(first, second, edition, sampling)
        return Difference(first, second, *input_differences(first, second), rows, sampling)
