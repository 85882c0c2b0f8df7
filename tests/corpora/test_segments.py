from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.corpora.segments import segment_names, segments
from harness.errors import ConfigError


@pytest.mark.parametrize(
    ("seconds_of_speech", "parts"),
    [(0.5, 1), (3.0, 1), (4.4, 1), (4.6, 2), (9.0, 3), (16.0, 5), (17.0, 6)],
)
def test_number_of_three_second_segments(seconds_of_speech: float, parts: int) -> None:
    assert len(segments(int(seconds_of_speech * 16_000), 3.0)) == parts


def test_known_bounds() -> None:
    assert segments(100_001, 2.0) == [(0, 33_333), (33_333, 66_667), (66_667, 100_001)]


@given(st.integers(1, 10_000_000), st.floats(0.02, 100))
def test_segments_cover_the_utterance_equally(samples: int, seconds: float) -> None:
    parts = segments(samples, seconds)
    assert [start for start, _ in parts] == [0, *(stop for _, stop in parts[:-1])]
    assert parts[-1][1] == samples
    lengths = [stop - start for start, stop in parts]
    assert min(lengths) > 0
    assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize("seconds", [0.0, -1.0, 0.019, math.nan])
def test_senseless_lengths_are_refused(seconds: float) -> None:
    with pytest.raises(ConfigError, match=r"segment seconds: segments of .*; use 0\.02 s or more"):
        segments(16_000, seconds)


@pytest.mark.parametrize(
    ("parts", "first", "last"),
    [(1, "a-00", "a-00"), (100, "a-00", "a-99"), (101, "a-000", "a-100")],
)
def test_names_are_in_c_order(parts: int, first: str, last: str) -> None:
    names = segment_names("a", parts)
    assert (names[0], names[-1], len(names)) == (first, last, parts)
    assert names == sorted(names)
