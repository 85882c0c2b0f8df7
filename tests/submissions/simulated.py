"""Simulated scores of lists of the real size, and what a few lines of our own make of them."""

from __future__ import annotations

import time
from decimal import Decimal

import numpy as np

from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import cross_product
from harness.protocols.protocol import load
from harness.submissions.model import Claim, Explanation, ListResult, Scores
from harness.submissions.reference import from_trials

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
