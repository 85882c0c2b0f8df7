"""What all attackers together say of the systems: privacy is what the strongest one leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.metrics.ranks import OF_A_MINIMUM
from harness.ranking.model import Board, TwoSided, Without
from harness.ranking.rows import percent_of, verified


def make_two_sided(boards: Sequence[Board]) -> TwoSided | None:
    """What the systems are worth against all attackers; None for fewer than two systems.

    boards: of all systems, ranked by the same split.
    """
    privacy = {one.system: one.strongest for one in boards if one.strongest is not None}
    if len(privacy) < 2:
        return None
    attackers = sorted({row.attacker for board in boards for row in verified(board)})
    lowest = _lowest(boards, None)
    without = []
    for attacker in attackers if len(attackers) > 1 else ():
        rest = _lowest(boards, attacker)
        before, after = _places({name: lowest[name] for name in rest}), _places(rest)
        moved = tuple(name for name in after if after[name] != before[name])
        without.append(Without(attacker, tuple(after), moved))
    places = _places(lowest)
    return TwoSided(
        systems=tuple(places),
        places=places,
        attackers=tuple(attackers),
        privacy=privacy,
        strongest={one.system: one.strongest_of for one in boards if one.system in privacy},
        without=tuple(without),
        note=OF_A_MINIMUM,
    )


def _lowest(boards: Sequence[Board], left_out: str | None) -> dict[str, float]:
    """Of each system the lowest EER of all attackers but one; without systems that no other
    attacked."""
    percents = {
        board.system: [
            percent_of(row, board.split) for row in verified(board) if row.attacker != left_out
        ]
        for board in boards
    }
    return {system: min(of_system) for system, of_system in percents.items() if of_system}


def _places(lowest: Mapping[str, float]) -> dict[str, int]:
    """Place by system, most private first; ties share the better, in the order given."""
    ordered = sorted(lowest, key=lambda system: -lowest[system])
    return {name: 1 + sum(other > lowest[name] for other in lowest.values()) for name in ordered}
