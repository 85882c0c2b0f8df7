"""The whole verification inside the verifier image: the host only hashes the archive.

The same command runs in the container, on read-only mounts; its table, JSON document and exit
status come back. The document must be about the bytes that the host hashed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import ContainerError, IntegrityError
from harness.runtime.containers import Fence, Outcome, require_engine, run
from harness.runtime.files import sha256_file

IMAGE = "harness-verifier"
REPORT = "verification.json"
STATUSES = (0, 1, 2, 64)
LARGEST_REPORT = 256 << 20
FENCE = Fence(memory=2048, processes=64, seconds=600.0, output=512)


@dataclass(frozen=True)
class Contained:
    """What came out. status: the exit status of `harness verify`; report: its JSON document."""

    status: int
    table: str
    errors: str
    report: str | None


def verify_contained(
    paths: Sequence[Path], folders: dict[str, Path], arguments: Sequence[str], image: str = IMAGE
) -> Contained:
    """Verify submissions in a container.

    folders: options of `harness verify` that name a path, such as `--trials`. arguments: all other
    options. Raises ContainerError when the engine or the image fails, or a limit ends it, and
    IntegrityError when what was verified is not what the host hashed.
    """
    require_engine()
    hashes = {path.resolve().name: sha256_file(path) for path in paths if path.is_file()}
    inputs, command = {}, ["verify"]
    for number, path in enumerate(paths):
        place = f"{number}/{path.resolve().name}"
        inputs[place] = path
        command.append(f"/in/{place}")
    for option, path in folders.items():
        place = f"{option.strip('-')}/{path.resolve().name}"
        inputs[place] = path
        command += [option, f"/in/{place}"]
    with tempfile.TemporaryDirectory() as scratch:
        outcome = run(
            image,
            [*command, *arguments, "--json", f"/out/{REPORT}"],
            inputs=inputs,
            output=Path(scratch),
            fence=FENCE,
        )
        _require_end(outcome, image)
        written = Path(scratch, REPORT)
        report = written.read_text(encoding="utf-8") if written.exists() else None
    if report is not None:
        _require_hashes(report, hashes)
    return Contained(
        outcome.status,
        outcome.stdout.decode("utf-8", "replace"),
        outcome.stderr.decode("utf-8", "replace"),
        report,
    )


def _require_end(outcome: Outcome, image: str) -> None:
    if outcome.stopped is not None:
        raise ContainerError(f"the verification {outcome.stopped}", where=image, fix="see --help")
    if outcome.status not in STATUSES:
        said = outcome.stderr.decode("utf-8", "replace").strip().splitlines() or ["nothing said"]
        raise ContainerError(
            f"the verification failed with status {outcome.status} ({said[-1]})",
            where=image,
            fix="build the image again: make images",
        )


def _require_hashes(report: str, hashes: dict[str, str]) -> None:
    for submission in json.loads(report)["submissions"]:
        name, found = Path(submission["name"]).name, submission["sha256"]
        if found is not None and found != hashes.get(name):
            raise IntegrityError(
                f"the container verified sha256:{found}, the host hashed "
                f"sha256:{hashes.get(name)}",
                where=name,
                fix="the file changed meanwhile: run it again",
            )
