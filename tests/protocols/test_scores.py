"""Score files: float32 survives, and a line that cannot be scored is named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.protocols.lists import Trial
from harness.protocols.scores import read_scores, to_text

TRIALS = [Trial("84", "84-1-0000", True), Trial("84", "174-1-0000", False)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "scores"


def test_official_format(path: Path) -> None:
    text = to_text(TRIALS, np.array([0.25, -1e-7], dtype=np.float32))
    assert text == "84 84-1-0000 0.25\n84 174-1-0000 -1e-07\n"


@settings(deadline=None)
@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20)
)
def test_every_float32_reads_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[float]
) -> None:
    trials = [Trial("s", f"u{number}", False) for number in range(len(values))]
    scores = np.array(values, dtype=np.float32)
    path = tmp_path_factory.getbasetemp() / "scores"
    path.write_text(to_text(trials, scores))
    assert read_scores(path, trials).tobytes() == scores.tobytes()


def test_scores_come_in_the_order_of_the_list(path: Path) -> None:
    path.write_text("84 174-1-0000 2\n84 84-1-0000 1\n")
    scores = read_scores(path, TRIALS)
    assert scores.dtype == np.float32
    assert scores.tolist() == [1.0, 2.0]


def test_double_precision_is_rounded_to_single(path: Path) -> None:
    path.write_text("84 84-1-0000 0.1\n84 174-1-0000 0.10000000149011612\n")
    first, second = read_scores(path, TRIALS)
    assert first == second == np.float32(0.1)


@pytest.mark.parametrize(
    "value", ["nan", "NaN", "-nan", "inf", "-Infinity", "1e39", "-3.5e38", "1e400"]
)
def test_non_finite_score_is_named_by_line(path: Path, value: str) -> None:
    path.write_text(f"84 84-1-0000 1\n84 174-1-0000 {value}\n")
    with pytest.raises(ScoreError, match=rf"scores:2: the score '{value}' is not a finite number"):
        read_scores(path, TRIALS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("84 84-1-0000\n", "scores:1: expected `speaker utterance score`, found '84 84-1-0000'"),
        ("84 84-1-0000 1 2\n", "scores:1: expected"),
        ("84 84-1-0000 1\n\n84 174-1-0000 1\n", "scores:2: expected .*, found ''"),
        ("84 84-1-0000 high\n", "scores:1: expected"),
        ("84 84-1-0000 1,5\n", "scores:1: expected"),
        ("84 84-1-0000 1\n84 84-1-0000 2\n", "scores:2: the pair 84 84-1-0000 stands twice"),
        (
            "84 84-1-0000 1\n",
            "scores: 1 scores for 2 trials, 1 missing, e.g. 84 174-1-0000; score exactly the pairs",
        ),
        ("", "0 scores for 2 trials, 2 missing"),
        (
            "84 84-1-0000 1\n84 174-1-0000 1\n84 9-1-0000 1\n",
            "3 scores for 2 trials, 0 missing; score exactly",
        ),
        ("84 84-1-0000 1\n84 9-1-0000 1\n", "2 scores for 2 trials, 1 missing, e.g. 84 174-1"),
    ],
)
def test_file_that_cannot_be_scored(path: Path, text: str, message: str) -> None:
    path.write_text(text)
    with pytest.raises(ScoreError, match=message):
        read_scores(path, TRIALS)


def test_missing_and_foreign_files(path: Path) -> None:
    with pytest.raises(
        ScoreError, match="scores: no such score file; name another, or run the score stage"
    ):
        read_scores(path, TRIALS)
    path.write_bytes(b"\x80\x04\x95")
    with pytest.raises(ScoreError, match="scores: not UTF-8"):
        read_scores(path, TRIALS)


def test_scores_must_be_as_many_as_trials() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        to_text(TRIALS, np.zeros(3, dtype=np.float32))
