"""`harness rerun`: does a submission's attacker, run again, give its scores, by the pair rule?"""

from __future__ import annotations

import argparse
import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import show, tell
from harness.cli.status import OUTCOMES, USAGE_ERROR, VERDICTS, worst_status
from harness.cli.verify import load_signer, trials_folder, write_json
from harness.errors import ConfigError, HarnessError, ListError
from harness.runtime.containers.fence import Fence

if TYPE_CHECKING:
    from harness.reruns.model import Rerun
    from harness.reruns.rerunning import Plan
    from harness.submissions.certificates.predicate import Outcome

DESCRIPTION = """Verify a submission; let the image of its attacker score the trials again, in a
container without network, under names and in an order that say nothing; compare the scores with the
submitted ones; and try by experiment whether a score depends on more than the utterances of its
pair. Exit status: 0 verified and reproduced, 1 refuted or not reproduced (other scores, or scores
that move), 2 not checkable, 64 wrong usage."""
BATCH = """--batch FILE runs many, each by itself: one that fails is `not checkable`, and the others
go on. FILE is YAML; paths in it are relative to its folder:

  reruns:
    - {submission: team-one.zip, image: team-one@sha256:..., models: team-one/models}
    - {submission: team-two.zip, image: team-two:latest, params: two.json, systems: [B3, T8-5]}
"""
SEED_BITS = 32
# Scores are small; a network may need room for what it compiles, and says much on its way.
FENCE = Fence(output=256, temporary=1024, log=16)


@dataclass(frozen=True)
class Row:
    """What one rerun is of. Paths are as in the batch file, or as given to the command."""

    submission: str
    image: str
    models: str | None = None
    params: str | None = None
    systems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Told:
    """What became of one rerun: its exit status, what people read, its part of the document.

    name: of the submission. verdict: of its verification. error: the line that ended it, empty
    where it came to its end.
    """

    status: int
    name: str
    verdict: str
    outcome: Outcome
    text: str
    entry: dict[str, Any]
    error: str = ""


