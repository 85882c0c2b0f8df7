"""From measured values to ranks within minimums of privacy.

Sources: the evaluation plan of VoicePrivacy 2022 and the overview of VoicePrivacy 2024 (see the
editions' `reference`). The overview's combined score, the mean of normalised changes of all
measures, is not here: how it normalises is not published with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import mul

from harness.protocols.conditions import AnonymizerRanking, exact
from harness.ranking.conditions.measured import Measured
from harness.ranking.conditions.model import Board, ConditionRanking, Entry, Front, Row

Means = Mapping[str, Mapping[str, Fraction]]


def rank_measured(measured: Sequence[Measured], edition: AnonymizerRanking) -> ConditionRanking:
    """Rank systems by the rules of an edition; their order is that of the result's entries."""
    original = next((_means(one, edition) for one in measured if not one.team), None)
    of_teams = [one for one in measured if one.team]
    entries = tuple(_entry(one, original, edition) for one in of_teams)
    # A system whose claims do not hold is beaten by nobody and beats nobody.
    believed = [entry for one, entry in zip(of_teams, entries, strict=True) if not one.hindrances]
    return ConditionRanking(
        edition=edition,
        entries=entries,
        boards=tuple(
            _board(minimum, track, entries, edition)
            for minimum in edition.minimums
            for track in edition.tracks
        ),
        fronts=tuple(_fronts(believed, edition)),
        original=original,
    )


def _means(measured: Measured, edition: AnonymizerRanking) -> Means:
    means: dict[str, dict[str, Fraction]] = {}
    for measure in edition.measures:
        means[measure.name] = {}
        for split in edition.splits:
            values = [
                measured.values.get((measure.name, part.dataset, split, part.gender))
                for part in measure.parts
            ]
            known = [value for value in values if value is not None]
            if len(known) == len(values):
                shares = [exact(part.weight) for part in measure.parts]
                means[measure.name][split] = sum(map(mul, shares, known), Fraction())
    return means


def _missing(measured: Measured, name: str, edition: AnonymizerRanking) -> str:
    """The sets that lack a value on the split that ranks, in words."""
    sets = [
        f"{part.dataset} {part.gender or ''}".strip()
        for part in edition.measure(name).parts
        if (name, part.dataset, edition.split, part.gender) not in measured.values
    ]
    return f"{', '.join(sets)} ({edition.split})"


def _entry(measured: Measured, original: Means | None, edition: AnonymizerRanking) -> Entry:
    means = _means(measured, edition)
    hindrances = (
        *(f"in no {edition.group}: {one}" for one in measured.hindrances),
        *_hindrances(measured, means, edition),
    )
    lacking = tuple(
        f"in no ranking by {track}: no {track} of {_missing(measured, track, edition)}"
        for track in edition.tracks
        if edition.split not in means[track]
    )
    entry = Entry(
        measured.team,
        measured.system,
        means,
        changes=None if original is None else _changes(means, original, edition),
        unranked=hindrances + lacking,
        submission=measured.submission,
        claimed=measured.claimed,
        remarks=measured.remarks,
    )
    if hindrances:
        return entry
    privacy = means[edition.privacy][edition.split]
    reached = tuple(one for one in edition.minimums if privacy >= exact(one))
    following = next((one for one in edition.minimums if privacy < exact(one)), None)
    short = None if following is None else exact(following) - privacy
    return replace(entry, reached=reached, next=following, short=short)


def _hindrances(measured: Measured, means: Means, edition: AnonymizerRanking) -> Iterator[str]:
    """Why a system is in no group at all, one sentence each."""
    for measure in edition.measures:
        if measure.name != edition.privacy and measure.exceeds is None:
            continue
        mean = means[measure.name].get(edition.split)
        if mean is None:
            sets = _missing(measured, measure.name, edition)
            yield f"in no {edition.group}: no {measure.name} of {sets}"
        elif measure.exceeds is not None and mean <= exact(measure.exceeds):
            yield (
                f"in no {edition.group}: a {measure.name} of {float(mean):g}, which must exceed "
                f"{measure.exceeds:g}"
            )


def _changes(means: Means, original: Means, edition: AnonymizerRanking) -> dict[str, Fraction]:
    changes = {}
    for name in (edition.privacy, *edition.tracks):
        before, after = original[name].get(edition.split), means[name].get(edition.split)
        if before and after is not None:
            changes[name] = 100 * (after - before) / before
    return changes


def _goodness(entry: Entry, name: str, edition: AnonymizerRanking) -> Fraction:
    """The mean of a measure, turned so that higher is better."""
    mean = entry.means[name][edition.split]
    return mean if edition.measure(name).better == "higher" else -mean


def _measured_in(entry: Entry, names: Sequence[str], edition: AnonymizerRanking) -> bool:
    return all(edition.split in entry.means[name] for name in names)


def _board(
    minimum: float, track: str, entries: Sequence[Entry], edition: AnonymizerRanking
) -> Board:
    taking_part = [
        one for one in entries if minimum in one.reached and _measured_in(one, [track], edition)
    ]
    # Stable: systems that are equal stay in the order of their names.
    taking_part.sort(key=lambda one: -_goodness(one, track, edition))
    counted: list[Row] = []
    others: list[Row] = []
    teams: set[str] = set()
    for one in taking_part:
        if edition.systems_of_a_team == "best" and one.team in teams:
            others.append(Row(one, None))
            continue
        teams.add(one.team)
        tied = counted and _goodness(counted[-1].entry, track, edition) == _goodness(
            one, track, edition
        )
        counted.append(Row(one, counted[-1].rank if tied else len(counted) + 1))
    return Board(minimum, track, (*counted, *others))


def _fronts(entries: Sequence[Entry], edition: AnonymizerRanking) -> Iterator[Front]:
    """Privacy with each track; where there are several tracks, with all of them too."""
    choices: list[tuple[str, ...]] = [(edition.privacy, track) for track in edition.tracks]
    if len(edition.tracks) > 1:
        choices.append((edition.privacy, *edition.tracks))
    for names in choices:
        points = {
            one: tuple(_goodness(entry, name, edition) for name in names)
            for one, entry in enumerate(entries)
            if _measured_in(entry, names, edition)
        }
        yield Front(
            names,
            tuple(
                entries[one]
                for one, point in points.items()
                if not any(_dominates(other, point) for other in points.values())
            ),
        )


def _dominates(one: Sequence[Fraction], other: Sequence[Fraction]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))
