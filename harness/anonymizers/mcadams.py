"""`mcadams`: B2 of the VoicePrivacy Challenge, as its published definitions have it.

Frames of 20 ms every 10 ms under w = sqrt(hann / K), K = sum(hann) / shift; linear prediction of
order 20 (Burg); each complex pole's angle φ becomes ±|φ|^alpha while real poles stay; the residual
goes through the filter of the new poles; overlap-add; peak to 32766, truncated to 16 bits. Samples
that lie past the last full frame come out as 0.

The definition of 2022 is older and differs from that of 2024 in two points. It leaves the first
frame out, so an utterance begins with one shift of zeros and its next shift rises under the window.
And it clips a moved angle to [0, π]: where alpha is above 1, poles meet at the end of the spectrum
that in 2024 turn past it and come down again. (It moves every second complex root and gives the
next one the opposite angle. The eigenvalues that `numpy.roots` takes come in pairs, the one above
the axis first, so that this is the same as ±|φ|^alpha.) All else is the same, down to the two
additions of epsilon. Not repeated: its coefficients, from Python's salted hash or unseeded; and its
librosa 0.7.1, which ends the run at a frame whose prediction error comes out as 0 or below.

Three deviations, all where a definition yields nothing usable: digital silence stays silence (by
the definition, rounding noise at full scale); an utterance too short for one frame is refused (by
the definition, 0 / 0), under 2022 for two; and a frame so predictable that rounding makes its
filter unstable, such as a constant, passes through as it is (by the definition, it may overflow).
Where alpha is far above 1 (from 1.5 under 2022, 3 under 2024), moved poles meet, and rounding alone
changes speech by more than one 16-bit step.

Sources: Voice-Privacy-Challenge-2024, anonymization/modules/mcadams (`anonym_v2`), and
Voice-Privacy-Challenge-2022, baseline/local/anon; both anonymise_dir_mcadams_rand_seed.py.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import ClassVar, Literal

import numpy as np

from harness.anonymizers.base import LEVELS, Device, Job, Level, Source, check_choice
from harness.anonymizers.lpc_framing import Framing, floats, integers
from harness.anonymizers.samples import check_samples
from harness.corpora.opaque import Recording
from harness.corpora.store import SAMPLE_RATE, Samples
from harness.errors import AudioError, ConfigError
from harness.runtime.events import Events

AlphasFrom = Literal["seed", "official"]
ALPHAS_FROM: tuple[AlphasFrom, ...] = ("seed", "official")
Definition = Literal["2024", "2022"]
DEFINITIONS: tuple[Definition, ...] = ("2024", "2022")

# First 32 bits of the SHA-256 of "VPC2024": one generator for every data set.
OFFICIAL_SEED = 4_284_258_105
# Of utterances that a GPU gets at once, five minutes: together they fill its cores.
SAMPLES_AT_ONCE = 300 * SAMPLE_RATE

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

    level: what has a coefficient alpha of its own.
    alpha_min, alpha_max: alpha is uniform on [alpha_min, alpha_max), no unit.
    alphas_from: `seed` draws each alpha from the seed of its job. `official` repeats the
        challenge's draws: per utterance from one generator that starts anew in every data set, in
        C order of the utterances; per speaker from a generator seeded by the speaker's name. So
        the utterances at the same position of two sets (enrolments and trials, say) share their
        alpha, and a speaker's alpha follows from the name: an attacker who knows the order or the
        names knows every alpha. Use it to reproduce the official data only. Of the definition of
        2022, and per speaker in each set, there are no official draws that could be repeated.
    definition: '2024' or '2022'; see the module for how they differ.
    window_ms, shift_ms: milliseconds, cut to whole samples.
    lp_order: order of the linear prediction.

    Raises ConfigError for a value out of range.
    """

    name: ClassVar[str] = "mcadams"
    image: ClassVar[str | None] = "anonymizer-b2"
    gpu: ClassVar[bool] = True
    level: Level = "utterance"
    alpha_min: float = 0.5
    alpha_max: float = 0.9
    alphas_from: AlphasFrom = "seed"
    window_ms: float = 20
    shift_ms: float = 10
    lp_order: int = 20
    definition: Definition = "2024"

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS, WHERE)
        check_choice("alphas_from", self.alphas_from, ALPHAS_FROM, WHERE)
        check_choice("definition", self.definition, DEFINITIONS, WHERE)
        if self.alphas_from == "official":
            self._check_official()
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

    def _check_official(self) -> None:
        if self.definition == "2022":
            raise ConfigError(
                "the official coefficients of 2022 cannot be repeated: their seed was Python's "
                "hash(), salted anew in every process, or none",
                where=WHERE,
                fix="give alphas_from: seed, or definition: '2024'",
            )
        if self.level == "speaker-in-set":
            raise ConfigError(
                f"there are no official coefficients at the level {self.level}",
                where=WHERE,
                fix="give alphas_from: seed, or another level",
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

        Depends on the samples and `job.alpha` alone. Where the frames hold zeros only, zeros are
        returned. Raises ConfigError without an alpha above 0; AudioError for samples that are not
        mono int16 and for too few for one frame.
        """
        alpha, framing = self._checked(samples, job), self._framing
        if not len(framing.starts(samples)):
            return np.zeros_like(samples)
        return integers(_lpc().with_moved_poles(floats(samples), alpha, framing))

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
        """On a GPU all are computed at once; see `Accelerated`.

        Within one 16-bit step of the same on a CPU; a constant stretch, where rounding decides, may
        differ by more.
        """
        made = [one for group in _groups(speech) for one in self.together(group, device)]
        names = [job.utterance for job, _ in speech]
        yield {name: partial(np.asarray, one) for name, one in zip(names, made, strict=True)}

    def together(self, speech: Sequence[tuple[Job, Samples]], device: str) -> list[Samples]:
        """What `anonymize` gives of each, computed on a device that torch names so."""
        _lpc()
        from harness.anonymizers import lpc_torch

        alphas = [self._checked(samples, job) for job, samples in speech]
        return lpc_torch.together([samples for _, samples in speech], alphas, self._framing, device)

    def _checked(self, samples: Samples, job: Job) -> float:
        where = f"utterance {job.utterance}"
        if job.alpha is None or not 0 < job.alpha < math.inf:
            raise ConfigError(
                f"the McAdams coefficient is {job.alpha}",
                where=where,
                fix="put one of those from `alphas` into the job",
            )
        check_samples(samples, job)
        framing = self._framing
        if len(samples) < framing.first + framing.length:
            also = f" and one shift of {framing.first}" if framing.first else ""
            raise AudioError(
                f"{len(samples)} samples are fewer than one window of {framing.length}{also}",
                where=where,
                fix="leave the utterance out",
            )
        return float(job.alpha)

    @cached_property
    def _framing(self) -> Framing:
        older = self.definition == "2022"
        return Framing(
            length=self.window_samples,
            shift=self.shift_samples,
            first=self.shift_samples if older else 0,
            order=self.lp_order,
            largest_angle=math.pi if older else math.inf,
        )


def _groups(speech: Sequence[tuple[Job, Recording]]) -> Iterator[list[tuple[Job, Samples]]]:
    """The same, read: some minutes at a time."""
    held = 0

    def number(one: tuple[Job, Samples]) -> int:
        nonlocal held
        held += len(one[1])
        return held // SAMPLES_AT_ONCE

    read = ((job, recording.read()) for job, recording in speech)
    for _, group in groupby(read, key=number):
        yield list(group)


def _name_seed(name: str) -> int:
    return int(hashlib.sha256(name.encode("utf-8")).hexdigest()[:8], 16)
