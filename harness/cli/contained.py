"""`harness verify --container`: the same command inside the verifier image."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import show, tell
from harness.cli.status import USAGE_ERROR, VERDICTS, worst_status
from harness.cli.verify import load_signer, write_json
from harness.errors import ConfigError
from harness.submissions.shown import printable, printable_json

if TYPE_CHECKING:
    from harness.submissions.contained import Contained
    from harness.submissions.verification import Options

WORDS = {status: verdict for verdict, status in VERDICTS.items()} | {USAGE_ERROR: "wrong usage"}


def run_contained(parsed: argparse.Namespace, options: Options, limits: Iterable[str]) -> int:
    """The exit status of the verification. options: checked already, on this machine."""
    from harness.runtime.files import write_bytes
    from harness.submissions.contained import verify_contained

    if parsed.track:
        raise ConfigError(
            "--track does not go with --container", fix="verify again without --container"
        )
    signer = load_signer(parsed)
    folders = {
        "--trials": options.trials,
        "--reported": parsed.reported,
        "--resources-list": parsed.resources_list,
    }
    arguments = ["--benchmark", parsed.benchmark, "--explain-seconds", str(parsed.explain_seconds)]
    for name in ("system", "received", *(f"max_{limit}" for limit in limits)):
        value = getattr(parsed, name)
        if value is not None:
            arguments += [f"--{name.replace('_', '-')}={value}"]
    given = {option: path for option, path in folders.items() if path is not None}
    if len(parsed.paths) > 1:
        return _run_each(parsed, given, arguments)
    contained = verify_contained(
        parsed.paths[0],
        given,
        arguments,
        image=parsed.image,
        certified=parsed.certificate is not None or parsed.statement is not None,
    )
    if contained.statement is not None:
        from harness.submissions.certificates.certificate import sign

        if parsed.statement is not None:
            write_bytes(parsed.statement, contained.statement)
        if signer is not None:
            write_bytes(parsed.certificate, sign(json.loads(contained.statement), signer))
    if contained.report is not None and parsed.json is not None:
        write_json(parsed.json, printable_json(contained.report.decode("utf-8")))
    _tell(parsed, contained, contained.table)
    return contained.status


def _run_each(parsed: argparse.Namespace, folders: Mapping[str, Path], options: list[str]) -> int:
    """Each submission in a container of its own; a table of all at the end."""
    from harness.runtime.containers.engine import require_engine
    from harness.runtime.jobs import run_all
    from harness.submissions.contained import Contained, merged, verify_contained
    from harness.submissions.table import aligned

    names = [path.resolve().name for path in parsed.paths]
    if len(set(names)) < len(names):
        raise ConfigError("two submissions have one name", fix="verify them one by one")
    require_engine()

    def work(path: Path) -> Contained:
        return verify_contained(path, folders, options, image=parsed.image)

    def failed(path: Path, error: str) -> Contained:
        return Contained(VERDICTS["not checkable"], "", f"{error}\n", None, None)

    def ended(path: Path, contained: Contained) -> None:
        _tell(parsed, contained, f"{contained.table}\n" if contained.table else "")

    ends = run_all(work, parsed.paths, parsed.jobs or 1, failed, ended)
    done = dict(zip(names, ends, strict=True))
    if parsed.json is not None:
        write_json(parsed.json, merged(parsed.benchmark, done))
    if str(parsed.json) != "-":
        rows = [(name, WORDS[one.status], one.errors.strip()) for name, one in done.items()]
        lines = aligned([("submission", "verdict", ""), *rows], ())
        show("".join(f"{printable(line)}\n" for line in lines))
    return worst_status(one.status for one in done.values())


def _tell(parsed: argparse.Namespace, contained: Contained, table: str) -> None:
    for line in contained.errors.splitlines():
        tell(line)
    if str(parsed.json) != "-":
        show(table)
