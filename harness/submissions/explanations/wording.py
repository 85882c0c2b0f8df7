"""The sentences of explanations."""

from __future__ import annotations

from collections.abc import Sequence

from harness.metrics.feasibility import feasibility
from harness.protocols.protocol import TrialList
from harness.submissions.explanations.changes import (
    KALDI,
    OFFICIAL,
    Change,
    Recipe,
    apply,
    noun,
)
from harness.submissions.model import AVERAGE, Claim

# From this probability on a match by chance is worth a word.
SURPRISE = 0.05
# From this one on a pair of changes is not named: among so many pairs that one fits says little.
MOST_CHANCE_OF_A_PAIR = 0.2
FEWEST_DECIMALS, MOST_DECIMALS = 2, 4
# By their decimals; of more than six the feasibility is not asked.
DIGITS = (
    "whole",
    *(f"{count}-decimal" for count in ("one", "two", "three", "four", "five", "six")),
)
# A number of more digits before the point is written as it was read, not in full.
MOST_DIGITS = 12


def changed(
    claim: Claim,
    recipe: Recipe,
    changes: Sequence[Change],
    official: float | None,
    *,
    cut: bool,
) -> str:
    """What changes make of the scores, and what the claim should have been.

    recipe: what the claim is about. official: its number in percent, if there is one. cut: is the
    claim their number only when that is not rounded?
    """
    new = apply(recipe, changes)
    dimensions = {change.dimension for change in changes}
    what = noun(new.estimator)
    if "estimator" in dimensions and new.estimator == OFFICIAL:
        # An edition whose own is Kaldi's has another official one.
        what = f"SpeechBrain {what}" if recipe.estimator == KALDI else f"official {what}"
    if len(new.names) > 1 and new.combination != "pooled":
        what = f"mean {what}"
    clauses = [change.clause for change in changes if change.clause is not None]
    of = ""
    if dimensions & {"source", "system"}:
        # Lists that are pooled are named by the clause.
        of = "" if new.combination == "pooled" else f" of {' and '.join(new.names)}"
        if new.system != recipe.system:
            of += f" of {new.system}"
    elif not clauses:
        of = " of these scores"
    when = f" when {' and '.join(clauses)}" if clauses else ""
    how = ", cut instead of rounded" if cut else ""
    instead = _official(claim, recipe, official, new)
    return f"{printed(claim)} is the {what}{of}{when}{how}; {instead}"


def nothing(
    claim: Claim, recipe: Recipe, tried: int, official: float | None, *, ended: bool
) -> str:
    """No change was found. ended: by the time cap."""
    text = (
        f"no single change and no pair of changes among {tried:,} tried gives {printed(claim)}; "
        f"{_official(claim, recipe, official, recipe)}"
    )
    return f"{text}; the time cap ended the search" if ended else text


def unnamed(
    claim: Claim, recipe: Recipe, fitting: int, probability: float, official: float | None
) -> str:
    """Pairs of changes fit, but they would fit much else. fitting: how many."""
    pairs = f"{fitting:,} pair{' of changes does' if fitting == 1 else 's of changes do'}"
    return (
        f"no single change gives {printed(claim)}; {pairs}, but by chance a pair gives "
        f"{100 * probability:.0f} % of such numbers, so none is named; "
        f"{_official(claim, recipe, official, recipe)}"
    )


def remarks(others: Sequence[Sequence[Change]], probability: float) -> str:
    """Which others fit, and how likely one would by chance; empty where that is little."""
    parts = []
    if len(others) == 1:
        parts.append(
            f"{' and '.join(map(str, others[0]))} {'fits' if len(others[0]) == 1 else 'fit'} too"
        )
    elif others:
        what = "change" if len(others[0]) == 1 else "pair"
        parts.append(f"{len(others):,} other {what}s fit too")
    if probability > SURPRISE:
        parts.append(f"by chance: {100 * probability:.0f} % of such numbers fit")
    return f" ({', '.join(parts)})" if parts else ""


def without_scores(claim: Claim, listed: TrialList | None) -> str:
    """What the numbers of trials alone say.

    listed: None where the claim is of no single list, or by another estimator than the official.
    """
    text = printed(claim)
    if listed is None or listed.target is None or listed.nontarget is None:
        return f"{text} cannot be tested: {claim.list} has no scores"
    if claim.estimator != OFFICIAL:
        return f"{text} cannot be tested: {claim.list} has no scores, and it is no official EER"
    if not 0 <= claim.percent <= 100:
        return f"{text} is no EER: it is not between 0 and 100"
    n_target, n_nontarget = listed.target, listed.nontarget
    result = feasibility(claim.percent, n_target, n_nontarget)
    counts = result.counts if result.feasible else _counts_when_cut(claim, n_target, n_nontarget)
    if not counts:
        return (
            f"{text} is not possible on {claim.list} without ties: no error counts of "
            f"{n_target:,} targets and {n_nontarget:,} nontargets give it"
        )
    cut = "" if result.feasible else ", but only cut instead of rounded"
    misses, false_alarms = counts[0]
    more = len(counts) - 1
    others = f" (or {more:,} other pair{'' if more == 1 else 's'} of counts)" if more else ""
    digits = DIGITS[min(_decimals(claim), len(DIGITS) - 1)]
    share = f"{100 * result.likelihood:.0f}" if result.likelihood >= 0.005 else "under 1"
    return (
        f"{text} is possible on {claim.list}{cut}: {misses:,} of {n_target:,} targets missed "
        f"and {false_alarms:,} of {n_nontarget:,} nontargets accepted{others}; "
        f"{share} % of {digits} values nearby would be possible too"
    )


def _counts_when_cut(claim: Claim, n_target: int, n_nontarget: int) -> tuple[tuple[int, int], ...]:
    """Misses and false alarms whose EER is above the claim by less than a unit."""
    above = claim.percent + claim.unit
    counts = feasibility(above, n_target, n_nontarget).counts
    return tuple(
        (misses, alarms)
        for misses, alarms in counts
        if claim.percent < 50 * (misses / n_target + alarms / n_nontarget) < above
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


def printed(claim: Claim) -> str:
    """As claimed, but not all the digits of a raw fraction."""
    if claim.percent.adjusted() > MOST_DIGITS:
        return str(claim.percent)
    # A fraction has its last digits two places further.
    decimals = MOST_DECIMALS if claim.percent >= 1 else MOST_DECIMALS + 2
    if _decimals(claim) > decimals:
        return f"{claim.percent:.{decimals}f}"
    return format(claim.percent, "f")
