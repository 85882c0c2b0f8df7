"""Which trials a resample of lists holds, and how often: draws of speakers, or of trials.

Goal: the noise of an EER. Trials that share a speaker are not independent, and another evaluation
would have other speakers: so speakers are drawn.

**speakers**: the enrolled and the trial speakers of a list are one population, drawn from with
replacement, as many as there are. A trial weighs the count of its enrolled speaker times the count
of its trial speaker. For a target trial, whose two speakers are one, that is the count *squared*,
and so it has to be: such a score varies with its speaker on both sides. In the simulation of
`benchmarks/coverage.py` the square makes intervals of 95 % cover the truth in 92 to 98 of 100
cases, the plain count in 87 to 93.
Lists that share speakers, directly or through another list, are drawn as one population; lists that
share none are drawn apart.

**trials**: targets among targets and nontargets among nontargets, each list apart. It is here to
show what goes wrong: its intervals of 95 % cover the truth about every other time, since they take
the speakers as given.

Source: the vertex bootstrap of Snijders and Borgatti, "Non-parametric standard errors and tests for
network statistics", Connections 22(2), 1999, trials being the ties of a network of speakers. On
the dependence of trials: Wu, Martin, Greenberg and Kacker, IEEE/ACM Transactions on Audio, Speech,
and Language Processing, doi:10.1109/TASLP.2016.2614725.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError

Booleans = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Pairs:
    """The two speakers of each trial of one list. A trial is a target where they are one.

    enrolled, trial: shapes (n,), names or numbers of one type; a speaker has one name on both
    sides. target: shape (n,), the labels that follow.
    Raises ScoreError for shapes that differ or no trials.
    """

    def __init__(self, enrolled: npt.ArrayLike, trial: npt.ArrayLike) -> None:
        self.enrolled, self.trial = np.asarray(enrolled), np.asarray(trial)
        if self.enrolled.ndim != 1 or self.enrolled.shape != self.trial.shape:
            raise ScoreError(
                f"{self.enrolled.shape} enrolled speakers for {self.trial.shape} trial speakers",
                fix="give both speakers of each trial",
            )
        if self.enrolled.dtype.kind != self.trial.dtype.kind:
            raise ScoreError(
                f"enrolled speakers are {self.enrolled.dtype}, trial speakers {self.trial.dtype}",
                fix="name speakers the same way on both sides",
            )
        if not len(self.enrolled):
            raise ScoreError("the list has no trials", fix="give at least one of each class")
        self.target: Booleans = self.enrolled == self.trial


class Draws(Protocol):
    """A way to resample lists.

    block: how many draws are made at a time, from one seed.
    cells: for each list the cell of each trial, shape (n_trials,); a cell's trials weigh the same.
    """

    block: int
    cells: list[Integers]

    def weights(self, generator: np.random.Generator, n_draws: int) -> list[Floats]:
        """For each list the weights of its cells, shape (n_cells, n_draws), in the same draws."""


class SpeakerDraws:
    """Speakers drawn jointly."""

    block = 100

    def __init__(self, lists: Sequence[Pairs]) -> None:
        names = np.unique(np.concatenate([side for p in lists for side in (p.enrolled, p.trial)]))
        self._n_speakers = len(names)
        self.cells = []
        self._speakers_of_cells = []
        members = []
        for pairs in lists:
            enrolled = np.searchsorted(names, pairs.enrolled)
            trial = np.searchsorted(names, pairs.trial)
            found, cells = np.unique(enrolled * self._n_speakers + trial, return_inverse=True)
            self.cells.append(cells)
            self._speakers_of_cells.append(np.divmod(found, self._n_speakers))
            members.append(np.union1d(enrolled, trial))
        self._populations = _joined(members)

    def weights(self, generator: np.random.Generator, n_draws: int) -> list[Floats]:
        """Products of the counts of a cell's two speakers."""
        counts = np.empty((self._n_speakers, n_draws))
        for population in self._populations:
            counts[population] = _counts(generator, len(population), n_draws)
        return [counts[enrolled] * counts[trial] for enrolled, trial in self._speakers_of_cells]


class TrialDraws:
    """Trials drawn one by one: each is a cell."""

    block = 25

    def __init__(self, lists: Sequence[Pairs]) -> None:
        self._labels = [pairs.target for pairs in lists]
        self.cells = [np.arange(len(target)) for target in self._labels]

    def weights(self, generator: np.random.Generator, n_draws: int) -> list[Floats]:
        """Counts of each trial."""
        weights = []
        for target in self._labels:
            counts = np.empty((len(target), n_draws))
            for kind in (target, ~target):
                counts[kind] = _counts(generator, int(np.count_nonzero(kind)), n_draws)
            weights.append(counts)
        return weights


UNITS: dict[str, Callable[[Sequence[Pairs]], Draws]] = {
    "speakers": SpeakerDraws,
    "trials": TrialDraws,
}


def _counts(generator: np.random.Generator, size: int, n_draws: int) -> Floats:
    """How often each of `size` comes in draws of as many with replacement: (size, n_draws)."""
    drawn = generator.integers(size, size=(n_draws, size))
    counts = [np.bincount(one, minlength=size) for one in drawn]
    return np.stack(counts, axis=1).astype(np.float64)


def _joined(groups: Sequence[Integers]) -> list[Integers]:
    """The groups, those that share a member made one, each in ascending order."""
    joined: list[Integers] = []
    for group in groups:
        sharing = [other for other in joined if np.isin(group, other).any()]
        apart = [other for other in joined if not np.isin(group, other).any()]
        joined = [*apart, np.unique(np.concatenate([group, *sharing]))]
    return joined
