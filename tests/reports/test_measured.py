"""Scores of a list by training, as rankings and intervals take them."""

from __future__ import annotations

import pytest

from harness.reports import measured as module
from harness.reports.measured import mean_percent, scored_list
from harness.reports.results import result_rows
from harness.reports.standing import own_ranking

from .trained import SAMPLING, TARGETS, by_hand, measured, protocol


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


def test_mean_over_trainings() -> None:
    # 1 and 2 of 4: 25 and 50 %.
    assert mean_percent([by_hand(1, "f", 1), by_hand(2, "f", 2)]) == 37.5


def test_lists_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    one = measured([by_hand(1, "f", 1)], [by_hand(1, "m", 1)])
    made = []
    monkeypatch.setattr(
        module, "scored_list", lambda trainings: made.append(1) or scored_list(trainings)
    )
    assert result_rows(protocol(), [one], SAMPLING, "averages.csv")
    assert own_ranking(protocol(), [one], "test", SAMPLING).boards
    assert len(made) == 2
