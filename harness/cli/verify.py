"""`harness verify`: do the scores of a submission reproduce the EERs that it reports?"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import show, tell
from harness.cli.status import USAGE_ERROR, VERDICTS
from harness.errors import ConfigError, HarnessError, ListError

if TYPE_CHECKING:
    from harness.submissions.model import Verification
    from harness.submissions.verification import Options

LIMITS = {
    "members": "files in a submission",
    "total": "MiB of all files together, decompressed",
    "file": "MiB of one file",
    "ratio": "decompressed by compressed size",
    "nesting": "archives within archives",
    "line": "bytes in a line of a score file",
}


def register(commands: Any) -> None:
    command = commands.add_parser(
        "verify",
        help="do the scores of a submission reproduce the EERs that it reports?",
        description="Compute the official EER of every list from the scores of each submission, "
        "compare it with what is claimed, name every fault, and explain every difference. "
        "Exit status: 0 verified, 1 refuted, 2 not checkable, 64 wrong usage.",
    )
    command.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="archive (zip, tar, tar.*) or folder"
    )
    command.add_argument("--benchmark", default="vpac2025", help="edition (default: vpac2025)")
    add_trials(command)
    command.add_argument("--system", metavar="NAME", help="the system, where there is only one")
    command.add_argument(
        "--reported", type=Path, metavar="FILE", help="claimed EERs from outside the submission"
    )
    command.add_argument("--received", metavar="TIME", help="when it came, as ISO 8601 with zone")
    command.add_argument(
        "--resources-list",
        type=Path,
        metavar="FILE",
        help="the edition's final list of data and models, one name a line",
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result (-: stdout)")
    command.add_argument("--certificate", type=Path, metavar="FILE", help="write a certificate")
    command.add_argument("--key", type=Path, metavar="KEY", help="private key for the certificate")
    command.add_argument(
        "--explain-seconds",
        type=float,
        default=10.0,
        metavar="S",
        help="most time for explanations, per submission (default: 10)",
    )
    command.add_argument(
        "--statement", type=Path, metavar="FILE", help="write what a certificate would state"
    )
    command.add_argument(
        "--container",
        action="store_true",
        help="verify inside the verifier image, each submission in a container of its own (so "
        "scores that two share are not looked for); this machine only hashes the archives",
    )
    command.add_argument(
        "--jobs", type=int, metavar="N", help="of --container: so many at once (default: 1)"
    )
    command.add_argument(
        "--image", metavar="IMAGE", help="of --container (default: harness-verifier)"
    )
    command.add_argument(
        "--track", action="store_true", help="log an MLflow run, as params.yaml says"
    )
    command.add_argument("--codes", action="store_true", help="list the codes of all checks")
    command.add_argument("--schema", action="store_true", help="print the schema of the JSON")
    limits = command.add_argument_group("limits on what a stranger's archive may hold")
    for name, meaning in LIMITS.items():
        limits.add_argument(f"--max-{name}", type=int, metavar="N", help=meaning)
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    if parsed.codes or parsed.schema:
        return _reference_text(parsed)
    try:
        if parsed.container:
            from harness.cli.contained import run_contained

            return run_contained(parsed, _options(parsed), LIMITS)
        verification = _verify(parsed)
    except (ConfigError, ListError) as error:
        tell(f"harness verify: {error}")
        return USAGE_ERROR
    except (HarnessError, OSError) as error:
        # Status 1 would say that the submission is refuted.
        tell(f"harness verify: {error}")
        return VERDICTS["not checkable"]
    return VERDICTS[verification.verdict]


def _verify(parsed: argparse.Namespace) -> Verification:
    from harness.protocols import protocol
    from harness.submissions.document import to_json
    from harness.submissions.table import to_text
    from harness.submissions.verification import verify

    options = _options(parsed)
    sign = _signer(parsed, options)
    track = _tracker() if parsed.track else None
    verification = verify(parsed.paths, protocol.load(parsed.benchmark), options)
    if parsed.json is not None:
        write_json(parsed.json, to_json(verification))
    if sign is not None:
        sign(verification)
    if track is not None:
        track(verification)
    if str(parsed.json) != "-":
        show(to_text(verification))
    return verification


def _options(parsed: argparse.Namespace) -> Options:
    from harness.submissions.contents.rules import parse_time, read_resources
    from harness.submissions.limits import Limits
    from harness.submissions.verification import Options

    if not parsed.paths:
        raise ConfigError("no submission is named", fix="give a PATH; see `harness verify --help`")
    for path in parsed.paths:
        if not path.exists():
            raise ConfigError("no such submission", where=path, fix="give an archive or a folder")
    if parsed.jobs is not None and (parsed.jobs < 1 or not parsed.container):
        raise ConfigError(
            f"--jobs {parsed.jobs}", fix="give 1 or more containers at once, with --container"
        )
    if len(parsed.paths) > 1 and (parsed.certificate or parsed.statement):
        raise ConfigError("a certificate is of one submission", fix="give one PATH")
    if not parsed.explain_seconds >= 0:
        raise ConfigError(
            f"{parsed.explain_seconds} is no time", where="--explain-seconds", fix="use 0 or more"
        )
    given = {}
    for field in dataclasses.fields(Limits):
        name = field.name.removesuffix("_mib")
        value = getattr(parsed, f"max_{name}")
        if value is not None:
            if value < 0:
                raise ConfigError(
                    f"{value} is no limit", where=f"--max-{name}", fix="use 0 or more"
                )
            given[field.name] = value
    return Options(
        trials=trials_folder(parsed),
        system=parsed.system,
        reported=parsed.reported,
        limits=Limits(**given),
        explain_seconds=parsed.explain_seconds,
        received=None if parsed.received is None else parse_time(parsed.received),
        listed_resources=(
            None if parsed.resources_list is None else read_resources(parsed.resources_list)
        ),
    )


def _signer(parsed: argparse.Namespace, options: Options) -> Any:
    """What writes statement and certificate; a wrong key is told at once, before any work."""
    signer = load_signer(parsed)
    if parsed.certificate is None and parsed.statement is None:
        return None
    from harness.runtime.files import write_bytes
    from harness.submissions.certificates.certificate import sign, statement, statement_bytes
    from harness.submissions.certificates.comparison import submission_digest

    def write(verification: Verification) -> None:
        digest = submission_digest(parsed.paths[0], options.limits)
        content = statement(verification, verification.submissions[0], digest)
        if parsed.statement is not None:
            write_bytes(parsed.statement, statement_bytes(content))
        if signer is not None:
            write_bytes(parsed.certificate, sign(content, signer))

    return write


def add_trials(command: Any) -> Any:
    """The option --trials, whose value `trials_folder` reads; returns what argparse makes of it."""
    return command.add_argument(
        "--trials",
        type=Path,
        metavar="DIR",
        help="folder with the edition's trial lists (default: HARNESS_LISTS, else generated from "
        "the names in the scores and proven by their hash)",
    )


def trials_folder(parsed: argparse.Namespace) -> Path | None:
    """That of --trials, else of HARNESS_LISTS; None without either."""
    lists = os.environ.get("HARNESS_LISTS")
    return parsed.trials or (Path(lists) if lists else None)


def write_json(path: Path, text: str) -> None:
    """Write what --json names; `-` is standard output."""
    if str(path) == "-":
        show(text)
    else:
        from harness.runtime.files import write_text

        write_text(path, text)


def load_signer(parsed: argparse.Namespace) -> Any:
    """The private key of --key, None without one.

    Raises ConfigError where it is none, or stands without --certificate, or that without it.
    """
    if (parsed.certificate is None) != (parsed.key is None):
        raise ConfigError("--certificate and --key belong together", fix="give both or neither")
    if parsed.key is None:
        return None
    from harness.submissions.certificates.keys import load_signer

    return load_signer(parsed.key)


def _tracker() -> Any:
    """What logs one MLflow run per submission; its parameters are read before any work.

    MLflow is loaded here only.
    """
    import tempfile

    from harness.pipeline.verify import log, write_report
    from harness.runtime.parameters import load

    tracking = load().tracking

    def track(verification: Verification) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for number, submission in enumerate(verification.submissions):
                report = Path(folder, str(number))
                write_report(verification, submission, report)
                for problem in log(report, tracking):
                    tell(f"harness verify: tracking: {problem}")

    return track


def _reference_text(parsed: argparse.Namespace) -> int:
    if parsed.schema:
        from harness.submissions.document import schema

        sys.stdout.write(schema())
        return 0
    from harness.submissions.codes import CODES

    for code in CODES:
        print(f"{code.name:<24}{code.severity:<12}{code.meaning}")
    return 0
