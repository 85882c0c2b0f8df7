"""`harness verify --container`: the same command inside the verifier image."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from harness.cli.output import show, tell
from harness.cli.verify import load_signer, require_certificate_options
from harness.errors import ConfigError

if TYPE_CHECKING:
    from harness.submissions.verification import Options


def run_contained(parsed: argparse.Namespace, options: Options, limits: Iterable[str]) -> int:
    """The exit status of the verification. options: checked already, on this machine."""
    from harness.runtime.files import write_bytes
    from harness.submissions.contained import verify_contained

    if parsed.track:
        raise ConfigError(
            "--track does not go with --container", fix="verify again without --container"
        )
    require_certificate_options(parsed)
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
    contained = verify_contained(
        parsed.paths,
        {option: path for option, path in folders.items() if path is not None},
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
        if str(parsed.json) == "-":
            show(contained.report.decode("utf-8"))
        else:
            write_bytes(parsed.json, contained.report)
    for line in contained.errors.splitlines():
        tell(line)
    if str(parsed.json) != "-":
        show(contained.table)
    return contained.status
