"""The estimators against hand arithmetic, scikit-learn, and slow definitions of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.metrics.estimators import ESTIMATORS, OPERATING_POINTS, PHRASES, kaldi_error_rate

Point = tuple[Fraction, Fraction]

one_class = st.lists(st.integers(-4, 4).map(float) | st.floats(-4, 4, width=32), min_size=1)
scores = one_class.map(lambda values: values[:15])

# Each with its classes, in which rates are fractions of a few trials.
BY_HAND: list[tuple[list[float], list[float], dict[str, float]]] = [
    (
        # Rejected one by one: n t n n t n t. Misses of 3 and false alarms of 4 from accepting all:
        # 0 4, 0 3, 1 3, 1 2, 1 1, 2 1, 2 0, 3 0. The rates are nearest at 1 1.
        [2, 5, 7],
        [1, 3, 4, 6],
        {
            "official": 7 / 24,
            # Position 0 has pair 3, 6 < 2 is false; position 1 has pair 3 - 1, and 4 < 5.
            "kaldi": 1 / 3,
            # Between 0 3 and 1 1, false alarms are 3 - 2 misses: 4 x = 3 - 2 * 3 x.
            "rocch": 0.3,
            # From 1 2 to 1 1 the miss rate is 1/3.
            "linear": 1 / 3,
            "max": 1 / 3,
            "min": 1 / 4,
            # 1 2 lies between 1 3 and 1 1 and is dropped, 1 1 is a corner.
            "sklearn-fpr": 1 / 4,
            "sklearn-fnr": 1 / 3,
            "sklearn-mean": 7 / 24,
            "grid-1000": 7 / 24,
            "ties-favourable": 7 / 24,
            "ties-unfavourable": 7 / 24,
        },
    ),
    (
        # n n t t t n: misses and false alarms 0 3, 0 2, 0 1, 1 1, 2 1, 3 1, 3 0.
        [3, 4, 5],
        [1, 2, 6],
        {
            "official": 1 / 3,
            # Position 0 has pair 2, 6 < 3 is false; position 1 has pair 1, and 2 < 4.
            "kaldi": 1 / 3,
            # Between 0 1 and 3 0, false alarms are 1 - misses / 3: 3 x = 1 - x.
            "rocch": 1 / 4,
            "linear": 1 / 3,
            "max": 1 / 3,
            "min": 1 / 3,
            # 1 1 is within the straight piece from 0 1 to 3 1: dropped, and 0 1 is nearest.
            "sklearn-fpr": 1 / 3,
            "sklearn-fnr": 0,
            "sklearn-mean": 1 / 6,
        },
    ),
    (
        # Tied. Thresholds 0, 1, 2 have 0 2, 2 0, 3 0.
        [1, 1, 2],
        [0, 1, 1],
        {
            "official": 1 / 3,
            # 1 < 1 is false twice, and the walk ends at the last target.
            "kaldi": 2 / 3,
            "linear": 1 / 3,
            # n n n t t t.
            "rocch": 0,
            "ties-favourable": 0,
            # n t t n n t: 2 2 after three.
            "ties-unfavourable": 2 / 3,
        },
    ),
    (
        # The grid is 0, 1, ..., 999. At 500 nothing is missed and one of two accepted; at 501 one
        # of two is missed and nothing accepted; 500.25, with one of each, lies between.
        [500.25, 999],
        [0, 500.5],
        {"official": 1 / 2, "grid-1000": 1 / 4},
    ),
    (
        # Perfectly separated.
        [2, 3],
        [0, 1],
        dict.fromkeys(ESTIMATORS, 0),
    ),
    (
        # Reversed. The hull is the diagonal of the random guess; Kaldi's walk ends at the last.
        [0, 1],
        [2, 3],
        {"official": 1, "kaldi": 1 / 2, "rocch": 1 / 2, "linear": 1, "max": 1, "min": 1},
    ),
    (
        # Constant, as measured with SpeechBrain (50 %), Kaldi (99.9 %) and ROCCH-EER (0 %).
        [0.5] * 704,
        [0.5] * 900,
        {
            "official": 1 / 2,
            "kaldi": 703 / 704,
            "rocch": 0,
            "linear": 1 / 2,
            "max": 1,
            "min": 0,
            # Of the points that reject all and accept all, the first.
            "sklearn-fpr": 0,
            "sklearn-fnr": 1,
            "sklearn-mean": 1 / 2,
            "grid-1000": 1 / 2,
            "ties-favourable": 0,
            "ties-unfavourable": 1,
        },
    ),
    (
        # One target: Kaldi's walk ends where it starts.
        [0],
        [1, 2],
        {"official": 1, "kaldi": 0, "rocch": 1 / 2, "linear": 1},
    ),
]


@pytest.mark.parametrize(
    ("name", "target", "nontarget", "rate"),
    [
        (name, target, nontarget, rate)
        for target, nontarget, rates in BY_HAND
        for name, rate in rates.items()
    ],
)
def test_by_hand(name: str, target: list[float], nontarget: list[float], rate: float) -> None:
    # The official rates are float32.
    assert ESTIMATORS[name](target, nontarget) == pytest.approx(rate, abs=1e-7)


def test_every_estimator_has_a_phrase() -> None:
    assert list(PHRASES) == list(ESTIMATORS)
    assert next(iter(ESTIMATORS)) == "official"
    assert len(set(PHRASES.values())) == len(PHRASES)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_refuses_what_the_official_eer_refuses(name: str) -> None:
    for target, nontarget, message in (
        ([], [1.0], "there is no target score"),
        ([1.0], [np.nan, 0.0], "1 nontarget scores are NaN"),
        ([np.inf], [1.0], "1 target scores are infinite"),
    ):
        with pytest.raises(ScoreError, match=message):
            ESTIMATORS[name](target, nontarget)


# Slow definitions.


def walk(target: list[float], nontarget: list[float], *, targets_first: bool) -> Iterator[Point]:
    """Both rates after each trial, rejected in order of score."""
    trials = [(score, not targets_first, 1) for score in target]
    trials += [(score, targets_first, 0) for score in nontarget]
    misses, rejected = 0, 0
    yield Fraction(0), Fraction(1)
    for _, _, is_target in sorted(trials):
        misses, rejected = misses + is_target, rejected + 1 - is_target
        yield Fraction(misses, len(target)), 1 - Fraction(rejected, len(nontarget))


def roc(target: list[float], nontarget: list[float]) -> list[Point]:
    return [(Fraction(0), Fraction(1))] + [
        (
            Fraction(sum(score <= threshold for score in target), len(target)),
            Fraction(sum(score > threshold for score in nontarget), len(nontarget)),
        )
        for threshold in sorted({*target, *nontarget})
    ]


def meeting(low: Point, high: Point) -> Fraction:
    """Where the line between two points meets equal rates: they are on both sides of it."""
    below, above = low[1] - low[0], high[0] - high[1]
    weight = below / (below + above) if below + above else Fraction(0)
    return low[0] + weight * (high[0] - low[0])


def slow_rocch(target: list[float], nontarget: list[float]) -> Fraction:
    """The lower hull of points meets the diagonal where the lowest line between two does."""
    points = list(walk(target, nontarget, targets_first=False))
    return min(
        meeting(low, high)
        for low in points
        if low[0] <= low[1]
        for high in points
        if high[0] >= high[1]
    )


def slow_linear(target: list[float], nontarget: list[float]) -> Fraction:
    points = roc(target, nontarget)
    return next(meeting(low, high) for low, high in pairwise(points) if high[0] >= high[1])


def slow_kaldi(target: list[float], nontarget: list[float]) -> Fraction:
    ordered, others = sorted(target), sorted(nontarget)
    position = 0
    while position + 1 < len(ordered):
        pair = len(others) - 1 - int(len(others) * position * 1.0 / len(ordered))
        if others[max(pair, 0)] < ordered[position]:
            break
        position += 1
    return Fraction(position, len(ordered))


SLOW: dict[str, Callable[[list[float], list[float]], Fraction]] = {
    "kaldi": slow_kaldi,
    "rocch": slow_rocch,
    "linear": slow_linear,
}


@pytest.mark.parametrize("name", SLOW)
@settings(deadline=None, max_examples=60)
@given(target=scores, nontarget=scores)
def test_equals_its_slow_definition(name: str, target: list[float], nontarget: list[float]) -> None:
    expected = float(SLOW[name](target, nontarget))
    assert ESTIMATORS[name](target, nontarget) == pytest.approx(expected, abs=1e-12)


def is_nearest(rate: float, points: list[Point]) -> bool:
    """Is it the mean rate of a point where the rates are nearest?"""
    nearest = min(abs(miss - alarm) for miss, alarm in points)
    means = [float(m + a) / 2 for m, a in points if abs(m - a) == nearest]
    return any(rate == pytest.approx(mean, abs=1e-12) for mean in means)


@settings(deadline=None, max_examples=100)
@given(scores, scores)
def test_ties_are_broken_for_or_against_the_attacker(
    target: list[float], nontarget: list[float]
) -> None:
    favourable = ESTIMATORS["ties-favourable"](target, nontarget)
    unfavourable = ESTIMATORS["ties-unfavourable"](target, nontarget)
    assert is_nearest(favourable, list(walk(target, nontarget, targets_first=False)))
    assert is_nearest(unfavourable, list(walk(target, nontarget, targets_first=True)))


@settings(deadline=None, max_examples=60)
@given(scores, scores)
def test_grid(target: list[float], nontarget: list[float]) -> None:
    thresholds = np.linspace(min(target + nontarget), max(target + nontarget), 1000)
    points = [
        (
            Fraction(int((np.array(target) <= threshold).sum()), len(target)),
            Fraction(int((np.array(nontarget) > threshold).sum()), len(nontarget)),
        )
        for threshold in thresholds
    ]
    assert is_nearest(ESTIMATORS["grid-1000"](target, nontarget), points)


@settings(deadline=None, max_examples=60)
@given(scores, scores)
def test_larger_and_smaller_are_around_the_official_one(
    target: list[float], nontarget: list[float]
) -> None:
    larger, smaller = ESTIMATORS["max"](target, nontarget), ESTIMATORS["min"](target, nontarget)
    assert smaller <= larger
    official = ESTIMATORS["official"](target, nontarget)
    assert (smaller + larger) / 2 == pytest.approx(official, abs=1e-7)


# Sizes of the differences, on simulated scores of the lists of VoicePrivacy 2024.

EERS = {0.5: 5.15, 25: 1.349, 45: 0.2513}  # distance of two normal distributions by EER in percent
LISTS = ((704, 14566), (644, 12796), (548, 11196), (449, 9457))


@pytest.fixture(scope="module")
def differences() -> dict[tuple[str, float], list[float]]:
    """To the official EER, in percentage points, by estimator and EER."""
    rng = np.random.default_rng(3)
    found: dict[tuple[str, float], list[float]] = {}
    for eer, distance in EERS.items():
        for n_target, n_nontarget in LISTS * 6:
            target, nontarget = rng.normal(distance, 1, n_target), rng.normal(0, 1, n_nontarget)
            official = ESTIMATORS["official"](target, nontarget)
            for name, estimate in ESTIMATORS.items():
                difference = 100 * (estimate(target, nontarget) - official)
                found.setdefault((name, eer), []).append(difference)
    return found


@pytest.mark.parametrize("eer", EERS)
def test_size_of_differences(differences: dict[tuple[str, float], list[float]], eer: float) -> None:
    kaldi = differences["kaldi", eer]
    assert 0.02 < np.mean(kaldi) < 0.09
    assert max(kaldi) <= 0.23  # a step of the smallest list
    assert max(map(abs, differences["linear", eer])) <= 0.06
    least, most = {0.5: (-0.1, -0.01), 25: (-0.45, -0.2), 45: (-0.9, -0.4)}[eer]
    assert least < np.mean(differences["rocch", eer]) < most
    assert max(differences["rocch", eer]) <= 0.06
    for name in ("ties-favourable", "ties-unfavourable"):  # nearly no ties
        assert max(map(abs, differences[name, eer])) < 1e-4


# scikit-learn.


@pytest.fixture(scope="module")
def roc_curve() -> Callable:
    return pytest.importorskip("sklearn.metrics").roc_curve


@pytest.mark.heavy
@settings(deadline=None, max_examples=150)
@given(target=scores, nontarget=scores)
def test_equals_scikit_learn(
    roc_curve: Callable, target: list[float], nontarget: list[float]
) -> None:
    labels = [1] * len(target) + [0] * len(nontarget)
    fpr, tpr, _ = roc_curve(labels, np.float32(target + nontarget))
    best = np.nanargmin(np.abs(1 - tpr - fpr))
    assert ESTIMATORS["sklearn-fpr"](target, nontarget) == fpr[best]
    assert ESTIMATORS["sklearn-fnr"](target, nontarget) == (1 - tpr)[best]
    mean = ((1 - tpr)[best] + fpr[best]) / 2
    assert ESTIMATORS["sklearn-mean"](target, nontarget) == pytest.approx(mean, abs=1e-15)


@pytest.mark.heavy
def test_linear_equals_brentq_on_the_roc_of_scikit_learn(roc_curve: Callable) -> None:
    from scipy.interpolate import interp1d
    from scipy.optimize import brentq

    rng = np.random.default_rng(5)
    for n_target, n_nontarget in LISTS:
        target, nontarget = rng.normal(1, 1, n_target), rng.normal(0, 1, n_nontarget)
        labels = [1] * n_target + [0] * n_nontarget
        fpr, tpr, _ = roc_curve(labels, np.float32([*target, *nontarget]))
        curve = interp1d(fpr, 1 - tpr)
        found = brentq(lambda x, curve=curve: curve(x) - x, 0, 1)
        assert ESTIMATORS["linear"](target, nontarget) == pytest.approx(found, abs=1e-9)


def test_the_operating_point_of_kaldi_by_hand() -> None:
    # Position 1 is the first whose target, 5, is above its pair, 4: one target below, and of the
    # nontargets 6 alone is not below 5.
    found = kaldi_error_rate([2, 5, 7], [1, 3, 4, 6])
    assert (found.rate, found.threshold, found.misses, found.false_alarms) == (1 / 3, 5.0, 1, 1)
    assert (found.n_target, found.n_nontarget) == (3, 4)


def test_the_editions_own_are_estimators() -> None:
    target, nontarget = [2, 5, 7, 7.5], [1, 3, 4, 6]
    rates = {name: point(target, nontarget).rate for name, point in OPERATING_POINTS.items()}
    assert rates == {
        "speechbrain": ESTIMATORS["official"](target, nontarget),
        "kaldi": ESTIMATORS["kaldi"](target, nontarget),
    }
