"""B2 as the edition of 2022 defines it: against its slow transcription, and where it differs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from anonymizers import reference_mcadams as reference
from harness.anonymizers import lpc_poles
from harness.anonymizers.base import Job, Source, batch_of, load
from harness.anonymizers.mcadams import McAdams
from harness.corpora.store import Samples
from harness.errors import AudioError, ConfigError
from harness.runtime.events import Events
from harness.runtime.pool import Pool

pytestmark = pytest.mark.heavy

OLDER = McAdams(definition="2022")


@dataclass(frozen=True)
class Kept:
    """A recording that need not be stored."""

    samples: Samples

    def read(self) -> Samples:
        return self.samples


def job(alpha: float, utterance: str = "u000001") -> Job:
    return Job(utterance=utterance, seed=1, alpha=alpha)


def lsb_apart(samples: Samples, alpha: float) -> int:
    fast = OLDER.anonymize(samples, job(alpha))
    slow = reference.mcadams(samples, alpha, definition="2022")
    assert fast.shape == samples.shape
    assert fast.dtype == np.int16
    return int(np.abs(fast.astype(int) - slow).max())


@pytest.mark.parametrize("alpha", [0.5, 0.687588, 0.9, 1.0, 1.3])
def test_synthetic_speech_is_within_one_lsb_of_the_reference(alpha: float) -> None:
    assert lsb_apart(reference.speech_like(1.5, seed=3), alpha) <= 1


@pytest.mark.parametrize("alpha", [0.5, 0.9, 1.2])
def test_real_speech_is_within_one_lsb_of_the_reference(test_data: Path, alpha: float) -> None:
    files = sorted((test_data / "speech" / "LibriSpeech").glob("test-*/*/*/*.flac"))[::100]
    assert len(files) == 5
    for file in files:
        samples, _ = soundfile.read(file, dtype="int16", frames=48_000)
        assert lsb_apart(samples, alpha) <= 1, file.name


def test_other_windows_and_orders_are_within_one_lsb_of_the_reference() -> None:
    samples = reference.speech_like(1, seed=4)
    system = McAdams(window_ms=25, shift_ms=5, lp_order=13, definition="2022")
    slow = reference.mcadams(
        samples, 1.2, definition="2022", window_samples=400, shift_samples=80, order=13
    )
    assert np.abs(system.anonymize(samples, job(1.2)).astype(int) - slow).max() <= 1


@pytest.mark.parametrize("name", ["clipped", "impulse", "gap", "one bit"])
def test_extreme_signals_are_within_one_lsb_of_the_reference(name: str) -> None:
    generator = np.random.default_rng(5)
    t = np.arange(6_400)
    samples = {
        "clipped": np.clip(generator.normal(0, 60_000, len(t)), -32_768, 32_767),
        "impulse": 32_767 * (t == 3_000),
        "gap": np.where((t > 2_000) & (t < 4_000), 0, generator.normal(0, 3_000, len(t))),
        "one bit": generator.integers(-1, 2, len(t)),
    }[name]
    assert lsb_apart(samples.astype(np.int16), 0.5) <= 1


def test_up_to_alpha_one_it_is_2024_from_the_second_frame_on() -> None:
    # For an angle of at most π, angle^alpha is at most π: nothing is clipped.
    samples = reference.speech_like(0.8, seed=5)
    older = OLDER.anonymize(samples, job(0.7))
    assert not older[:160].any()
    np.testing.assert_array_equal(older[160:], McAdams().anonymize(samples[160:], job(0.7)))


def test_above_alpha_one_the_two_differ() -> None:
    samples = reference.speech_like(0.8, seed=5)
    older = OLDER.anonymize(samples, job(1.3))
    newer = McAdams().anonymize(samples[160:], job(1.3))
    assert np.abs(older[160:].astype(int) - newer).max() > 1_000


def test_an_angle_is_clipped_at_the_end_of_the_spectrum() -> None:
    # 3^1.3 = 4.17 is above π: the pair meets at -0.9, as 1 + 1.8/z + 0.81/z².
    pair = 0.9 * np.exp(1j * np.array([[3.0, -3.0]]))
    clipped = lpc_poles.shifted(pair, 1.3, math.pi)[0]
    assert clipped == pytest.approx([1, 1.8, 0.81], abs=1e-12)
    turned = lpc_poles.shifted(pair, 1.3, math.inf)[0]
    assert turned == pytest.approx([1, -1.8 * math.cos(3**1.3), 0.81], abs=1e-12)


@pytest.mark.parametrize("length", [0, 320, 479])
def test_what_has_its_first_frame_only_is_refused(length: int) -> None:
    message = rf"u000001: {length} samples are fewer than one window of 320 and one shift of 160"
    with pytest.raises(AudioError, match=message):
        OLDER.anonymize(np.ones(length, dtype=np.int16), job(0.7))


def test_two_frames_are_enough() -> None:
    assert lsb_apart(reference.speech_like(0.5, seed=13)[1_000:1_480], 0.7) <= 1


@pytest.mark.parametrize(
    ("definition", "heard"), [("2022", slice(0, 161)), ("2024", slice(959, 1_000))]
)
def test_what_no_frame_hears_is_silence(definition: str, heard: slice) -> None:
    # Rounding noise would come out at full scale: the window is 0 at its ends.
    samples = np.zeros(1_000, dtype=np.int16)
    samples[heard] = 1_000
    system = McAdams(definition=definition)  # type: ignore[arg-type]
    result = system.anonymize(samples, job(0.7))
    assert result.shape == (1_000,)
    assert not result.any()


def test_coefficients_are_drawn_as_in_2024() -> None:
    sources = [Source(f"a-{number}", "a") for number in range(4)]
    drawn = OLDER.alphas(sources, range(4))
    assert drawn == McAdams().alphas(sources, range(4))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"definition": "2022", "alphas_from": "official"},
            r"official coefficients of 2022 cannot be repeated: .*; give alphas_from: seed",
        ),
        ({"definition": 2022}, "definition is 2022; write it in quotes: '2022'"),
        ({"definition": "2020"}, "definition is '2020'; choose one of: 2024, 2022"),
        (
            {"level": "speaker-in-set", "alphas_from": "official"},
            "no official coefficients at the level speaker-in-set; give alphas_from: seed",
        ),
    ],
)
def test_parameters_that_mean_nothing_are_refused(
    parameters: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        McAdams(**parameters)  # type: ignore[arg-type]


def test_is_chosen_in_an_entry() -> None:
    assert load("b2", {"type": "mcadams", "definition": "2022"}) == OLDER
    assert McAdams().definition == "2024"


def test_no_bit_depends_on_the_batch_or_the_workers(tmp_path: Path) -> None:
    speech: list[tuple[Job, Any]] = [
        (job(0.5 + 0.1 * number, f"u{number:06d}"), Kept(reference.speech_like(0.4, seed=number)))
        for number in range(5)
    ]
    with Pool(2) as pool:
        for system in (McAdams(), OLDER):
            alone = [system.anonymize(kept.samples, one) for one, kept in speech]
            for some in (speech, speech[::-1], speech[2:3]):
                with batch_of(
                    system, some, work=tmp_path, threads=1, device="cpu", events=Events()
                ) as made:
                    names = sorted(made)
                    found = list(pool.map(_called, [made[name] for name in names], chunk=2))
                assert len(found) == len(some)
                for name, samples in zip(names, found, strict=True):
                    np.testing.assert_array_equal(samples, alone[int(name[1:])])


def _called(read: Callable[[], Samples]) -> Samples:
    return read()
