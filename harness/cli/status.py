"""Exit statuses of the command, beside 0: done."""

from __future__ import annotations

from collections.abc import Iterable

FAILED = 1
# As in BSD's sysexits.h: wrong usage, and an internal error.
USAGE_ERROR = 64
INTERNAL_ERROR = 70
INTERRUPTED = 130
# Of `harness verify`, whose 1 means refuted.
VERDICTS = {"verified": 0, "refuted": 1, "not checkable": 2}
# Of `harness rerun`.
OUTCOMES = {"reproduced": 0, "not reproduced": 1, "not checkable": 2}


def worst_status(statuses: Iterable[int]) -> int:
    """Of several verdicts: usage first, and what is refuted before what is not checkable."""
    found = set(statuses)
    return next(status for status in (USAGE_ERROR, 1, 2, 0) if status in found)
