"""Exit statuses of the command, beside 0: done."""

FAILED = 1
# As in BSD's sysexits.h: wrong usage, and an internal error.
USAGE_ERROR = 64
INTERNAL_ERROR = 70
INTERRUPTED = 130
# Of `harness verify`, whose 1 means refuted.
VERDICTS = {"verified": 0, "refuted": 1, "not checkable": 2}
