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
    Change,
    Recipe,
    apply,
    changes_of,
    pairs,
    singles,
    sources,
)
from harness.submissions.explanations.matching import chance, fits
from harness.submissions.explanations.recomputation import Recomputation
from harness.submissions.model import Claim, Explanation, ListResult, average_name
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


@dataclass
class _Search:
    """What was tried for a claim. ended: did the time cap end it?"""

    tried: int = 0
    ended: bool = False
    found: tuple[Change, ...] | None = None
    others: int = 0
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
        self._recomputation = Recomputation(results, reference)
        self._protocol = protocol
        self._claims = claims or {}
        self._splits = {listed.trials: listed.split for listed in protocol.lists}

    def explain(self, claim: Claim, system: str, deadline: float) -> Explanation:
        """One sentence on a claim that was not verified.

        deadline: the search ends there, as `time.monotonic` gives the time.
        """
        names = tuple(
            name
            for name, split in self._splits.items()
            if claim.list in (name, average_name(split))
        )
        if not self._recomputation.has(system, names):
            listed = next((one for one in self._protocol.lists if one.trials == claim.list), None)
            sentence = wording.without_scores(claim, listed)
            return Explanation(system, claim.list, "feasibility", sentence)
        recipe = Recipe(system, names, claim.estimator)
        search = self._search(claim, recipe, deadline)
        self._recomputation.forget()
        if search.found is None:
            official = self._recomputation.percent(recipe)
            sentence = wording.nothing(claim, recipe, search.tried, official, ended=search.ended)
            return Explanation(system, claim.list, "none", sentence)
        return Explanation(
            system,
            claim.list,
            "change",
            self._sentence(claim, recipe, search.found, search),
            tuple(str(change) for change in search.found),
        )

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
        )
        search = _Search()
        for tries in (singles(changes), pairs(changes)):
            self._try(claim, recipe, tries, deadline, search)
            if search.found is not None or search.ended:
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
        """Try all: the first that fits is `found`, and `others` counts those that fit too."""
        fitting: set[tuple[tuple[str, ...], int]] = set()
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
                # Two values of one dimension that give one number are one and the same change,
                # such as scores rounded to 5 and to 6 decimals.
                same = tuple(change.dimension for change in changes), round(value / SAME)
                if search.found is None:
                    search.found = changes
                fitting.add(same)
        search.others = max(len(fitting) - 1, 0)

    def _sentence(
        self, claim: Claim, recipe: Recipe, found: Sequence[Change], search: _Search
    ) -> str:
        official = self._recomputation.percent(recipe)
        text = wording.changed(claim, recipe, found, official)
        if self._are_swapped(apply(recipe, found), found, official):
            text += "; the claims of the two lists are swapped"
        return text + wording.remarks(found, search.others, chance(claim, search.values, official))

    def _are_swapped(
        self, changed: Recipe, changes: Sequence[Change], official: float | None
    ) -> bool:
        """Is the other list claimed to have this list's number?"""
        if len(changes) > 1 or len(changed.names) > 1 or changes[0].dimension != "source":
            return False
        other = self._claims.get((changed.system, changed.names[0]))
        return other is not None and official is not None and fits(other, official)
