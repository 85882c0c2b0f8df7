"""The whole verification inside the verifier image: the host only hashes the archive.

The same command runs in the container, on read-only mounts; its table, JSON document, statement and
exit status come back. Both must be about the bytes that the host hashed.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, IntegrityError
from harness.runtime.containers.engine import require_engine
from harness.runtime.containers.fence import Fence
from harness.runtime.containers.running import run
from harness.runtime.files import sha256_file

IMAGE = "harness-verifier"
REPORT = "verification.json"
STATEMENT = "statement.json"
# Of `harness verify`: the three verdicts, and wrong usage.
STATUSES = (0, 1, 2, 64)
FENCE = Fence(memory=2048, processes=64, seconds=900.0, output=512, temporary=512)


@dataclass(frozen=True)
class Contained:
    """What came out. status: the exit status of `harness verify`; errors: its error lines.

    report, statement: the files that it wrote, None where it wrote none.
    """

    status: int
    table: str
    errors: str
    report: bytes | None
    statement: bytes | None


def verify_contained(
    paths: Sequence[Path],
    folders: Mapping[str, Path],
    arguments: Sequence[str],
    *,
    image: str | None = None,
    certified: bool = False,
) -> Contained:
    """Verify submissions in a container.

    folders: options of `harness verify` that name a path, such as `--trials`. arguments: all other
    options. certified: is a statement wanted? Raises ContainerError when the engine or the image
    fails, or a limit ends it, and IntegrityError when what was verified is not what was hashed.
    """
    require_engine()
    image = image or IMAGE
    names = [path.resolve().name for path in paths]
    if len(set(names)) < len(names):
        raise ConfigError("two submissions have one name", fix="verify them one by one")
    hashes = {
        name: sha256_file(path) for name, path in zip(names, paths, strict=True) if path.is_file()
    }
    # A folder each, so that no name is in another's way.
    places = [f"{number}/{name}" for number, name in enumerate(names)]
    inputs = dict(zip(places, paths, strict=True))
    command = ["verify", *(f"/in/{place}" for place in places)]
    for option, path in folders.items():
        place = f"{option.strip('-')}/{path.resolve().name}"
        inputs[place] = path
        command += [option, f"/in/{place}"]
    command += [*arguments, "--json", f"/out/{REPORT}"]
    if certified:
        command += ["--statement", f"/out/{STATEMENT}"]
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "out")
        outcome = run(image, command, inputs=inputs, output=output, fence=FENCE)
        outcome.require(image, STATUSES)
        report, statement = (_written(output / name) for name in (REPORT, STATEMENT))
    if report is not None:
        for one in json.loads(report)["submissions"]:
            _require_hash(one["name"], one["sha256"], hashes)
    if statement is not None:
        subject: dict[str, Any] = json.loads(statement)["subject"][0]
        _require_hash(subject["name"], subject["digest"].get("sha256"), hashes)
    return Contained(
        outcome.status,
        outcome.stdout.decode("utf-8", "replace"),
        outcome.stderr.decode("utf-8", "replace"),
        report,
        statement,
    )


def _written(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _require_hash(name: str, found: str | None, hashes: Mapping[str, str]) -> None:
    """Raises IntegrityError unless the hash, where there is one, is the host's."""
    if found is not None and found != hashes.get(name):
        raise IntegrityError(
            f"the container verified sha256:{found}, the host hashed sha256:{hashes.get(name)}",
            where=name,
            fix="the file changed meanwhile: verify it again",
        )
