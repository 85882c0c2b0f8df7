"""All systems together: who is invited."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from harness.protocols.ranking import OverallRule
from harness.ranking.model import Board, Overall, OverallRow


def make_overall(boards: Sequence[Board], rule: OverallRule) -> Overall:
    """Teams by their mean rank over all boards, those of the edition's systems."""
    ranks = {
        board.system: {row.attacker: row.rank for row in board.rows if row.rank is not None}
        for board in boards
    }
    teams = sorted({team for of_system in ranks.values() for team in of_system})
    scores = {
        team: Fraction(
            sum(of_system.get(team, len(of_system) + 1) for of_system in ranks.values()),
            len(boards),
        )
        for team in teams
    }
    rows = [
        OverallRow(
            attacker=team,
            place=1 + sum(other < scores[team] for other in scores.values()),
            score=float(scores[team]),
            ranks={name: of_system[team] for name, of_system in ranks.items() if team in of_system},
            missing=tuple(name for name, of_system in ranks.items() if team not in of_system),
        )
        for team in teams
    ]
    rows.sort(key=lambda row: (row.place, row.attacker))
    return Overall(_sentence(rule, len(boards)), rule.top, tuple(rows))


def _sentence(rule: OverallRule, n_systems: int) -> str:
    return (
        f"Teams are ordered by the mean of their ranks over all {n_systems} systems of the "
        "edition, the lowest mean first. Of a system the rank of a team is that of the official "
        "entry that counts for it; a system without one counts as the number of teams "
        "ranked there plus one. Equal means share the better place, so that a tie may add to the "
        f"{rule.top} who are invited. The evaluation plan leaves this rule to the organizers."
    )
