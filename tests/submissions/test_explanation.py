"""Every expected number is made here, by a few lines of its own, from simulated scores of lists of
the real size."""

from __future__ import annotations

import math

import numpy as np
import pytest
from simulated import (
    PROTOCOL,
    SIZES,
    TEST_F,
    TEST_M,
    F,
    M,
    ask,
    claimed,
    classes,
    draw,
    kaldi,
    official,
    result,
    rocch,
)

from harness.submissions.explanations.explanation import Explainer

# Estimators.


def test_rocch(explainer, results, reference):
    both = classes(results, reference)
    explanation = ask(explainer, f"{rocch(*both):.2f}")
    assert explanation.kind == "change"
    assert explanation.changes == ("estimator: rocch",)
    assert explanation.sentence.startswith(
        f"{rocch(*both):.2f} is the ROCCH-EER of these scores; "
        f"the official EER is {official(*both):.2f}"
    )


def test_kaldi(explainer, results, reference):
    both = classes(results, reference)
    assert ask(explainer, kaldi(*both)).changes == ("estimator: kaldi",)


def rates_at(target, nontarget, thresholds):
    """In percent: mean error rate at the first threshold with the smallest difference, larger."""
    misses = np.array([np.mean(target <= t) for t in thresholds])
    alarms = np.array([np.mean(nontarget > t) for t in thresholds])
    best = np.abs(alarms - misses).argmin()
    return 50 * (misses[best] + alarms[best]), 100 * max(misses[best], alarms[best])


def test_estimators_that_differ_where_scores_are_tied(reference):
    """Scores of one decimal: a threshold decides over hundreds of trials."""
    one = reference.lists[F]
    scores = np.round(draw("B4", F, one.target), 1)
    target, nontarget = scores[one.target], scores[~one.target]
    coarse = Explainer({("B4", F): result("B4", F, scores, one.target)}, reference, PROTOCOL)

    _, larger = rates_at(target, nontarget, np.unique(scores))
    assert ask(coarse, larger).changes == ("estimator: max",)
    grid, _ = rates_at(target, nontarget, np.linspace(scores.min(), scores.max(), 1000))
    # All its thresholds lie between two scores, so it is the official EER.
    assert grid == pytest.approx(official(target, nontarget))
    # One by one from the lowest score: among equal ones the nontargets first, or last.
    for last, name in (
        (one.target, "ties-favourable"),
        (~one.target, "ties-unfavourable"),
    ):
        rejected = one.target[np.lexsort((last, scores))]
        misses = rejected.cumsum() / len(target)
        alarms = 1 - (~rejected).cumsum() / len(nontarget)
        best = np.abs(alarms - misses).argmin()
        explanation = ask(coarse, 50 * (misses[best] + alarms[best]))
        assert explanation.changes == (f"estimator: {name}",)


def test_a_grid_of_thresholds(explainer, results, reference):
    target, nontarget = classes(results, reference)
    ends = min(target.min(), nontarget.min()), max(target.max(), nontarget.max())
    grid, _ = rates_at(target, nontarget, np.linspace(*ends, 1000))
    assert ask(explainer, grid).changes == ("estimator: grid-1000",)


def test_a_rocch_claim_that_is_the_official_eer(explainer, results, reference):
    both = classes(results, reference)
    explanation = ask(explainer, official(*both), estimator="rocch")
    assert explanation.sentence.startswith(
        f"{official(*both):.3f} is the official EER of these scores; "
        f"the ROCCH-EER is {rocch(*both):.3f}"
    )


@pytest.mark.parametrize("threshold", [0, 0.5])
def test_rates_at_a_fixed_threshold(explainer, results, reference, threshold):
    target, nontarget = classes(results, reference)
    miss = ask(explainer, 100 * np.mean(target <= threshold))
    alarm = ask(explainer, 100 * np.mean(nontarget > threshold))
    assert miss.changes == (f"estimator: miss rate at threshold {threshold:g}",)
    assert alarm.changes == (f"estimator: false-alarm rate at threshold {threshold:g}",)


# Unit and sign.


def test_fraction(explainer, results, reference):
    value = official(*classes(results, reference))
    explanation = ask(explainer, f"{value / 100:.4f}")
    assert explanation.changes == ("unit: fraction",)
    assert explanation.sentence.startswith(
        f"{value / 100:.4f} is the EER when it is printed as a fraction; the official EER is"
    )
    # As many digits as a percentage keeps.
    explanation = ask(explainer, f"{value / 100:.14f}")
    assert explanation.sentence.startswith(f"{value / 100:.6f} is the EER when it is printed as a")


