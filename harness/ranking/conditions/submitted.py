"""Verified submissions as what was measured of each system: EERs that their scores give, and the
team's own word for everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from harness.errors import DataError
from harness.metrics.eer import EqualErrorRate
from harness.protocols.conditions import AnonymizerRanking, exact
from harness.protocols.protocol import Protocol
from harness.ranking.conditions.measured import Measured, Place
from harness.ranking.entries import status_of, systems_of
from harness.ranking.names import folded
from harness.ranking.register import own_name
from harness.ranking.registered import verify_registered
from harness.submissions import verification
from harness.submissions.contents.layout import UNNAMED
from harness.submissions.limits import Limits
from harness.submissions.model import SubmissionResult


@dataclass(frozen=True)
class Options:
    """trials, limits: as for a verification. register: what `harness.ranking.register` reads."""

    trials: Path | None = None
    register: Path | None = None
    limits: Limits = field(default_factory=Limits)


def read_submissions(
    paths: Sequence[Path], edition: AnonymizerRanking, protocol: Protocol, options: Options
) -> tuple[Measured, ...]:
    """The systems of some submissions, each verified first.

    A system is called as its submission names it, else as the submission itself is. Raises
    ConfigError, ListError or DataError for what the caller gave; what is wrong with a submission
    is why its systems are not ranked.
    """
    found, teams, _ = verify_registered(
        paths,
        protocol,
        options.register,
        verification.Options(trials=options.trials, limits=options.limits),
    )
    systems = [
        _measured(one, system, teams[one.name], edition, protocol)
        for one in found.submissions
        for system in systems_of(one, protocol) or [UNNAMED]
    ]
    return tuple(sorted(systems, key=lambda one: (folded(one.team), folded(one.system))))


def joined(tables: Sequence[Measured], submissions: Sequence[Measured]) -> tuple[Measured, ...]:
    """Systems of tables and of submissions. Raises DataError for one that is in two of these."""
    every = sorted((*tables, *submissions), key=lambda one: (folded(one.team), folded(one.system)))
    places: dict[tuple[str, str], str] = {}
    for one in every:
        key, place = (folded(one.team), folded(one.system)), one.submission or "a table"
        if key in places:
            raise DataError(
                f"{one.team} {one.system} is in {places[key]} and in {place}",
                where=one.submission or None,
                fix="keep one, or let the teams be told apart by --entries",
            )
        places[key] = place
    return tuple(every)


def _measured(
    result: SubmissionResult,
    system: str,
    team: str,
    edition: AnonymizerRanking,
    protocol: Protocol,
) -> Measured:
    status, reasons = status_of(result, system, protocol, None)
    official = status == "official"
    hindrances = [] if official else [f"{status}: {reason}" for reason in reasons]
    values = dict(_eers(result, system, edition, protocol))
    claimed: dict[str, None] = {}
    stated: dict[Place, Fraction] = {}
    for one in result.measures:
        if one.system != system:
            continue
        place, value = (one.measure, *one.place), Fraction(one.value)
        measure = edition.measure(one.measure)
        if not exact(measure.least) <= value <= exact(measure.most):
            hindrances.append(f"{one.measure} of {one.value:f}, which no system has")
        elif stated.setdefault(place, value) != value:
            hindrances.append(f"{one.measure} of {one.dataset} is claimed twice, differently")
        claimed[one.measure] = None
    name = own_name(result.name) if system == UNNAMED else system
    return Measured(
        team,
        name,
        {**stated, **values},
        submission=result.name,
        claimed=tuple(claimed),
        hindrances=tuple(dict.fromkeys(hindrances)),
        remarks=reasons if official else (),
    )


def _eers(
    result: SubmissionResult, system: str, edition: AnonymizerRanking, protocol: Protocol
) -> Iterator[tuple[Place, Fraction]]:
    """The EERs that the scores of a system give, in percent."""
    rates = {
        one.list: one.eer for one in result.lists if one.system == system and one.eer is not None
    }
    for listed in protocol.lists:
        if listed.trials in rates:
            place = (edition.privacy, listed.dataset, listed.split, listed.gender)
            yield place, _percent(rates[listed.trials], protocol)


def _percent(eer: EqualErrorRate, protocol: Protocol) -> Fraction:
    """From the counts of errors: 12 of 75 is 16 %, and its float is not."""
    missed = Fraction(100 * eer.misses, eer.n_target)
    if protocol.eer == "kaldi":
        return missed
    return (missed + Fraction(100 * eer.false_alarms, eer.n_nontarget)) / 2
