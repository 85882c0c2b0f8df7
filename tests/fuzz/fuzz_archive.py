"""Any bytes as an archive: members that are what they say, or one clear refusal."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from hostile import HOSTILE
from packed import SOUND, outcome

from harness.submissions.limits import Limits

# Low, so that an input that reaches them does so soon.
LIMITS = Limits(members=100, total_mib=4, file_mib=2)
LARGEST_SEED = 64 << 10


def seeds() -> Iterator[bytes]:
    """Sound archives of all kinds, and the hostile ones that are small files."""
    for sound in SOUND.values():
        yield sound()
    for hostile in HOSTILE.values():
        with tempfile.TemporaryDirectory() as folder:
            path = hostile.write(Path(folder))
            if path.is_file() and path.stat().st_size <= LARGEST_SEED:
                yield path.read_bytes()


def one_input(data: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        outcome(Path(file.name), LIMITS)
