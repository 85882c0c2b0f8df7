"""Rows of results: means, deviations and intervals are those of the scores."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from harness.errors import DataError
from harness.metrics.bootstrap import LOW_NOTE, eer_intervals
from harness.metrics.draws import Pairs
from harness.protocols.protocol import Published
from harness.ranking.model import Estimate
from harness.reports.results import cautions, intervals_table, require_same, result_rows

from .trained import SAMPLING, TRIALS, by_hand, drawn, measured, protocol, scores, training

FILE = "results/made-up/averages.csv"


@pytest.fixture
def rows() -> tuple:
    # EERs in percent: f 25 and 50, m 0 and 25; so 12.5 and 37.5 by seed.
    one = measured(
        [by_hand(1, "f", 1), by_hand(2, "f", 2)],
        [by_hand(1, "m", 0), by_hand(2, "m", 1)],
    )
    return result_rows(protocol(), [one], SAMPLING, FILE)


def test_means_and_deviation(rows: tuple) -> None:
    (row,) = rows
    assert (row.system, row.attacker, row.scenario, row.split) == (
        *("B4", "ecapa", "semi-informed", "test"),
    )
    assert row.by_gender == {"f": 37.5, "m": 12.5}
    assert row.seeds == {1: 12.5, 2: 37.5}
    assert row.mean.percent == 25.0
    # Half the difference, times the root of two.
    assert row.deviation == 17.678
    assert row.file == FILE


def test_one_training_has_no_deviation() -> None:
    one = measured([by_hand(1, "f", 1)], [by_hand(1, "m", 1)])
    (row,) = result_rows(protocol(), [one], SAMPLING, FILE)
    assert row.deviation is None
    assert row.seeds == {1: 25.0}


def test_no_interval_of_two_speakers(rows: tuple) -> None:
    (row,) = rows
    assert (row.mean.low, row.mean.high) == (None, None)
    assert row.mean.reason == "2 speakers have target trials, fewer than 10"


def test_interval_is_that_of_the_speakers() -> None:
    lists = [[drawn(1, "f", 1.0), drawn(2, "f", 1.0)], [drawn(1, "m", 1.0), drawn(2, "m", 1.0)]]
    (row,) = result_rows(protocol(), [measured(*lists)], SAMPLING, FILE)
    pairs = [
        Pairs(
            [trial.enrolment for trial in each[0].scored.trials],
            [trial.utterance.split("-")[0] for trial in each[0].scored.trials],
        )
        for each in lists
    ]
    attacker = [[one.scored.scores for one in each] for each in lists]
    expected = eer_intervals(pairs, attacker, sampling=SAMPLING).average
    assert expected.low is not None
    assert expected.high is not None
    assert row.mean.low == round(100 * expected.low, 3)
    assert row.mean.high == round(100 * expected.high, 3)
    assert row.mean.low < row.mean.percent < row.mean.high


def test_no_interval_where_names_do_not_tell_speakers() -> None:
    trials = [replace(trial, utterance=f"x{trial.utterance}") for trial in TRIALS]
    one = measured([training(1, "f", trials, scores(1))], [training(1, "m", trials, scores(1))])
    (row,) = result_rows(protocol(), [one], SAMPLING, FILE)
    assert row.mean.percent == 25.0
    assert row.mean.reason == "the speakers of the trials are not known"


def test_published_value_and_its_source() -> None:
    published = Published("B4", "test", "mean", 24.99, "plan, Table 3")
    lists = [by_hand(1, "f", 1)], [by_hand(1, "m", 1)]
    semi, lazy = result_rows(
        protocol(published),
        [measured(*lists), measured(*lists, scenario="lazy-informed")],
        SAMPLING,
        FILE,
    )
    assert (semi.published, semi.source) == ("24.99", "plan, Table 3")
    # Nothing is published of an attacker trained on original speech.
    assert (lazy.published, lazy.source) == (None, None)


def test_table_of_intervals(rows: tuple) -> None:
    table = intervals_table(rows)
    assert table["eer_percent"].tolist() == [25.0, 37.5, 12.5]
    assert table["deviation"][1:].isna().all()
    assert table.iloc[0].to_dict() == {
        "system": "B4",
        "attacker": "ecapa",
        "scenario": "semi-informed",
        "split": "test",
        "list": "mean",
        "seeds": 2,
        "eer_percent": 25.0,
        "deviation": 17.678,
        "low": None,
        "high": None,
        "reason": "2 speakers have target trials, fewer than 10",
    }


def test_the_table_of_averages_must_agree(rows: tuple) -> None:
    columns = ["system", "attacker", "scenario", "split", "seed", "eer_percent"]
    key = ("B4", "ecapa", "semi-informed", "test")
    require_same(rows, pd.DataFrame([(*key, 1, 12.5), (*key, 2, 37.5)], columns=columns))
    with pytest.raises(DataError, match=r"seed 2, .*: 37\.4, but the scores give 37\.5; run `dvc"):
        require_same(rows, pd.DataFrame([(*key, 1, 12.5), (*key, 2, 37.4)], columns=columns))
    with pytest.raises(DataError, match="seed 2, .*: no value, but"):
        require_same(rows, pd.DataFrame([(*key, 1, 12.5)], columns=columns))


def test_cautions(rows: tuple) -> None:
    said = cautions(rows)
    assert said[0].startswith("Means are over 2 trainings")
    assert said[1].endswith("would mislead: 2 speakers have target trials, fewer than 10.")
    one = measured([by_hand(1, "f", 1)], [by_hand(1, "m", 1)])
    (row,) = result_rows(protocol(), [one], SAMPLING, FILE)
    assert cautions([row])[0].startswith("Each attacker was trained once")
    low = replace(row, mean=Estimate(9.9, 5.0, 15.0))
    assert LOW_NOTE in cautions([row, low])
    for other in (Estimate(10.0, 5.0, 15.0), Estimate(9.9, reason="few")):
        assert LOW_NOTE not in cautions([replace(row, mean=other)])
