"""Boards: the attackers of one system in order.

Attackers compete where they are official and count for their team. Late and unofficial ones have
intervals and may be the strongest, but take no place from those that compete; what was refuted or
could not be checked is shown and takes no part.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import mean, stdev

from harness.metrics import comparison
from harness.metrics.bootstrap import LOW, LOW_NOTE, Interval
from harness.metrics.ranks import OF_A_MINIMUM, Leaderboard, Place, leaderboard
from harness.metrics.resampling import SAMPLING, Sampling
from harness.protocols.protocol import Protocol, TrialList
from harness.ranking.contest import Contestant
from harness.ranking.model import (
    APART,
    Board,
    Estimate,
    Reference,
    Row,
    Status,
)
from harness.ranking.rows import exact_mean, percent_of, verified

# Of the draws that are needed: some may leave a list without targets, and so have no EER. Of a list
# with 10 speakers of targets, the fewest that intervals are given for, 1 of 20,000 draws does.
SPARE = 1.01
NO_SPEAKERS = "the speakers of the trials are not known"
# Below those that are ranked.
ORDER: tuple[Status, ...] = ("official", "late", "unofficial", *APART)


def enough(sampling: Sampling, contestants: Collection[Contestant]) -> Sampling:
    """The sampling, with at least the draws that it takes to tell so many attackers apart."""
    rivals = len({one.attacker for one in contestants if one.status == "official"}) - 1
    least = math.ceil(SPARE * comparison.fewest_draws(rivals, sampling.level))
    return replace(sampling, draws=max(sampling.draws, least))


def make_board(
    system: str,
    title: str,
    contestants: Sequence[Contestant],
    lists: Sequence[TrialList],
    rank_by: str,
    *,
    references: Sequence[Reference] = (),
    sampling: Sampling = SAMPLING,
) -> Board:
    """The board of one system.

    contestants: all of this system, in any order. lists: of the edition. rank_by: the split that
    ranks. references: shown beside. Draws are added to `sampling` where they are too few to tell so
    many attackers apart.
    Raises ScoreError for scores that the official EER refuses.
    """
    contestants = sorted(contestants, key=lambda one: (one.attacker, one.entry))
    sampling = enough(sampling, contestants)
    splits: dict[str, list[str]] = {}
    for listed in lists:
        splits.setdefault(listed.split, []).append(listed.trials)
    rows = _counted([_row(one, splits) for one in contestants], rank_by)
    strongest = None
    for split, names in splits.items():
        ranked = [split == rank_by and _competes(row, rank_by) for row in rows]
        board = _leaderboard(contestants, names, ranked, sampling)
        if board is not None:
            rows = [_placed(*one, split) for one in zip(rows, board.places, strict=True)]
            strongest = board.strongest if split == rank_by else strongest
    rivals = {row.attacker: percent_of(row, rank_by) for row in rows if _competes(row, rank_by)}
    rows = sorted((_ranked(row, rank_by, rivals) for row in rows), key=partial(_order, rank_by))
    return _with_strongest(Board(system, title, rank_by, tuple(rows), tuple(references)), strongest)


def make_boards(
    systems: Iterable[str],
    contestants: Sequence[Contestant],
    protocol: Protocol,
    rank_by: str,
    sampling: Sampling,
) -> tuple[tuple[Board, ...], Sampling]:
    """A board of each system, all by as many draws, and the sampling that was enough for all.

    rank_by, sampling: as in `make_board`.
    """
    by_system = {name: [one for one in contestants if one.system == name] for name in systems}
    for of_system in by_system.values():
        sampling = enough(sampling, of_system)
    boards = tuple(
        make_board(
            name,
            protocol.systems.get(name, name),
            of_system,
            protocol.lists,
            rank_by,
            references=references_of(protocol, name),
            sampling=sampling,
        )
        for name, of_system in by_system.items()
    )
    return boards, sampling


def references_of(protocol: Protocol, system: str) -> tuple[Reference, ...]:
    """The published average EERs of a system: those of the baseline attacker."""
    return tuple(
        Reference("baseline", one.split, one.eer_percent, one.source)
        for one in protocol.published
        if (one.system, one.gender) == (system, "mean")
    )


def _row(one: Contestant, splits: Mapping[str, Sequence[str]]) -> Row:
    """A row without places. A split of which a list is missing has no average."""
    reason = f"the entry is {one.status}" if one.status in APART else NO_SPEAKERS
    averages, deviations = {}, {}
    for split, names in splits.items():
        if all(name in one.lists for name in names):
            rates = [one.lists[name].rates for name in names]
            trainings = [exact_mean(of_lists) for of_lists in zip(*rates, strict=True)]
            averages[split] = Estimate(float(mean(trainings)), reason=reason)
            if len(trainings) > 1:
                deviations[split] = stdev(map(float, trainings))
    every = [one.lists[name] for names in splits.values() for name in names if name in one.lists]
    return Row(
        attacker=one.attacker,
        entry=one.entry,
        status=one.status,
        reasons=one.reasons,
        rates=tuple(rate for scored in every for rate in scored.rates),
        averages=averages or None,
        deviations=deviations or None,
    )


def _counted(rows: Sequence[Row], rank_by: str) -> list[Row]:
    """Of the official rows of one attacker only that of the lowest EER counts."""
    best: dict[str, Row] = {}
    for row in rows:
        if row.status == "official":
            rival = best.setdefault(row.attacker, row)
            best[row.attacker] = min(rival, row, key=lambda one: percent_of(one, rank_by))
    return [
        replace(row, counted=row.status != "official" or row is best[row.attacker]) for row in rows
    ]


def _competes(row: Row, rank_by: str) -> bool:
    complete = math.isfinite(percent_of(row, rank_by))
    return row.status == "official" and row.counted and complete


def _leaderboard(
    contestants: Sequence[Contestant],
    names: Sequence[str],
    ranked: Sequence[bool],
    sampling: Sampling,
) -> Leaderboard | None:
    """Places by the mean of the lists of these names; None where there is nobody to place, or the
    speakers are not known."""
    complete = [
        [one.lists[name] for name in names]
        if one.status not in APART and all(name in one.lists for name in names)
        else None
        for one in contestants
    ]
    first = next((one for one in complete if one is not None), [])
    pairs = [one.pairs for one in first if one.pairs is not None]
    if len(pairs) < len(names):
        return None
    attackers = [None if one is None else [scored.scores for scored in one] for one in complete]
    return leaderboard(pairs, attackers, ranked=ranked, sampling=sampling)


def _placed(row: Row, place: Place | None, split: str) -> Row:
    """With the interval of the split's average; with its rank's and a tier, if it has these."""
    if place is None or row.averages is None:
        return row
    estimate = _estimate(row.averages[split].percent, place.eer)
    row = replace(row, averages={**row.averages, split: estimate})
    if place.rank is None or place.rank.low is None or place.rank.high is None:
        return row
    return replace(row, ranks=(int(place.rank.low), int(place.rank.high)), tier=place.tier)


def _estimate(percent: float, interval: Interval) -> Estimate:
    if interval.low is None or interval.high is None:
        return Estimate(percent, reason=interval.reason)
    return Estimate(percent, 100 * interval.low, 100 * interval.high)


def _ranked(row: Row, rank_by: str, rivals: Mapping[str, float]) -> Row:
    """With the rank that it has, or would have, among those of others that compete.

    It would have none where a better entry of the same attacker is ranked. rivals: EERs of those
    that compete, one of each attacker.
    """
    percent = percent_of(row, rank_by)
    lower = {attacker for attacker, rival in rivals.items() if rival < percent}
    rank = 1 + len(lower)
    if _competes(row, rank_by):
        return replace(row, rank=rank)
    outside = row.status in ("late", "unofficial") and math.isfinite(percent)
    return replace(row, would_rank=rank) if outside and row.attacker not in lower else row


def _order(rank_by: str, row: Row) -> tuple[bool, int, float, str, str]:
    percent = percent_of(row, rank_by)
    return row.rank is None, ORDER.index(row.status), percent, row.attacker, row.entry


def _with_strongest(board: Board, strongest: Interval | None) -> Board:
    rows = verified(board)
    if not rows:
        return board
    percent = min(percent_of(row, board.split) for row in rows)
    lowest = sorted({row.attacker for row in rows if percent_of(row, board.split) == percent})
    estimate = (
        Estimate(percent, reason=NO_SPEAKERS)
        if strongest is None
        else _estimate(percent, strongest)
    )
    told = [
        (OF_A_MINIMUM, estimate.low is not None and len(rows) > 1),
        (LOW_NOTE, any(_is_low(row, board.split) for row in rows)),
    ]
    return replace(
        board,
        strongest=estimate,
        strongest_of=tuple(lowest),
        notes=tuple(note for note, is_of_this_board in told if is_of_this_board),
    )


def _is_low(row: Row, split: str) -> bool:
    """Whether its interval is of an EER that intervals are too narrow for."""
    estimate = (row.averages or {})[split]
    return estimate.low is not None and estimate.percent < 100 * LOW
