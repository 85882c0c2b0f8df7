"""`pitch-smoothing`: another system, and then a smoother pitch.

Team NTU-NPU's T12-5 of 2024 adds it to B5 (the Attacker Challenge's evaluation plan, section 3);
their paper calls it mean reversion of F0 (arXiv:2410.02371). Their settings are in neither, so the
defaults here are ours.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from harness.anonymizers import world
from harness.anonymizers.base import Device, Job, Source, batch_of
from harness.anonymizers.composite import Composite, Entry
from harness.anonymizers.samples import finish
from harness.corpora.opaque import Recording
from harness.corpora.store import Samples
from harness.errors import ConfigError
from harness.runtime.events import Events

LONGEST_MS = 1_000.0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PitchSmoothing(Composite):
    """The speech of a system, its F0 smoothed and made again by WORLD.

    system: the entry of that system. reversion: share of the way that each log F0 moves to the
    utterance's mean, 0 (stays) to 1 (monotone). window_ms: length of a moving average of log F0
    within a voiced stretch, in milliseconds, 0 (none) to 1000, rounded up to an odd number of
    frames. Raises ConfigError for a value out
    of range, or a system that cannot be loaded.
    """

    name: ClassVar[str] = "pitch-smoothing"
    system: Entry
    reversion: float = 0.5
    window_ms: float = 100.0

    def entries(self) -> Mapping[str, Entry]:
        """The one system."""
        return {"system": self.system}

    def __post_init__(self) -> None:
        super().__post_init__()
        for parameter, most in (("reversion", 1.0), ("window_ms", LONGEST_MS)):
            value = getattr(self, parameter)
            if not 0 <= value <= most:
                raise ConfigError(
                    f"{parameter} is {value}",
                    where=self.name,
                    fix=f"give a number from 0 to {most:g}",
                )

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """Those of the system."""
        return self.parts[0].alphas(sources, seeds)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """What the system makes of the samples, with a smoother pitch and of the same length."""
        return self._smoothed(self.parts[0].anonymize(samples, job))

    @contextmanager
    def batch(
        self,
        speech: Sequence[tuple[Job, Recording]],
        *,
        work: Path,
        threads: int,
        device: Device,
        events: Events,
    ) -> Iterator[Mapping[str, Callable[[], Samples]]]:
        """The system's batch; each utterance is smoothed when it is read."""
        batch = batch_of(
            self.parts[0], speech, work=work, threads=threads, device=device, events=events
        )
        with batch as made:
            yield {name: partial(self._smoothed_of, one) for name, one in made.items()}

    def _smoothed_of(self, made: Callable[[], Samples]) -> Samples:
        return self._smoothed(made())

    def _smoothed(self, samples: Samples) -> Samples:
        if not samples.any():
            return samples
        analysis = world.analyse(samples)
        window = round(self.window_ms / world.FRAME_MS)
        f0 = smoothed(analysis.f0, window, self.reversion)
        speech = world.synthesize(dataclasses.replace(analysis, f0=f0), len(samples))
        return finish(speech)


def smoothed(f0: Floats, window: int, reversion: float) -> Floats:
    """An F0 contour in Hz, (frames,) → (frames,), 0 where unvoiced, which stays as it is.

    window: frames of the moving average, which ends where a voiced stretch does and is shorter
    there; up to 1: none. reversion: as of `PitchSmoothing`, after the average.
    """
    voiced = f0 > 0
    result = np.zeros(len(f0))
    if not voiced.any():
        return result
    edges = np.flatnonzero(np.diff(np.concatenate(([0], voiced.astype(np.int8), [0]))))
    for start, stop in zip(edges[::2], edges[1::2], strict=True):
        log_f0 = np.log(f0[start:stop])
        # Sums over [place - half, place + half], cut at the ends of the stretch.
        sums = np.concatenate(([0.0], np.cumsum(log_f0)))
        places = np.arange(stop - start)
        half = window // 2
        first, last = np.maximum(places - half, 0), np.minimum(places + half + 1, stop - start)
        result[start:stop] = (sums[last] - sums[first]) / (last - first)
    mean = result[voiced].mean()
    result[voiced] = np.exp(mean + (1 - reversion) * (result[voiced] - mean))
    return result
