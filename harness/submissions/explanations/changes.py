"""What may have been done differently to get a claimed EER: the changes, and in which order.

A number is made by a recipe. A change alters one dimension of it, and simpler changes stand first:
of several that give the same number, the first is told. The order of the dimensions is
unit, sign, duplicates, gaps, combination, source, system, estimator, trials, precision.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Literal

from harness.metrics.estimators import ESTIMATORS, PHRASES
from harness.protocols.protocol import Protocol

Duplicates = Literal["first", "last", "both"]
Gaps = Literal["counted", "left out", "zero"]
Combination = Literal[
    "mean", "unweighted", "pooled", "weighted by trials", "weighted by targets", "cut", "round"
]
Trials = Literal["all", "enrolled", "impostors", "speakers", "headless"]

OFFICIAL, KALDI = "official", "kaldi"
MISS, FALSE_ALARM = "miss rate", "false-alarm rate"
# Where people put a threshold without looking: log-likelihood ratios at 0, cosines at 0.5.
THRESHOLDS = (0.0, 0.5)
# Rates of one kind of error, printed for an EER. Their names are `<kind> at <threshold>`.
SINGLE_RATES = {
    f"{kind} at threshold {threshold:g}": (kind, threshold)
    for kind in (MISS, FALSE_ALARM)
    for threshold in THRESHOLDS
}
PRECISIONS = (
    *(f"{decimals} decimal{'' if decimals == 1 else 's'}" for decimals in range(6, -1, -1)),
    "float16",
    "bfloat16",
)


def own_estimator(protocol: Protocol) -> str:
    """The estimator that an edition's EERs are by: the official one, or Kaldi's."""
    return KALDI if protocol.eer == KALDI else OFFICIAL


def noun(estimator: str) -> str:
    """What an estimator's number is called in a sentence."""
    return estimator if estimator in SINGLE_RATES else PHRASES[estimator]


@dataclass(frozen=True)
class Recipe:
    """How a number is made from the scores of one system; the defaults are the official way.

    names: the lists. scale: what a claim is multiplied with to be in percent. flipped: 100 minus
    the EER. duplicates, gaps: None where a pair that stands twice, or a trial without a finite
    score, must not be. decimals: for the combinations `cut` and `round`. precision: one of
    PRECISIONS, None for the scores as given.
    """

    system: str
    names: tuple[str, ...]
    estimator: str = OFFICIAL
    scale: float = 1
    negated: bool = False
    flipped: bool = False
    duplicates: Duplicates | None = None
    gaps: Gaps | None = None
    combination: Combination = "mean"
    decimals: int = 0
    trials: Trials = "all"
    precision: str | None = None


@dataclass(frozen=True)
class Change:
    """One change. label: stable. clause: `… is the EER when <clause>`; a source, a system, an
    estimator and an average have none, they change the words before."""

    dimension: str
    label: str
    fields: Mapping[str, Any]
    clause: str | None = None

    def __str__(self) -> str:
        return f"{self.dimension}: {self.label}"


def apply(recipe: Recipe, changes: Iterable[Change]) -> Recipe:
    """The recipe with all the changes."""
    for change in changes:
        recipe = replace(recipe, **change.fields)
    return recipe


def singles(changes: Iterable[Change]) -> Iterator[tuple[Change, ...]]:
    """Each change by itself, in order."""
    return ((change,) for change in changes)


def pairs(changes: Iterable[Change]) -> Iterator[tuple[Change, ...]]:
    """Two changes of different dimensions, in order."""
    dimensions: dict[str, list[Change]] = {}
    for change in changes:
        dimensions.setdefault(change.dimension, []).append(change)
    for one, other in combinations(dimensions.values(), 2):
        yield from product(one, other)


