"""A submission as a set of named files, whatever held them: archive, nested archive or folder.

A member's path is data and never a place on disk: nothing is extracted under a stranger's name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from harness.errors import SubmissionError
from harness.submissions.model import Check


@dataclass(frozen=True)
class Member:
    """One regular file. path: relative, `/` between parts, within the submission; unique.

    nbytes: as the archive states it, within the limits. open: a stream of its content from the
    start, to be closed by the caller; reading raises SubmissionError where the content is longer
    than stated, corrupt, or beyond a limit.
    """

    path: str
    nbytes: int
    open: Callable[[], BinaryIO]

    def read(self, limit: int) -> bytes:
        """The whole content. Raises SubmissionError above `limit` bytes."""
        with self.open() as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise SubmissionError(
                f"more than {limit:,} bytes",
                code="archive-limit",
                where=self.path,
                fix="such a file is small: remove it or mend it",
            )
        return data


@dataclass(frozen=True)
class Submission:
    """name: what people call it. sha256: of the archive, None for a folder.

    members: in C order of their paths, without what operating systems leave behind
    (`__MACOSX/`, `.DS_Store`, …). checks: faults of the archive; with any of them nothing in it is
    to be trusted, and members is empty.
    """

    name: str
    sha256: str | None
    members: tuple[Member, ...]
    checks: tuple[Check, ...] = ()
