"""Scores of one attacker against those of another: what differs, and is it more than chance?

What training again, other trials and other speakers would change is weighed together
(`harness.metrics.comparison`). A side is one attacker of one system, trained once or several times.
Rates are fractions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from harness.errors import ConfigError, DataError, ListError
from harness.metrics.bootstrap import Interval
from harness.metrics.comparison import SeedSpread, compare, fewest_draws, holm, seed_spread
from harness.metrics.draws import Pairs
from harness.metrics.resampling import ROUNDING, Sampling
from harness.protocols.lists import Trial, read_trials, trials_path
from harness.protocols.protocol import Protocol, TrialList
from harness.protocols.scenarios import SCENARIOS
from harness.protocols.scores import read_scores, score_path
from harness.ranking.boards import NO_SPEAKERS
from harness.ranking.speakers import pairs_of
from harness.reports.lockfile import Stage
from harness.runtime.files import sha256_file

Finding = Literal["more", "more, seeds aside", "not more", "cannot tell", "identical"]


@dataclass(frozen=True)
class Side:
    """Scores of one attacker of one system, by training.

    name: as it was asked for. folder: of the scores of all seeds, as dvc.lock names it. scores: by
    seed, the folder with a folder for each scenario. corpus: holds the trial lists. stages: the
    benchmark's entries in the dvc.lock that belongs to the scores. runs: by seed, what the stage
    `score` says of itself first in `events.jsonl`; empty where it says nothing.
    """

    name: str
    benchmark: str
    system: str
    attacker: str
    folder: PurePosixPath
    scores: Mapping[int, Path]
    corpus: Path
    stages: Mapping[str, Stage]
    runs: Mapping[int, Mapping[str, Any]]


@dataclass(frozen=True)
class Row:
    """The mean EER over the lists of a split, in one scenario.

    first, second: each side over its trainings. difference: second minus first, with an interval of
    this row alone. p_value: of no difference, adjusted after Holm for all rows that have one.
    finding: by this p-value, whether it is `more` than chance explains; `more, seeds aside` where
    the noise of training is not known, for a side that has one training. reason: why that cannot be
    told.
    """

    scenario: str
    split: str
    first: SeedSpread
    second: SeedSpread
    difference: Interval
    p_value: float | None
    finding: Finding
    reason: str | None = None

    @property
    def single(self) -> str | None:
        """Which sides were trained once, so that the noise of their training is not known."""
        single = [
            name for name, side in (("A", self.first), ("B", self.second)) if side.deviation is None
        ]
        if len(single) == 2:
            return "one training each"
        return f"one training of {single[0]}" if single else None


@dataclass(frozen=True)
class _Scored:
    """A list as one side scored it: scores of shape (n_trainings, n_trials), files by hash."""

    scores: npt.NDArray[np.float32]
    hashes: tuple[str, ...]


@dataclass(frozen=True)
class _Place:
    """The lists of a split in one scenario, as both sides scored them.

    pairs: of each list. known: whether they tell the speakers, or the labels alone.
    """

    scenario: str
    split: str
    first: tuple[_Scored, ...]
    second: tuple[_Scored, ...]
    pairs: tuple[Pairs, ...]
    known: bool

    @property
    def identical(self) -> bool:
        """Whether both sides have the same scores, byte for byte."""
        return [one.hashes for one in self.first] == [one.hashes for one in self.second]

    @property
    def comparable(self) -> bool:
        """Whether anything has to be drawn."""
        return self.known and not self.identical


def difference_rows(
    first: Side, second: Side, protocol: Protocol, sampling: Sampling
) -> tuple[Row, ...]:
    """A row for each scenario and split that both sides have scores of.

    Raises DataError where there is none, ListError where a list is not the same on both sides,
    ScoreError for scores that cannot be scored, ConfigError for draws too few for so many rows.
    """
    places = []
    for scenario in (scenario.name for scenario in SCENARIOS):
        for split in (average.split for average in protocol.averages):
            lists = [listed for listed in protocol.lists if listed.split == split]
            if all(_has(side, scenario, lists) for side in (first, second)):
                places.append(_place(first, second, scenario, split, lists))
    if not places:
        raise DataError(
            "no scenario and split has scores on both sides",
            where=f"{first.name} and {second.name}",
            fix="compare systems of the same scenarios",
        )
    compared = sum(place.comparable for place in places)
    fewest = fewest_draws(compared, sampling.level)
    if sampling.draws < fewest:
        raise ConfigError(
            f"{sampling.draws} draws cannot tell {compared} differences from none",
            where="draws",
            fix=f"draw {fewest} times or more",
        )
    rows = [_row(place, sampling) for place in places]
    p_values = [row.p_value for row in rows if row.p_value is not None]
    adjusted = iter(holm(p_values).tolist())
    return tuple(
        row if row.p_value is None else _judged(row, next(adjusted), sampling.level) for row in rows
    )


def _has(side: Side, scenario: str, lists: Sequence[TrialList]) -> bool:
    """Whether some training scored these lists; that every one did is for the reader to hold."""
    return any(
        all(score_path(folder, scenario, listed).is_file() for listed in lists)
        for folder in side.scores.values()
    )


def _place(
    first: Side, second: Side, scenario: str, split: str, lists: Sequence[TrialList]
) -> _Place:
    trials = [_same_trials(first, second, listed.trials) for listed in lists]
    before, after = (
        tuple(_read(side, scenario, *one) for one in zip(lists, trials, strict=True))
        for side in (first, second)
    )
    return _Place(scenario, split, before, after, *_pairs(trials))


def _row(place: _Place, sampling: Sampling) -> Row:
    before, after = ([one.scores for one in side] for side in (place.first, place.second))
    if place.comparable:
        found = compare(place.pairs, after, before, sampling=sampling)
        spreads, difference, p_value = (found.second, found.first), found.difference, found.p_value
        reason = difference.reason
    else:
        spreads = (seed_spread(place.pairs, before), seed_spread(place.pairs, after))
        observed = spreads[1].mean - spreads[0].mean
        difference, p_value = Interval(observed, sampling.level, None, None), None
        reason = None if place.identical else NO_SPEAKERS
    return Row(
        place.scenario,
        place.split,
        *spreads,
        difference,
        p_value,
        "identical" if place.identical else "cannot tell",
        reason,
    )


def _same_trials(first: Side, second: Side, name: str) -> list[Trial]:
    """The trials of a list, which both sides have to share."""
    paths = [trials_path(side.corpus, name) for side in (first, second)]
    trials = [read_trials(path) for path in paths]
    hashes = [sha256_file(path) for path in paths]
    if hashes[0] != hashes[1]:
        raise ListError(
            f"not the same list: sha256 {hashes[0]} of {first.name}, {hashes[1]} of {second.name}",
            where=name,
            fix="compare scores of the same trials",
        )
    return trials[0]


def _read(side: Side, scenario: str, listed: TrialList, trials: Sequence[Trial]) -> _Scored:
    paths = [score_path(folder, scenario, listed) for folder in side.scores.values()]
    return _Scored(
        np.stack([read_scores(path, trials) for path in paths]),
        tuple(sorted(sha256_file(path) for path in paths)),
    )


def _pairs(lists: Sequence[Sequence[Trial]]) -> tuple[tuple[Pairs, ...], bool]:
    """The speakers of the trials, and whether they are known; else only the labels are true."""
    found: list[Pairs] = []
    known = True
    for trials in lists:
        target = np.array([trial.target for trial in trials])
        enrolled = [trial.enrolment for trial in trials]
        pairs = pairs_of(enrolled, [trial.utterance for trial in trials], target)
        known = known and pairs is not None
        found.append(pairs or Pairs(np.zeros(len(target)), np.where(target, 0.0, 1.0)))
    return tuple(found), known


def _judged(row: Row, p_value: float, level: float) -> Row:
    """With the p-value of all rows together."""
    finding: Finding = "not more"
    if p_value <= 1 - level + ROUNDING:
        finding = "more" if row.single is None else "more, seeds aside"
    return replace(row, p_value=p_value, finding=finding)
