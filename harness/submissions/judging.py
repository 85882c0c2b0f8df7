"""Claims to verdicts: every claim beside the EER of its scores, and why it differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from harness.metrics.estimators import ESTIMATORS
from harness.protocols.protocol import Protocol
from harness.submissions.contents.layout import UNNAMED
from harness.submissions.explanations.explanation import Explainer
from harness.submissions.model import (
    Check,
    Claim,
    ClaimResult,
    Explanation,
    ListResult,
    SubmissionResult,
    average_name,
)
from harness.submissions.reference import Reference
from harness.submissions.scoring import Scored
from harness.submissions.verdict import LARGEST_UNIT, judge

Lists = Mapping[tuple[str, str], ListResult]


def judge_claims(
    claims: Sequence[Claim],
    scored: Scored,
    protocol: Protocol,
    reference: Reference,
    result: SubmissionResult,
    deadline: float,
) -> None:
    """Add to the result a verdict for each claim, and an explanation of each that does not hold.

    deadline: when explaining ends, as `time.monotonic` gives the time.
    """
    systems = list(dict.fromkeys(one.system for one in scored.lists))
    lists = {(one.system, one.list): one for one in scored.lists}
    named = [
        (claim.system or (systems[0] if len(systems) == 1 else UNNAMED), claim) for claim in claims
    ]
    told = {(system, claim.list): claim for system, claim in named}
    explainer = Explainer(lists | scored.instead, reference, protocol, told)
    for system, claim in named:
        recomputed = recompute(claim, system, lists, protocol, reference)
        verdict, remark = judge(claim, recomputed)
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
            as_meant = _as_meant(claim, system, lists, scored, protocol, reference)
            result.explanations.append(as_meant or explainer.explain(claim, system, deadline))
        result.checks += _remarks(claim, system, lists, protocol)
    result.checks += _unclaimed(lists, told.keys(), protocol)


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
        name for name in _lists_of(claim.list, protocol) if (system, name) in scored.instead
    )
    number = recompute(claim, system, meant, protocol, reference)
    if not moved or judge(claim, number)[0] != "verified":
        return None
    files = ", ".join(scored.instead[system, name].file for name in moved)
    return Explanation(
        system,
        claim.list,
        "change",
        f"{claim.percent} is the EER when {files} is read as what it holds, {' and '.join(moved)}",
        tuple(f"read: {name}" for name in moved),
    )


def _remarks(claim: Claim, system: str, lists: Lists, protocol: Protocol) -> list[Check]:
    """What there is to say of a claim besides its verdict."""
    place = f"{system} {claim.list}: {claim.percent}"
    checks = []
    if any((system, name) not in lists for name in _lists_of(claim.list, protocol)):
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
        Check("claim-missing", f"{system} {name} has no claimed EER", one.file)
        for (system, name), one in lists.items()
        if one.eer is not None
        and (system, name) not in claimed
        and (system, average_name(splits[name])) not in claimed
    ]


def _lists_of(name: str, protocol: Protocol) -> set[str]:
    """The lists that a claim is about: one, or those that are averaged."""
    return {
        listed.trials
        for listed in protocol.lists
        if name in (listed.trials, average_name(listed.split))
    }


def recompute(
    claim: Claim,
    system: str,
    lists: Lists,
    protocol: Protocol,
    reference: Reference,
) -> float | None:
    """The EER that a claim is about, in percent; None where it cannot be computed."""
    names = sorted(_lists_of(claim.list, protocol))
    found = [lists.get((system, name)) for name in names]
    rates = [_rate(one, claim, reference) for one in found]
    known = [rate for rate in rates if rate is not None]
    if not known or len(known) < len(rates):
        return None
    return 100 * sum(known) / len(known)


def _rate(one: ListResult | None, claim: Claim, reference: Reference) -> float | None:
    if one is None or one.eer is None or one.scores is None:
        return None
    if claim.estimator == "official":
        return one.eer.rate
    target = reference.lists[one.list].target
    estimate: Callable[..., float] = ESTIMATORS[claim.estimator]
    return estimate(one.scores.first[target], one.scores.first[~target])
