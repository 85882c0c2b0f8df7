"""The McAdams anonymizer against its slow transcription, and what it does at the edges.

The official coefficients are those that the challenge's own code draws.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from anonymizers import reference_mcadams as reference
from harness.anonymizers import lpc, lpc_poles
from harness.anonymizers.base import Anonymizer, Job, Source, load
from harness.anonymizers.mcadams import McAdams
from harness.errors import AudioError, ConfigError

pytestmark = pytest.mark.heavy

OFFICIAL = [0.687588, 0.567471, 0.759241, 0.874995, 0.614726]
WINDOW = np.sqrt(np.hanning(320) / (np.sum(np.hanning(320)) / 160))


def job(alpha: float | None, utterance: str = "u000001", seed: int = 1) -> Job:
    return Job(utterance=utterance, seed=seed, alpha=alpha)


def sources(*names: str) -> list[Source]:
    return [Source(utterance=name, speaker=name.split("-")[0]) for name in names]


def lsb_apart(samples: np.ndarray, alpha: float) -> int:
    fast = McAdams().anonymize(samples, job(alpha))
    slow = reference.mcadams(samples, alpha)
    assert fast.shape == samples.shape
    assert fast.dtype == np.int16
    return int(np.abs(fast.astype(int) - slow).max())


def sorted_roots(roots: np.ndarray) -> np.ndarray:
    return np.array(sorted(roots, key=lambda root: (round(root.real, 6), root.imag)))


# Coefficients


def test_official_utterance_level_repeats_the_challenge() -> None:
    names = sources("a-1", "a-2", "b-1", "b-2", "c-1")
    drawn = McAdams(alphas_from="official").alphas(names, [0] * 5)
    assert drawn == pytest.approx(OFFICIAL, abs=1e-6)


def test_official_utterance_level_follows_c_order_not_the_order_given() -> None:
    names = sources("b-1", "a-1", "é-1", "Z-1")
    drawn = McAdams(alphas_from="official").alphas(names, [0] * 4)
    assert drawn == pytest.approx([OFFICIAL[2], OFFICIAL[1], OFFICIAL[3], OFFICIAL[0]], abs=1e-6)


def test_official_speaker_level_repeats_the_challenge() -> None:
    names = sources("1272-1", "1462-1", "1089-1", "1272-2")
    drawn = McAdams(level="speaker", alphas_from="official").alphas(names, [0] * 4)
    assert drawn == pytest.approx([0.775744, 0.635578, 0.727270, 0.775744], abs=1e-6)


def test_seeded_alphas_depend_on_the_seed_alone() -> None:
    system = McAdams()
    drawn = system.alphas(sources("a-1", "a-2", "b-1"), [5, 6, 5])
    assert drawn[0] == drawn[2] != drawn[1]
    assert drawn[0] == np.random.default_rng(5).uniform(0.5, 0.9)
    assert system.alphas(sources("z-9"), [6]) == [drawn[1]]


def test_alphas_stay_in_range() -> None:
    drawn = McAdams(alpha_min=0.6, alpha_max=0.61).alphas(sources(*"abcdefgh"), list(range(8)))
    assert all(0.6 <= alpha < 0.61 for alpha in drawn if alpha is not None)
    assert len(set(drawn)) == 8


# Parity


@pytest.mark.parametrize("alpha", [0.5, 0.687588, 0.9, 1.0, 1.3])
def test_synthetic_speech_is_within_one_lsb_of_the_reference(alpha: float) -> None:
    assert lsb_apart(reference.speech_like(1.5, seed=3), alpha) <= 1


@pytest.mark.parametrize("alpha", [0.5, 0.7, 0.9])
def test_real_speech_is_within_one_lsb_of_the_reference(test_data: Path, alpha: float) -> None:
    files = sorted((test_data / "speech" / "LibriSpeech").glob("test-*/*/*/*.flac"))[::100]
    assert len(files) == 5
    for file in files:
        samples, _ = soundfile.read(file, dtype="int16", frames=48_000)
        assert lsb_apart(samples, alpha) <= 1, file.name


def test_other_windows_and_orders_are_within_one_lsb_of_the_reference() -> None:
    samples = reference.speech_like(1, seed=4)
    fast = McAdams(window_ms=25, shift_ms=5, lp_order=13).anonymize(samples, job(0.7))
    slow = reference.mcadams(samples, 0.7, window_samples=400, shift_samples=80, order=13)
    assert np.abs(fast.astype(int) - slow).max() <= 1


@pytest.mark.parametrize(
    "name", ["clipped", "square", "extremes", "impulse", "pulses", "gap", "one bit"]
)
def test_extreme_signals_are_within_one_lsb_of_the_reference(name: str) -> None:
    generator = np.random.default_rng(5)
    t = np.arange(6_400)
    samples = {
        "clipped": np.clip(generator.normal(0, 60_000, len(t)), -32_768, 32_767),
        "square": 32_767 * np.sign(np.sin(0.05 * t)),
        "extremes": generator.choice([-32_768, 32_767], len(t)),
        "impulse": 32_767 * (t == 3_000),
        "pulses": 20_000 * (t % 100 == 0),
        "gap": np.where((t > 2_000) & (t < 4_000), 0, generator.normal(0, 3_000, len(t))),
        "one bit": generator.integers(-1, 2, len(t)),
    }[name]
    assert lsb_apart(samples.astype(np.int16), 0.5) <= 1


def test_samples_are_truncated_like_the_reference() -> None:
    samples = reference.speech_like(1, seed=14)
    fast = McAdams().anonymize(samples, job(0.7))
    # Rounding instead would change half of them.
    assert np.mean(fast != reference.mcadams(samples, 0.7)) < 0.01


def test_alpha_one_leaves_speech_as_it_is_but_for_its_level() -> None:
    samples = reference.speech_like(1, seed=6)
    result = McAdams().anonymize(samples, job(1.0))
    inside = slice(320, -320)
    expected = samples[inside] / np.abs(samples[inside]).max()
    found = result[inside] / np.abs(result[inside]).max()
    assert np.abs(found - expected).max() < 0.02


def test_peak_is_32766_and_the_tail_stays_zero() -> None:
    samples = reference.speech_like(0.5, seed=7)[: 320 + 160 * 20 + 77]
    result = McAdams().anonymize(samples, job(0.8))
    assert np.abs(result.astype(int)).max() in (32_765, 32_766)
    assert np.any(result[-120:-77])
    assert not np.any(result[-77:])


def test_only_samples_and_alpha_count() -> None:
    samples = reference.speech_like(0.5, seed=8)
    before = samples.copy()
    first = McAdams().anonymize(samples, job(0.6))
    McAdams().anonymize(reference.speech_like(0.3, seed=9), job(0.9))
    again = McAdams(level="speaker").anonymize(samples, job(0.6, "u000777", seed=99))
    strided = np.stack([samples, samples], axis=1)[:, 0]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, McAdams().anonymize(strided, job(0.6)))
    np.testing.assert_array_equal(samples, before)
    assert not np.array_equal(first, McAdams().anonymize(samples, job(0.61)))


def test_a_frame_does_not_depend_on_its_neighbours() -> None:
    speech = reference.speech_like(1, seed=10) / 32_768
    together = lpc.burg(speech, WINDOW, 160, 20, 1e-7)
    poles = lpc_poles.poles(together)
    for m in (0, 40, len(together) - 1):
        alone = lpc.burg(speech[160 * m : 160 * m + 320], WINDOW, 160, 20, 1e-7)
        np.testing.assert_array_equal(together[m], alone[0])
        np.testing.assert_array_equal(poles[m], lpc_poles.poles(alone)[0])


# Prediction and poles


def test_burg_agrees_with_the_reference() -> None:
    noise = np.random.default_rng(11).normal(size=320 + 160 * 9)
    fast = lpc.burg(noise, WINDOW, 160, 20, 0.0)
    assert fast.shape == (10, 21)
    for m, coefficients in enumerate(fast):
        slow = reference.burg(noise[160 * m : 160 * m + 320] * WINDOW, 20)
        np.testing.assert_allclose(coefficients, slow, rtol=0, atol=1e-12)


@pytest.mark.parametrize("real", [0, 1, 2, 5])
@pytest.mark.parametrize("pairs", [1, 4, 8])
def test_poles_are_the_roots_the_polynomial_was_made_of(real: int, pairs: int) -> None:
    generator = np.random.default_rng(100 * real + pairs)
    for _ in range(20):
        angles = np.linspace(0.15, 2.9, pairs) + generator.uniform(-0.1, 0.1, pairs)
        upper = generator.uniform(0.7, 0.999, pairs) * np.exp(1j * angles)
        on_axis = np.linspace(-0.9, 0.9, real) + generator.uniform(-0.05, 0.05, real)
        roots = np.concatenate([upper, upper.conj(), on_axis])
        found, certain = lpc_poles.fast_poles(np.real(np.poly(roots))[np.newaxis])
        assert certain.all()
        assert np.sum(found[0].imag == 0) == real
        np.testing.assert_allclose(sorted_roots(found[0]), sorted_roots(roots), atol=1e-9)


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
def test_doubtful_poles_are_left_to_numpy(roots: list[complex]) -> None:
    clear = np.real(np.poly([0.2, 0.5, 0.9j, -0.9j]))
    coefficients = np.stack([clear, np.real(np.poly(roots))])
    _, certain = lpc_poles.fast_poles(coefficients)
    assert certain.tolist() == [True, False]
    np.testing.assert_array_equal(lpc_poles.poles(coefficients)[1], np.roots(coefficients[1]))


def test_digital_silence_inside_speech_takes_the_slow_way() -> None:
    samples = reference.speech_like(0.5, seed=12)
    samples[3_000:5_000] = 0
    speech = samples / 32_768 + reference.EPS
    _, certain = lpc_poles.fast_poles(lpc.burg(speech, WINDOW, 160, 20, float(reference.EPS)))
    assert not certain[20:28].any()
    assert lsb_apart(samples, 0.6) <= 1


def test_kernels_compile_where_nothing_can_be_kept() -> None:
    # A function without a source file has no place for its machine code, as in a read-only image.
    namespace: dict[str, object] = {}
    exec("def ratio(x): return 1.0 / x", namespace)
    assert lpc_poles.compiled(namespace["ratio"])(0.0) == np.inf  # type: ignore[type-var,operator]


# Edges


def test_silence_stays_silence() -> None:
    result = McAdams().anonymize(np.zeros(1_000, dtype=np.int16), job(0.7))
    assert result.dtype == np.int16
    assert result.shape == (1_000,)
    assert not result.any()


@pytest.mark.parametrize("length", [0, 1, 319])
def test_shorter_than_a_window_is_refused(length: int) -> None:
    samples = np.ones(length, dtype=np.int16)
    with pytest.raises(AudioError, match=rf"u000001: {length} samples are fewer than one window"):
        McAdams().anonymize(samples, job(0.7))


def test_one_window_is_enough() -> None:
    assert lsb_apart(reference.speech_like(0.5, seed=13)[1_000:1_320], 0.7) <= 1


@pytest.mark.parametrize(
    ("level", "order"),
    [(176, 20), (1, 20), (1, 200)],
    ids=["pole outside", "output overflows", "analysis overflows"],
)
def test_frames_without_a_stable_filter_pass_through(level: int, order: int) -> None:
    # A constant is predicted so well that the recursion divides by rounding errors. The squared
    # windows of overlapping frames add up to 1, but for the ripple of numpy's symmetric window.
    constant = np.full(16_000, level, dtype=np.int16)
    result = McAdams(lp_order=order).anonymize(constant, job(0.7))
    assert result[320:-320] == pytest.approx(32_766, abs=32_766 * 0.01)


def test_a_constant_stretch_leaves_the_rest_as_it_is() -> None:
    speech = reference.speech_like(2.0, seed=3)
    speech[16_000:24_000] = 1
    result = McAdams().anonymize(speech, job(0.7)).astype(float)
    alone = McAdams().anonymize(speech[:16_000], job(0.7)).astype(float)
    # Apart from the peak that scales the whole, the frames before the stretch are unchanged.
    scale = (result[:15_000] @ alone[:15_000]) / (alone[:15_000] @ alone[:15_000])
    assert result[:15_000] == pytest.approx(scale * alone[:15_000], abs=2)
    assert np.abs(result[17_000:23_000]).max() < 50


@pytest.mark.parametrize(
    "samples", [np.zeros(1_000), np.zeros((500, 2), dtype=np.int16)], ids=["float", "stereo"]
)
def test_other_audio_is_refused(samples: np.ndarray) -> None:
    with pytest.raises(AudioError, match="not mono 16-bit"):
        McAdams().anonymize(samples, job(0.7))


@pytest.mark.parametrize("alpha", [None, 0.0, -0.5, float("nan"), float("inf")])
def test_unusable_alpha_is_refused(alpha: float | None) -> None:
    with pytest.raises(ConfigError, match="the McAdams coefficient is"):
        McAdams().anonymize(np.zeros(1_000, dtype=np.int16), job(alpha))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"level": "set"}, "level is 'set'; choose one of: utterance, speaker"),
        ({"alphas_from": "hash"}, "alphas_from is 'hash'; choose one of: seed, official"),
        ({"alpha_min": 0}, "alpha_min is 0; give a number above 0"),
        ({"alpha_max": float("nan")}, "alpha_max is nan"),
        ({"alpha_max": "0.9"}, "alpha_max is '0.9'"),
        ({"window_ms": True}, "window_ms is True"),
        ({"alpha_min": 0.95}, "alpha_min 0.95 is above alpha_max 0.9"),
        ({"shift_ms": 21}, "shift_ms 21 does not fit window_ms 20"),
        ({"shift_ms": 0.01}, "shift_ms 0.01 does not fit"),
        ({"lp_order": 0}, "lp_order is 0"),
        ({"lp_order": 20.0}, "lp_order is 20.0"),
        ({"lp_order": 319}, "lp_order 319 is too high for a window of 320 samples"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        McAdams(**parameters)  # type: ignore[arg-type]


def test_is_found_by_name() -> None:
    system = load("b2", {"type": "mcadams", "level": "speaker", "alpha_min": 0.6})
    assert isinstance(system, Anonymizer)
    assert system == McAdams(level="speaker", alpha_min=0.6)
    with pytest.raises(ConfigError, match="'alpha'"):
        load("b2", {"type": "mcadams", "alpha": 0.6})


def test_parameters_are_checked_without_the_heavy_imports() -> None:
    program = (
        "import sys; from harness.anonymizers.mcadams import McAdams; McAdams(); "
        "print(sorted({'torch', 'speechbrain', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
