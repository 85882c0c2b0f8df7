"""`image`: an anonymizer that is a container image and keeps docs/contracts.md.

An entry of params.yaml such as `{type: image, image: sha256:…, parameters: {strength: 2}}` is all
that a stranger's system needs to take part; the harness's own are run by the same code where
`runner: docker` asks for it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from harness.anonymizers.base import Anonymizer, Device, Job, Level, Source
from harness.contracts.allowance import allowance
from harness.contracts.anonymizer.exchange import VERB, write_inputs
from harness.contracts.inputs import AUDIO, Circumstances, Held, Sound
from harness.contracts.naming import require_digest
from harness.contracts.wav import read_wav
from harness.contracts.working import run_image
from harness.corpora.store import Samples
from harness.errors import ContainerError
from harness.runtime.events import Events

# Of the speech given. A5 allows a tenth more, or a tenth of a second.
OUTPUT_SHARE = 2


@dataclass(frozen=True, kw_only=True)
class ImageAnonymizer:
    """A stranger's system, always in a container.

    image: by its digest. parameters: what it gets as /in/params.json. Raises ConfigError for an
    image that is not named by its digest.
    """

    name: ClassVar[str] = "image"
    image: str
    level: Level = "utterance"
    parameters: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_digest(self.image)

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients: it draws from the seeds."""
        return [None] * len(sources)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """Anonymized speech of one utterance, in a container of its own. Errors as of `batch`."""
        with (
            tempfile.TemporaryDirectory() as work,
            self.batch([(job, Held(samples))], work=Path(work, "batch")) as made,
        ):
            return made[job.utterance]()

    @contextmanager
    def batch(
        self,
        speech: Sequence[tuple[Job, Sound]],
        *,
        work: Path,
        threads: int = 1,
        device: Device = "cpu",
        events: Events | None = None,
    ) -> Iterator[Mapping[str, Callable[[], Samples]]]:
        """Anonymize utterances in one container; see `BatchAnonymizer.batch`.

        Raises ContainerError when the image fails or leaves other files than those asked for. What
        is no speech raises AudioError when it is read.
        """
        # A killed run may have left something.
        shutil.rmtree(work, ignore_errors=True)
        try:
            inputs = write_inputs(
                work / "in",
                sorted(speech, key=lambda one: one[0].utterance),
                self.parameters,
                Circumstances(threads=threads, device=device),
            )
            given = sum(path.stat().st_size for path in inputs[AUDIO].iterdir())
            run_image(
                self.image,
                VERB,
                inputs,
                work / "out",
                fence=allowance(
                    utterances=len(speech),
                    output=OUTPUT_SHARE * given,
                    files=len(speech),
                    cpus=threads,
                ),
                device=device,
                events=events,
            )
            yield self._made(work / "out", [job for job, _ in speech])
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def _made(self, output: Path, jobs: Sequence[Job]) -> dict[str, Callable[[], Samples]]:
        places = {job.utterance: output / AUDIO / f"{job.utterance}.wav" for job in jobs}
        found = {path for path in output.rglob("*") if path.is_file()}
        missing = [name for name, path in places.items() if path not in found]
        further = len(found) - (len(places) - len(missing))
        if missing or further:
            lacks = f", {missing[0]} for one" if missing else ""
            raise ContainerError(
                f"{len(missing)} of {len(places)} files are missing{lacks}, {further} are further",
                where=self.image,
                fix="mend the image (clause A3)",
            )
        return {name: partial(read_wav, path) for name, path in places.items()}


@dataclass(frozen=True, kw_only=True)
class ContainedAnonymizer(ImageAnonymizer):
    """One of the harness's own in its image. own: draws its coefficients, here on the host."""

    own: Anonymizer

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """Its own, so that they are the same under either runner."""
        return self.own.alphas(sources, seeds)
