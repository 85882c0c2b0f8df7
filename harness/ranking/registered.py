"""Submissions verified for a ranking, each with its team and the time that it came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.protocols.protocol import Protocol
from harness.ranking.register import Registered, read_register, teams_of, times_of
from harness.submissions.contents.rules import SUBMISSION
from harness.submissions.model import Verification
from harness.submissions.verification import Options, names_of, verify


def verify_registered(
    paths: Sequence[Path], protocol: Protocol, register: Path | None, options: Options
) -> tuple[Verification, dict[str, str], dict[str, Registered] | None]:
    """What was found of the submissions, the team of each by its name, and the register.

    register: what `read_register` reads, None for none. options: without times. Raises ConfigError,
    ListError or DataError for what the caller gave.
    """
    known = None if register is None else read_register(register, names_of(paths))
    # An edition without a deadline has no late submissions.
    times = times_of(known) if SUBMISSION in protocol.dates else None
    found = verify(paths, protocol, replace(options, received=times))
    return found, teams_of(found.submissions, known), known
