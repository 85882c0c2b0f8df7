"""Claims to verdicts: every claim beside the EER of its scores, and why it differs."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from harness.metrics.estimators import ESTIMATORS
from harness.protocols.protocol import Protocol
from harness.submissions.contents.layout import UNNAMED
from harness.submissions.explanations.explanation import Explainer
from harness.submissions.explanations.wording import printed
from harness.submissions.model import (
    Check,
    Claim,
    ClaimResult,
    Explanation,
    ListResult,
    SubmissionResult,
    average_name,
    lists_of,
)
from harness.submissions.reference import Reference
from harness.submissions.scoring import Scored
from harness.submissions.verdict import LARGEST_UNIT, judge

# What is said of an average of EERs that were rounded before.
OF_PRINTED = "of printed EERs"
Lists = Mapping[tuple[str, str], ListResult]
# EERs as fractions, by system, list and estimator.
Rates = dict[tuple[str, str, str], float]


def judge_claims(
    claims: Sequence[Claim],
    scored: Scored,
    present: Collection[tuple[str, str]],
    protocol: Protocol,
    reference: Reference,
    result: SubmissionResult,
    deadline: float,
) -> None:
    """Add to the result a verdict for each claim, and an explanation of each that does not hold.

    present: systems and lists that there are score files of, also such as cannot be read.
    deadline: when explaining ends, as `time.monotonic` gives the time.
    """
    systems = list(dict.fromkeys(one.system for one in scored.lists))
    lists = {(one.system, one.list): one for one in scored.lists}
    named = [
        (claim.system or (systems[0] if len(systems) == 1 else UNNAMED), claim) for claim in claims
    ]
    # An EER by another estimator is no claim of the official one.
    told = {(system, claim.list): claim for system, claim in named if claim.estimator == "official"}
    rates: Rates = {}
    explainer = Explainer(lists | scored.instead, reference, protocol, told)
    unexplained = []
    for system, claim in named:
        recomputed = recompute(claim, system, lists, protocol, reference, rates)
        verdict, remark = judge(claim, recomputed)
        if verdict == "refuted" and _is_of_printed(claim, system, lists, protocol):
            verdict, remark = "verified", OF_PRINTED
        result.claims.append(
            ClaimResult(
                system=system,
                list=claim.list,
                claimed=claim.percent,
                recomputed=recomputed,
                verdict=verdict,
                file=claim.file,
                line=claim.line,
                estimator=claim.estimator,
                remark=remark,
            )
        )
        if verdict != "verified":
            unexplained.append((system, claim))
        result.checks += _remarks(claim, system, present, protocol)
    for place, (system, claim) in enumerate(unexplained):
        # An equal share of what is left, so that no claim takes the time of those behind it.
        share = (deadline - time.monotonic()) / (len(unexplained) - place)
        as_meant = _as_meant(claim, system, lists, scored, protocol, reference)
        result.explanations.append(
            as_meant or explainer.explain(claim, system, time.monotonic() + share)
        )
    result.checks += _unclaimed(lists, told.keys(), protocol)


def _is_of_printed(claim: Claim, system: str, lists: Lists, protocol: Protocol) -> bool:
    """Is a claim the average of EERs as Kaldi prints them, with four significant digits?

    The scripts of 2022 average what they have printed: it differs by more than their last digit.
    """
    names = lists_of(claim.list, protocol)
    if protocol.eer != "kaldi" or claim.estimator != "official" or claim.list in names:
        return False
    found = {name: lists[system, name].eer for name in names if (system, name) in lists}
    printed_rates = {
        name: float(f"{100 * eer.rate:.4g}") for name, eer in found.items() if eer is not None
    }
    if len(printed_rates) < len(names):
        return False
    split = next(listed.split for listed in protocol.lists if listed.trials in names)
    return judge(claim, protocol.average(split, printed_rates))[0] == "verified"


def _as_meant(
    claim: Claim,
    system: str,
    lists: Lists,
    scored: Scored,
    protocol: Protocol,
    reference: Reference,
) -> Explanation | None:
    """The explanation where the claim holds once files are read for what they hold."""
    meant = {**lists, **scored.instead}
    moved = sorted(
        name for name in lists_of(claim.list, protocol) if (system, name) in scored.instead
    )
    number = recompute(claim, system, meant, protocol, reference)
    if not moved or judge(claim, number)[0] != "verified":
        return None
    files = {name: scored.instead[system, name].file for name in moved}
    # The same file, in its own place: only its columns were swapped.
    own = {one.list: one.file for one in scored.lists if one.system == system}
    clauses = [
        f"the first two columns of {file} are exchanged"
        if own.get(name) == file
        else f"{name} is read from {file}"
        for name, file in files.items()
    ]
    return Explanation(
        system,
        claim.list,
        "change",
        f"{printed(claim)} is the EER when {' and '.join(clauses)}",
        tuple(f"read: {name}" for name in moved),
    )


def _remarks(
    claim: Claim, system: str, present: Collection[tuple[str, str]], protocol: Protocol
) -> list[Check]:
    """What there is to say of a claim besides its verdict."""
    place = f"{system} {claim.list}: {claim.percent}"
    checks = []
    if any((system, name) not in present for name in lists_of(claim.list, protocol)):
        text = f"{place} is claimed, and there are no scores"
        checks.append(Check("claim-without-scores", text, claim.file, claim.line))
    if claim.unit >= LARGEST_UNIT:
        text = f"{place} has no decimal, so much would fit"
        checks.append(Check("claim-coarse", text, claim.file, claim.line))
    return checks


def _unclaimed(
    lists: Lists, claimed: Collection[tuple[str, str]], protocol: Protocol
) -> list[Check]:
    """Lists with an EER that neither a claim of their own nor one of their average is about."""
    splits = {listed.trials: listed.split for listed in protocol.lists}
    return [
        Check(
            "claim-missing",
            f"{system} {name} has no claimed EER: state it in an EER file, a results file or "
            "submission.yaml, or give it with --reported",
            one.file,
        )
        for (system, name), one in lists.items()
        if one.eer is not None
        and (system, name) not in claimed
        and (system, average_name(splits[name])) not in claimed
    ]


def recompute(
    claim: Claim,
    system: str,
    lists: Lists,
    protocol: Protocol,
    reference: Reference,
    rates: Rates | None = None,
) -> float | None:
    """The EER that a claim is about, in percent; None where it cannot be computed.

    rates: what was estimated for other claims of the same lists, kept here.
    """
    names = lists_of(claim.list, protocol)
    rates = {} if rates is None else rates
    every = {name: _rate(lists.get((system, name)), claim, reference, rates) for name in names}
    known = {name: rate for name, rate in every.items() if rate is not None}
    if not known or len(known) < len(every):
        return None
    if claim.list in known:
        return 100 * known[claim.list]
    split = next(listed.split for listed in protocol.lists if listed.trials in known)
    return 100 * protocol.average(split, known)


def _rate(one: ListResult | None, claim: Claim, reference: Reference, rates: Rates) -> float | None:
    if one is None or one.eer is None or one.scores is None:
        return None
    if claim.estimator == "official":
        return one.eer.rate
    key = one.system, one.list, claim.estimator
    if key not in rates:
        target = reference.lists[one.list].target
        estimate: Callable[..., float] = ESTIMATORS[claim.estimator]
        rates[key] = estimate(one.scores.first[target], one.scores.first[~target])
    return rates[key]
