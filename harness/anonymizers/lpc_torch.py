"""What `lpc.with_moved_poles` does, for many frames at once on a device of torch.

Time, coefficients or poles run along the first axis and frames along the last. Every operation is
elementwise over frames, sums are folded in an order that only their length determines, and a frame
whose poles have settled is left alone: so a frame's result does not depend on the others, whatever
utterances share the device. It is within one 16-bit step of the compiled path, but where rounding
decides what comes out, as in a constant stretch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from harness.anonymizers.lpc_framing import EPS, Floats, Framing, Integers, floats, integers
from harness.anonymizers.lpc_poles import (
    COMPLEX_ABOVE,
    FARTHEST_STEP,
    FIRST_POINT,
    LARGEST_MODULUS,
    LAST_STEP,
    MAX_ITERATIONS,
    REAL_BELOW,
    REBUILD_ERROR,
)
from harness.corpora.store import Samples

# Five minutes of speech at the usual shift. An array of all their samples takes 84 MB.
FRAMES_AT_ONCE = 32_768


def together(
    speech: Sequence[Samples], alphas: Sequence[float], framing: Framing, device: str
) -> list[Samples]:
    """Anonymized utterances, each of as many 16-bit samples as the one given.

    speech: utterances of one frame at least. alphas: of each. device: as torch names it.
    """
    starts, alpha_of_frames, ends = [], [], [0]
    for samples, alpha in zip(speech, alphas, strict=True):
        starts.append(ends[-1] + framing.starts(samples))
        alpha_of_frames.append(np.full(len(starts[-1]), alpha))
        ends.append(ends[-1] + len(samples))
    made = with_moved_poles(
        floats(np.concatenate(speech)),
        np.concatenate(starts),
        np.concatenate(alpha_of_frames),
        framing,
        device,
    )
    return [integers(part) for part in np.split(made, ends[1:-1])]


def with_moved_poles(
    speech: Floats, starts: Integers, alphas: Floats, framing: Framing, device: str
) -> Floats:
    """Speech after each complex pole's angle φ became ±|φ|^alpha, (samples,) → (samples,).

    speech: utterances one after the other. starts: of every frame, the index of its first sample,
    ascending, shape (frames,); frames overlap within an utterance only. alphas: of every frame.
    What no frame holds comes out as 0; a frame whose prediction is destroyed by rounding, as it is.
    """
    with torch.inference_mode():
        samples = torch.from_numpy(speech).to(device)
        result = torch.zeros_like(samples)
        window = torch.from_numpy(framing.window).to(device)[:, None]
        within = torch.arange(framing.length, device=device)[:, None]
        for begin in range(0, len(starts), FRAMES_AT_ONCE):
            some = slice(begin, begin + FRAMES_AT_ONCE)
            places = torch.from_numpy(starts[some]).to(device) + within
            frames = samples[places] * window
            alpha = torch.from_numpy(alphas[some]).to(device)
            made = _filtered(frames, *_predictions(frames, alpha, framing)) * window
            # Within one shift no frames overlap. The last part first, so that what frames add to a
            # sample is added in their order.
            for part in reversed(range(0, framing.length, framing.shift)):
                rows = slice(part, part + framing.shift)
                result[places[rows]] += made[rows]
        return np.asarray(result.cpu().numpy())


def _predictions(frames: Tensor, alpha: Tensor, framing: Framing) -> tuple[Tensor, Tensor]:
    """Coefficients before and after the poles were moved, both of shape (order + 1, frames)."""
    analysis = burg(frames + EPS, framing.order)
    flat = torch.zeros_like(analysis[:, :1])
    flat[0] = 1.0
    analysis = torch.where(torch.isfinite(analysis).all(0), analysis, flat)
    re, im = poles(analysis)
    destroyed = (re * re + im * im).amax(0).sqrt() > LARGEST_MODULUS
    synthesis = _shifted(re, im, alpha, framing.largest_angle)
    return torch.where(destroyed, flat, analysis), torch.where(destroyed, flat, synthesis)


def _total(terms: Tensor) -> Tensor:
    # Over the first axis, whose values are lost. torch.sum may add in another order where there are
    # more frames.
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        terms[: len(terms) - half] += terms[half:]
        terms = terms[:half]
    return terms[0]


def burg(frames: Tensor, order: int) -> Tensor:
    """Prediction coefficients, (samples, frames) → (order + 1, frames)."""
    coefficients = torch.zeros_like(frames[: order + 1])
    coefficients[0] = 1.0
    forward, backward = frames[1:], frames[:-1]
    denominator = _total(forward * forward) + _total(backward * backward)
    tiny = torch.finfo(frames.dtype).tiny
    for i in range(order):
        reflection = -2.0 * _total(backward * forward) / (denominator + tiny)
        mirrored = coefficients[: i + 1].flip(0)
        coefficients[1 : i + 2] += reflection * mirrored
        forward, backward = forward + reflection * backward, backward + reflection * forward
        denominator = (
            (1.0 - reflection * reflection) * denominator
            - backward[-1] * backward[-1]
            - forward[0] * forward[0]
        )
        forward, backward = forward[1:], backward[:-1]
    return coefficients


def poles(coefficients: Tensor) -> tuple[Tensor, Tensor]:
    """Real and imaginary parts of the poles, (order + 1, frames) → (order, frames) each.

    As `lpc_poles.poles`: real poles have imaginary part 0. But of a pair, the one below may differ
    from the conjugate of the one above by a rounding error. Coefficients must be finite.
    """
    re, im, certain = fast_poles(coefficients)
    doubtful = coefficients[:, ~certain].cpu().numpy()
    if doubtful.size:
        roots = np.stack([np.roots(column) for column in doubtful.T], axis=1)
        re[:, ~certain] = torch.from_numpy(roots.real.astype(np.float64)).to(re.device)
        im[:, ~certain] = torch.from_numpy(roots.imag.astype(np.float64)).to(im.device)
    return re, im


def fast_poles(coefficients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The same by Aberth's iteration, and whether the poles of a frame are certain, (frames,).

    A frame is certain when the iteration settled, every pole is clearly real or clearly not, and
    the polynomial multiplied out from the real ones and those above the axis is the given one.
    """
    order = len(coefficients) - 1
    points = torch.arange(order, device=coefficients.device, dtype=coefficients.dtype)
    angles = (2.0 * math.pi / order * (points + FIRST_POINT))[:, None]
    radius = coefficients[order].abs() ** (1.0 / order)
    re, im = radius * angles.cos(), radius * angles.sin()
    settled = torch.zeros_like(radius, dtype=torch.bool)
    moving = torch.arange(len(radius), device=radius.device)
    for _ in range(MAX_ITERATIONS):
        x, y = re[:, moving], im[:, moving]
        step_re, step_im = aberth_step(coefficients[:, moving], x, y)
        re[:, moving], im[:, moving] = x - step_re, y - step_im
        squared = _total(step_re * step_re + step_im * step_im)
        done = squared < LAST_STEP * LAST_STEP
        settled[moving[done]] = True
        # The others are lost where two estimates fell together (not a number) or one flew off.
        moving = moving[~done & (squared < FARTHEST_STEP * FARTHEST_STEP)]
        if len(moving) == 0:
            break
    height = im.abs()
    real, above = height <= REAL_BELOW, im >= COMPLEX_ABOVE
    im = torch.where(real, 0.0, im)
    clear = (real | (height >= COMPLEX_ABOVE)).all(0) & (real.sum(0) + 2 * above.sum(0) == order)
    error = (_shifted(re, im, torch.ones_like(radius), math.inf) - coefficients).abs().amax(0)
    rebuilt = error <= REBUILD_ERROR * coefficients.abs().amax(0)
    return re, im, settled & clear & rebuilt


