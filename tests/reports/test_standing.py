"""The ranking of a benchmark's own attackers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.protocols.protocol import Published
from harness.ranking.document import from_json, to_json
from harness.ranking.model import Ranking
from harness.reports.measured import Measured
from harness.reports.standing import own_ranking

from .trained import SAMPLING, drawn, measured, protocol

PUBLISHED = Published("B4", "test", "mean", 24.99, "plan, Table 3")


def attack(
    system: str, attacker: str, distance: float, scenario: str = "semi-informed"
) -> Measured:
    lists = ([drawn(seed, gender, distance) for seed in (1, 2)] for gender in "fm")
    return measured(*lists, system=system, attacker=attacker, scenario=scenario)


@pytest.fixture(scope="module")
def ranking() -> Ranking:
    edition = protocol(PUBLISHED)
    attacks = [
        attack("orig", "a", 5.0, "original"),
        attack("B4", "a", 1.0),
        attack("B4", "a", 5.0, "ignorant"),
        attack("B4", "b", 3.0),
        attack("B5", "a", 0.5),
        attack("B5", "b", 0.2),
    ]
    lists = tuple(one[0].scored.listed for one in attacks[0].lists)
    return own_ranking(replace(edition, lists=lists), attacks, "test", SAMPLING)


def test_only_attackers_trained_on_the_system_are_ranked(ranking: Ranking) -> None:
    assert [
        (board.system, [(row.attacker, row.rank) for row in board.rows]) for board in ranking.boards
    ] == [("B4", [("b", 1), ("a", 2)]), ("B5", [("a", 1), ("b", 2)])]


def test_rows_are_over_trainings(ranking: Ranking) -> None:
    row = ranking.boards[0].rows[0]
    assert row.averages is not None
    assert row.deviations is not None
    assert row.averages["test"].percent == pytest.approx(
        sum(rate.percent for rate in row.rates) / 4
    )
    assert [(rate.list, rate.seed) for rate in row.rates] == [
        *(("test_trials_f", 1), ("test_trials_f", 2)),
        *(("test_trials_m", 1), ("test_trials_m", 2)),
    ]


def test_the_published_value_stands_beside(ranking: Ranking) -> None:
    (reference,) = ranking.boards[0].references
    assert (reference.percent, reference.source) == (24.99, "plan, Table 3")
    assert ranking.boards[1].references == ()


def test_systems_by_their_strongest_attacker(ranking: Ranking) -> None:
    assert ranking.two_sided is not None
    assert ranking.two_sided.systems == ("B5", "B4")
    assert ranking.two_sided.strongest == {"B4": ("b",), "B5": ("a",)}


def test_the_document_is_read_back(ranking: Ranking) -> None:
    text = to_json(ranking)
    assert to_json(from_json(text.encode(), "ranking.json")) == text
    assert ranking.method.draws == 200


def test_the_split_that_ranks_is_in_the_rules(ranking: Ranking) -> None:
    assert "of the split test over all its trainings" in ranking.rules[0]


def test_nothing_to_rank() -> None:
    only = own_ranking(protocol(), [attack("orig", "a", 1.0, "original")], "test", SAMPLING)
    assert only.boards == ()
    assert only.two_sided is None


def test_noise_of_training_is_counted_in_tiers() -> None:
    # Two trainings of each: where they differ, one draw of Student's t in several undoes the rank.
    # Distances of means, in deviations; higher is the lower EER.
    edition = protocol()
    steady = {"a": (2.0, 2.0), "b": (0.5, 0.5)}
    unsteady = {"a": (3.0, 1.0), "b": (0.5, 0.6)}
    for distances, tiers in ((steady, [1, 2]), (unsteady, [1, 1])):
        attacks = [
            measured(*([drawn(1, g, d), drawn(1, g, e)] for g in "fm"), attacker=name)
            for name, (d, e) in distances.items()
        ]
        lists = tuple(one[0].scored.listed for one in attacks[0].lists)
        (board,) = own_ranking(replace(edition, lists=lists), attacks, "test", SAMPLING).boards
        assert [(row.attacker, row.tier) for row in board.rows] == list(
            zip("ab", tiers, strict=True)
        )
