"""The whole verification inside the verifier image: the host only hashes the archive.

The same command runs in the container, on read-only mounts; its table, JSON document, statement and
exit status come back. Document and statement must be about the bytes that the host hashed. Each
submission has a container of its own, so that none ends another's.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import __version__
from harness.errors import ContainerError, IntegrityError
from harness.runtime.containers.engine import image_code, require_engine
from harness.runtime.containers.fence import Fence, printable
from harness.runtime.containers.running import run
from harness.runtime.files import code_fingerprint, sha256_file
from harness.submissions.document import FORMAT
from harness.submissions.shown import json_text
from harness.submissions.verdict import worst

IMAGE = "harness-verifier"
REPORT = "verification.json"
STATEMENT = "statement.json"
# Of `harness verify`: the three verdicts, and wrong usage.
STATUSES = (0, 1, 2, 64)
# Verified and refuted: these are said of what was read, and written down.
DECIDED = (0, 1)
FIX = "build the image anew: make images"
# What a document has of each submission by itself.
PARTS = ("lists", "averages", "claims", "measures", "checks", "explanations")
PLACE = "submission"
FENCE = Fence(memory=2048, processes=64, seconds=900.0, output=512, temporary=512)


@dataclass(frozen=True)
class Contained:
    """What came out. status: the exit status of `harness verify`; errors: its error lines.

    table, errors: safe on a terminal. report, statement: the files that it wrote, None where it
    wrote none.
    """

    status: int
    table: str
    errors: str
    report: bytes | None
    statement: bytes | None


def verify_contained(
    path: Path,
    folders: Mapping[str, Path],
    arguments: Sequence[str],
    *,
    image: str | None = None,
    certified: bool = False,
) -> Contained:
    """Verify a submission in a container.

    folders: options of `harness verify` that name a path, such as `--trials`. arguments: all other
    options. certified: is a statement wanted? image: None for the harness's own, which must be of
    this code. Raises ContainerError when the engine or the image fails, or a limit ends it, and
    IntegrityError when what was verified is not what was hashed.
    """
    require_engine()
    if image is None:
        image = IMAGE
        if image_code(image) != code_fingerprint():
            raise ContainerError("was built from other code of the harness", where=image, fix=FIX)
    name = path.resolve().name
    # In a folder of its own, so that no name is in another's way.
    inputs = {f"{PLACE}/{name}": path}
    command = ["verify", f"/in/{PLACE}/{name}"]
    digest = sha256_file(path) if path.is_file() else None
    for option, folder in folders.items():
        place = f"{option.strip('-')}/{folder.resolve().name}"
        inputs[place] = folder
        command += [option, f"/in/{place}"]
    command += [*arguments, "--json", f"/out/{REPORT}"]
    if certified:
        command += ["--statement", f"/out/{STATEMENT}"]
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch, "out")
        outcome = run(image, command, inputs=inputs, output=output, fence=FENCE)
        outcome.require(image, STATUSES)
        report, statement = (_written(output / name) for name in (REPORT, STATEMENT))
    if outcome.status in DECIDED and (report is None or (certified and statement is None)):
        raise ContainerError("the container left no verification", where=image, fix=FIX)
    try:
        if report is not None:
            found = json.loads(report.decode("utf-8"))["submissions"][0]["sha256"]
            # An archive that cannot be read has no hash there.
            _require_hash(name, found or digest, digest)
        if statement is not None:
            subject = json.loads(statement.decode("utf-8"))["subject"][0]
            _require_hash(name, subject["digest"].get("sha256"), digest)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ContainerError("the container left no verification", where=image, fix=FIX) from error
    return Contained(
        outcome.status,
        printable(outcome.stdout),
        printable(outcome.stderr),
        report,
        statement,
    )


def _written(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _require_hash(name: str, found: Any, expected: str | None) -> None:
    """Raises IntegrityError unless the hash is the host's; both have none of a folder."""
    if found != expected:
        raise IntegrityError(
            f"the container verified sha256:{found}, the host hashed sha256:{expected}",
            where=name,
            fix="the file changed meanwhile: verify it again",
        )


def merged(benchmark: str, verified: Mapping[str, Contained]) -> str:
    """One JSON document of several, by the name of each submission, as one verification has it.

    Of what has no report, `message` tells why. Scores that two share were not looked for.
    """
    documents = [json.loads(one.report) for one in verified.values() if one.report is not None]
    failed: list[dict[str, Any]] = [
        {"name": name, "sha256": None, "verdict": "not checkable", "message": one.errors.strip()}
        for name, one in verified.items()
        if one.report is None
    ]
    content = {
        "format": FORMAT,
        "harness": __version__,
        "benchmark": benchmark,
        "verdict": worst(one["verdict"] for one in [*documents, *failed]),
        "submissions": [*(one for each in documents for one in each["submissions"]), *failed],
        # Of a list whose hash nobody knows each submission may state another one.
        "trials": list(
            {
                (one["list"], one["sha256"]): one for each in documents for one in each["trials"]
            }.values()
        ),
        **{name: [one for each in documents for one in each[name]] for name in PARTS},
    }
    return json_text(content)
