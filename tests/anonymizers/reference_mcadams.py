"""The McAdams anonymizer in its slowest form: one frame after another, as it is defined.

Nothing here is shared with the package: poles come from `numpy.roots`, filters from scipy, and
Burg's method is written out as `librosa.lpc` (0.11) computes it, for all frames at once. So it
takes about as long as the published scripts, which the benchmark relies on.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Floats = npt.NDArray[np.float64]

EPS = np.finfo(np.float32).eps


def burg(y: Floats, order: int) -> Floats:
    """Prediction coefficients, (samples, …) → (order + 1, …)."""
    a = np.zeros((order + 1, *y.shape[1:]))
    a[0] = 1.0
    forward = y[1:].copy()
    backward = y[:-1].copy()
    denominator = np.sum(forward**2 + backward**2, axis=0)
    for i in range(order):
        numerator = -2 * np.sum(backward * forward, axis=0)
        reflection = numerator / (denominator + np.finfo(np.float64).tiny)
        a[1 : i + 2] = a[1 : i + 2] + reflection * a[i::-1][: i + 1]
        forward, backward = forward + reflection * backward, backward + reflection * forward
        denominator = (1 - reflection**2) * denominator - backward[-1] ** 2 - forward[0] ** 2
        forward = forward[1:]
        backward = backward[:-1]
    return a


def moved(poles: npt.NDArray[np.complex128], alpha: float) -> npt.NDArray[np.complex128]:
    """Angle φ of every pole with an imaginary part becomes |φ|^alpha with φ's sign."""
    angles = np.angle(poles)
    with_imaginary = ~np.isreal(poles)
    angles[with_imaginary] = (
        np.sign(angles[with_imaginary]) * np.abs(angles[with_imaginary]) ** alpha
    )
    return np.abs(poles) * np.exp(1j * angles)


def moved_2022(poles: npt.NDArray[np.complex128], alpha: float) -> npt.NDArray[np.complex128]:
    """Every second root with an imaginary part gets its angle φ^alpha, clipped to [0, π].

    The root after it gets the opposite angle.
    """
    result = poles.copy()
    for first in np.flatnonzero(~np.isreal(poles))[::2]:
        angle = np.clip(np.angle(poles[first]) ** alpha, 0, np.pi)
        result[first] = np.abs(poles[first]) * np.exp(1j * angle)
        result[first + 1] = np.abs(poles[first + 1]) * np.exp(-1j * angle)
    return result


def mcadams(
    samples: npt.NDArray[np.int16],
    alpha: float,
    *,
    definition: str = "2024",
    window_samples: int = 320,
    shift_samples: int = 160,
    order: int = 20,
) -> npt.NDArray[np.int16]:
    """Anonymized samples, as many as given; mono int16 at 16 kHz."""
    first, move = (shift_samples, moved_2022) if definition == "2022" else (0, moved)
    x = samples / 32768 + EPS
    hann = np.hanning(window_samples)
    window = np.sqrt(hann / (np.sum(hann) / shift_samples))
    y = np.zeros(len(x))
    starts = range(first, len(x) - window_samples + 1, shift_samples)
    frames = np.stack([x[start : start + window_samples] * window for start in starts])
    for start, frame, a in zip(starts, frames, burg((frames + EPS).T, order).T, strict=True):
        new = np.real(np.poly(move(np.roots(a), alpha)))
        excitation = lfilter(a, [1.0], frame)
        y[start : start + window_samples] += lfilter([1.0], new, excitation) * window
    return (y / np.max(np.abs(y)) * 32766).astype(np.int16)


def speech_like(seconds: float, seed: int) -> npt.NDArray[np.int16]:
    """Voiced and unvoiced stretches with moving formants, and soft pauses; 16 kHz."""
    generator = np.random.default_rng(seed)
    pieces = []
    filled = 0
    while filled < seconds * 16_000:
        length = int(generator.integers(1_000, 4_000))
        kind = generator.choice(["voiced", "unvoiced", "pause"], p=[0.6, 0.25, 0.15])
        source = generator.normal(0, 0.05, length)
        if kind == "voiced":
            source[:: int(generator.integers(60, 180))] += 1
        formants = np.sort(generator.uniform([250, 800, 2_000, 3_000], [800, 2_000, 3_000, 4_500]))
        for frequency in formants:
            pole = np.exp((-np.pi * 80 + 2j * np.pi * frequency) / 16_000)
            source = lfilter([1.0], [1.0, -2 * pole.real, abs(pole) ** 2], source)
        level = {"voiced": 8_000, "unvoiced": 1_500, "pause": 15}[kind]
        pieces.append(source / np.abs(source).max() * level)
        filled += length
    return np.concatenate(pieces)[: int(seconds * 16_000)].astype(np.int16)
