"""B2 on a device of torch: on the CPU everywhere, on a GPU where there is one."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch

from anonymizers import reference_mcadams as reference
from harness.anonymizers import lpc_torch
from harness.anonymizers.base import Accelerated, Job, batch_of
from harness.anonymizers.lpc_framing import Framing
from harness.anonymizers.mcadams import Definition, McAdams
from harness.corpora.store import Samples
from harness.errors import AudioError
from harness.runtime.events import Events

pytestmark = pytest.mark.heavy

cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
DEFINITIONS: tuple[Definition, ...] = ("2024", "2022")
WINDOW = np.sqrt(np.hanning(320) / (np.sum(np.hanning(320)) / 160))


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=cuda)])
def device(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@dataclass(frozen=True)
class Kept:
    """A recording that need not be stored."""

    samples: Samples

    def read(self) -> Samples:
        return self.samples


def jobs(alphas: Sequence[float]) -> list[Job]:
    return [Job(f"u{number:06d}", 0, alpha) for number, alpha in enumerate(alphas)]


def steps_apart(
    speech: Sequence[Samples], alphas: Sequence[float], device: str, system: McAdams
) -> list[int]:
    """The largest difference of each utterance to the compiled path and to the slow reference."""
    given = list(zip(jobs(alphas), speech, strict=True))
    framing = {"window_samples": system.window_samples, "shift_samples": system.shift_samples}
    found = []
    for (job, samples), made in zip(given, system.together(given, device), strict=True):
        assert made.dtype == np.int16
        assert made.shape == samples.shape
        slow = reference.mcadams(
            samples,
            float(job.alpha or 0),
            definition=system.definition,
            order=system.lp_order,
            **framing,
        )
        for other in (system.anonymize(samples, job), slow):
            found.append(int(np.abs(made.astype(int) - other).max()))
    return found


def speech_like(seconds: float, number: int) -> list[Samples]:
    return [reference.speech_like(seconds, seed=seed) for seed in range(number)]


# Parity


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_synthetic_speech_is_within_one_lsb(device: str, definition: Definition) -> None:
    alphas = [0.5, 0.687588, 0.9, 1.0, 1.3]
    system = McAdams(definition=definition)
    assert max(steps_apart(speech_like(1.0, 5), alphas, device, system)) <= 1


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_real_speech_is_within_one_lsb(
    test_data: Path, device: str, definition: Definition
) -> None:
    files = sorted((test_data / "speech" / "LibriSpeech").glob("test-*/*/*/*.flac"))[::100]
    speech = [soundfile.read(file, dtype="int16", frames=48_000)[0] for file in files]
    assert len(speech) == 5
    system = McAdams(definition=definition)
    assert max(steps_apart(speech, [0.5, 0.6, 0.7, 0.8, 0.9], device, system)) <= 1


def test_other_windows_and_orders_are_within_one_lsb(device: str) -> None:
    # 110 does not divide 400: parts of a frame overlap unequally.
    system = McAdams(window_ms=25, shift_ms=6.9, lp_order=13)
    assert (system.window_samples, system.shift_samples) == (400, 110)
    assert max(steps_apart(speech_like(0.5, 2), [0.6, 0.8], device, system)) <= 1


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_extreme_signals_are_within_one_lsb(device: str, definition: Definition) -> None:
    generator = np.random.default_rng(5)
    t = np.arange(6_400)
    # Digital silence inside speech: frames of which the poles are left to numpy.
    gap = reference.speech_like(0.5, seed=12)
    gap[3_000:5_000] = 0
    signals = [
        np.clip(generator.normal(0, 60_000, len(t)), -32_768, 32_767),
        32_767 * np.sign(np.sin(0.05 * t)),
        generator.choice([-32_768, 32_767], len(t)),
        32_767 * (t == 3_000),
        20_000 * (t % 100 == 0),
        generator.integers(-1, 2, len(t)),
        gap,
    ]
    speech = [signal.astype(np.int16) for signal in signals]
    system = McAdams(definition=definition)
    assert max(steps_apart(speech, [0.5] * len(speech), device, system)) <= 1


def test_silence_stays_silence_among_others(device: str) -> None:
    speech = [
        reference.speech_like(0.2, seed=1),
        np.zeros(900, dtype=np.int16),
        reference.speech_like(0.2, seed=2),
    ]
    made = McAdams().together(list(zip(jobs([0.5, 0.7, 0.9]), speech, strict=True)), device)
    assert [len(one) for one in made] == [3_200, 900, 3_200]
    assert [bool(one.any()) for one in made] == [True, False, True]


@pytest.mark.parametrize(("level", "order"), [(10, 20), (176, 20), (176, 200)])
def test_frames_without_a_stable_filter_pass_through(device: str, level: int, order: int) -> None:
    # Of a constant, rounding decides which prediction is destroyed; of these it is on a CPU, too.
    # The squared windows of overlapping frames add up to 1, but for the ripple of the window.
    constant = np.full(8_000, level, dtype=np.int16)
    (made,) = McAdams(lp_order=order).together([(jobs([0.7])[0], constant)], device)
    assert made[320:-320] == pytest.approx(32_766, abs=32_766 * 0.01)


def test_too_short_an_utterance_is_named(device: str) -> None:
    speech = [np.ones(1_000, dtype=np.int16), np.ones(319, dtype=np.int16)]
    with pytest.raises(AudioError, match="u000001: 319 samples are fewer than one window"):
        McAdams().together(list(zip(jobs([0.5, 0.5]), speech, strict=True)), device)


# What an utterance's neighbours may change: nothing


def test_a_frame_does_not_depend_on_the_others(device: str) -> None:
    generator = torch.Generator().manual_seed(1)
    frames = torch.randn(320, 203, generator=generator, dtype=torch.float64).to(device)
    # Estimates somewhere near the unit circle.
    re, im = torch.randn(2, 20, 203, generator=generator, dtype=torch.float64).to(device)
    coefficients = lpc_torch.burg(frames, 20)
    steps = torch.stack(lpc_torch.aberth_step(coefficients, re, im))
    for some in (slice(0, 1), slice(7, 20), slice(100, 203)):
        assert torch.equal(lpc_torch.burg(frames[:, some], 20), coefficients[:, some])
        alone = lpc_torch.aberth_step(coefficients[:, some], re[:, some], im[:, some])
        assert torch.equal(torch.stack(alone), steps[..., some])


def test_settled_poles_do_not_wait_for_the_others(device: str) -> None:
    frames = np.random.default_rng(2).normal(size=(320, 8))
    coefficients = lpc_torch.burg(torch.from_numpy(frames).to(device), 20)
    alone = lpc_torch.fast_poles(coefficients)
    # A double pole never settles: its frame is iterated to the end.
    double = np.real(np.poly([0.5, 0.5, *(0.8 * np.exp(2j * np.pi * np.arange(1, 19) / 19))]))
    coefficients[:, 7] = torch.from_numpy(double)
    beside = lpc_torch.fast_poles(coefficients)
    assert beside[2].tolist() == [True] * 7 + [False]
    assert all(torch.equal(a[..., :7], b[..., :7]) for a, b in zip(alone, beside, strict=True))


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_an_utterance_does_not_depend_on_the_others(
    device: str, definition: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = list(zip(jobs([0.5, 0.9, 0.7]), speech_like(0.4, 3), strict=True))
    system = McAdams(definition=definition)
    together = system.together(given, device)
    alone = [system.together([one], device)[0] for one in given]
    monkeypatch.setattr(lpc_torch, "FRAMES_AT_ONCE", 17)
    pieces = system.together(given[::-1], device)[::-1]
    for made in zip(together, alone, pieces, strict=True):
        if device == "cuda":
            assert np.array_equal(made[0], made[1])
            assert np.array_equal(made[0], made[2])
        # On a CPU torch takes powers and angles of the last few of many by another algorithm.
        assert np.ptp(np.stack(made).astype(int), axis=0).max() <= 1


# Prediction and poles


def test_burg_agrees_with_the_reference(device: str) -> None:
    frames = np.random.default_rng(11).normal(size=(320, 10))
    fast = lpc_torch.burg(torch.from_numpy(frames).to(device), 20).cpu().numpy()
    assert fast.shape == (21, 10)
    for m in range(10):
        np.testing.assert_allclose(fast[:, m], reference.burg(frames[:, m], 20), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("pairs", "real"), [(1, 5), (4, 1), (8, 0), (8, 2)])
def test_poles_are_the_roots_the_polynomial_was_made_of(device: str, pairs: int, real: int) -> None:
    generator = np.random.default_rng(100 * real + pairs)
    angles = np.linspace(0.15, 2.9, pairs) + generator.uniform(-0.1, 0.1, pairs)
    upper = generator.uniform(0.7, 0.999, pairs) * np.exp(1j * angles)
    on_axis = np.linspace(-0.9, 0.9, real) + generator.uniform(-0.05, 0.05, real)
    coefficients = np.real(np.poly(np.concatenate([upper, upper.conj(), on_axis])))
    re, im, certain = lpc_torch.fast_poles(torch.from_numpy(coefficients)[:, None].to(device))
    assert certain.all()
    found = (re + 1j * im)[:, 0].cpu().numpy()
    assert np.sort(found[found.imag == 0].real) == pytest.approx(on_axis, abs=1e-9)
    above = sorted(found[found.imag > 0], key=np.angle)
    assert above == pytest.approx(sorted(upper, key=np.angle), abs=1e-9)


@pytest.mark.parametrize(
    "roots",
    [
        [0.5, 0.5, 0.9j, -0.9j],
        [-0.8, -0.8 + 1e-8, 0.3 + 0.9j, 0.3 - 0.9j],
        [0.5 + 1e-7j, 0.5 - 1e-7j, 0.9j, -0.9j],
        [0.9j, 0.9j, -0.9j, -0.9j],
        [0.0, 0.7, 0.9j, -0.9j],
    ],
    ids=["double", "nearly double", "nearly real", "double pair", "at zero"],
)
def test_doubtful_poles_are_left_to_numpy(device: str, roots: list[complex]) -> None:
    clear = np.real(np.poly([0.2, 0.5, 0.9j, -0.9j]))
    coefficients = np.stack([clear, np.real(np.poly(roots))], axis=1)
    given = torch.from_numpy(coefficients).to(device)
    assert lpc_torch.fast_poles(given)[2].tolist() == [True, False]
    re, im = (part.cpu().numpy() for part in lpc_torch.poles(given))
    np.testing.assert_array_equal((re + 1j * im)[:, 1], np.roots(coefficients[:, 1]))


# The stage's way


def test_can_use_a_gpu() -> None:
    assert isinstance(McAdams(), Accelerated)
    assert McAdams().gpu


def test_a_batch_for_the_gpu_is_whole_and_can_be_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    speech: list[tuple[Job, Any]] = [
        (job, Kept(samples))
        for job, samples in zip(
            jobs([0.5, 0.6, 0.7, 0.8]),
            [np.zeros(400, dtype=np.int16), *speech_like(0.3, 3)],
            strict=True,
        )
    ]
    sizes = []

    def on_the_cpu(
        some: Sequence[Samples], alphas: Sequence[float], framing: Framing, device: str
    ) -> list[Samples]:
        assert device == "cuda"
        sizes.append(len(some))
        return together(some, alphas, framing, "cpu")

    together = lpc_torch.together
    monkeypatch.setattr(lpc_torch, "together", on_the_cpu)
    monkeypatch.setattr("harness.anonymizers.mcadams.SAMPLES_AT_ONCE", 9_000)
    with batch_of(
        McAdams(), speech, work=tmp_path / "batch", threads=1, device="cuda", events=Events()
    ) as made:
        assert list(made) == [job.utterance for job, _ in speech]
        for job, kept in speech:
            found = pickle.loads(pickle.dumps(made[job.utterance]))()
            expected = McAdams().anonymize(kept.read(), job)
            assert found.shape == expected.shape
            assert np.abs(found.astype(int) - expected).max() <= 1
    assert sizes == [2, 2]
