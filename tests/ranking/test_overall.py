"""The overall order, by hand."""

from __future__ import annotations

from harness.protocols.ranking import OverallRule
from harness.ranking.model import Board, Row
from harness.ranking.overall import make_overall

RULE = OverallRule("mean-rank", 5)


def board(system: str, **ranks: int | None) -> Board:
    rows = tuple(Row(team, team, "official", rank=rank) for team, rank in ranks.items())
    return Board(system, system, "test", rows)


def test_means_ties_and_what_is_missing() -> None:
    boards = [
        board("A", x=1, y=2, z=3, w=None),
        # Two share the second rank; below them is the fourth.
        board("B", y=1, x=2, v=2),
        board("C"),
    ]
    overall = make_overall(boards, RULE)
    # Missing: in A the fourth, in B the fourth, in C the first, which all share.
    assert [(row.place, row.attacker, row.score) for row in overall.rows] == [
        (1, "x", (1 + 2 + 1) / 3),
        (1, "y", (2 + 1 + 1) / 3),
        (3, "v", (4 + 2 + 1) / 3),
        (4, "z", (3 + 4 + 1) / 3),
    ]
    assert overall.rows[2].ranks == {"B": 2}
    assert overall.rows[2].missing == ("A", "C")
    assert overall.top == 5
    assert "all 3 systems" in overall.rule
    assert "without one counts as the number of teams ranked there plus one." in overall.rule


def test_equal_means_are_equal_whatever_their_order() -> None:
    # As floats, 0.1 and 0.2 and 0.3 in another order have another sum.
    ranks = {f"s{n}": {"x": n % 3 + 1, "y": 3 - n % 3} for n in range(9)}
    overall = make_overall([board(system, **of_one) for system, of_one in ranks.items()], RULE)
    assert [row.place for row in overall.rows] == [1, 1]


def test_nobody() -> None:
    assert make_overall([], RULE).rows == ()
    assert make_overall([board("A")], RULE).rows == ()