def aberth_step(coefficients: Tensor, re: Tensor, im: Tensor) -> tuple[Tensor, Tensor]:
    """How far one step of Aberth's iteration moves every estimate, (order, frames) each.

    In real numbers, as a processor may round a complex product in more than one way.
    """
    order = len(re)
    p_re, p_im = torch.ones_like(re), torch.zeros_like(re)
    d_re, d_im = torch.zeros_like(re), torch.zeros_like(re)
    for k in range(1, order + 1):
        d_re, d_im = d_re * re - d_im * im + p_re, d_re * im + d_im * re + p_im
        p_re, p_im = p_re * re - p_im * im + coefficients[k], p_re * im + p_im * re
    # Two copies one after the other make "all the others" a range.
    twice_re, twice_im = torch.cat([re, re]), torch.cat([im, im])
    s_re, s_im = torch.zeros_like(re), torch.zeros_like(re)
    for other in range(1, order):
        x, y = re - twice_re[other : other + order], im - twice_im[other : other + order]
        inverse = 1.0 / (x * x + y * y)
        s_re += x * inverse
        s_im -= y * inverse
    x = d_re - (p_re * s_re - p_im * s_im)
    y = d_im - (p_re * s_im + p_im * s_re)
    inverse = 1.0 / (x * x + y * y)
    return (p_re * x + p_im * y) * inverse, (p_im * x - p_re * y) * inverse


def _shifted(re: Tensor, im: Tensor, alpha: Tensor, largest_angle: float) -> Tensor:
    """Coefficients after the poles were moved, (order, frames) → (order + 1, frames).

    A real pole x is the factor 1 - x/z. One above the axis stands for its pair, and the one below
    for nothing.
    """
    squared = re * re + im * im
    angle = (torch.atan2(im, re) ** alpha).clamp(max=largest_angle)
    above, zero = im > 0, torch.zeros_like(re)
    pair = torch.where(above, -2.0 * squared.sqrt() * angle.cos(), zero)
    linear = torch.where(im == 0, -re, pair)
    quadratic = torch.where(above, squared, zero)
    product = torch.cat([torch.ones_like(re[:1]), zero])
    for first, second in zip(linear, quadratic, strict=True):
        longer = product.clone()
        longer[1:] += first * product[:-1]
        longer[2:] += second * product[:-2]
        product = longer
    return product


def _filtered(frames: Tensor, analysis: Tensor, synthesis: Tensor) -> Tensor:
    """The residual of `analysis` filtered by 1 / `synthesis`, of the frames' shape."""
    made = frames.clone()
    for k in range(1, len(analysis)):
        made[k:] += analysis[k] * frames[:-k]
    # One element more than the filter's memory: the last always holds 0.
    state = torch.zeros_like(synthesis)
    for sample in made:
        sample += state[0]
        state[:-1] = state[1:] - synthesis[1:] * sample
    return made
