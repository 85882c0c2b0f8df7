"""Speech with the angles of its linear prediction's poles moved, compiled for one core.

Conventions: float64 arrays; a frame is `window` samples long, the next begins `shift` samples on;
`order` is p. Prediction coefficients are rows of p + 1 values whose first is 1. Every frame is
computed by itself, and sums are in a fixed order: the result is the same whatever stands before or
after, and on any number of workers. `lpc_poles` has the poles, `lpc_torch` the same for a GPU.

Source: Marple, "A new autoregressive spectrum analysis algorithm" (1980), for Burg's method with
the recursive denominator.
"""

from __future__ import annotations

import numpy as np

from harness.anonymizers.lpc_framing import EPS, Floats, Framing
from harness.anonymizers.lpc_poles import LARGEST_MODULUS, compiled, poles, shifted


def with_moved_poles(speech: Floats, alpha: float, framing: Framing) -> Floats:
    """Speech after each complex pole's angle φ became ±|φ|^alpha, (samples,) → (samples,).

    speech: one frame at least. What no frame holds comes out as 0; a frame whose prediction is
    destroyed by rounding (`LARGEST_MODULUS`), as it is.
    """
    window, shift, order = framing.window, framing.shift, framing.order
    framed = speech[framing.first :]
    analysis = burg(framed, window, shift, order, EPS)
    flat = np.zeros(order + 1)
    flat[0] = 1
    analysis[~np.isfinite(analysis).all(axis=1)] = flat
    found = poles(analysis)
    destroyed = np.abs(found).max(axis=1) > LARGEST_MODULUS
    analysis[destroyed] = flat
    found[destroyed] = 0
    synthesis = shifted(found, alpha, framing.largest_angle)
    result = np.zeros(len(speech))
    result[framing.first :] = resynthesize(framed, window, shift, analysis, synthesis)
    return result


@compiled
def _dot(x: Floats, y: Floats) -> float:
    # Eight partial sums let the processor add in parallel while the order stays fixed.
    length = len(x)
    whole = length - length % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for t in range(0, whole, 8):
        s0 += x[t] * y[t]
        s1 += x[t + 1] * y[t + 1]
        s2 += x[t + 2] * y[t + 2]
        s3 += x[t + 3] * y[t + 3]
        s4 += x[t + 4] * y[t + 4]
        s5 += x[t + 5] * y[t + 5]
        s6 += x[t + 6] * y[t + 6]
        s7 += x[t + 7] * y[t + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    for t in range(whole, length):
        total += x[t] * y[t]
    return total


@compiled
def burg(samples: Floats, window: Floats, shift: int, order: int, offset: float) -> Floats:
    """Prediction coefficients of every full frame, shape (frames, order + 1).

    offset: added to each windowed sample before the analysis.
    """
    length = len(window)
    frames = 1 + (len(samples) - length) // shift
    result = np.zeros((frames, order + 1))
    frame = np.empty(length)
    forward_store = np.empty(length - 1)
    backward_store = np.empty(length - 1)
    previous = np.empty(order + 1)
    tiny = np.finfo(np.float64).tiny
    for m in range(frames):
        start = m * shift
        for t in range(length):
            frame[t] = samples[start + t] * window[t] + offset
        for t in range(length - 1):
            forward_store[t] = frame[t + 1]
            backward_store[t] = frame[t]
        forward = forward_store
        backward = backward_store
        coefficients = result[m]
        coefficients[0] = 1.0
        denominator = _dot(forward, forward) + _dot(backward, backward)
        for i in range(order):
            reflection = -2.0 * _dot(backward, forward) / (denominator + tiny)
            for j in range(i + 2):
                previous[j] = coefficients[j]
            for j in range(1, i + 2):
                coefficients[j] = previous[j] + reflection * previous[i + 1 - j]
            for t in range(len(forward)):
                f = forward[t]
                b = backward[t]
                forward[t] = f + reflection * b
                backward[t] = b + reflection * f
            last = backward[len(backward) - 1]
            denominator = (
                (1.0 - reflection * reflection) * denominator
                - last * last
                - forward[0] * forward[0]
            )
            forward = forward[1:]
            backward = backward[: len(backward) - 1]
    return result


@compiled
def resynthesize(
    samples: Floats, window: Floats, shift: int, analysis: Floats, synthesis: Floats
) -> Floats:
    """Overlap-added frames: the residual of `analysis` filtered by 1 / `synthesis`.

    samples: shape (length,). analysis, synthesis: coefficients of every full frame, shape
    (frames, order + 1). The window is applied before and after. Shape (length,); what lies past
    the last full frame is 0.
    """
    length = len(window)
    frames, columns = analysis.shape
    order = columns - 1
    result = np.zeros(len(samples))
    frame = np.empty(length)
    residual = np.empty(length)
    # One element more than the filter's memory: the last always holds 0.
    state = np.zeros(order + 1)
    for m in range(frames):
        start = m * shift
        for t in range(length):
            frame[t] = samples[start + t] * window[t]
            residual[t] = frame[t]
        for k in range(1, order + 1):
            a = analysis[m, k]
            for t in range(k, length):
                residual[t] += a * frame[t - k]
        a = synthesis[m]
        state[:] = 0.0
        for t in range(length):
            y = residual[t] + state[0]
            for j in range(order):
                state[j] = state[j + 1] - a[j + 1] * y
            result[start + t] += y * window[t]
    return result