def test_percent_of_percent(explainer, results, reference):
    value = official(*classes(results, reference))
    assert ask(explainer, f"{100 * value:.1f}").changes == ("unit: percent of percent",)


def test_sign(explainer, results, reference):
    target, nontarget = classes(results, reference)
    explanation = ask(explainer, official(-target, -nontarget))
    assert explanation.changes == ("sign: negated",)
    # 100 - EER is the same thing again, not another one that fits, whatever the last bits are.
    assert explanation.sentence.endswith(f"the official EER is {official(target, nontarget):.3f}")
    for name in SIZES:
        value = 100 - official(*classes(results, reference, name))
        assert " too" not in ask(explainer, value, name).sentence


def test_complement(explainer, results, reference):
    # Of another estimator it is not what negated scores give.
    value = 100 - rocch(*classes(results, reference))
    explanation = ask(explainer, value, estimator="rocch")
    assert explanation.changes == ("sign: complement",)
    assert " is the ROCCH-EER when it is subtracted from 100; " in explanation.sentence


# Other lists.


def test_another_list(explainer, results, reference):
    own, other = official(*classes(results, reference)), official(*classes(results, reference, M))
    explanation = ask(explainer, other)
    assert explanation.changes == (f"source: {M}",)
    assert explanation.sentence == f"{other:.3f} is the EER of {M}; that of {F} is {own:.3f}"


def test_claims_of_two_lists_that_are_swapped(results, reference):
    own, other = official(*classes(results, reference)), official(*classes(results, reference, M))
    claims = {("B4", F): claimed(other), ("B4", M): claimed(own, M)}
    sentence = ask(Explainer(results, reference, PROTOCOL, claims), other).sentence
    assert sentence.endswith("; the claims of the two lists are swapped")
    claims["B4", M] = claimed(other, M)
    assert "swapped" not in ask(Explainer(results, reference, PROTOCOL, claims), other).sentence


def test_another_system(explainer, results, reference):
    own = official(*classes(results, reference))
    other = official(*classes(results, reference, system="B5"))
    explanation = ask(explainer, other)
    assert explanation.changes == ("system: B5",)
    assert explanation.sentence == f"{other:.3f} is the EER of {F} of B5; that of B4 is {own:.3f}"


def test_another_list_of_another_system_swapped(results, reference):
    own = official(*classes(results, reference))
    other = official(*classes(results, reference, TEST_M, "B5"))
    claims = {("B4", F): claimed(other), ("B5", TEST_M): claimed(own, TEST_M)}
    explanation = ask(Explainer(results, reference, PROTOCOL, claims), other)
    assert explanation.changes == (f"source: {TEST_M}", "system: B5")
    assert explanation.sentence == (
        f"{other:.3f} is the EER of {TEST_M} of B5; that of B4 is {own:.3f}; "
        "the claims of the two lists are swapped"
    )


def test_pooled_average_of_another_system(explainer, results, reference):
    f, m = (classes(results, reference, name, "B5") for name in (F, M))
    pooled = official(np.concatenate([f[0], m[0]]), np.concatenate([f[1], m[1]]))
    explanation = ask(explainer, pooled, "average dev")
    assert explanation.changes == ("combination: pooled", "system: B5")
    assert explanation.sentence.startswith(
        f"{pooled:.3f} is the EER of B5 when the trials of all its lists are pooled; that of B4 is"
    )


def test_cut_instead_of_rounded(explainer, results, reference):
    both = classes(results, reference)
    value = rocch(*both)
    decimals = next(d for d in (4, 3, 2) if value * 10**d % 1 > 0.6)
    claim = f"{math.floor(value * 10**decimals) / 10**decimals:.{decimals}f}"
    sentence = ask(explainer, claim).sentence
    assert sentence.startswith(
        f"{claim} is the ROCCH-EER of these scores, cut instead of rounded; the official EER is "
    )


def with_errors(reference, name, misses, false_alarms):
    """A list with these error counts at its EER."""
    target = reference.lists[name].target
    scores = np.empty(len(target), np.float32)
    scores[target] = np.where(np.arange(target.sum()) < misses, 0, 3)
    scores[~target] = np.where(np.arange((~target).sum()) < false_alarms, 2, 1)
    return result("B4", name, scores, target)


