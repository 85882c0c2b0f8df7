"""Every expected number is made here, by a few lines of its own, from simulated scores of lists of
the real size."""

from __future__ import annotations

import math
import time
from decimal import Decimal

import numpy as np
import pytest

from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import cross_product
from harness.protocols.protocol import load
from harness.submissions.explanations import wording
from harness.submissions.explanations.changes import Change
from harness.submissions.explanations.explanation import Explainer, explain
from harness.submissions.model import Claim, Explanation, ListResult, Scores
from harness.submissions.reference import Reference, from_trials

PROTOCOL = load("vpac2025")
F, M = "libri_dev_trials_f", "libri_dev_trials_m"
TEST_F, TEST_M = "libri_test_trials_f", "libri_test_trials_m"
# Enrolled speakers, trial utterances: of the real lists, which have 20 trial speakers each.
SIZES = {F: (15, 1018), M: (14, 960), TEST_F: (16, 734), TEST_M: (13, 762)}
SYSTEMS = ("B4", "B5")
# No error counts within a step of each other have this mean, in percent: all were tried.
IMPOSSIBLE = "27.625"


def simulated_list(listed):
    enrolled, utterances = SIZES[listed.trials]
    speakers = {}
    for i in range(utterances):
        # The first `target` utterances are of enrolled speakers, the others of impostors.
        own = i < listed.target
        speaker = i % enrolled if own else enrolled + i % (20 - enrolled)
        speakers[f"{speaker:02d}-{i:05d}"] = f"{speaker:02d}"
    trials = cross_product([f"{i:02d}" for i in range(enrolled)], speakers)
    found = from_trials(listed, trials, "simulated")
    assert (found.target.sum(), (~found.target).sum()) == (listed.target, listed.nontarget)
    return found


@pytest.fixture(scope="module")
def reference():
    return Reference({listed.trials: simulated_list(listed) for listed in PROTOCOL.lists})


def draw(system, name, target):
    """Scores with EERs of 25 to 35 %."""
    seed = [SYSTEMS.index(system), list(SIZES).index(name)]
    generator = np.random.default_rng(seed)
    shift = 0.8 + 0.5 * generator.random()
    return (generator.normal(size=len(target)) + shift * target - 0.3).astype(np.float32)


def result(system, name, first, target, last=None):
    scorable = last is None and bool(np.isfinite(first).all())
    eer = equal_error_rate(first[target], first[~target]) if scorable else None
    scores = Scores(first, first if last is None else last)
    return ListResult(system, name, f"{system}/{name}/scores", "0" * 64, scores, eer)


@pytest.fixture(scope="module")
def results(reference):
    return {
        (system, name): result(system, name, draw(system, name, one.target), one.target)
        for system in SYSTEMS
        for name, one in reference.lists.items()
    }


@pytest.fixture(scope="module")
def explainer(results, reference):
    return Explainer(results, reference, PROTOCOL)


def claimed(value, name=F, estimator="official"):
    """value: text, or a number that is printed with three decimals."""
    text = value if isinstance(value, str) else f"{value:.3f}"
    return Claim("B4", name, Decimal(text), "EER", estimator=estimator)


def far():
    return time.monotonic() + 60


def ask(explainer, value, name=F, estimator="official") -> Explanation:
    return explainer.explain(claimed(value, name, estimator), "B4", far())


def classes(results, reference, name=F, system="B4"):
    scores, target = results[system, name].scores.first, reference.lists[name].target
    return scores[target], scores[~target]


def official(target, nontarget) -> float:
    return 100 * equal_error_rate(target, nontarget).rate


def kaldi(target, nontarget) -> float:
    """Line by line what `compute-eer` does."""
    target, nontarget = sorted(target.tolist()), sorted(nontarget.tolist())
    for position, score in enumerate(target):
        other = len(nontarget) - 1 - position * len(nontarget) // len(target)
        if nontarget[max(other, 0)] < score:
            break
    return 100 * position / len(target)


def rocch(target, nontarget) -> float:
    """On the convex hull: the largest over all priors of the smallest Bayes error, by bisection
    on which side of the diagonal the best threshold of a prior lies."""
    thresholds = np.concatenate([[-np.inf], np.sort(np.concatenate([target, nontarget]))])
    misses = np.searchsorted(np.sort(target), thresholds, "right") / len(target)
    alarms = 1 - np.searchsorted(np.sort(nontarget), thresholds, "right") / len(nontarget)
    low, high = 0.0, 1.0
    for _ in range(60):
        prior = (low + high) / 2
        best = np.argmin(prior * misses + (1 - prior) * alarms)
        low, high = (prior, high) if misses[best] > alarms[best] else (low, prior)
    return 100 * float((low * misses + (1 - low) * alarms).min())


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
    start = time.monotonic()
    sentence = explainer.explain(claimed("3.141"), "B4", start + 0.1).sentence
    assert sentence.endswith("; the time cap ended the search")
    assert time.monotonic() - start < 0.5


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
