"""`harness rank`: who is better, and how sure that is."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.cli.output import show, tell
from harness.cli.status import FAILED, USAGE_ERROR
from harness.cli.verify import add_trials, trials_folder, write_json
from harness.errors import ConfigError, HarnessError, ListError

# The ending of a table of measured values; any other path is a submission.
TABLE = ".csv"


def register(commands: Any) -> None:
    command = commands.add_parser(
        "rank",
        help="rank submissions, or tables of measured anonymizers",
        description="Verify all submissions, and rank those whose claims hold. Attacker Challenge: "
        "for each system by itself, with intervals of EERs and ranks. Editions that rank "
        "anonymizers: by the EERs of their scores and what else they claim, or by tables of "
        "measured values (*.csv), or both. Exit status: 0 ranked, 1 error, 64 wrong usage.",
    )
    command.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="submission (archive or folder) or table",
    )
    command.add_argument("--benchmark", default="vpac2025", help="edition (default: vpac2025)")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result (-: stdout)")
    of_submissions = [
        command.add_argument(
            "--entries",
            type=Path,
            metavar="FILE",
            help="CSV: submission (an archive's name), team, received (ISO 8601 with zone)",
        ),
        add_trials(command),
    ]
    group = command.add_argument_group("editions that rank attackers")
    of_attackers = [
        group.add_argument(
            "--certificates",
            type=Path,
            metavar="DIR",
            help="signed certificates, such as of reruns",
        ),
        group.add_argument(
            "--key", type=Path, metavar="PUBLIC", help="public key of who signed the certificates"
        ),
        group.add_argument(
            "--resources-list",
            type=Path,
            metavar="FILE",
            help="the edition's final list of data and models, one name a line",
        ),
        group.add_argument("--draws", type=int, metavar="N", help="resamples (default: 2000)"),
        group.add_argument("--seed", type=int, metavar="N", help="of resamples (default: 1986)"),
    ]
    command.set_defaults(handler=run, of_submissions=of_submissions, of_attackers=of_attackers)


def run(parsed: argparse.Namespace) -> int:
    try:
        text, document = _ranked(parsed)
    except (ConfigError, ListError) as error:
        tell(f"harness rank: {error}")
        return USAGE_ERROR
    except HarnessError as error:
        tell(f"harness rank: {error}")
        return FAILED
    if parsed.json is not None:
        write_json(parsed.json, document)
    if str(parsed.json) != "-":
        show(text)
    return 0


def _ranked(parsed: argparse.Namespace) -> tuple[str, str]:
    """The ranking as text and as JSON."""
    from harness.protocols import ranking
    from harness.protocols.conditions import AnonymizerRanking

    rules = ranking.load(parsed.benchmark)
    if isinstance(rules, AnonymizerRanking):
        return _anonymizers(parsed, rules)
    return _attackers(parsed, rules)


def _anonymizers(parsed: argparse.Namespace, rules: Any) -> tuple[str, str]:
    from harness.protocols import protocol
    from harness.ranking.conditions import document, table
    from harness.ranking.conditions.measured import read_tables
    from harness.ranking.conditions.ranking import rank_measured
    from harness.ranking.conditions.submitted import Options, joined, read_submissions

    tables = [path for path in parsed.paths if path.suffix.casefold() == TABLE]
    submissions = [path for path in parsed.paths if path not in tables]
    _refuse(parsed, parsed.of_attackers, f"{parsed.benchmark}, which ranks anonymizers")
    measured = read_tables(tables, rules)
    if submissions:
        _require_paths(submissions)
        options = Options(trials=trials_folder(parsed), register=parsed.entries)
        edition = protocol.load(parsed.benchmark)
        measured = joined(measured, read_submissions(submissions, rules, edition, options))
    else:
        _refuse(parsed, parsed.of_submissions, "tables")
    ranked = rank_measured(measured, rules)
    return table.to_text(ranked), document.to_json(ranked)


def _refuse(parsed: argparse.Namespace, actions: Sequence[argparse.Action], of: str) -> None:
    """Raises ConfigError for options that are given and say nothing of what is ranked."""
    given = [
        action.option_strings[0] for action in actions if getattr(parsed, action.dest) is not None
    ]
    if given:
        raise ConfigError(f"{', '.join(given)} say nothing of {of}", fix="leave them out")


def _require_paths(paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise ConfigError("no such submission", where=path, fix="give an archive or a folder")


def _attackers(parsed: argparse.Namespace, rules: Any) -> tuple[str, str]:
    from harness.metrics.resampling import Sampling
    from harness.protocols import protocol
    from harness.ranking import document, table
    from harness.ranking.ranking import Options, rank
    from harness.submissions.contents.rules import read_resources

    _require_paths(parsed.paths)
    given = {"draws": parsed.draws, "seed": parsed.seed}
    options = Options(
        trials=trials_folder(parsed),
        register=parsed.entries,
        certificates=parsed.certificates,
        key=parsed.key,
        listed_resources=(
            None if parsed.resources_list is None else read_resources(parsed.resources_list)
        ),
        sampling=Sampling(
            workers=os.cpu_count() or 1,
            **{name: value for name, value in given.items() if value is not None},
        ),
    )
    ranking = rank(parsed.paths, protocol.load(parsed.benchmark), rules, options)
    return table.to_text(ranking), document.to_json(ranking)
