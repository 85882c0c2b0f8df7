"""kNN-VC on WORLD: frames of a source as means of the nearest frames of a target speaker.

Baas, van Niekerk, Kamper: Voice Conversion With Just Nearest Neighbors, Interspeech 2023, with the
parts that need no trained network: WORLD (harness/anonymizers/world.py) in the place of WavLM and
HiFi-GAN. Frames are compared by the cosine of their mel-cepstra, coefficients 1 to 16. So that
phones match and not voices, these lose their mean over the loud frames of the utterance or of the
target's speech, and the source's frequencies are first multiplied by the factor that brings its
frames nearest to the target's (vocal tract length normalisation). The k nearest give the mean of
their log envelopes, smoothed over 25 ms, and of their aperiodicities. Of the source remain timing,
the power of each frame (the level of the whole is normalised), what is voiced, and the shape of its
log F0, which gets the target's mean and spread.

To pair voiced frames with voiced ones only made speech less intelligible, and so did context
frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from harness.anonymizers import world
from harness.anonymizers.samples import finish
from harness.anonymizers.world import Floats
from harness.corpora.store import Samples
from harness.errors import DataError

Singles = npt.NDArray[np.float32]

# Mel-cepstral coefficients that an envelope is kept as. Speech made from 60 is as intelligible as
# from the whole envelope.
KEPT = 60
# Of these, the ones that are compared: enough for formants, too few for harmonics.
COMPARED = slice(1, 17)
# And what they are multiplied by. The lowest tell the tilt of a spectrum, of which voices and rooms
# differ; a flatter form of the lifter of the HTK Book, 5.3.
LIFTER = 1 + 3 * np.sin(np.pi * np.arange(1, 17) / 22)
# Loud frames are those within 40 dB of the 95th percentile of power.
LOUD_PERCENTILE = 95
LOUD_SHARE = 1e-4
# Factors of the source's frequencies that are tried: voices differ by some 20 %.
FACTORS = tuple(np.exp(np.linspace(-0.2, 0.2, 9)).tolist())
# For that, one of eight loud frames is enough.
HEARD_STEP = 8
# Length of the compared vectors, which are whole numbers: sums of their products are below 2^24
# and so exact in single precision, in whatever order the linear algebra adds.
UNIT = 4_000
# Weights of the smoothing: five frames, 25 ms.
SMOOTHING = (1 / 12, 1 / 4, 1 / 3, 1 / 4, 1 / 12)
# Largest factor of the spread of log F0, and the inverse of the smallest.
LARGEST_SPREAD = 3.0
# Of the target's frames every second is kept, one in 10 ms: the next is hardly another.
STEP = 2
# Frames of the source compared at once: bounds memory.
ROWS = 1_024


@dataclass(frozen=True)
class Voice:
    """Speech of a target speaker, all of it single precision: about 30 kB a second.

    compared: (frames, 16) whole numbers. envelope: (frames, 60) mel-cepstra. aperiodicity:
    (frames, bands) in dB. mean_hz: geometric mean F0. spread: standard deviation of log F0.
    """

    compared: Singles
    envelope: Singles
    aperiodicity: Singles
    mean_hz: float
    spread: float


def voice(speech: Sequence[Samples]) -> Voice:
    """The voice of recordings of one speaker. Raises DataError where none of them is voiced."""
    parts = zip(*map(_parts, speech), strict=True)
    f0, power, envelope, aperiodicity = (np.concatenate(part) for part in parts)
    log_f0 = np.log(f0[f0 > 0])
    if not len(log_f0):
        raise DataError(
            "nothing that the target speaker says is voiced", fix="raise target_seconds"
        )
    return Voice(
        compared=_compared(envelope[:, COMPARED], power)[::STEP],
        envelope=envelope[::STEP].astype(np.float32),
        aperiodicity=aperiodicity[::STEP].astype(np.float32),
        mean_hz=math.exp(log_f0.mean()),
        spread=float(log_f0.std()),
    )


def _parts(samples: Samples) -> tuple[Floats, Floats, Floats, Floats]:
    """F0, power, coded envelope and coded aperiodicity: the whole ones would take 20 times more."""
    analysis = world.analyse(samples)
    return (
        analysis.f0,
        analysis.envelope.sum(axis=1),
        world.coded_envelope(analysis.envelope, KEPT),
        world.coded_aperiodicity(analysis.aperiodicity),
    )


def converted(samples: Samples, target: Voice, k: int) -> Samples:
    """Samples in the target's voice: mono 16 kHz int16, (samples,) → (samples,), peak at 32766."""
    source = world.analyse(samples)
    power = source.envelope.sum(axis=1)
    cepstra = _fitting(world.coded_envelope(source.envelope, KEPT), power, target)
    nearest = _nearest(cepstra, target.compared, k)
    envelope = world.decoded_envelope(_smoothed(target.envelope[nearest].mean(axis=1)))
    aperiodicity = world.decoded_aperiodicity(target.aperiodicity[nearest].mean(axis=1))
    changed = world.Analysis(
        f0=world.moved(source.f0, target.mean_hz, _spread_factor(source.f0, target.spread)),
        envelope=envelope * (power / envelope.sum(axis=1))[:, np.newaxis],
        aperiodicity=aperiodicity,
    )
    return finish(world.synthesize(changed, len(samples)))


