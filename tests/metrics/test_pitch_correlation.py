"""Pitch correlation against hand arithmetic, known lags, SciPy, pandas and a slow definition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import interp1d
from scipy.stats import pearsonr

from harness.errors import DataError
from harness.metrics.pitch_correlation import (
    LONGEST_GAP,
    PitchCorrelation,
    length_gap,
    official_2022,
    voiced_only,
)

BOTH = pytest.mark.parametrize("correlation", [official_2022, voiced_only])


def contour(frames: int, seed: int = 1) -> np.ndarray:
    """A voiced stretch of 130 to 220 Hz that never repeats itself."""
    steps = np.random.default_rng(seed).normal(0, 6, frames)
    return np.clip(170 + np.cumsum(steps), 130, 220)


def padded(*parts: Sequence[float] | np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros(40), *parts, np.zeros(40)])


# By hand


def test_all_frames_by_hand() -> None:
    # Deviations from the means 75 and 62.5: (-75, 25, 125, -75) and (-62.5, 37.5, 87.5, -62.5).
    found = official_2022([0, 100, 200, 0], [0, 100, 150, 0])
    expected = 21_250 / (27_500 * 16_875) ** 0.5
    assert found == PitchCorrelation(pytest.approx(expected, abs=1e-15), 0, 4, undefined=False)


def test_voiced_frames_by_hand() -> None:
    # Voiced in both: 100, 200, 120 beside 110, 150, 160, deviations (-40, 60, -20), (-30, 10, 20).
    found = voiced_only([0, 100, 200, 120, 90, 0], [0, 110, 150, 160, 0, 80])
    expected = 1_400 / (5_600 * 1_400) ** 0.5
    assert found == PitchCorrelation(pytest.approx(expected, abs=1e-15), 0, 3, undefined=False)


def test_a_contour_turned_round_is_hidden_by_unvoiced_frames() -> None:
    rising = np.linspace(150, 160, 20)
    original, anonymized = padded(rising), padded(rising[::-1])
    assert voiced_only(original, anonymized).value == pytest.approx(-1)
    every = official_2022(original, anonymized)
    assert every.value == pytest.approx(pearsonr(original, anonymized).statistic)
    assert every.value > 0.99


# The lag


@BOTH
@pytest.mark.parametrize("lag", [-17, -1, 0, 1, 30])
def test_a_known_lag_is_found(correlation, lag: int) -> None:
    original = padded(contour(60))
    anonymized = np.roll(1.4 * original, -lag)
    found = correlation(original, anonymized)
    frames = 140 if correlation is official_2022 else 60
    assert found == PitchCorrelation(pytest.approx(1), lag, frames, undefined=False)


def test_the_lag_is_of_products_not_of_deviations() -> None:
    # Means not taken off, 300 * 300 at lag 1 outweighs 100 * 300 + 300 * 100 at lag 0; and so no
    # other lag gives as much, although Pearson is higher at lag 0 (0.5) than at lag 1 (0).
    original, anonymized = [0, 100, 300, 0], [0, 300, 100, 0]
    found = official_2022(original, anonymized)
    assert found.lag == 1
    assert found.value == pytest.approx(pearsonr(original, [0, 0, 300, 100]).statistic)


def test_of_equal_maxima_the_lowest_lag() -> None:
    # One voiced frame meets each of two at lags -2 and 2.
    assert official_2022([200, 0, 0, 0, 200], [0, 0, 200, 0, 0]).lag == -2
    assert official_2022([0, 0, 200, 0, 0], [200, 0, 0, 0, 200]).lag == -2


def test_what_leaves_at_one_end_comes_back_at_the_other() -> None:
    # Four high frames have to meet.
    spoken, other = np.r_[400.0, 450, 430, 480, contour(16) - 50], np.array([80, 85, 80, 90, 80])
    anonymized = np.concatenate([other, spoken[:15]])
    every = official_2022(spoken, anonymized)
    moved = np.concatenate([spoken[:15], other])
    assert (every.lag, every.frames) == (-5, 20)
    assert every.value == pytest.approx(pearsonr(spoken, moved).statistic)
    # Voiced frames alone: those that came back are no part of it.
    assert voiced_only(spoken, anonymized) == PitchCorrelation(
        pytest.approx(1), -5, 15, undefined=False
    )
    # The other way round they come back at the start.
    assert voiced_only(anonymized, spoken) == PitchCorrelation(
        pytest.approx(1), 5, 15, undefined=False
    )


# Lengths


@BOTH
@pytest.mark.parametrize("swapped", [False, True])
def test_the_shorter_track_is_stretched(correlation, swapped: bool) -> None:
    long, short = [100, 150, 200, 300, 400], [100, 200, 400]
    found = correlation(short, long) if swapped else correlation(long, short)
    assert found == PitchCorrelation(pytest.approx(1), 0, 5, undefined=False)


def test_stretching_makes_frequencies_at_the_ends_of_voiced_speech() -> None:
    # To seven frames: 200, 200, 200, 100, 0, 60, 120. The frame of 60 Hz is out of range.
    original, anonymized = [210, 220, 200, 90, 0, 90, 140], [200, 200, 0, 120]
    stretched = [200, 200, 200, 100, 0, 0, 120]
    every = official_2022(original, anonymized)
    assert (every.lag, every.frames) == (0, 7)
    assert every.value == pytest.approx(pearsonr(original, stretched).statistic)
    # The frame of 100 Hz has an unvoiced neighbour.
    voiced = voiced_only(original, [200, 180, 0, 120])
    expected = pearsonr([210, 220, 200, 140], [200, 190, 180, 120]).statistic
    assert voiced == PitchCorrelation(pytest.approx(expected), 0, 4, undefined=False)


@pytest.mark.parametrize(("frames", "shorter"), [(187, 181), (137, 136), (301, 299)])
def test_stretching_is_that_of_scipy(frames: int, shorter: int) -> None:
    original = padded(contour(frames - 80))
    anonymized = padded(contour(shorter - 80, seed=2))
    places = np.linspace(0, shorter - 1, frames)
    stretched = interp1d(np.arange(shorter), anonymized)(places)
    stretched[stretched < 75] = 0
    found = official_2022(original, anonymized)
    expected = pearsonr(original, np.roll(stretched, found.lag)).statistic
    assert found.value == pytest.approx(expected, abs=1e-12)


def test_stretched_frames_that_meet_a_frame_are_that_frame() -> None:
    # Frames 0, 49 and 98 of 99 are three of five, although 49 steps are no 2 in floating point.
    assert 49 * (4 / 98) < 2
    found = voiced_only(np.full(99, 100.0), [130, 0, 120, 0, 140])
    assert (found.lag, found.frames) == (0, 3)


@BOTH
@pytest.mark.parametrize("value", [74.9, 500.1])
def test_what_is_out_of_range_counts_as_unvoiced(correlation, value: float) -> None:
    found = correlation([100, value, 75, 500], [100, 300, 75, 500])
    assert found == correlation([100, 0, 75, 500], [100, 300, 75, 500])


@pytest.mark.parametrize("longer", [16_960, 555_960])
def test_60_ms_are_no_error_yet(longer: int) -> None:
    # 960 samples at 16 kHz.
    for lengths in ((longer, longer - 960), (longer - 960, longer)):
        assert length_gap(*lengths, 16_000) == LONGEST_GAP == 0.06
    assert length_gap(longer, longer - 961, 16_000) > LONGEST_GAP
    assert length_gap(longer - 961, longer, 16_000) == pytest.approx(961 / 16_000)


# What is undefined


@BOTH
@pytest.mark.parametrize(
    ("original", "anonymized"),
    [
        ([], []),
        ([], [100, 200, 300]),
        ([0, 0, 0], [100, 200, 300]),
        ([0, 60, 0], [0, 0, 0]),
        ([150], [150]),
        ([150, 150, 150], [100, 200, 300]),
        ([100, 200, 300], [150.1, 150.1, 150.1]),
    ],
)
def test_undefined_is_zero(correlation, original: list, anonymized: list) -> None:
    found = correlation(original, anonymized)
    assert (found.value, found.lag, found.undefined) == (0, 0, True)


@pytest.mark.parametrize(("anonymized", "frames"), [([0, 100, 0, 0], 1), ([90, 100, 0, 0], 2)])
def test_too_few_common_frames(anonymized: list, frames: int) -> None:
    # Two make a line, whatever they are.
    found = voiced_only([100, 200, 0, 90], anonymized)
    assert abs(found.value) == pytest.approx(frames - 1)
    assert (found.frames, found.undefined) == (frames, frames < 2)


# What is no track


@BOTH
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[100.0, 0.0]], r"the (original|anonymized) F0 track has shape \(1, 2\); give one number"),
        ([100.0, np.nan], "F0 track holds values that are no frequency; give Hz, and 0"),
        ([100.0, np.inf], "F0 track holds values that are no frequency"),
        ([100.0, -1.0], "F0 track holds values that are no frequency"),
    ],
)
def test_no_track(correlation, values: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        correlation(values, [100, 0])
    with pytest.raises(DataError, match=message):
        correlation([100, 0], values)


# A slow definition


def slow_lag(original: list[int], anonymized: list[int]) -> int:
    frames = len(original)
    if not any(original) or not any(anonymized):
        return 0
    best = (0, 0)
    for lag in range(frames - 1, -frames, -1):
        pairs = [(n, n - lag) for n in range(frames) if 0 <= n - lag < frames]
        best = max(best, (sum(original[i] * anonymized[j] for i, j in pairs), -lag))
    return -best[1]


F0 = st.one_of(st.just(0), st.integers(75, 500))
TRACKS = st.integers(2, 30).flatmap(
    lambda n: st.tuples(*[st.lists(F0, min_size=n, max_size=n)] * 2)
)


@given(TRACKS)
def test_any_tracks(tracks: tuple[list[int], list[int]]) -> None:
    original, anonymized = tracks
    lag = slow_lag(original, anonymized)
    moved = [anonymized[(n - lag) % len(original)] for n in range(len(original))]
    every = official_2022(original, anonymized)
    assert every.lag == lag
    # Pandas gives NaN for constants, of which the script makes 0.
    expected = pd.Series(original).corr(pd.Series(moved))
    assert every.undefined == np.isnan(expected)
    assert every.value == pytest.approx(np.nan_to_num(expected), abs=1e-9)

    common = [
        (original[n], anonymized[n - lag])
        for n in range(len(original))
        if 0 <= n - lag < len(original) and original[n] and anonymized[n - lag]
    ]
    voiced = voiced_only(original, anonymized)
    assert (voiced.lag, voiced.frames) == (lag, len(common))
    if voiced.undefined:
        assert len(common) < 2 or 1 in (len(set(column)) for column in zip(*common, strict=True))
    else:
        expected = pearsonr(*zip(*common, strict=True)).statistic
        assert voiced.value == pytest.approx(expected, abs=1e-9)
