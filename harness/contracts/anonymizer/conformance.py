"""Does an anonymizer image keep docs/contracts.md? Tiny speech through it, a few times.

Every run goes through the fence. What can be told only of an image that works, or that repeats,
is not checked of others: each fault is told once, under the clause that it breaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from harness.anonymizers.base import Job
from harness.contracts import speech
from harness.contracts.anonymizer.exchange import COLUMNS, VERB, write_inputs
from harness.contracts.clauses import Finding
from harness.contracts.examination import Examination, Write, examined
from harness.contracts.inputs import AUDIO, Circumstances, Held
from harness.contracts.wav import read_wav
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import AudioError
from harness.runtime.containers.fence import Fence, shown

# Clauses that are checked, in the order of the document.
CHECKED = (
    *("C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9"),
    *("A3", "A4", "A5", "A6", "A7", "A8", "A9", "A10", "A11"),
)
FENCE = Fence(seconds=300.0, file=64, output=256, log=1)
SEED, OTHER_SEED = 1, 2
CIRCUMSTANCES, OTHER_CIRCUMSTANCES = (
    Circumstances(),
    Circumstances(threads=2, seed=3, system="other"),
)
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
    with examined(image, fence) as examination:
        _Conformance(examination, parameters).check(seeded)
    unasked = {} if seeded else {"A9": "the system is said to draw nothing"}
    return examination.findings.of(CHECKED, unasked)


class _Conformance:
    def __init__(self, examination: Examination, parameters: Mapping[str, Any]) -> None:
        self.examination, self.findings = examination, examination.findings
        self._parameters = parameters
        self._samples = speech.utterances()

    def check(self, seeded: bool) -> None:
        good = self._given(SEED)
        first = self._good(good)
        if first is None:
            return
        self.examination.started()
        # Bad input first: nothing of it depends on whether the system repeats.
        write = self._write(good)
        self.examination.bad_audio(VERB, write)
        self.examination.unknown_parameter(VERB, write)
        again = self._good(good, "A8")
        if again is None or not self.findings.check("A8", _difference(first, again)):
            return
        elsewhere = self._good(good, "C9", circumstances=OTHER_CIRCUMSTANCES)
        if elsewhere is not None:
            self.findings.check("C9", _difference(first, elsewhere))
        reverse = self._good(good[::-1], "A11", COLUMNS[::-1])
        if reverse is not None:
            self.findings.check("A11", _difference(first, reverse))
        alone = self._good([good[ALONE]], "A10")
        if alone is not None:
            self.findings.check("A10", _difference(first, alone))
        # Silence is the same under every seed.
        told = seeded and not self.findings.broken("A6")
        other = self._good(self._given(OTHER_SEED), "A9") if told else None
        if other is not None:
            same = "other seeds and coefficients changed no utterance"
            self.findings.check("A9", same if other == first else None)

    def _given(self, seed: int) -> Speech:
        return list(zip(speech.jobs(seed), self._samples, strict=True))

    def _write(
        self,
        given: Speech,
        columns: Sequence[str] = COLUMNS,
        circumstances: Circumstances = CIRCUMSTANCES,
    ) -> Write:
        return partial(
            write_inputs,
            speech=[(job, Held(samples)) for job, samples in given],
            parameters=self._parameters,
            circumstances=circumstances,
            columns=columns,
        )

    def _good(
        self,
        given: Speech,
        clause: str | None = None,
        columns: Sequence[str] = COLUMNS,
        circumstances: Circumstances = CIRCUMSTANCES,
    ) -> Files | None:
        """The files of a run on good input; None where it failed or left other names.

        clause: what a failure breaks where the image has already worked on such input.
        """
        output = self.examination.good(VERB, self._write(given, columns, circumstances), clause)
        if output is None:
            return None
        files = {
            path.relative_to(output).as_posix(): path.read_bytes()
            for path in output.rglob("*")
            if path.is_file()
        }
        if not self.findings.check(clause or "A3", _names(files, given)):
            return None
        for job, samples in given:
            self._listen(output / AUDIO / f"{job.utterance}.wav", samples)
        return files

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
