"""`harness cert`: keys for certificates of verifications, and the check of a certificate."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.cli.output import show, tell
from harness.cli.status import FAILED, USAGE_ERROR
from harness.cli.verify import trials_folder
from harness.errors import HarnessError, IntegrityError
from harness.submissions.shown import printable

if TYPE_CHECKING:
    from harness.submissions.certificates.predicate import Certified, CertifiedList

UNREADABLE = 2
NOTHING = "-"
COLUMNS = ("system", "list", "missed", "accepted")
NUMBERS_FROM = 2
# Those that are shown, as many as a terminal of 100 columns holds; the certificate has them all.
ESTIMATORS = ("official", "kaldi", "rocch", "linear", "max", "grid-1000")


def register(commands: Any) -> None:
    """Add `cert` and its sub-commands."""
    cert = commands.add_parser("cert", help="make keys, and check certificates of verifications")
    below = cert.add_subparsers(dest="cert_command", metavar="COMMAND", required=True)

    keygen = below.add_parser("keygen", help="make a pair of keys: NAME.key and NAME.pub")
    keygen.add_argument("name", type=Path, metavar="NAME", help="of the new files")
    keygen.set_defaults(handler=_keygen)

    check = below.add_parser(
        "check",
        help="is a certificate genuine, and of this submission?",
        description="Check the signature of a certificate and print what it states. Exit status: "
        "0 genuine, 1 refused (changed, another key, another submission, other EERs), 2 not a "
        "certificate or not readable, 64 wrong usage. A genuine certificate may say `refuted`.",
    )
    check.add_argument("certificate", type=Path, metavar="CERTIFICATE")
    check.add_argument(
        "--key", type=Path, required=True, metavar="PUBLIC", help="public key of who signed it"
    )
    check.add_argument(
        "--submission", type=Path, metavar="PATH", help="archive or folder, to compare its hash"
    )
    check.add_argument(
        "--rescore", action="store_true", help="also compute all EERs of the submission again"
    )
    check.add_argument(
        "--trials",
        type=Path,
        metavar="DIR",
        help="the edition's trial lists, to rescore (default: HARNESS_LISTS, else generated)",
    )
    check.set_defaults(handler=_check)


def _keygen(parsed: argparse.Namespace) -> int:
    from harness.submissions.certificates.keys import generate_keys, load_public_key

    private, public = generate_keys(parsed.name)
    print(f"{private}: private, keep it secret (harness verify --certificate FILE --key {private})")
    print(f"{public}: public, give it to whoever checks certificates")
    print(f"key {load_public_key(public).keyid}")
    return 0


def _check(parsed: argparse.Namespace) -> int:
    if (parsed.rescore and parsed.submission is None) or (parsed.trials and not parsed.rescore):
        needs = "--trials needs --rescore" if not parsed.rescore else "--rescore needs --submission"
        print(f"harness cert check: {needs}; see `harness cert check --help`", file=sys.stderr)
        return USAGE_ERROR
    try:
        show(_checked(parsed))
    except IntegrityError as error:
        tell(f"harness cert check: REFUSED: {error}")
        return FAILED
    except (HarnessError, OSError) as error:
        tell(f"harness cert check: {error}")
        return UNREADABLE
    return 0


def _checked(parsed: argparse.Namespace) -> str:
    """The summary of a certificate that passed all checks that were asked for."""
    from harness.submissions.certificates.certificate import LARGEST, certified, open_certificate
    from harness.submissions.certificates.comparison import check_submission
    from harness.submissions.certificates.keys import load_public_key

    key = load_public_key(parsed.key)
    with parsed.certificate.open("rb") as stream:
        statement = open_certificate(stream.read(LARGEST + 1), key)
    compared = "not compared (--submission PATH)"
    if parsed.submission is not None:
        check_submission(statement, parsed.submission)
        compared = f"same as {parsed.submission}"
    rescored = "not computed again (--submission PATH --rescore)"
    if parsed.rescore:
        _rescore(statement, parsed)
        rescored = "computed again, the same"
    content = certified(statement)
    facts = {
        "signed with": f"key {key.keyid}",
        "submission": compared,
        "EERs": rescored,
        "claims": _tally(claim.verdict for claim in content.claims),
        "checks": _tally(check.code for check in content.checks),
        "harness": f"{content.harness.version}, source sha256 {content.harness.source_sha256}",
    }
    return _summary(content, facts)


def _rescore(statement: dict[str, Any], parsed: argparse.Namespace) -> None:
    from harness.protocols import protocol
    from harness.submissions.certificates.certificate import certified
    from harness.submissions.certificates.comparison import check_scores
    from harness.submissions.verification import Options, verify

    edition = protocol.load(certified(statement).benchmark)
    # Explanations are not compared: none is looked for.
    options = Options(trials=trials_folder(parsed), explain_seconds=0)
    check_scores(statement, verify([parsed.submission], edition, options))


def _tally(names: Any) -> str:
    return ", ".join(f"{count} {name}" for name, count in Counter(names).items()) or "none"


def _summary(content: Certified, facts: dict[str, str]) -> str:
    width = max(map(len, facts))
    lines = [
        f"{content.subject[0].name}: {content.verdict.upper()} ({content.benchmark})",
        *(f"  {name:<{width}}  {fact}" for name, fact in facts.items()),
    ]
    if content.lists:
        lines += ["", "EER in percent, by estimator", *_table(content.lists)]
    if content.reruns:
        from harness.reruns import table

        for rerun in content.reruns:
            lines += ["", f"attacker run again: {rerun.outcome.upper()}"]
            lines += [f"  {name:<{width}}  {fact}" for name, fact in table.facts(rerun).items()]
            lines += table.tables(rerun)
    return "".join(f"{printable(line)}\n" for line in lines)


def _table(lists: Sequence[CertifiedList]) -> list[str]:
    from harness.submissions.table import aligned

    known = {name for one in lists for name in one.eer_percent or {}}
    names = [name for name in ESTIMATORS if name in known]
    rows = [(*COLUMNS, *names)]
    for one in lists:
        counts = (one.misses, one.false_alarms)
        eers = one.eer_percent or {}
        rows.append(
            (
                one.system,
                one.list,
                *(NOTHING if count is None else f"{count:,}" for count in counts),
                *(f"{eers[name]:.3f}" if name in eers else NOTHING for name in names),
            )
        )
    return aligned(rows, range(NUMBERS_FROM, len(rows[0])))
