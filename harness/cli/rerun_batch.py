"""`harness rerun --batch FILE`: many reruns, each in a process of its own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cli.output import show
from harness.cli.rerun import Row, Told, rerun, told_of, write
from harness.cli.status import VERDICTS, worst_status
from harness.errors import ConfigError
from harness.submissions.shown import printable

NOTHING = "-"


@dataclass(frozen=True)
class Batch:
    """The content of a batch file."""

    reruns: tuple[Row, ...]


def run_batch(parsed: argparse.Namespace) -> int:
    """Every row by itself, a table of all at the end."""
    from harness.runtime.containers.engine import require_engine
    from harness.runtime.jobs import run_all

    rows = _rows(parsed)
    require_engine()

    def work(row: Row) -> Told:
        return told_of(rerun(parsed, row, f"{Path(row.submission).name}: "))

    def ended(row: Row, told: Told) -> None:
        if str(parsed.json) != "-":
            show(told.text + "\n")

    done = run_all(work, rows, parsed.jobs or 1, _failed, ended)
    write(parsed, done)
    if str(parsed.json) != "-":
        show(_summary(done))
    return worst_status(told.status for told in done)


def _rows(parsed: argparse.Namespace) -> list[Row]:
    """What a batch file names. Raises ConfigError, before any work, for what cannot be."""
    from harness.protocols.typed import build, read_yaml

    alone = (parsed.submission, parsed.image, parsed.models, parsed.params, parsed.certificate)
    if any(one is not None for one in alone) or parsed.system:
        raise ConfigError(
            "--batch says what to run, and writes no certificate",
            fix="leave out SUBMISSION, --image, --models, --params, --system and --certificate",
        )
    if parsed.jobs is not None and parsed.jobs < 1:
        raise ConfigError(
            f"{parsed.jobs} is no number of jobs", where="--jobs", fix="use 1 or more"
        )
    rows = build(Batch, read_yaml(parsed.batch), str(parsed.batch)).reruns
    if not rows:
        raise ConfigError("no rerun in it", where=parsed.batch, fix="see `harness rerun --help`")
    folder = parsed.batch.parent

    def placed(path: str | None) -> str | None:
        return None if path is None else str(folder / path)

    return [
        replace(
            row,
            submission=str(folder / row.submission),
            models=placed(row.models),
            params=placed(row.params),
        )
        for row in rows
    ]


def _failed(row: Row, error: str) -> Told:
    from harness.reruns.document import failed_entry

    name, status = Path(row.submission).resolve().name, VERDICTS["not checkable"]
    text = printable(f"{name}: NOT CHECKABLE: {error}") + "\n"
    part = failed_entry(name, row.image, error)
    return Told(status, name, NOTHING, "not checkable", text, part, error)


def _summary(done: Sequence[Told]) -> str:
    from harness.reruns.model import worst
    from harness.submissions.table import aligned

    rows = [(told.name, told.verdict, told.outcome, told.error) for told in done]
    lines = aligned([("submission", "verification", "rerun", ""), *rows], ())
    lines.append(f"all {len(done)} reruns: {worst(told.outcome for told in done)}")
    return "".join(f"{printable(line)}\n" for line in lines)
