"""The sentences of explanations."""

from __future__ import annotations

from collections.abc import Sequence

from harness.metrics.feasibility import feasibility
from harness.protocols.protocol import TrialList
from harness.submissions.explanations.changes import OFFICIAL, Change, Recipe, apply, noun
from harness.submissions.model import AVERAGE, Claim

# From this probability on a match by chance is worth a word.
SURPRISE = 0.05
FEWEST_DECIMALS, MOST_DECIMALS = 2, 4
# By their decimals; of more than six the feasibility is not asked.
DIGITS = (
    "whole",
    *(f"{count}-decimal" for count in ("one", "two", "three", "four", "five", "six")),
)
# A number of more digits before the point is written as it was read, not in full.
MOST_DIGITS = 12


def changed(claim: Claim, recipe: Recipe, changes: Sequence[Change], official: float | None) -> str:
    """What changes make of the scores, and what the claim should have been.

    recipe: what the claim is about. official: its number in percent, if there is one.
    """
    new = apply(recipe, changes)
    dimensions = {change.dimension for change in changes}
    what = noun(new.estimator)
    if "estimator" in dimensions and new.estimator == OFFICIAL:
        what = f"official {what}"
    if len(new.names) > 1 and new.combination != "pooled":
        what = f"mean {what}"
    clauses = [change.clause for change in changes if change.clause is not None]
    of = ""
    if "source" in dimensions and new.combination != "pooled":
        of = f" of {' and '.join(new.names)}"
        if new.system != recipe.system:
            of += f" of {new.system}"
    elif not clauses:
        of = " of these scores"
    when = f" when {' and '.join(clauses)}" if clauses else ""
    return f"{_printed(claim)} is the {what}{of}{when}; {_official(claim, recipe, official, new)}"


def nothing(
    claim: Claim, recipe: Recipe, tried: int, official: float | None, *, ended: bool
) -> str:
    """No change was found. ended: by the time cap."""
    text = (
        f"no single change and no pair of changes among {tried:,} tried gives {_printed(claim)}; "
        f"{_official(claim, recipe, official, recipe)}"
    )
    return f"{text}; the time cap ended the search" if ended else text


def remarks(changes: Sequence[Change], others: int, probability: float) -> str:
    """How many others fit, and how likely one would by chance; empty where that is little."""
    parts = []
    if others:
        what = "change" if len(changes) == 1 else "pair"
        parts.append(f"{others:,} other {what}{' fits' if others == 1 else 's fit'} too")
    if probability > SURPRISE:
        parts.append(f"by chance: {100 * probability:.0f} %")
    return f" ({', '.join(parts)})" if parts else ""


def without_scores(claim: Claim, listed: TrialList | None) -> str:
    """What the numbers of trials alone say. listed: None where the claim is of no single list."""
    text = _printed(claim)
    if listed is None:
        return f"{text} cannot be tested: {claim.list} has no scores"
    if claim.estimator != OFFICIAL:
        return f"{text} cannot be tested: {claim.list} has no scores, and it is no official EER"
    if not 0 <= claim.percent <= 100:
        return f"{text} is no EER: it is not between 0 and 100"
    result = feasibility(claim.percent, listed.target, listed.nontarget)
    if not result.feasible:
        return (
            f"{text} is not possible on {claim.list} without ties: no error counts of "
            f"{listed.target:,} targets and {listed.nontarget:,} nontargets give it"
        )
    misses, false_alarms = result.counts[0]
    more = len(result.counts) - 1
    others = f" (or {more:,} other pair{'' if more == 1 else 's'} of counts)" if more else ""
    digits = DIGITS[min(_decimals(claim), len(DIGITS) - 1)]
    share = f"{100 * result.likelihood:.0f}" if result.likelihood >= 0.005 else "under 1"
    return (
        f"{text} is possible on {claim.list}: {misses:,} of {listed.target:,} targets missed and "
        f"{false_alarms:,} of {listed.nontarget:,} nontargets accepted{others}; "
        f"{share} % of {digits} values nearby would be possible too"
    )


def _official(claim: Claim, recipe: Recipe, value: float | None, new: Recipe) -> str:
    """The number that should have been claimed, beside what was."""
    average = claim.list.startswith(f"{AVERAGE} ")
    name = "official EER" if recipe.estimator == OFFICIAL else noun(recipe.estimator)
    name = f"mean of the {name}s" if average else name
    if value is None:
        return f"there is no {name} of {claim.list} to compare with"
    what = f"the {name}"
    if new.system != recipe.system:
        what = f"that of {recipe.system}"
    elif new.names != recipe.names and not average:
        what = f"that of {claim.list}"
    decimals = min(max(_decimals(claim), FEWEST_DECIMALS), MOST_DECIMALS)
    return f"{what} is {value:.{decimals}f}"


def _decimals(claim: Claim) -> int:
    return max(-claim.unit.adjusted(), 0)


def _printed(claim: Claim) -> str:
    """As claimed, but not all the digits of a raw fraction."""
    if claim.percent.adjusted() > MOST_DIGITS:
        return str(claim.percent)
    if _decimals(claim) > MOST_DECIMALS:
        return f"{claim.percent:.{MOST_DECIMALS}f}"
    return format(claim.percent, "f")
