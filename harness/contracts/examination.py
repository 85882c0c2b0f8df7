"""An image under examination: its runs through the fence, and what each shows of C1 to C8."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from harness.contracts.clauses import Findings, ended_well, refused
from harness.contracts.inputs import AUDIO, PARAMETERS, read_parameters
from harness.errors import ContainerError
from harness.runtime.containers.engine import image_digest, require_engine
from harness.runtime.containers.fence import Fence, Outcome, shown
from harness.runtime.containers.running import run
from harness.runtime.files import folder_fingerprint

# The clause that says what each verb leaves in /out.
LEAVES = {"anonymize": "A3", "train": "T2", "score": "S4"}
# Bad input.
NO_AUDIO = b"no audio" * 99
UNKNOWN_PARAMETER = {"no_such_parameter": 1}

# Fills a folder with inputs, and says what is mounted where; changes what is in that folder.
Write = Callable[[Path], Mapping[str, Path]]
Change = Callable[[Path], object]


def unchanged(inputs: Path) -> None:
    """Leave the inputs as they were written."""


class Examination:
    """Runs of one image. findings: what they have shown so far."""

    def __init__(self, image: str, fence: Fence, folder: Path) -> None:
        self.findings = Findings()
        self._image, self._fence, self._folder = image, fence, folder
        self._runs = 0

    def started(self) -> None:
        """Note that it works behind the fence."""
        for clause in ("C1", "C2"):
            self.findings.check(clause, None)

    def good(
        self, verb: str, write: Write, clause: str | None = None, change: Change = unchanged
    ) -> Path | None:
        """The folder with what a run on good input left; None where the run failed.

        clause: what a failure breaks where the image has already worked on such input.
        """
        ran = self._run(verb, write, change)
        if ran is None:
            return None
        outcome, output = ran
        return output if ended_well(outcome, self.findings, clause) else None

    def bad(self, verb: str, write: Write, what: str, change: Change, clause: str = "C7") -> None:
        """A run on bad input. what: the input, in words. clause: what taking it breaks."""
        ran = self._run(verb, write, change)
        if ran is not None:
            refused(ran[0], self.findings, f"{verb}, {what}", clause)

    def bad_audio(self, verb: str, write: Write, folder: str = "") -> None:
        """Runs on speech that is not to be had. folder: of the manifest, below /in."""
        faults: dict[str, Change] = {
            "a file that is no audio": lambda path: path.write_bytes(NO_AUDIO),
            "a file that is missing": Path.unlink,
        }
        for what, change in faults.items():
            self.bad(verb, write, what, partial(_change_one, change, folder))

    def unknown_parameter(self, verb: str, write: Write) -> None:
        """A run with a parameter that no system has; only of an image that refuses at all."""
        if not self.findings.broken("C7"):
            self.bad(verb, write, "an unknown parameter", _add_parameter, "C8")

    def _run(self, verb: str, write: Write, change: Change) -> tuple[Outcome, Path] | None:
        self._runs += 1
        folder = self._folder / str(self._runs)
        inputs, output = folder / "in", folder / "out"
        mounts = write(inputs)
        change(inputs)
        before = folder_fingerprint(inputs)
        try:
            outcome = run(self._image, [verb], inputs=mounts, output=output, fence=self._fence)
        except ContainerError as error:
            if error.where is not None and error.where.startswith("/out"):
                self.findings.check(LEAVES[verb], f"{shown(error.where)}: {error.what}")
            elif error.where == self._image:
                self.findings.check("C1", shown(error.what))
            else:
                raise
            return None
        changed = folder_fingerprint(inputs) != before
        self.findings.check("C3", "the inputs are not what they were" if changed else None)
        return outcome, output


def _change_one(change: Change, folder: str, inputs: Path) -> None:
    change(max((inputs / folder / AUDIO).iterdir()))


def _add_parameter(inputs: Path) -> None:
    path = inputs / PARAMETERS
    path.write_text(json.dumps({**read_parameters(path), **UNKNOWN_PARAMETER}), "utf-8")


@contextmanager
def examined(image: str, fence: Fence) -> Iterator[Examination]:
    """An image to be examined while the block runs.

    Raises ContainerError where the engine or the image is missing.
    """
    require_engine()
    image_digest(image)
    with tempfile.TemporaryDirectory() as folder:
        yield Examination(image, fence, Path(folder))
