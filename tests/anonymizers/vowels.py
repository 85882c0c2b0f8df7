"""Vowels whose F0 and formants are known, and both measured without WORLD.

A vowel is a train of impulses through one resonator a formant. F0 is measured by autocorrelation,
formants as the poles of linear prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter, welch

RATE = 16_000
BANDWIDTH = 80.0

Floats = npt.NDArray[np.float64]


def vowel(
    f0: float | Floats, formants: Sequence[float], seconds: float = 1.0, peak: float = 20_000
) -> npt.NDArray[np.int16]:
    """f0: Hz, one for all samples or one a sample."""
    contour = np.full(round(seconds * RATE), f0) if np.isscalar(f0) else np.asarray(f0)
    turns = np.floor(np.cumsum(contour / RATE))
    speech = np.diff(turns, prepend=0.0)
    for formant in formants:
        radius = np.exp(-np.pi * BANDWIDTH / RATE)
        angle = 2 * np.pi * formant / RATE
        speech = lfilter([1.0], [1, -2 * radius * np.cos(angle), radius**2], speech)
    # Glottal pulses fall by 12 dB an octave, lips raise by 6: in sum -6.
    speech = lfilter([1.0], [1, -0.95], speech)
    speech = speech - speech.mean()
    return np.rint(speech / np.abs(speech).max() * peak).astype(np.int16)


def f0_track(samples: npt.NDArray[np.int16], low: float = 60, high: float = 420) -> Floats:
    """F0 in Hz every 10 ms, frames of 60 ms, by the highest peak of the autocorrelation that has no
    peak nearly as high at a shorter lag."""
    frame, shift = 960, 160
    lags = np.arange(int(RATE / high), int(RATE / low) + 1)
    track = []
    for start in range(0, len(samples) - frame + 1, shift):
        piece = samples[start : start + frame].astype(float)
        piece = piece - piece.mean()
        similar = np.array(
            [
                piece[lag:]
                @ piece[:-lag]
                / np.sqrt((piece[lag:] @ piece[lag:]) * (piece[:-lag] @ piece[:-lag]) + 1e-9)
                for lag in range(lags[0] - 1, lags[-1] + 2)
            ]
        )
        inner = similar[1:-1]
        peaks = np.flatnonzero((inner >= similar[:-2]) & (inner >= similar[2:]))
        peaks = peaks[inner[peaks] > 0.85 * inner[peaks].max()]
        place = peaks[0]
        left, middle, right = similar[place : place + 3]
        offset = 0.5 * (left - right) / (left - 2 * middle + right)
        track.append(RATE / (lags[place] + offset))
    return np.array(track)


def mean_f0(samples: npt.NDArray[np.int16]) -> float:
    """Geometric mean F0 in Hz, without the first and last tenth of a second."""
    return float(np.exp(np.log(f0_track(samples[1_600:-1_600])).mean()))


def formants_of(samples: npt.NDArray[np.int16], count: int) -> Floats:
    """The lowest `count` formants in Hz: poles of narrow bandwidth, medians over frames."""
    speech = lfilter([1.0, -0.95], [1.0], samples.astype(float))
    found = []
    for start in range(1_600, len(speech) - 2_400, 400):
        piece = speech[start : start + 800] * np.hamming(800)
        order = 2 * count + 2
        products = np.array([piece[: len(piece) - m] @ piece[m:] for m in range(order + 1)])
        products[0] *= 1 + 1e-6
        poles = np.roots([1.0, *-solve_toeplitz(products[:-1], products[1:])])
        poles = poles[(poles.imag > 0) & (np.abs(poles) > np.exp(-np.pi * 500 / RATE))]
        frequencies = np.sort(np.angle(poles)) * RATE / (2 * np.pi)
        frequencies = frequencies[frequencies > 150]
        if len(frequencies) >= count:
            found.append(frequencies[:count])
    return np.median(found, axis=0)


def spectrum_of(samples: npt.NDArray[np.int16]) -> Floats:
    """Power in bands of 250 Hz up to 4 kHz, in dB around its mean, without the first and last tenth
    of a second: what tells vowels and vocal tracts."""
    _, power = welch(samples[1_600:-1_600].astype(float), RATE, nperseg=512)
    bands = 10 * np.log10(power[:128].reshape(16, 8).sum(axis=1) + 1e-9)
    return bands - bands.mean()