def test_what_gives_a_claim_rounded_comes_before_what_does_cut(results, reference):
    # 15.528 % of M, which is tried first, is 15.52 only when it is cut; 15.522 % is when rounded.
    changed = {
        ("B4", F): results["B4", F],
        ("B4", M): with_errors(reference, M, 100, 1987),
        ("B4", TEST_F): with_errors(reference, TEST_F, 85, 1739),
    }
    explanation = ask(Explainer(changed, reference, PROTOCOL), "15.52")
    assert explanation.changes == (f"source: {TEST_F}",)
    assert f"(source: {M} fits too" in explanation.sentence
    assert "cut" not in explanation.sentence


def test_pooled_genders(explainer, results, reference):
    f, m = classes(results, reference), classes(results, reference, M)
    pooled = official(np.concatenate([f[0], m[0]]), np.concatenate([f[1], m[1]]))
    explanation = ask(explainer, pooled)
    assert explanation.changes == ("source: dev pooled",)
    assert explanation.sentence == (
        f"{pooled:.3f} is the EER when the trials of {F} and {M} are pooled; "
        f"that of {F} is {official(*f):.3f}"
    )


def test_mean_of_genders(explainer, results, reference):
    mean = np.mean([official(*classes(results, reference, name)) for name in (F, M)])
    explanation = ask(explainer, mean)
    assert explanation.changes == ("source: mean of dev",)
    assert explanation.sentence.startswith(f"{mean:.3f} is the mean EER of {F} and {M}; that of")


def test_without_speakers_never_enrolled(explainer, results, reference):
    listed, scores = reference.lists[F], results["B4", F].scores.first
    # 704 utterances are of enrolled speakers, by construction.
    enrolled = np.array([int(key.split(b" ")[1][:2]) < 15 for key in listed.keys])
    target = scores[listed.target]
    without = official(target, scores[enrolled & ~listed.target])
    assert ask(explainer, without).changes == ("trials: enrolled",)
    only = official(target, scores[~enrolled])
    assert ask(explainer, only).changes == ("trials: impostors",)


def of_speakers(results, reference, name):
    listed, scores = reference.lists[name], results["B4", name].scores.first
    owner = np.array([key.split(b" ")[0] for key in listed.keys])
    own = [owner == speaker for speaker in np.unique(owner)]
    return [official(scores[o & listed.target], scores[o & ~listed.target]) for o in own]


def test_mean_over_enrolled_speakers(explainer, results, reference):
    rates = of_speakers(results, reference, F)
    assert ask(explainer, np.mean(rates)).changes == ("trials: speakers",)


def test_mean_over_enrolled_speakers_of_two_lists(explainer, results, reference):
    # 15 and 14 speakers: not the mean of the two means.
    rates = [*of_speakers(results, reference, F), *of_speakers(results, reference, M)]
    assert ask(explainer, np.mean(rates)).changes == ("source: dev pooled", "trials: speakers")


def test_first_trial_taken_for_a_header(reference):
    # 15 speakers' first trials are targets; a set of scores where it matters: it is misjudged.
    listed = reference.lists[F]
    assert listed.target[0]
    scores = draw("B4", F, listed.target)
    scores[0] = -9
    rest, labels = scores[1:], listed.target[1:]
    expected = official(rest[labels], rest[~labels])
    one = {("B4", F): result("B4", F, scores, listed.target)}
    explanation = ask(Explainer(one, reference, PROTOCOL), expected)
    assert explanation.changes == ("trials: headless",)


# Precision.


def bfloat16(scores):
    mantissa, exponent = np.frexp(scores.astype(np.float64))
    return np.ldexp(np.round(256 * mantissa) / 256, exponent)


ROUNDED = {
    "1 decimal": lambda scores: np.round(scores, 1),
    "0 decimals": lambda scores: np.round(scores, 0),
    "bfloat16": bfloat16,
}


@pytest.mark.parametrize("precision", ROUNDED)
def test_rounded_scores(explainer, results, reference, precision):
    changed = [ROUNDED[precision](scores) for scores in classes(results, reference)]
    explanation = ask(explainer, official(*changed))
    assert explanation.changes == (f"precision: {precision}",)
    assert f" is the EER when the scores are rounded to {precision}; " in explanation.sentence


def test_half_precision(reference):
    # A little noise on a large offset: float16 has a step of 1 above 1024.
    target = reference.lists[F].target
    scores = (1500 + 4 * draw("B4", F, target)).astype(np.float32)
    half = scores.astype(np.float16)
    one = {("B4", F): result("B4", F, scores, target)}
    explanation = ask(Explainer(one, reference, PROTOCOL), official(half[target], half[~target]))
    # Half a unit further, the same as to 0 decimals: the two are not told apart by one number.
    assert explanation.changes == ("precision: 0 decimals",)
