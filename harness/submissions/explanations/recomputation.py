"""The number that a recipe gives for the scores of a submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.metrics.estimators import ESTIMATORS
from harness.submissions.explanations.changes import (
    FALSE_ALARM,
    MISS,
    OFFICIAL,
    SINGLE_RATES,
    Combination,
    Recipe,
)
from harness.submissions.model import ListResult
from harness.submissions.reference import Reference

Floats = npt.NDArray[np.float32]
# Below the last printed digit of any EER: 12.34 as a float may be 12.339999.
EPSILON = 1e-9


@dataclass(frozen=True)
class Labelled:
    """Scores with their labels and the enrolled speaker's index, each of shape (n_trials,)."""

    scores: Floats
    target: npt.NDArray[np.bool_]
    enrolment: npt.NDArray[np.intp]

    def take(self, kept: npt.NDArray[np.bool_]) -> Labelled:
        """The trials where `kept` is true."""
        return Labelled(self.scores[kept], self.target[kept], self.enrolment[kept])


class Recomputation:
    """Numbers of recipes; what two recipes share is computed once.

    results: by system and list; those without scores count as absent. weights: of lists in the
    averages of the edition, by name; 1 for any other.
    """

    def __init__(
        self,
        results: Mapping[tuple[str, str], ListResult],
        reference: Reference,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._reference = reference
        self._weights = weights or {}
        self._scores = {
            key: one.scores
            for key, one in results.items()
            if one.scores is not None and key[1] in reference.lists
        }
        self._percents: dict[Recipe, float | None] = {}
        self._labelled: dict[Recipe, Labelled | None] = {}

    def systems(self) -> list[str]:
        """All that there are scores of."""
        return list(dict.fromkeys(system for system, _ in self._scores))

    def has(self, system: str, names: Sequence[str]) -> bool:
        """Are there scores of any of these lists?"""
        return any((system, name) in self._scores for name in names)

    def has_conflicts(self, system: str, names: Sequence[str]) -> bool:
        """Do pairs stand twice with different scores?"""
        found = [self._scores.get((system, name)) for name in names]
        return any(one is not None and one.first is not one.last for one in found)

    def has_gaps(self, system: str, names: Sequence[str]) -> bool:
        """Are there trials without a finite score?"""
        found = [self._scores.get((system, name)) for name in names]
        return any(one is not None and not np.isfinite(one.first).all() for one in found)

    def forget(self) -> None:
        """Drop the arrays kept for recipes to come; the numbers stay."""
        self._labelled.clear()

    def percent(self, recipe: Recipe) -> float | None:
        """The number in percent; None where the recipe cannot be followed."""
        if not all((recipe.system, name) in self._scores for name in recipe.names):
            return None
        value = self._one(recipe) if recipe.combination == "pooled" else self._combined(recipe)
        if value is not None and recipe.flipped:
            return 100 - value
        return value

    def _combined(self, recipe: Recipe) -> float | None:
        found = [self._one(replace(recipe, names=(name,))) for name in recipe.names]
        values = [value for value in found if value is not None]
        if len(values) < len(found):
            return None
        if recipe.combination == "cut":
            factor = 10**recipe.decimals
            values = [floor(value * factor + EPSILON) / factor for value in values]
        elif recipe.combination == "round":
            values = [round(value, recipe.decimals) for value in values]
        lists = [self._reference.lists[name] for name in recipe.names]
        weights = [self._weights.get(name, 1.0) for name in recipe.names]
        if recipe.combination == "unweighted":
            weights = [1] * len(lists)
        elif recipe.combination == "weighted by trials":
            weights = [len(listed) for listed in lists]
        elif recipe.combination == "weighted by targets":
            weights = [listed.n_target for listed in lists]
        weighted = zip(values, weights, strict=True)
        return sum(value * weight for value, weight in weighted) / sum(weights)

    def _one(self, recipe: Recipe) -> float | None:
        """The number of one list, or of several that are pooled."""
        pooled: Combination = "pooled" if len(recipe.names) > 1 else "mean"
        recipe = replace(recipe, combination=pooled, scale=1, flipped=False, decimals=0)
        if recipe not in self._percents:
            self._percents[recipe] = self._estimate(recipe)
        return self._percents[recipe]

    def _estimate(self, recipe: Recipe) -> float | None:
        trials = self._trials(replace(recipe, estimator=OFFICIAL))
        if trials is None:
            return None
        if recipe.gaps == "counted":
            # What the official function gives for one NaN, whatever the other scores.
            nan = np.isnan(trials.scores).any() and recipe.estimator == OFFICIAL
            return 0.0 if nan else None
        groups = [trials]
        if recipe.trials == "speakers":
            groups = [trials.take(trials.enrolment == i) for i in np.unique(trials.enrolment)]
            groups = [group for group in groups if group.target.any() and not group.target.all()]
        try:
            rates = [
                _rate(recipe.estimator, group.scores[group.target], group.scores[~group.target])
                for group in groups
            ]
        except ScoreError:
            # No trial of a label is left, or precision made scores infinite.
            return None
        return 100 * sum(rates) / len(rates) if rates else None

    def _trials(self, recipe: Recipe) -> Labelled | None:
        if recipe not in self._labelled:
            self._labelled[recipe] = self._changed(recipe)
        return self._labelled[recipe]

    def _changed(self, recipe: Recipe) -> Labelled | None:
        """The trials of all lists one after the other; None where they must not be scored."""
        parts = [self._list(recipe, name) for name in recipe.names]
        found = [part for part in parts if part is not None]
        if len(found) < len(parts):
            return None
        # Speakers of different lists are different people.
        most = 1 + max(int(part.enrolment.max(initial=0)) for part in found)
        trials = Labelled(
            np.concatenate([part.scores for part in found]),
            np.concatenate([part.target for part in found]),
            np.concatenate([part.enrolment + i * most for i, part in enumerate(found)]),
        )
        scores = trials.scores
        if recipe.precision is not None:
            scores = rounded(scores, recipe.precision)
        return replace(trials, scores=-scores if recipe.negated else scores)

    def _list(self, recipe: Recipe, name: str) -> Labelled | None:
        both, listed = self._scores[recipe.system, name], self._reference.lists[name]
        if both.first is not both.last and recipe.duplicates is None:
            return None
        scores = both.last if recipe.duplicates == "last" else both.first
        finite = np.isfinite(scores)
        kept = np.ones(len(scores), np.bool_)
        if not finite.all():
            if recipe.gaps is None:
                return None
            if recipe.gaps == "zero":
                scores = np.where(finite, scores, np.float32(0))
            elif recipe.gaps == "left out":
                kept = finite
        if recipe.trials in ("enrolled", "impostors"):
            enrolled = np.zeros(int(listed.utterance.max()) + 1, np.bool_)
            enrolled[listed.utterance[listed.target]] = True
            of_enrolled = enrolled[listed.utterance]
            kept &= of_enrolled if recipe.trials == "enrolled" else listed.target | ~of_enrolled
        elif recipe.trials == "headless":
            kept[0] = False
        trials = Labelled(scores, listed.target, listed.enrolment).take(kept)
        if recipe.duplicates != "both":
            return trials
        again = kept & (both.first != both.last) & np.isfinite(both.last)
        twice = Labelled(both.last, listed.target, listed.enrolment).take(again)
        return Labelled(
            np.concatenate([trials.scores, twice.scores]),
            np.concatenate([trials.target, twice.target]),
            np.concatenate([trials.enrolment, twice.enrolment]),
        )


def _rate(estimator: str, target: Floats, nontarget: Floats) -> float:
    """A fraction. Raises ScoreError as the estimators do."""
    if estimator not in SINGLE_RATES:
        return float(ESTIMATORS[estimator](target, nontarget))
    if not len(target) or not len(nontarget):
        raise ScoreError("no trial of a label is left")
    kind, threshold = SINGLE_RATES[estimator]
    return float(np.mean({MISS: target <= threshold, FALSE_ALARM: nontarget > threshold}[kind]))


def rounded(scores: Floats, precision: str) -> Floats:
    """Scores in a coarser precision, one of `changes.PRECISIONS`."""
    if precision == "float16":
        with np.errstate(over="ignore"):  # infinite scores are refused by the estimators
            return scores.astype(np.float16).astype(np.float32)
    if precision == "bfloat16":
        # The upper half of a float32, rounded to nearest, ties to even.
        bits = scores.view(np.uint32)
        upper = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
        return upper.view(np.float32)
    decimals = int(precision.partition(" ")[0])
    return np.round(scores.astype(np.float64), decimals).astype(np.float32)