def changes_of(
    recipe: Recipe,
    sources: Iterable[Change],
    *,
    conflicts: bool,
    gaps: bool,
    weighted: bool = False,
) -> list[Change]:
    """All changes of a recipe, simplest first. sources: by `sources`.

    weighted: have lists weights of their own in the edition's averages? conflicts: are there pairs
    that stand twice with different scores? gaps: are there trials without a finite score?
    """
    return [
        Change("unit", "fraction", {"scale": 100.0}, "it is printed as a fraction"),
        Change("unit", "percent of percent", {"scale": 0.01}, "a percentage is multiplied by 100"),
        Change("sign", "negated", {"negated": True}, "the scores are negated"),
        Change("sign", "complement", {"flipped": True}, "it is subtracted from 100"),
        *(_duplicates() if conflicts else ()),
        *(_gaps() if gaps else ()),
        *(_combinations(weighted=weighted) if len(recipe.names) > 1 else ()),
        *sources,
        *(
            Change("estimator", name, {"estimator": name})
            for name in (*ESTIMATORS, *SINGLE_RATES)
            if name != recipe.estimator
        ),
        *_trials(),
        *(
            Change("precision", name, {"precision": name}, f"the scores are rounded to {name}")
            for name in PRECISIONS
        ),
    ]


def sources(recipe: Recipe, splits: Mapping[str, str], systems: Iterable[str]) -> list[Change]:
    """Other scores that the number may be of.

    splits: of each list of the edition, in order. systems: all that there are scores of.
    """
    own = set(recipe.names)
    split = splits[recipe.names[0]]
    # The own split comes first: its lists are confused most easily.
    by_split: dict[str, tuple[str, ...]] = {split: ()}
    for name, of in splits.items():
        by_split[of] = (*by_split.get(of, ()), name)
    single = [name for names in by_split.values() for name in names]
    changes = [
        Change("source", name, {"names": (name,), "combination": "mean"})
        for name in single
        if {name} != own
    ]
    for of, names in by_split.items():
        if len(names) > 1 and set(names) != own:
            fields = {"names": names, "combination": "mean"}
            changes.append(Change("source", f"mean of {of}", fields))
            if len(own) == 1:
                pooled = {"names": names, "combination": "pooled"}
                clause = f"the trials of {' and '.join(names)} are pooled"
                changes.append(Change("source", f"{of} pooled", pooled, clause))
    if len(by_split) > 1 and len(own) > 1:
        every = {"names": tuple(splits), "combination": "mean"}
        changes.append(Change("source", "mean of all lists", every))
    changes += [
        Change("system", system, {"system": system})
        for system in sorted(systems)
        if system != recipe.system
    ]
    return changes


def _duplicates() -> Iterator[Change]:
    for which in ("first", "last"):
        clause = f"of a pair that stands twice the {which} score is kept"
        yield Change("duplicates", which, {"duplicates": which}, clause)
    clause = "of a pair that stands twice both scores count"
    yield Change("duplicates", "both", {"duplicates": "both"}, clause)


def _gaps() -> tuple[Change, ...]:
    without = "trials without a finite score"
    counted = f"{without} enter as NaN, for which the official code gives 0"
    return (
        Change("gaps", "counted", {"gaps": "counted"}, counted),
        Change("gaps", "left out", {"gaps": "left out"}, f"{without} are left out"),
        Change("gaps", "zero", {"gaps": "zero"}, f"{without} get the score 0"),
    )


def _combinations(*, weighted: bool) -> Iterator[Change]:
    dimension = "combination"
    if weighted:
        equally = "all its lists weigh the same"
        yield Change(dimension, "unweighted", {"combination": "unweighted"}, equally)
    pooled = "the trials of all its lists are pooled"
    yield Change(dimension, "pooled", {"combination": "pooled"}, pooled)
    for what in ("trials", "targets"):
        name = f"weighted by {what}"
        yield Change(dimension, name, {"combination": name}, f"lists are {name}")
    for how, word in (("cut", "cut"), ("round", "rounded")):
        for decimals in (3, 2, 1):
            label = f"{word} to {decimals} decimal{'s' if decimals > 1 else ''}"
            fields = {"combination": how, "decimals": decimals}
            yield Change(dimension, label, fields, f"each EER is first {label}")


def _trials() -> tuple[Change, ...]:
    return (
        Change(
            "trials",
            "enrolled",
            {"trials": "enrolled"},
            "trial speakers who are never enrolled are left out",
        ),
        Change(
            "trials",
            "impostors",
            {"trials": "impostors"},
            "only trial speakers who are never enrolled count as nontargets",
        ),
        Change(
            "trials",
            "speakers",
            {"trials": "speakers"},
            "each enrolled speaker has an own EER and these are averaged",
        ),
        Change(
            "trials", "headless", {"trials": "headless"}, "the first trial is taken for a header"
        ),
    )
