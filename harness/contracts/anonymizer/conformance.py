"""Does an anonymizer image keep docs/contracts.md? Tiny speech through it, a few times.

Every run goes through the fence. What can be told only of an image that works, or that repeats,
is not checked of others: each fault is told once, under the clause that it breaks.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.anonymizers.base import Job
from harness.contracts import speech
from harness.contracts.anonymizer.exchange import COLUMNS, write_inputs
from harness.contracts.clauses import Finding, Findings, ended_well, refused, shown
from harness.contracts.inputs import AUDIO, Circumstances, Held
from harness.contracts.wav import read_wav
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import AudioError, ContainerError
from harness.runtime.containers.engine import image_digest, require_engine
from harness.runtime.containers.fence import Fence, Outcome
from harness.runtime.containers.running import run
from harness.runtime.files import folder_fingerprint

# Clauses that are checked, in the order of the document.
CHECKED = (
    *("C1", "C2", "C3", "C4", "C5", "C6", "C7"),
    *("A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "A11"),
)
FENCE = Fence(seconds=300.0, file=64, output=256, log=1)
VERB = "anonymize"
SEED, OTHER_SEED = 1, 2
# Which of the utterances is sent alone.
ALONE = 2

# A5: the larger of the two.
DURATION_SHARE = 0.1
DURATION_SECONDS = 0.1
# A6: of full scale, the mean removed; -60 dBFS.
SILENCE = 0.001 * 32_768
# A7: so many samples in a row at full scale.
CLIPPED_RUN = 3
LIMITS = (-32_768, 32_767)

Speech = list[tuple[Job, Samples]]
Files = dict[str, bytes]


@dataclass(frozen=True)
class _Run:
    """One run: how it ended, and the folder with what it left in /out."""

    outcome: Outcome
    output: Path

    def files(self) -> Files:
        return {
            path.relative_to(self.output).as_posix(): path.read_bytes()
            for path in self.output.rglob("*")
            if path.is_file()
        }


def check(
    image: str,
    parameters: Mapping[str, Any],
    *,
    seeded: bool = True,
    fence: Fence = FENCE,
) -> list[Finding]:
    """One finding for each of `CHECKED`.

    parameters: what the image gets as /in/params.json. seeded: whether the system takes randomness
    from the manifest (its seeds or coefficients); if not, A9 is not checked. Raises ContainerError
    where the engine or the image is missing.
    """
    require_engine()
    image_digest(image)
    with tempfile.TemporaryDirectory() as folder:
        conformance = _Conformance(image, parameters, fence, Path(folder))
        conformance.check(seeded)
    unasked = {} if seeded else {"A9": "the system is said to draw nothing"}
    return conformance.findings.of(CHECKED, unasked)


class _Conformance:
    def __init__(
        self, image: str, parameters: Mapping[str, Any], fence: Fence, folder: Path
    ) -> None:
        self.findings = Findings()
        self._image, self._parameters, self._fence = image, parameters, fence
        self._folder = folder
        self._samples = speech.utterances()

    def check(self, seeded: bool) -> None:
        good = self._given(SEED)
        first = self._good("first", good)
        if first is None:
            return
        for clause in ("C1", "C2"):
            # It started and worked behind the fence.
            self.findings.check(clause, None)
        # Bad input first: nothing of it depends on whether the system repeats.
        self._bad(good, "a file that is no audio", lambda path: path.write_bytes(b"no audio" * 99))
        self._bad(good, "a file that is missing", lambda path: path.unlink())
        again = self._good("again", good, "A8")
        if again is None or not self.findings.check("A8", _difference(first, again)):
            return
        reverse = self._good("reverse", good[::-1], "A11", COLUMNS[::-1])
        if reverse is not None:
            self.findings.check("A11", _difference(first, reverse))
        alone = self._good("alone", [good[ALONE]], "A10")
        if alone is not None:
            self.findings.check("A10", _difference(first, alone))
        # Silence is the same under every seed.
        told = seeded and not self.findings.broken("A6")
        other = self._good("other", self._given(OTHER_SEED), "A9") if told else None
        if other is not None:
            same = "other seeds and coefficients changed no utterance"
            self.findings.check("A9", same if other == first else None)

    def _given(self, seed: int) -> Speech:
        return list(zip(speech.jobs(seed), self._samples, strict=True))

    def _good(
        self,
        name: str,
        given: Speech,
        clause: str | None = None,
        columns: Sequence[str] = COLUMNS,
    ) -> Files | None:
        """The files of a run on good input; None where it failed or left other names.

        clause: what a failure breaks where the image has already worked on such input.
        """
        ran = self._run(name, given, columns)
        if ran is None or not ended_well(ran.outcome, self.findings, clause):
            return None
        files = ran.files()
        if not self.findings.check(clause or "A3", _names(files, given)):
            return None
        for job, samples in given:
            self._listen(ran.output / AUDIO / f"{job.utterance}.wav", samples)
        return files

    def _bad(self, good: Speech, what: str, spoil: Callable[[Path], object]) -> None:
        ran = self._run(what, good, COLUMNS, spoil)
        if ran is not None:
            refused(ran.outcome, self.findings, what)

    def _run(
        self,
        name: str,
        given: Speech,
        columns: Sequence[str],
        spoil: Callable[[Path], object] = lambda path: None,
    ) -> _Run | None:
        inputs, output = self._folder / name / "in", self._folder / name / "out"
        speech = [(job, Held(samples)) for job, samples in given]
        mounts = write_inputs(inputs, speech, self._parameters, Circumstances(), columns)
        spoil(inputs / AUDIO / f"{given[-1][0].utterance}.wav")
        before = folder_fingerprint(inputs)
        try:
            outcome = run(self._image, [VERB], inputs=mounts, output=output, fence=self._fence)
        except ContainerError as error:
            if error.where is not None and error.where.startswith("/out"):
                self.findings.check("A3", f"{shown(error.where)}: {error.what}")
            elif error.where == self._image:
                self.findings.check("C1", shown(error.what))
            else:
                raise
            return None
        changed = folder_fingerprint(inputs) != before
        self.findings.check("C3", "the inputs are not what they were" if changed else None)
        return _Run(outcome, output)

    def _listen(self, path: Path, given: Samples) -> None:
        """Check A4 to A7 of one anonymized utterance."""
        try:
            made = read_wav(path)
        except AudioError as error:
            self.findings.check("A4", f"{path.name}: {error.what}")
            return
        self.findings.check("A4", None)
        for clause, fault in (
            ("A5", _duration(len(made), len(given))),
            ("A6", _silence(made)),
            ("A7", _clipping(made)),
        ):
            self.findings.check(clause, None if fault is None else f"{path.name}: {fault}")


def _names(files: Files, given: Speech) -> str | None:
    wanted = {f"{AUDIO}/{job.utterance}.wav" for job, _ in given}
    missing, further = sorted(wanted - files.keys()), sorted(files.keys() - wanted)
    if missing:
        return f"{len(missing)} of {len(wanted)} files are missing, such as /out/{missing[0]}"
    if further:
        return f"{len(further)} files that no row names, such as /out/{shown(further[0])}"
    return None


def _difference(first: Files, second: Files) -> str | None:
    differing = sorted(name for name in second if second[name] != first[name])
    if not differing:
        return None
    return f"{len(differing)} of {len(second)} utterances differ, such as {differing[0]}"


def _duration(made: int, given: int) -> str | None:
    allowed = max(DURATION_SHARE * given, DURATION_SECONDS * SAMPLE_RATE)
    if abs(made - given) <= allowed:
        return None
    return f"{made} samples from {given}; at most {int(allowed)} more or fewer are allowed"


def _silence(made: Samples) -> str | None:
    loudest = float(np.abs(made - made.mean(dtype=np.float64)).max())
    return f"nothing exceeds {loudest:.0f} of 32768" if loudest < SILENCE else None


def _clipping(made: Samples) -> str | None:
    for limit in LIMITS:
        at = np.concatenate(([0], (made == limit).astype(np.int64), [0]))
        edges = np.flatnonzero(np.diff(at))
        longest = int((edges[1::2] - edges[::2]).max(initial=0))
        if longest >= CLIPPED_RUN:
            return f"{longest} samples in a row stand at {limit}"
    return None
