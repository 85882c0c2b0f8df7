"""Claims without a plain cause: unscorable, averaged, fitted by pairs or chance, without scores."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from simulated import (
    IMPOSSIBLE,
    PROTOCOL,
    TEST_F,
    TEST_M,
    F,
    M,
    ask,
    claimed,
    classes,
    draw,
    far,
    official,
    result,
    rocch,
)

from harness.submissions.explanations import wording
from harness.submissions.explanations.changes import Change
from harness.submissions.explanations.explanation import Explainer, explain

# Scores that cannot be scored.


def test_duplicates_kept_first_or_last(reference):
    target = reference.lists[F].target
    first, last = draw("B4", F, target), draw("B4", F, target)
    last[::7] = draw("B5", F, target)[::7]
    both = {("B4", F): result("B4", F, first, target, last)}
    explainer = Explainer(both, reference, PROTOCOL)
    for which, scores in (("first", first), ("last", last)):
        value = official(scores[target], scores[~target])
        explanation = ask(explainer, value)
        assert explanation.changes == (f"duplicates: {which}",)
        assert explanation.sentence == (
            f"{value:.3f} is the EER when of a pair that stands twice the {which} score is kept; "
            f"there is no official EER of {F} to compare with"
        )


def test_both_scores_of_duplicates_counted(reference):
    target = reference.lists[F].target
    first, last = draw("B4", F, target), draw("B4", F, target)
    twice = np.arange(len(target)) % 7 == 0
    last[twice] = draw("B5", F, target)[twice]
    both = {("B4", F): result("B4", F, first, target, last)}
    value = official(
        np.concatenate([first[target], last[target & twice]]),
        np.concatenate([first[~target], last[~target & twice]]),
    )
    explanation = ask(Explainer(both, reference, PROTOCOL), value)
    assert explanation.changes == ("duplicates: both",)
    assert " is the EER when of a pair that stands twice both scores count; " in (
        explanation.sentence
    )


def test_both_scores_of_duplicates_and_zero_for_trials_without(reference):
    target = reference.lists[F].target
    first, last = draw("B4", F, target), draw("B4", F, target)
    twice = np.arange(len(target)) % 7 == 0
    last[twice] = draw("B5", F, target)[twice]
    first[1::7] = last[1::7] = np.nan
    filled = np.nan_to_num(first, nan=0)
    value = official(
        np.concatenate([filled[target], last[target & twice]]),
        np.concatenate([filled[~target], last[~target & twice]]),
    )
    both = {("B4", F): result("B4", F, first, target, last)}
    explanation = ask(Explainer(both, reference, PROTOCOL), value)
    assert explanation.changes == ("duplicates: both", "gaps: zero")


def test_a_nan_gives_zero_in_the_official_code(reference):
    target = reference.lists[F].target
    scores = draw("B4", F, target)
    scores[5] = np.nan
    explainer = Explainer({("B4", F): result("B4", F, scores, target)}, reference, PROTOCOL)
    assert ask(explainer, "0.000").changes == ("gaps: counted",)
    kept = np.isfinite(scores)
    left_out = official(scores[kept & target], scores[kept & ~target])
    assert ask(explainer, left_out).changes == ("gaps: left out",)


def test_missing_trials_scored_as_zero(reference):
    target = reference.lists[F].target
    scores = draw("B4", F, target)
    scores[::3] = np.nan
    explainer = Explainer({("B4", F): result("B4", F, scores, target)}, reference, PROTOCOL)
    filled = np.nan_to_num(scores, nan=0)
    assert ask(explainer, official(filled[target], filled[~target])).changes == ("gaps: zero",)


# Averages.


def of_dev(results, reference):
    return [official(*classes(results, reference, name)) for name in (F, M)]


def test_average_pooled(explainer, results, reference):
    f, m = classes(results, reference), classes(results, reference, M)
    pooled = official(np.concatenate([f[0], m[0]]), np.concatenate([f[1], m[1]]))
    explanation = ask(explainer, pooled, "average dev")
    mean = np.mean(of_dev(results, reference))
    assert explanation.changes == ("combination: pooled",)
    assert explanation.sentence.startswith(
        f"{pooled:.3f} is the EER when the trials of all its lists are pooled; "
        f"the mean of the official EERs is {mean:.3f}"
    )


def test_average_weighted(explainer, results, reference):
    f, m = of_dev(results, reference)
    by_trials = (15270 * f + 13440 * m) / (15270 + 13440)
    by_targets = (704 * f + 644 * m) / (704 + 644)
    for what, value in (("trials", by_trials), ("targets", by_targets)):
        explanation = ask(explainer, value, "average dev")
        assert explanation.changes == (f"combination: weighted by {what}",)
        assert f" is the mean EER when lists are weighted by {what}; " in explanation.sentence


@pytest.mark.parametrize(("decimals", "label"), [(2, "2 decimals"), (1, "1 decimal")])
def test_average_of_values_already_cut(explainer, results, reference, decimals, label):
    cut = [math.floor(v * 10**decimals) / 10**decimals for v in of_dev(results, reference)]
    explanation = ask(explainer, np.mean(cut), "average dev")
    assert explanation.changes == (f"combination: cut to {label}",)
    assert f" when each EER is first cut to {label}; " in explanation.sentence


def test_average_that_is_one_list_or_the_other_split(explainer, results, reference):
    one = official(*classes(results, reference, M))
    assert ask(explainer, one, "average dev").changes == (f"source: {M}",)
    other = np.mean([official(*classes(results, reference, name)) for name in (TEST_F, TEST_M)])
    explanation = ask(explainer, other, "average dev")
    assert explanation.changes == ("source: mean of test",)
    assert f" is the mean EER of {TEST_F} and {TEST_M}; the mean of the" in explanation.sentence


def test_average_of_which_a_list_has_no_scores(results, reference):
    one = Explainer({("B4", F): results["B4", F]}, reference, PROTOCOL)
    explanation = ask(one, official(*classes(results, reference)), "average dev")
    assert explanation.changes == (f"source: {F}",)
    assert explanation.sentence.endswith(
        "there is no mean of the official EERs of average dev to compare with"
    )


# Pairs, and what fits nothing.


def test_pair_of_pooled_and_rounded(explainer, results, reference):
    f, m = classes(results, reference), classes(results, reference, M)
    pooled = [np.round(np.concatenate(both), 0) for both in zip(f, m, strict=True)]
    value = official(*pooled)
    explanation = ask(explainer, value)
    assert explanation.changes == ("source: dev pooled", "precision: 0 decimals")
    assert explanation.sentence.startswith(
        f"{value:.3f} is the EER when the trials of {F} and {M} are pooled and "
        f"the scores are rounded to 0 decimals; that of {F} is {official(*f):.3f}"
    )


def test_pair_of_sign_and_estimator(explainer, results, reference):
    target, nontarget = classes(results, reference)
    explanation = ask(explainer, rocch(-target, -nontarget))
    assert explanation.changes == ("sign: negated", "estimator: rocch")


def test_pair_of_another_list_and_estimator(explainer, results, reference):
    value = rocch(*classes(results, reference, TEST_M))
    explanation = ask(explainer, value)
    assert explanation.changes == (f"source: {TEST_M}", "estimator: rocch")
    assert explanation.sentence.startswith(f"{value:.3f} is the ROCCH-EER of {TEST_M}; that of")


def test_a_number_from_nowhere(explainer, results, reference):
    explanation = ask(explainer, "3.141")
    assert explanation.kind == "none"
    assert explanation.changes == ()
    start, _, rest = explanation.sentence.partition(" among ")
    number, _, end = rest.partition(" ")
    assert start == "no single change and no pair of changes"
    assert int(number.replace(",", "")) > 400
    value = official(*classes(results, reference))
    assert end == f"tried gives 3.141; the official EER is {value:.3f}"


def test_time_cap(results, reference):
    explainer = Explainer(results, reference, PROTOCOL)
    explanation = explainer.explain(claimed("3.141"), "B4", time.monotonic())
    assert explanation.kind == "none"
    assert " among 0 tried gives 3.141" in explanation.sentence
    assert explanation.sentence.endswith("; the time cap ended the search")
    # Pairs take a second or so; a tenth of it ends among them.
    sentence = explainer.explain(claimed("3.141"), "B4", time.monotonic() + 0.1).sentence
    assert sentence.endswith("; the time cap ended the search")


def test_same_sentence_again(results, reference, explainer):
    claim = claimed("27.6")
    again = explain(claim, "B4", results, reference, PROTOCOL, far())
    assert explainer.explain(claim, "B4", far()) == again


# How surprising a match is, and what is printed.


def test_a_claim_of_one_decimal_fits_by_chance(explainer, results, reference):
    value = official(*classes(results, reference))
    coarse = ask(explainer, f"{rocch(*classes(results, reference)):.1f}")
    assert coarse.changes == ("estimator: rocch",)
    share = int(coarse.sentence.partition("by chance: ")[2].partition(" % of such numbers fit")[0])
    assert 5 < share <= 100
    assert value != pytest.approx(rocch(*classes(results, reference)), abs=0.1)


def test_a_pair_that_fits_by_chance_is_not_named(explainer, results, reference):
    value = official(*classes(results, reference))
    coarse = ask(explainer, f"{value - 0.3:.1f}")
    assert (coarse.kind, coarse.changes) == ("none", ())
    start, _, rest = coarse.sentence.partition("; ")
    assert start == f"no single change gives {value - 0.3:.1f}"
    share = int(rest.partition("by chance a pair gives ")[2].partition(" % of such numbers")[0])
    assert 20 < share <= 100
    assert rest.endswith(f", so none is named; the official EER is {value:.2f}")


def test_few_false_claims_are_given_a_cause(explainer, results, reference):
    value = official(*classes(results, reference))
    claims = [f"{value + 0.21 + 0.03 * i:.2f}" for i in range(40)]
    named = sum(len(ask(explainer, claim).changes) == 2 for claim in claims)
    # Of 40 numbers from nowhere, near what a pair of changes may make of the scores.
    assert named <= 8


def test_estimators_that_agree_are_all_told(reference):
    # 70 of 704 targets are missed at any threshold from -1 to 2, and the false-alarm rate comes
    # down through this rate: Kaldi's EER and the interpolated one are just this.
    target = reference.lists[F].target
    scores = np.empty(len(target), np.float32)
    scores[target] = np.where(np.arange(704) < 70, -1, 2)
    scores[~target] = np.linspace(-0.9, 1.9, 14566)
    one = Explainer({("B4", F): result("B4", F, scores, target)}, reference, PROTOCOL)
    sentence = ask(one, f"{100 * 70 / 704:.6f}").sentence
    assert sentence.startswith("9.9432 is the Kaldi EER of these scores; ")
    # So are the larger rate, the interpolated EER and scikit-learn's miss rate, beside roundings of
    # these scores.
    others = int(sentence.partition(" (")[2].partition(" other changes fit too")[0])
    assert others > 3


def test_the_only_other_change_that_fits_is_named():
    other = (Change("estimator", "linear", {"estimator": "linear"}),)
    assert wording.remarks([other], 0.0) == " (estimator: linear fits too)"
    assert wording.remarks([other, other], 0.0) == " (2 other changes fit too)"
    assert wording.remarks([], 0.123) == " (by chance: 12 % of such numbers fit)"
    assert wording.remarks([], 0.01) == ""


def test_a_raw_fraction_is_not_printed_in_full(explainer, results, reference):
    value = rocch(*classes(results, reference))
    sentence = ask(explainer, f"{value:.14f}").sentence
    assert sentence.startswith(f"{value:.4f} is the ROCCH-EER of these scores; the official EER is")


def test_a_number_too_large_to_print(explainer):
    explanation = ask(explainer, "1E+400")
    assert explanation.kind == "none"
    assert " tried gives 1E+400; " in explanation.sentence


# Claims without scores.


def test_possible_error_counts(reference):
    # Facts of the edition's organizers: 74 of 704 targets missed give 10.511 on this list.
    explanation = Explainer({}, reference, PROTOCOL).explain(claimed("10.511"), "B4", far())
    assert explanation.kind == "feasibility"
    assert "74 of 704 targets missed and 1,531 of 14,566 nontargets accepted" in (
        explanation.sentence
    )
    assert explanation.sentence.startswith(f"10.511 is possible on {F}: ")


def test_average_without_scores(reference):
    explanation = ask(Explainer({}, reference, PROTOCOL), "10.511", "average dev")
    assert explanation.kind == "feasibility"
    assert explanation.sentence == "10.511 cannot be tested: average dev has no scores"


def test_a_raw_fraction_without_scores(reference):
    # (74/704 + 1531/14566) / 2, with digits that no half of a last one could give.
    sentence = ask(Explainer({}, reference, PROTOCOL), "10.511071080848303").sentence
    assert sentence.startswith(f"10.5111 is possible on {F}: 74 of 704 targets missed and 1,531 of")


def test_possible_when_cut(reference):
    # (70/704 + 1438/14566) / 2 is 9.907744 %, rounded 9.908.
    sentence = ask(Explainer({}, reference, PROTOCOL), "9.907").sentence
    assert sentence.startswith(
        f"9.907 is possible on {F}, but only cut instead of rounded: 70 of 704 targets missed and "
        "1,438 of 14,566 nontargets accepted; "
    )


def test_impossible_without_scores(reference):
    # From an estimator of another kind: no whole numbers of errors on 704 and 14,566 trials.
    sentence = ask(Explainer({}, reference, PROTOCOL), IMPOSSIBLE).sentence
    assert sentence == (
        f"{IMPOSSIBLE} is not possible on {F} without ties: no error counts of 704 targets and "
        "14,566 nontargets give it"
    )


@pytest.mark.parametrize("claim", ["1E+400", "-3.2", "2791.2"])
def test_no_eer_without_scores(reference, claim):
    sentence = ask(Explainer({}, reference, PROTOCOL), claim).sentence
    assert sentence == f"{claim} is no EER: it is not between 0 and 100"


def test_rocch_claim_without_scores(reference):
    sentence = ask(Explainer({}, reference, PROTOCOL), "10.511", estimator="rocch").sentence
    assert sentence.startswith(f"10.511 cannot be tested: {F} has no scores")