def _fitting(envelope: Floats, power: Floats, target: Voice) -> Singles:
    """What is compared of a source: warped by the factor under which its frames lie nearest."""
    # Not by matrix products: these add in an order of their own.
    warped = [np.einsum("fc,cd->fd", envelope, warp) for warp in _warps()]
    candidates = [_compared(cepstra, power) for cepstra in warped]
    heard = np.flatnonzero(_loud(power))[::HEARD_STEP]
    fits = [
        (candidate[heard] @ target.compared.T).max(axis=1).sum(dtype=np.float64)
        for candidate in candidates
    ]
    return candidates[int(np.argmax(fits))]


@lru_cache(maxsize=1)
def _warps() -> tuple[Floats, ...]:
    """By factor, the mel-cepstra (60, 16) that each one becomes: a warp is linear in them."""
    ones = world.decoded_envelope(np.eye(KEPT))
    return tuple(
        world.coded_envelope(np.exp(world.warped(np.log(ones), factor)), KEPT)[:, COMPARED]
        for factor in FACTORS
    )


def _loud(power: Floats) -> npt.NDArray[np.bool_]:
    loud: npt.NDArray[np.bool_] = power >= LOUD_SHARE * np.percentile(power, LOUD_PERCENTILE)
    return loud


def _compared(cepstra: Floats, power: Floats) -> Singles:
    centred = LIFTER * (cepstra - cepstra[_loud(power)].mean(axis=0))
    lengths = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    # A frame that is the mean has no direction: it stays zeros.
    units = np.divide(centred, lengths, out=np.zeros_like(centred), where=lengths > 0)
    rounded: Singles = np.rint(UNIT * units).astype(np.float32)
    return rounded


def _nearest(source: Singles, target: Singles, k: int) -> npt.NDArray[np.intp]:
    """Places of the k frames of the target with the largest cosine, (frames, k), rising."""
    count = min(k, len(target))
    places = [
        np.argpartition(source[start : start + ROWS] @ -target.T, count - 1, axis=1)[:, :count]
        for start in range(0, len(source), ROWS)
    ]
    return np.sort(np.concatenate(places), axis=1)


def _smoothed(frames: Singles) -> Floats:
    half = len(SMOOTHING) // 2
    padded = np.pad(frames.astype(np.float64), ((half, half), (0, 0)), mode="edge")
    mixed = np.zeros(frames.shape)
    for place, weight in enumerate(SMOOTHING):
        mixed += weight * padded[place : place + len(frames)]
    return mixed


def _spread_factor(f0: Floats, spread: float) -> float:
    log_f0 = np.log(f0[f0 > 0])
    own = float(log_f0.std()) if len(log_f0) else 0.0
    if own == 0:
        return 1.0
    return min(max(spread / own, 1 / LARGEST_SPREAD), LARGEST_SPREAD)
