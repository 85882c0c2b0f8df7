"""Rows of results: means, deviations and intervals are those of the scores."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from harness.errors import DataError
from harness.metrics.bootstrap import LOW_NOTE, eer_intervals
from harness.metrics.draws import Pairs
from harness.metrics.resampling import Sampling
from harness.protocols.protocol import Published
from harness.ranking.model import Estimate
from harness.reports.measured import (
    cautions,
    intervals_table,
    require_same,
    result_rows,
    scored_list,
)

from .trained import drawn, measured, protocol, training, trials_of

SAMPLING = Sampling(draws=200)
FILE = "results/made-up/averages.csv"
# Two speakers, two utterances each: 4 targets and 4 nontargets.
TRIALS = trials_of(["a", "b"])
TARGETS = [trial.target for trial in TRIALS]


def scores(misses: int) -> list[float]:
    """As many targets below all nontargets as nontargets above all targets: the EER is misses/4."""
    low = iter([-9.0] * misses + [2.0] * (4 - misses))
    high = iter([9.0] * misses + [1.0] * (4 - misses))
    return [next(low) if target else next(high) for target in TARGETS]


def by_hand(seed: int, gender: str, misses: int) -> object:
    return training(seed, gender, TRIALS, scores(misses))


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


def test_scored_list() -> None:
    one = scored_list([by_hand(1, "f", 1), by_hand(2, "f", 2)])
    assert one.scores.shape == (2, 8)
    assert one.target.tolist() == TARGETS
    assert one.pairs is not None
    assert one.pairs.target.tolist() == TARGETS
    first, second = one.rates
    assert (first.seed, first.percent, second.seed, second.percent) == (1, 25.0, 2, 50.0)
    assert (first.misses, first.false_alarms, first.n_target, first.n_nontarget) == (1, 1, 4, 4)
    assert first.file == "results/1/test-f/scores"
    # The miss is the first speaker's; that speaker has a false alarm too, the other neither.
    assert first.speakers == {"a": 50.0, "b": 0.0}
    assert first.det[0] == (1.0, 0.0)
    assert first.det[-1] == (0.0, 1.0)
    assert (0.25, 0.25) in first.det
