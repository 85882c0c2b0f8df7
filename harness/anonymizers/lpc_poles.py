"""The poles of linear prediction, and new coefficients from moved poles, compiled for one core.

Prediction coefficients are rows of p + 1 float64 values whose first is 1; their polynomial is
z^p + a_1 z^(p-1) + … + a_p, and its roots are the poles. Every frame is computed by itself, and
sums are in a fixed order: the result is the same whatever stands before or after.

Source: Aberth, "Iteration methods for finding all zeros of a polynomial simultaneously" (1973).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt
from numba import njit

from harness.anonymizers.lpc_framing import Floats

Complexes = npt.NDArray[np.complex128]
Booleans = npt.NDArray[np.bool_]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

# Poles of speech settle after 8 iterations from the starting circle; 18 were the most seen.
MAX_ITERATIONS = 60
# The iteration is cubic: a step of this size is followed by one below the rounding error.
LAST_STEP = 1e-9
# Steps of speech stay far below; beyond, an estimate is lost.
FARTHEST_STEP = 1e6
# The first starting point's angle, in steps from one point to the next. Off the axis of symmetry:
# symmetric starting points could never part into two different real poles.
FIRST_POINT = 0.3
# Imaginary parts below the first are rounding errors of a real pole. Between the two it is open
# whether a double real pole or a narrow pair is meant: `numpy.roots` decides, as in the definition.
# (A double pole never settles: rounding keeps its estimates moving by more than LAST_STEP.)
REAL_BELOW = 1e-11
COMPLEX_ABOVE = 1e-6
# Largest distance between a pole and its partner's conjugate.
PARTNER_DISTANCE = 1e-9
# Largest error of a coefficient, relative to the largest coefficient, when the polynomial is
# multiplied out again from its poles.
REBUILD_ERROR = 1e-11
# Burg's poles lie inside the unit circle but for rounding. Up to here a filter grows at most
# 24-fold within a window of 20 ms; beyond, rounding has destroyed the analysis.
LARGEST_MODULUS = 1.01


def compiled(function: Kernel) -> Kernel:
    """Compile at the first call; keep the machine code on disk where there is a place for it.

    Divisions follow IEEE 754, as in numpy. With a read-only package folder the code goes to the
    user's cache folder or `NUMBA_CACHE_DIR`; with none of these, each process compiles anew.
    """
    try:
        return cast(Kernel, njit(cache=True, error_model="numpy")(function))
    except RuntimeError:
        return cast(Kernel, njit(error_model="numpy")(function))


@compiled
def _times_real(polynomial: Floats, degree: int, pole: float) -> int:
    for j in range(degree + 1, 0, -1):
        polynomial[j] -= pole * polynomial[j - 1]
    return degree + 1


@compiled
def _times_pair(polynomial: Floats, degree: int, real_part: float, modulus_squared: float) -> int:
    for j in range(degree + 2, 1, -1):
        polynomial[j] += modulus_squared * polynomial[j - 2] - 2.0 * real_part * polynomial[j - 1]
    polynomial[1] -= 2.0 * real_part
    return degree + 2


@compiled
def shifted(poles: Complexes, alpha: float, largest_angle: float = math.inf) -> Floats:
    """Coefficients after each complex pole's angle φ became ±|φ|^alpha, shape (frames, order + 1).

    poles: shape (frames, order), complex ones in conjugate pairs. Moduli and real poles stay.
    largest_angle: in radians, of those that come out.
    """
    frames, order = poles.shape
    result = np.zeros((frames, order + 1))
    for m in range(frames):
        polynomial = result[m]
        polynomial[0] = 1.0
        degree = 0
        for pole in poles[m]:
            if pole.imag == 0.0:
                degree = _times_real(polynomial, degree, pole.real)
            elif pole.imag > 0.0:
                squared = pole.real * pole.real + pole.imag * pole.imag
                angle = min(math.atan2(pole.imag, pole.real) ** alpha, largest_angle)
                real_part = math.sqrt(squared) * math.cos(angle)
                degree = _times_pair(polynomial, degree, real_part, squared)
    return result


@compiled
def _iterate(coefficients: Floats, re: Floats, im: Floats, work: Floats) -> bool:
    # Aberth's iteration on all poles at once. Loops over poles are innermost, so that they become
    # vector instructions without any sum being reordered. re, im: two copies one after the other,
    # which makes "all the others" a contiguous range.
    order = len(coefficients) - 1
    p_re, p_im, d_re, d_im, s_re, s_im = work
    for _ in range(MAX_ITERATIONS):
        for i in range(order):
            p_re[i] = 1.0
            p_im[i] = 0.0
            d_re[i] = 0.0
            d_im[i] = 0.0
            s_re[i] = 0.0
            s_im[i] = 0.0
        for k in range(1, order + 1):
            a = coefficients[k]
            for i in range(order):
                x = re[i]
                y = im[i]
                derivative = d_re[i] * x - d_im[i] * y + p_re[i]
                d_im[i] = d_re[i] * y + d_im[i] * x + p_im[i]
                d_re[i] = derivative
                value = p_re[i] * x - p_im[i] * y + a
                p_im[i] = p_re[i] * y + p_im[i] * x
                p_re[i] = value
        for other in range(1, order):
            for i in range(order):
                x = re[i] - re[i + other]
                y = im[i] - im[i + other]
                inverse = 1.0 / (x * x + y * y)
                s_re[i] += x * inverse
                s_im[i] -= y * inverse
        squared = 0.0
        for i in range(order):
            x = d_re[i] - (p_re[i] * s_re[i] - p_im[i] * s_im[i])
            y = d_im[i] - (p_re[i] * s_im[i] + p_im[i] * s_re[i])
            inverse = 1.0 / (x * x + y * y)
            step_re = (p_re[i] * x + p_im[i] * y) * inverse
            step_im = (p_im[i] * x - p_re[i] * y) * inverse
            re[i] -= step_re
            im[i] -= step_im
            re[i + order] = re[i]
            im[i + order] = im[i]
            squared += step_re * step_re + step_im * step_im
        if squared < LAST_STEP * LAST_STEP:
            return True
        # Lost: two estimates fell together (not a number) or one flew off.
        if not squared < FARTHEST_STEP * FARTHEST_STEP:
            return False
    return False


@compiled
def _pair(re: Floats, im: Floats, poles: Complexes) -> bool:
    # Real poles get no imaginary part, pairs become exact conjugates. False where that is open.
    order = len(poles)
    found = 0
    for i in range(order):
        height = abs(im[i])
        if height <= REAL_BELOW:
            poles[found] = complex(re[i], 0.0)
            found += 1
        elif height < COMPLEX_ABOVE:
            return False
        elif im[i] > 0.0:
            nearest = math.inf
            partner = -1
            for j in range(order):
                distance = abs(re[i] - re[j]) + abs(im[i] + im[j])
                if distance < nearest:
                    nearest = distance
                    partner = j
            if nearest > PARTNER_DISTANCE or found + 2 > order:
                return False
            x = 0.5 * (re[i] + re[partner])
            y = 0.5 * (im[i] - im[partner])
            poles[found] = complex(x, y)
            poles[found + 1] = complex(x, -y)
            found += 2
    return found == order


@compiled
def fast_poles(coefficients: Floats) -> tuple[Complexes, Booleans]:
    """Poles of every frame, shape (frames, order), and whether they are certain, shape (frames,).

    A frame is certain when the iteration settled, every pole is clearly real or one of a clear
    pair, and the polynomial multiplied out from the poles is the given one.
    """
    frames, columns = coefficients.shape
    order = columns - 1
    poles = np.zeros((frames, order), dtype=np.complex128)
    certain = np.zeros(frames, dtype=np.bool_)
    re = np.empty(2 * order)
    im = np.empty(2 * order)
    work = np.empty((6, order))
    for m in range(frames):
        a = coefficients[m]
        radius = abs(a[order]) ** (1.0 / order)
        for i in range(2 * order):
            angle = 2.0 * math.pi * (i % order + FIRST_POINT) / order
            re[i] = radius * math.cos(angle)
            im[i] = radius * math.sin(angle)
        if not _iterate(a, re, im, work) or not _pair(re, im, poles[m]):
            continue
        rebuilt = shifted(poles[m : m + 1], 1.0)[0]
        largest = 0.0
        error = 0.0
        for j in range(order + 1):
            largest = max(largest, abs(a[j]))
            error = max(error, abs(a[j] - rebuilt[j]))
        certain[m] = error <= REBUILD_ERROR * largest
    return poles, certain


def poles(coefficients: Floats) -> Complexes:
    """Poles of every frame, shape (frames, order): as `numpy.roots` gives them, in another order.

    Real poles have imaginary part 0, the others stand as exact conjugate pairs. Coefficients must
    be finite.
    """
    result, certain = fast_poles(coefficients)
    for m in np.flatnonzero(~certain):
        result[m] = np.roots(coefficients[m])
    return result
