"""Why a claim differs from the scores: the one change, else the two, that give its number.

Every change of `changes` is tried, then every pair of them. A claim of few digits fits much by
chance, so it is said how likely such a match is. Apart from the time cap the same input gives the
same sentence.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from harness.protocols.protocol import Protocol
from harness.submissions.explanations import wording
from harness.submissions.explanations.changes import (
    OFFICIAL,
    Change,
    Recipe,
    apply,
    changes_of,
    own_estimator,
    pairs,
    singles,
    sources,
)
from harness.submissions.explanations.matching import chance, fits, is_cut
from harness.submissions.explanations.recomputation import Recomputation
from harness.submissions.model import Claim, Explanation, ListResult, lists_of
from harness.submissions.reference import Reference

# Two numbers nearer than this are the same number.
SAME = 1e-9


def explain(
    claim: Claim,
    system: str,
    results: Mapping[tuple[str, str], ListResult],
    reference: Reference,
    protocol: Protocol,
    deadline: float,
) -> Explanation:
    """One claim that its scores do not give; for several an `Explainer` shares the work."""
    return Explainer(results, reference, protocol).explain(claim, system, deadline)


@dataclass(frozen=True)
class _Fit:
    """Changes that give a claim. cut: only when their number is cut, not rounded?"""

    changes: tuple[Change, ...]
    cut: bool


@dataclass
class _Search:
    """What was tried for a claim. fitting: best first. ended: did the time cap end it?"""

    tried: int = 0
    ended: bool = False
    fitting: list[_Fit] = field(default_factory=list)
    values: list[tuple[float, float]] = field(default_factory=list)  # percent, scale


class Explainer:
    """Explains the claims of a submission.

    results, claims: by system and list. claims serve to see that those of two lists were swapped.
    """

    def __init__(
        self,
        results: Mapping[tuple[str, str], ListResult],
        reference: Reference,
        protocol: Protocol,
        claims: Mapping[tuple[str, str], Claim] | None = None,
    ) -> None:
        self._weights = {
            name: weight for one in protocol.averages for name, weight in one.weights.items()
        }
        self._recomputation = Recomputation(results, reference, self._weights)
        self._protocol = protocol
        self._claims = claims or {}
        self._splits = {listed.trials: listed.split for listed in protocol.lists}

    def explain(self, claim: Claim, system: str, deadline: float) -> Explanation:
        """One sentence on a claim that was not verified.

        deadline: the search ends there, as `time.monotonic` gives the time.
        """
        names = lists_of(claim.list, self._protocol)
        if not self._recomputation.has(system, names):
            listed = next((one for one in self._protocol.lists if one.trials == claim.list), None)
            feasible = own_estimator(self._protocol) == OFFICIAL
            sentence = wording.without_scores(claim, listed if feasible else None)
            return Explanation(system, claim.list, "feasibility", sentence)
        estimator = (
            own_estimator(self._protocol) if claim.estimator == OFFICIAL else claim.estimator
        )
        recipe = Recipe(system, names, estimator)
        search = self._search(claim, recipe, deadline)
        self._recomputation.forget()
        official = self._recomputation.percent(recipe)
        if not search.fitting:
            sentence = wording.nothing(claim, recipe, search.tried, official, ended=search.ended)
            return Explanation(system, claim.list, "none", sentence)
        probability = chance(claim, search.values, official)
        found, *others = search.fitting
        if len(found.changes) > 1 and probability > wording.MOST_CHANCE_OF_A_PAIR:
            fitting = len(search.fitting)
            sentence = wording.unnamed(claim, recipe, fitting, probability, official)
            return Explanation(system, claim.list, "none", sentence)
        sentence = wording.changed(claim, recipe, found.changes, official, cut=found.cut)
        if self._are_swapped(apply(recipe, found.changes), found.changes, official):
            sentence += "; the claims of the two lists are swapped"
        sentence += wording.remarks([other.changes for other in others], probability)
        changes = tuple(str(change) for change in found.changes)
        return Explanation(system, claim.list, "change", sentence, changes)

    def _search(self, claim: Claim, recipe: Recipe, deadline: float) -> _Search:
        every = tuple(self._splits)
        # Of a list that cannot be scored another's number says nothing.
        known = len(recipe.names) > 1 or self._recomputation.percent(recipe) is not None
        others = sources(recipe, self._splits, self._recomputation.systems()) if known else []
        changes = changes_of(
            recipe,
            others,
            conflicts=self._recomputation.has_conflicts(recipe.system, every),
            gaps=self._recomputation.has_gaps(recipe.system, every),
            weighted=bool(self._weights),
        )
        search = _Search()
        for tries in (singles(changes), pairs(changes)):
            self._try(claim, recipe, tries, deadline, search)
            if search.fitting or search.ended:
                break
        return search

    def _try(
        self,
        claim: Claim,
        recipe: Recipe,
        tries: Iterable[tuple[Change, ...]],
        deadline: float,
        search: _Search,
    ) -> None:
        """Try all, until the deadline. Those that fit when rounded come before those cut."""
        fitting: dict[object, _Fit] = {}
        for changes in tries:
            if time.monotonic() >= deadline:
                search.ended = True
                break
            changed = apply(recipe, changes)
            value = self._recomputation.percent(changed)
            if value is None:
                continue
            search.tried += 1
            search.values.append((value, changed.scale))
            if fits(claim, value, changed.scale):
                fit = _Fit(changes, is_cut(claim, value, changed.scale))
                fitting.setdefault(_kind(changes, value), fit)
        search.fitting = sorted(fitting.values(), key=lambda fit: fit.cut)

    def _are_swapped(
        self, changed: Recipe, changes: Sequence[Change], official: float | None
    ) -> bool:
        """Is the other list claimed to have this list's number?"""
        elsewhere = {change.dimension for change in changes} <= {"source", "system"}
        if not elsewhere or len(changed.names) > 1:
            return False
        other = self._claims.get((changed.system, changed.names[0]))
        return other is not None and official is not None and fits(other, official)


def _kind(changes: Sequence[Change], value: float) -> object:
    """What is told as one. Rounding to 5 and to 6 decimals may give the same number, and negated
    scores give 100 minus the EER; two estimators that agree are both told."""
    dimensions = tuple(change.dimension for change in changes)
    if dimensions == ("sign",):
        return dimensions
    if dimensions == ("estimator",):
        return tuple(map(str, changes))
    return dimensions, round(value / SAME)
