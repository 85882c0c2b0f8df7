"""Pitch correlation: how much of the intonation of an utterance is left once it is anonymized.

Goal: rho_F0 of VoicePrivacy 2022, under two definitions that give other values: `official_2022` is
what the official script computes, `voiced_only` what the evaluation plan says of it.

Conventions: a track is a 1-D array of F0 in Hz, one frame every STEP_SECONDS, 0 where unvoiced;
tracks of any lengths go together, the original first. In both definitions the shorter track is
stretched to the longer one by linear interpolation between evenly spaced places, and what then lies
outside FLOOR to CEILING counts as 0. The lag is that at which the sum of products of the two tracks
is largest: their cross-correlation, means not taken off, zeros beyond the ends; of equal maxima the
lowest lag. A data set's value is the plain mean over its utterances, an undefined correlation
counting as 0, and its spread their standard deviation by N, both printed with four decimals; over
sets, the edition takes a mean with weights.

Source: Voice-Privacy-Challenge-2022, baseline/local/pitch_correlation.py. It ends the run at an
empty track, which has a defined value here, and gives a track without voiced frames a lag beyond
the whole utterance, which is 0 here; no value changes by that. Boersma, "Accurate short-term
analysis of the fundamental frequency and the harmonics-to-noise ratio of a sampled sound", IFA
Proceedings 17, 1993, is how its tracks are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from harness.errors import DataError

Track = npt.NDArray[np.float64]

STEP_SECONDS = 0.01
# Hz.
FLOOR = 75.0
CEILING = 500.0
# Seconds, the limit of the plan. The script takes it from its settings and refuses what reaches it;
# they say 65 ms, and name 60 ms as the challenge's own.
LONGEST_GAP = 0.06
# Places on a frame come out of the arithmetic as this near to it.
ROUNDING = 1e-9


@dataclass(frozen=True)
class PitchCorrelation:
    """How two tracks correlate.

    value: Pearson's coefficient, -1 to 1; 0 where it is undefined. lag: by how many frames the
    anonymized track was moved to later frames, negative to earlier ones; 0 where a track has no
    voiced frame. frames: how many the coefficient is of. undefined: is there none, or is one of the
    tracks constant in them, as in a single one?
    """

    value: float
    lag: int
    frames: int
    undefined: bool


def validate(original: npt.ArrayLike, anonymized: npt.ArrayLike) -> tuple[Track, Track]:
    """Both tracks as float64. Raises DataError for what is no F0 track."""
    tracks = []
    for name, values in (("original", original), ("anonymized", anonymized)):
        track = np.asarray(values, dtype=np.float64)
        if track.ndim != 1:
            what = f"the {name} F0 track has shape {track.shape}"
            raise DataError(what, fix="give one number per frame (a 1-D array)")
        if not (np.isfinite(track) & (track >= 0)).all():
            what = f"the {name} F0 track holds values that are no frequency"
            raise DataError(what, fix="give Hz, and 0 where it is unvoiced (did you give log F0?)")
        tracks.append(track)
    return tracks[0], tracks[1]


def official_2022(original: npt.ArrayLike, anonymized: npt.ArrayLike) -> PitchCorrelation:
    """Pitch correlation as the official script computes it: over all frames, zeros included.

    original, anonymized: tracks, shapes (n,), (m,). What the lag moves past one end comes back at
    the other: a circular shift. Agreement about what is voiced weighs more than the contour, and
    where a stretched track goes from voiced to unvoiced, interpolation makes frequencies in between
    that nobody spoke. Raises DataError for what is no track.
    """
    original, anonymized = validate(original, anonymized)
    first, second, lag = _aligned(original, anonymized)
    return _pearson(first, second, lag)


def voiced_only(original: npt.ArrayLike, anonymized: npt.ArrayLike) -> PitchCorrelation:
    """Pitch correlation as the plan says: over frames that are voiced in both tracks.

    original, anonymized: tracks, shapes (n,), (m,). The lag is the official one. A frame counts if,
    once the anonymized track is moved, it is within FLOOR to CEILING in both, and if so are both
    frames that an interpolated one lies between; what the shift brings from the other end does not
    count. Raises DataError for what is no track.
    """
    original, anonymized = validate(original, anonymized)
    first, second, lag = _aligned(original, anonymized)
    frames = len(first)
    voiced = _voiced(original, frames) & np.roll(_voiced(anonymized, frames), lag)
    source = np.arange(frames) - lag
    voiced &= (source >= 0) & (source < frames)
    return _pearson(first[voiced], second[voiced], lag)


def length_gap(original: int, anonymized: int, rate: int) -> float:
    """By how many seconds the lengths of two signals, in samples, differ; rate: Hz.

    Above LONGEST_GAP the plan takes it for an error: the signals are not the same utterance, and
    their correlation says nothing.
    """
    return abs(original - anonymized) / rate


def _aligned(original: Track, anonymized: Track) -> tuple[Track, Track, int]:
    """Both tracks at one length, the second one moved circularly by the lag, and the lag."""
    frames = max(len(original), len(anonymized))
    first, second = (_within_range(_stretched(t, frames)) for t in (original, anonymized))
    lag = 0
    if first.any() and second.any():
        # Directly, not by Fourier transforms: their rounding would decide between equal maxima.
        products = np.correlate(first, second, "full")
        lag = int(products.argmax()) - (frames - 1)
    return first, np.roll(second, lag), lag


def _stretched(track: npt.NDArray[np.float64 | np.bool_], frames: int) -> Track:
    """The track at evenly spaced places from first to last frame; zeros for an empty one."""
    count = len(track)
    if count == 0:
        return np.zeros(frames)
    return np.interp(np.linspace(0, count - 1, frames), np.arange(count), track)


def _in_range(track: Track) -> npt.NDArray[np.bool_]:
    return (track >= FLOOR) & (track <= CEILING)


def _within_range(track: Track) -> Track:
    return np.where(_in_range(track), track, 0.0)


def _voiced(track: Track, frames: int) -> npt.NDArray[np.bool_]:
    """Which frames of a stretched track lie between voiced frames only."""
    return _stretched(_in_range(track), frames) > 1 - ROUNDING


def _pearson(first: Track, second: Track, lag: int) -> PitchCorrelation:
    frames = len(first)
    if frames == 0 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return PitchCorrelation(0.0, lag, frames, undefined=True)
    return PitchCorrelation(float(np.corrcoef(first, second)[0, 1]), lag, frames, undefined=False)
