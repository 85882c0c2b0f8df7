"""Intonation that is kept, turned round and lost; means and shares by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from vowels import RATE, vowel

from harness.metrics.resampling import SAMPLING
from harness.metrics.speaker_interval import mean_interval
from harness.protocols.values import Value
from harness.runtime.events import Events
from harness.runtime.pool import Pool
from harness.utility.base import Measured
from harness.utility.pitch_correlation import PitchCorrelation
from harness.utility.stage import Part, evaluate
from utility.sets import Said, group, stored

pytestmark = pytest.mark.heavy

FORMANTS = (600, 1_400, 2_500)
SECONDS = 1.5


def spoken(start: float, end: float) -> np.ndarray:
    """A vowel whose F0 bends from one to the other, in Hz, with a pause before and after."""
    place = np.arange(round(SECONDS * RATE)) / (SECONDS * RATE)
    pause = np.zeros(RATE // 4, dtype=np.int16)
    return np.concatenate(
        [pause, vowel(start + (end - start) * place**2, FORMANTS, SECONDS), pause]
    )


def compared(
    original: np.ndarray, anonymized: Mapping[str, np.ndarray]
) -> tuple[pd.DataFrame, dict[str, Value]]:
    """All against one original: the table by utterance, and the values of all."""
    names = list(anonymized)
    stored(Path("original"), {name: Said(original) for name in names})
    stored(Path("anonymized"), {name: Said(one) for name, one in anonymized.items()})
    part = Part("libri", "test", Path("original"), Path("anonymized"))
    table, values = evaluate(
        PitchCorrelation(), [part], system="b2", name="pitch", pool=Pool(1), events=Events()
    )
    return table.set_index("utterance"), {one.measure: one for one in values}


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_original_speech_keeps_its_intonation() -> None:
    table, values = compared(spoken(120, 200), {"same": spoken(120, 200)})
    row = table.loc["same"]
    assert row["pitch-correlation"] == pytest.approx(1, abs=1e-12)
    assert row["pitch-correlation-voiced"] == pytest.approx(1, abs=1e-12)
    assert (row["lag"], row["undefined"], row["length_gap_seconds"]) == (0, "", 0)
    assert {name: (one.value, one.n) for name, one in values.items()} == {
        "pitch-correlation": (pytest.approx(1), 1),
        "pitch-correlation-voiced": (pytest.approx(1), 1),
        "length-gap": (0, 1),
    }


def test_another_pitch_with_the_same_intonation_and_one_turned_round() -> None:
    table, _ = compared(
        spoken(120, 200),
        # 1.5 times as high; falling where it rises; the same 120 ms later.
        {
            "higher": spoken(180, 300),
            "round": spoken(200, 120),
            "later": np.roll(spoken(120, 200), 12 * RATE // 100),
        },
    )
    voiced, every = table["pitch-correlation-voiced"], table["pitch-correlation"]
    assert voiced["higher"] > 0.99
    assert every["higher"] > 0.95
    assert voiced["round"] < -0.9
    # Where there is a voice is the same: that counts for more than the contour.
    assert every["round"] > 0.8
    assert table.loc["later", "lag"] == -12
    assert voiced["later"] > 0.99


def test_what_is_undefined_counts_as_zero_and_is_told() -> None:
    whisper = np.random.default_rng(1).normal(0, 3_000, 2 * RATE).astype(np.int16)
    table, values = compared(
        spoken(120, 200),
        {"same": spoken(120, 200), "silent": np.zeros(2 * RATE, np.int16), "whispered": whisper},
    )
    assert table.loc["same", "undefined"] == ""
    for name in ("silent", "whispered"):
        row = table.loc[name]
        assert row["undefined"] == "pitch-correlation;pitch-correlation-voiced"
        assert (row["pitch-correlation"], row["pitch-correlation-voiced"]) == (0, 0)
    assert values["pitch-correlation"].value == pytest.approx(1 / 3)


def test_lengths_that_differ_are_counted_and_correlated_all_the_same() -> None:
    whole = spoken(120, 200)
    # By 60 ms, which the plan allows, by a sample more, and by 100 ms.
    cut = {name: whole[: len(whole) - n] for name, n in (("60", 960), ("61", 961), ("100", 1_600))}
    table, values = compared(whole, {"0": whole, **cut})
    assert table["length_gap_seconds"].to_dict() == {
        "0": 0,
        "60": 0.06,
        "61": 961 / RATE,
        "100": 0.1,
    }
    assert values["length-gap"].value == 50
    assert (table["pitch-correlation-voiced"] > 0.9).all()


# Means, by hand


def found(official: float, voiced: float, gap: float = 0.0, undefined: bool = False) -> Any:
    return {
        "pitch-correlation": {"value": official, "lag": 3, "frames": 90, "undefined": False},
        "pitch-correlation-voiced": {
            "value": voiced,
            "lag": 3,
            "frames": 60,
            "undefined": undefined,
        },
        "length-gap": gap,
    }


def test_means_of_all_and_of_each_gender() -> None:
    evaluation = PitchCorrelation().evaluate(
        group(
            (found(0.9, 0.5), "s1", "m", ""),
            (found(0.7, 0.0, gap=0.07, undefined=True), "s2", "f", ""),
            (found(0.5, -0.2, gap=0.01), "s2", "f", ""),
        ),
        SAMPLING,
    )
    assert evaluation.values == [
        Measured("pitch-correlation", "", 3, pytest.approx(0.7)),
        Measured("pitch-correlation-voiced", "", 3, pytest.approx(0.1)),
        Measured("length-gap", "", 3, pytest.approx(100 / 3)),
        Measured("pitch-correlation", "f", 2, pytest.approx(0.6)),
        Measured("pitch-correlation-voiced", "f", 2, pytest.approx(-0.1)),
        Measured("length-gap", "f", 2, pytest.approx(50)),
        Measured("pitch-correlation", "m", 1, pytest.approx(0.9)),
        Measured("pitch-correlation-voiced", "m", 1, pytest.approx(0.5)),
        Measured("length-gap", "m", 1, 0),
    ]
    assert [dict(row) for row in evaluation.rows][1] == {
        "pitch-correlation": 0.7,
        "pitch-correlation-voiced": 0.0,
        "lag": 3,
        "undefined": "pitch-correlation-voiced",
        "length_gap_seconds": 0.07,
    }
    assert [row["undefined"] for row in evaluation.rows] == ["", "pitch-correlation-voiced", ""]


def test_intervals_of_ten_speakers_or_more() -> None:
    numbers = np.random.default_rng(2).uniform(0, 1, 40)
    speakers = [f"s{n % 10}" for n in range(40)]
    whole = group(
        *(
            (found(x, x / 2), one, "f", "")
            for x, one in zip(numbers.tolist(), speakers, strict=True)
        )
    )
    official, voiced, gap = PitchCorrelation().evaluate(whole, SAMPLING).values
    expected = mean_interval(numbers, speakers)
    assert (official.low, official.high) == (expected.low, expected.high)
    assert official.low is not None
    assert voiced.low == pytest.approx(official.low / 2)
    # All draws are the same: there is no telling.
    assert (gap.value, gap.low, gap.high) == (0, None, None)