def register(commands: Any) -> None:
    command = commands.add_parser(
        "rerun",
        help="does a submission's attacker, run again, give its scores?",
        description=DESCRIPTION,
        epilog=BATCH,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("submission", nargs="?", metavar="SUBMISSION", help="archive or folder")
    command.add_argument("--image", metavar="IMAGE", help="the attacker's (docs/contracts.md)")
    command.add_argument(
        "--models",
        metavar="DIR",
        help="DIR/SYSTEM is its model against SYSTEM (default: the image carries its models)",
    )
    command.add_argument("--params", metavar="FILE", help="the attacker's parameters, JSON")
    command.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME",
        help="run only this one; may be repeated (default: all submitted ones). Names the one "
        "system of a submission that does not",
    )
    command.add_argument("--batch", type=Path, metavar="FILE", help="many reruns, see below")
    command.add_argument(
        "--jobs", type=int, metavar="N", help="of --batch: so many at once (default: 1)"
    )
    command.add_argument("--benchmark", default="vpac2025", help="edition (default: vpac2025)")
    command.add_argument(
        "--speech",
        type=Path,
        metavar="DIR",
        help="DIR/SYSTEM/SET: anonymized speech (default: data/BENCHMARK/anonymized)",
    )
    command.add_argument(
        "--trials", type=Path, metavar="DIR", help="trial lists, as of `harness verify`"
    )
    command.add_argument(
        "--reported", type=Path, metavar="FILE", help="claimed EERs from outside the submission"
    )
    command.add_argument(
        "--level",
        choices=("sample", "full"),
        default="sample",
        help="sample: a few speakers of each list, and the pair rule on one list (minutes; what "
        "lies outside the sample is not seen); full: every trial, the EERs, and the rule on every "
        "list (default: sample)",
    )
    command.add_argument(
        "--seed", type=int, metavar="N", help="what samples are drawn by (default: drawn and told)"
    )
    command.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    command.add_argument("--threads", type=int, metavar="N", help="CPU threads (default: all)")
    command.add_argument(
        "--memory", type=int, default=8192, metavar="MIB", help="most, each run (default: 8192)"
    )
    command.add_argument(
        "--seconds", type=float, default=3600.0, metavar="S", help="most, each run (default: 3600)"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write the result (-: stdout)")
    command.add_argument("--certificate", type=Path, metavar="FILE", help="write a certificate")
    command.add_argument("--key", type=Path, metavar="KEY", help="private key for the certificate")
    command.add_argument("--schema", action="store_true", help="print the schema of the JSON")
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    if parsed.schema:
        from harness.reruns.document import schema

        sys.stdout.write(schema())
        return 0
    try:
        return _run(parsed)
    except (ConfigError, ListError) as error:
        tell(f"harness rerun: {error}")
        return USAGE_ERROR
    except (HarnessError, OSError) as error:
        # Status 1 would say that the scores did not come again.
        tell(f"harness rerun: {error}")
        return VERDICTS["not checkable"]


def _run(parsed: argparse.Namespace) -> int:
    from harness.runtime.containers.engine import require_engine

    if parsed.seed is None:
        # After the submission came: nobody could know the sample.
        parsed.seed = secrets.randbits(SEED_BITS)
    if parsed.batch is not None:
        from harness.cli.rerun_batch import run_batch

        return run_batch(parsed)
    if parsed.submission is None or parsed.image is None:
        raise ConfigError("no SUBMISSION or no --image", fix="give both, or --batch FILE")
    if parsed.jobs is not None:
        raise ConfigError(f"--jobs {parsed.jobs}", fix="give it with --batch")
    sign = _signer(parsed)
    require_engine()
    row = Row(parsed.submission, parsed.image, parsed.models, parsed.params, tuple(parsed.system))
    done = rerun(parsed, row)
    told = told_of(done)
    # First: it is there even if nothing can be written after hours.
    if str(parsed.json) != "-":
        show(told.text)
    if sign is not None:
        sign(done)
    write(parsed, [told])
    return told.status


def rerun(parsed: argparse.Namespace, row: Row, prefix: str = "") -> Rerun:
    """Do one rerun. prefix: of the lines that tell what begins."""
    from harness.protocols import protocol
    from harness.reruns import rerunning

    edition = protocol.load(parsed.benchmark)
    return rerunning.rerun(
        Path(row.submission),
        edition,
        _plan(parsed, row),
        lambda said: tell(f"harness rerun: {prefix}{said}"),
    )


def _plan(parsed: argparse.Namespace, row: Row) -> Plan:
    from harness.contracts.inputs import Circumstances, read_parameters
    from harness.reruns.rerunning import Plan
    from harness.reruns.scoring import Image
    from harness.runtime.containers.engine import image_digest
    from harness.runtime.pool import usable_cores
    from harness.submissions.verification import Options

    speech = parsed.speech or Path("data", parsed.benchmark, "anonymized")
    for path, what in (
        (row.submission, "submission"),
        (speech, "folder of speech"),
        (row.models, "folder of models"),
        (row.params, "file of parameters"),
    ):
        if path is not None and not Path(path).exists():
            raise ConfigError(f"no such {what}", where=path, fix="name the right one")
    threads = parsed.threads or usable_cores()
    return Plan(
        image=Image(
            digest=image_digest(row.image),
            model=None,
            parameters={} if row.params is None else read_parameters(Path(row.params)),
            circumstances=Circumstances(threads=threads, device=parsed.device),
            fence=replace(FENCE, memory=parsed.memory, cpus=float(threads), seconds=parsed.seconds),
        ),
        speech=speech,
        models=None if row.models is None else Path(row.models),
        systems=row.systems,
        level=parsed.level,
        seed=parsed.seed,
        verification=Options(trials=trials_folder(parsed), reported=parsed.reported),
    )


def told_of(done: Rerun) -> Told:
    from harness.reruns.document import entry
    from harness.reruns.table import to_text
    from harness.submissions.table import to_text as verification_text

    text = to_text(done)
    if done.verdict != "verified":
        text += f"\n{verification_text(done.verification)}"
    status = worst_status((VERDICTS[done.verdict], OUTCOMES[done.outcome]))
    return Told(status, done.name, done.verdict, done.outcome, text, entry(done))


def write(parsed: argparse.Namespace, done: Sequence[Told]) -> None:
    from harness.reruns.document import to_json
    from harness.reruns.model import worst

    if parsed.json is not None:
        outcome = worst(told.outcome for told in done)
        entries = [told.entry for told in done]
        write_json(parsed.json, to_json(parsed.benchmark, outcome, entries))


def _signer(parsed: argparse.Namespace) -> Callable[[Rerun], None] | None:
    """What writes the certificate; a wrong key is told at once, before any work."""
    signer = load_signer(parsed)
    if signer is None:
        return None
    from harness.reruns.document import certified_part
    from harness.runtime.files import write_bytes
    from harness.submissions.certificates.certificate import sign, statement
    from harness.submissions.certificates.comparison import submission_digest

    def write(done: Rerun) -> None:
        (submission,) = done.verification.submissions
        digest = submission_digest(Path(parsed.submission))
        content = statement(done.verification, submission, digest, [certified_part(done)])
        write_bytes(parsed.certificate, sign(content, signer))

    return write
