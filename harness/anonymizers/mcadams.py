"""`mcadams`: B2 of the VoicePrivacy Challenge 2024, as its published definition has it.

Frames of 20 ms every 10 ms under w = sqrt(hann / K), K = sum(hann) / shift; linear prediction of
order 20 (Burg); each complex pole's angle φ becomes ±|φ|^alpha while real poles stay; the residual
goes through the filter of the new poles; overlap-add; peak to 32766, truncated to 16 bits. All
frames are used and no angle is clipped (the system of 2022 differed in both). Samples that lie past
the last full frame come out as 0.

Three deviations, all where the definition yields nothing usable: digital silence stays silence (by
the definition, rounding noise at full scale); an utterance shorter than one window is refused (by
the definition, 0 / 0); and a frame so predictable that rounding makes its filter unstable, such as
a constant, passes through as it is (by the definition, it may overflow).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from harness.anonymizers.base import LEVELS, Job, Level, Source
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import AudioError, ConfigError

Floats = npt.NDArray[np.float64]

AlphasFrom = Literal["seed", "official"]
ALPHAS_FROM: tuple[AlphasFrom, ...] = ("seed", "official")

# First 32 bits of the SHA-256 of "VPC2024": one generator for every data set.
OFFICIAL_SEED = 4_284_258_105
FULL_SCALE = 32_768
PEAK = 32_766
# Added to the samples, and once more to the windowed frames before the analysis.
EPS = float(np.finfo(np.float32).eps)
# Burg's poles lie inside the unit circle but for rounding. Up to here a filter grows at most
# 24-fold within a window of 20 ms; beyond, rounding has destroyed the analysis.
LARGEST_MODULUS = 1.01

WHERE = "anonymizer mcadams"


def _lpc() -> ModuleType:
    # Not at the top: the compiler takes half a second to import, and only workers need it.
    try:
        from harness.anonymizers import lpc
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"the module {error.name} is not installed",
            where=WHERE,
            fix="pip install 'anonymization-harness[mcadams]'",
        ) from error
    return lpc


@dataclass(frozen=True)
class McAdams:
    """McAdams-coefficient anonymizer.

    level: a coefficient alpha per utterance or per speaker.
    alpha_min, alpha_max: alpha is uniform on [alpha_min, alpha_max), no unit.
    alphas_from: `seed` draws each alpha from the seed of its job. `official` repeats the
        challenge's draws: per utterance from one generator that starts anew in every data set, in
        C order of the utterances; per speaker from a generator seeded by the speaker's name. So
        the utterances at the same position of two sets (enrolments and trials, say) share their
        alpha, and a speaker's alpha follows from the name: an attacker who knows the order or the
        names knows every alpha. Use it to reproduce the official data only.
    window_ms, shift_ms: milliseconds, cut to whole samples.
    lp_order: order of the linear prediction.

    Raises ConfigError for a value out of range.
    """

    name: ClassVar[str] = "mcadams"
    image: ClassVar[str | None] = "anonymizer-b2"
    level: Level = "utterance"
    alpha_min: float = 0.5
    alpha_max: float = 0.9
    alphas_from: AlphasFrom = "seed"
    window_ms: float = 20
    shift_ms: float = 10
    lp_order: int = 20

    def __post_init__(self) -> None:
        self._check_choice("level", LEVELS)
        self._check_choice("alphas_from", ALPHAS_FROM)
        for parameter in ("alpha_min", "alpha_max", "window_ms", "shift_ms"):
            value = getattr(self, parameter)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 < value < math.inf:
                raise ConfigError(
                    f"{parameter} is {value!r}", where=WHERE, fix="give a number above 0"
                )
        if self.alpha_min > self.alpha_max:
            raise ConfigError(
                f"alpha_min {self.alpha_min} is above alpha_max {self.alpha_max}",
                where=WHERE,
                fix="swap them",
            )
        if not 1 <= self.shift_samples <= self.window_samples:
            raise ConfigError(
                f"shift_ms {self.shift_ms} does not fit window_ms {self.window_ms}",
                where=WHERE,
                fix="give a shift between one sample and the window",
            )
        order = self.lp_order
        if not isinstance(order, int) or isinstance(order, bool) or order < 1:
            raise ConfigError(f"lp_order is {order!r}", where=WHERE, fix="give a whole number >= 1")
        if order + 2 > self.window_samples:
            raise ConfigError(
                f"lp_order {order} is too high for a window of {self.window_samples} samples",
                where=WHERE,
                fix="lower lp_order or raise window_ms",
            )

    def _check_choice(self, parameter: str, choices: Sequence[str]) -> None:
        value = getattr(self, parameter)
        if value not in choices:
            raise ConfigError(
                f"{parameter} is {value!r}", where=WHERE, fix=f"choose one of: {', '.join(choices)}"
            )

    @property
    def window_samples(self) -> int:
        """Samples of a frame."""
        return int(self.window_ms * SAMPLE_RATE / 1000)

    @property
    def shift_samples(self) -> int:
        """Samples from one frame's start to the next's."""
        return int(self.shift_ms * SAMPLE_RATE / 1000)

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """One alpha per utterance, in the order given; see the class for where they come from."""
        if self.alphas_from == "seed":
            drawn = [self._alpha(seed) for _, seed in zip(sources, seeds, strict=True)]
        elif self.level == "speaker":
            drawn = [self._alpha(_name_seed(source.speaker)) for source in sources]
        else:
            generator = np.random.default_rng(OFFICIAL_SEED)
            sequence = generator.uniform(self.alpha_min, self.alpha_max, len(sources))
            names = sorted(source.utterance.encode("utf-8") for source in sources)
            of_name = dict(zip(names, sequence.tolist(), strict=True))
            drawn = [of_name[source.utterance.encode("utf-8")] for source in sources]
        return list(drawn)

    def _alpha(self, seed: int) -> float:
        return float(np.random.default_rng(seed).uniform(self.alpha_min, self.alpha_max))

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """Anonymized speech: as many mono 16 kHz int16 samples as given, (samples,) → (samples,).

        Depends on the samples and `job.alpha` alone. All-zero samples are returned as zeros. Raises
        ConfigError without an alpha above 0; AudioError for samples that are not mono int16 and for
        fewer than one window.
        """
        where = f"utterance {job.utterance}"
        if job.alpha is None or not 0 < job.alpha < math.inf:
            raise ConfigError(
                f"the McAdams coefficient is {job.alpha}",
                where=where,
                fix="put one of those from `alphas` into the job",
            )
        if samples.dtype != np.int16 or samples.ndim != 1:
            raise AudioError(
                f"audio is {samples.dtype} of {samples.ndim} dimensions, not mono 16-bit",
                where=where,
                fix="convert it",
            )
        if len(samples) < self.window_samples:
            raise AudioError(
                f"{len(samples)} samples are fewer than one window of {self.window_samples}",
                where=where,
                fix="leave the utterance out",
            )
        if not samples.any():
            return np.zeros_like(samples)
        speech = self._resynthesized(samples, job.alpha, where)
        peak = float(np.abs(speech).max())
        anonymized: Samples = (speech / peak * PEAK).astype(np.int16)
        return anonymized

    def _resynthesized(self, samples: Samples, alpha: float, where: str) -> Floats:
        lpc = _lpc()
        speech = samples / FULL_SCALE + EPS
        hann = np.hanning(self.window_samples)
        window = np.sqrt(hann / (hann.sum() / self.shift_samples))
        analysis = lpc.burg(speech, window, self.shift_samples, self.lp_order, EPS)
        flat = np.zeros(self.lp_order + 1)
        flat[0] = 1
        analysis[~np.isfinite(analysis).all(axis=1)] = flat
        poles = lpc.poles(analysis)
        destroyed = np.abs(poles).max(axis=1) > LARGEST_MODULUS
        analysis[destroyed] = flat
        poles[destroyed] = 0
        synthesis = lpc.shifted(poles, float(alpha))
        result: Floats = lpc.resynthesize(speech, window, self.shift_samples, analysis, synthesis)
        return result


def _name_seed(name: str) -> int:
    return int(hashlib.sha256(name.encode("utf-8")).hexdigest()[:8], 16)
