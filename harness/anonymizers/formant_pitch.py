"""`formant-pitch`: spectral envelope and F0 warped by WORLD (harness/anonymizers/world.py).

Formants follow the length of the vocal tract. The envelope's frequencies are multiplied by a drawn
factor, as in vocal tract length normalisation (`harness.anonymizers.world.warped`). log F0 is moved
to a drawn mean, and its deviations from it are multiplied by a drawn factor, so the utterance's own
mean is gone. Timing, and what of the voice is neither formants nor F0, stay: a simple system, not a
strong one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from harness.anonymizers import world
from harness.anonymizers.base import LEVELS, Job, Level, Source, check_choice
from harness.anonymizers.samples import check_samples, finish
from harness.corpora.store import Samples
from harness.errors import ConfigError
from harness.runtime.seeds import derived_seed

WHERE = "anonymizer formant-pitch"


@dataclass(frozen=True)
class Drawn:
    """What a seed determines. formant: factor. pitch_hz: mean F0. pitch_range: factor."""

    formant: float
    pitch_hz: float
    pitch_range: float


@dataclass(frozen=True)
class FormantPitch:
    """Formant and pitch shift.

    level: a draw per utterance or per speaker.
    formant_min, formant_max: factor of the formants, 0.5 to 2, drawn uniformly on a log scale.
    formant_apart: no factor between 1 / formant_apart and formant_apart is drawn, at least 1: so
        nobody's formants stay as they are.
    pitch_min, pitch_max: geometric mean F0 of the output, 71 to 500 Hz, drawn uniformly on a log
        scale. What lies outside 71 to 800 Hz is cut to that.
    range_min, range_max: factor of the deviations of log F0, 0 (monotone) to 3, drawn uniformly.

    Raises ConfigError for a value out of range.
    """

    name: ClassVar[str] = "formant-pitch"
    # Nothing to isolate: it works in this process under either runner.
    image: ClassVar[str | None] = None
    level: Level = "utterance"
    formant_min: float = 0.8
    formant_max: float = 1.25
    formant_apart: float = 1.1
    pitch_min: float = 90
    pitch_max: float = 240
    range_min: float = 0.7
    range_max: float = 1.2

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS, WHERE)
        for quantity, least, most in (
            ("formant", 0.5, 2.0),
            ("pitch", world.F0_FLOOR, 500.0),
            ("range", 0.0, 3.0),
        ):
            low, high = getattr(self, f"{quantity}_min"), getattr(self, f"{quantity}_max")
            if not least <= low <= high <= most:
                raise ConfigError(
                    f"{quantity}_min and {quantity}_max are {low} and {high}",
                    where=WHERE,
                    fix=f"give two numbers from {least:g} to {most:g}, the lower one first",
                )
        if not self.formant_apart >= 1 or not self._formants():
            raise ConfigError(
                f"formant_apart is {self.formant_apart}",
                where=WHERE,
                fix="give a number from 1 to formant_max or 1 / formant_min",
            )

    def _formants(self) -> list[tuple[float, float]]:
        # Intervals of the logarithm of the factor.
        least, most = math.log(self.formant_min), math.log(self.formant_max)
        apart = math.log(self.formant_apart)
        intervals = [(least, min(most, -apart)), (max(least, apart), most)]
        return [(low, high) for low, high in intervals if low <= high]

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients."""
        return [None] * len(sources)

    def drawn(self, seed: int) -> Drawn:
        """The draws of a job's seed."""
        generator = np.random.default_rng(derived_seed(seed, self.name))
        place, pitch, spread = generator.random(3)
        intervals = self._formants()
        place *= sum(high - low for low, high in intervals)
        for low, high in intervals:
            if place <= high - low:
                break
            place -= high - low
        return Drawn(
            formant=math.exp(min(low + place, high)),
            pitch_hz=float(self.pitch_min * (self.pitch_max / self.pitch_min) ** pitch),
            pitch_range=float(self.range_min + (self.range_max - self.range_min) * spread),
        )

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """Anonymized speech: as many mono 16 kHz int16 samples as given, (samples,) → (samples,).

        Depends on the samples and `job.seed` alone. The peak is at 32766; all-zero samples stay
        zeros. Raises AudioError for samples that are not mono int16.
        """
        check_samples(samples, job)
        if not samples.any():
            return np.zeros_like(samples)
        draw = self.drawn(job.seed)
        analysis = world.analyse(samples)
        changed = world.Analysis(
            f0=world.moved(analysis.f0, draw.pitch_hz, draw.pitch_range),
            envelope=np.exp(world.warped(np.log(analysis.envelope), draw.formant)),
            aperiodicity=world.warped(analysis.aperiodicity, draw.formant),
        )
        return finish(world.synthesize(changed, len(samples)))
