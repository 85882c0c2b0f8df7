"""ZEBRA against integrals over the prior, printed results, and hand arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from harness.errors import ScoreError
from harness.metrics.calibration import calibrate
from harness.metrics.zebra import attainable, caution, individual, population, tag

from .normal import QUANTILES

one_score = st.integers(-5, 5).map(float) | st.floats(-4, 4, width=32)
scores = st.lists(one_score, min_size=1, max_size=20)


def integral(target: list[float], nontarget: list[float]) -> float:
    """Entropy of the prior minus the empirical cross-entropy, in bits, over all priors."""
    # Each LLR with its share of the class; exp of -inf and +inf is 0 and infinity.
    with np.errstate(over="ignore"):
        against = [
            tuple(zip(*np.unique(np.exp(sign * one), return_counts=True), strict=True))
            for sign, one in zip((-1, 1), calibrate(target, nontarget), strict=True)
        ]

    def disclosed(prior: float) -> float:
        total = -prior * math.log2(prior) - (1 - prior) * math.log2(1 - prior)
        for of_class, ratios, size in zip(
            (prior, 1 - prior), against, (len(target), len(nontarget)), strict=True
        ):
            odds = (1 - of_class) / of_class
            for ratio, count in ratios:
                total -= of_class * math.log2(1 + odds * ratio) * count / size
        return total

    return float(quad(disclosed, 0, 1, epsabs=1e-10)[0])


def test_the_ends() -> None:
    # 1 / log(4), as the authors give it.
    assert population([1.0] * 3, [0.0] * 5) == pytest.approx(1 / math.log(4))
    assert population([2.0] * 3, [2.0] * 5) == pytest.approx(0, abs=1e-15)
    assert population([0.0] * 3, [2.0] * 5) == pytest.approx(0, abs=1e-15)


@settings(deadline=None, max_examples=40)
@given(scores, scores)
def test_population_equals_the_integral_over_priors(
    target: list[float], nontarget: list[float]
) -> None:
    found = population(target, nontarget)
    assert found == pytest.approx(integral(target, nontarget), abs=1e-7)
    assert -1e-12 <= found <= 1 / math.log(4) + 1e-12


@pytest.mark.parametrize("number", [200, 1_000, 99_999, 100_001])
def test_weak_evidence(number: int) -> None:
    # LLRs of about 1 / n, on both sides of where the series takes over.
    target = np.repeat([0.0, 1.0], [number, number + 1])
    nontarget = np.repeat([0.0, 1.0], [number + 1, number])
    found = population(target, nontarget)
    assert found == pytest.approx(integral(target, nontarget), abs=1e-9)
    assert found < 1 / number**2


def arranged(above: int, n_target: int, n_nontarget: int) -> tuple[np.ndarray, np.ndarray]:
    """Targets of which so many score above all else, and the others below all nontargets."""
    return np.repeat([0.0, 2.0], [n_target - above, above]), np.ones(n_nontarget)


# As VoicePrivacy 2020 and 2022 print it for original speech. The outermost group has a whole number
# of targets, found from the value; the next number gives another value.
@pytest.mark.parametrize(
    ("printed", "sizes", "above"),
    [
        ("3.829 (C)", (704, 14566), 325),
        ("4.055 (D)", (644, 12796), 570),
        ("3.979 (C)", (548, 11196), 465),
        ("3.924 (C)", (449, 9457), 398),
    ],
)
def test_printed_individual_disclosure(printed: str, sizes: tuple[int, int], above: int) -> None:
    value = individual(*arranged(above, *sizes))
    assert f"{value:.3f} ({tag(value)})" == printed
    assert f"{individual(*arranged(above + 1, *sizes)):.3f}" != printed[:5]


def test_printed_disclosure_of_one_nontarget() -> None:
    # VoicePrivacy 2020, VCTK male, original against anonymized speech: a ROCCH-EER of 50 %, 3e-05
    # bit, and 0.0002 (A). That is one nontarget below all else. So the population's number is
    # without the rule of Laplace, which the individual one has.
    target, nontarget = np.zeros(1742), np.r_[-1.0, np.ones(12_999)]
    assert f"{population(target, nontarget):.0e}" == "3e-05"
    value = individual(target, nontarget)
    assert f"{value:.4f} ({tag(value)})" == "0.0002 (A)"


# ROCCH-EER in percent and expected disclosure as VoicePrivacy 2022 prints them for lists whose
# scores are close to two normal distributions.
@pytest.mark.parametrize(("rocch", "printed"), [(8.600, 0.492), (20.463, 0.259), (24.105, 0.198)])
def test_printed_population(rocch: float, printed: float) -> None:
    distance = -2 * norm.ppf(rocch / 100)
    assert population(QUANTILES + distance, QUANTILES) == pytest.approx(printed, abs=0.006)


def test_individual_by_hand() -> None:
    # 1 0 | 0 1 0 1 | 1 0: the outer blocks have odds 1 to 2 and 2 to 1, at an even prior.
    assert individual([2, 4], [1, 3]) == pytest.approx(math.log10(2))
    # 1 0 | 1 0 0 | 1 0: three blocks of 1 and 0, 1 0 0 and 1 0; prior odds 1 to 2.
    assert individual([0], [1, 2]) == pytest.approx(math.log10(2 * 2 / 3))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0, "0"),
        (1e-17, "0"),
        (1e-15, "A"),
        (0.31, "A"),
        (1, "A"),
        (1.213, "B"),
        (2, "B"),
        (2.001, "C"),
        (3.979, "C"),
        (4, "C"),
        (4.037, "D"),
        (5, "D"),
        (5.5, "E"),
        (6, "E"),
        (6.001, "F"),
        (math.inf, "F"),
    ],
)
def test_tags(value: float, name: str) -> None:
    assert tag(value) == name


@pytest.mark.parametrize("value", [-0.1, float("nan")])
def test_no_disclosure(value: float) -> None:
    with pytest.raises(ScoreError, match="is no disclosure"):
        tag(value)


@settings(deadline=None)
@given(scores, scores)
def test_individual_is_at_most_attainable(target: list[float], nontarget: list[float]) -> None:
    most = attainable(len(target), len(nontarget))
    assert 0 <= individual(target, nontarget) <= most + 1e-12
    separated = individual([1.0] * len(target), [0.0] * len(nontarget))
    assert separated == pytest.approx(most)


def test_attainable_depends_on_the_sizes_alone() -> None:
    assert attainable(1, 1) == pytest.approx(math.log10(2))
    assert attainable(548, 11196) == pytest.approx(math.log10(549 * 11196 / 548))
    # Perfectly told apart, 100 targets and nontargets get a B, a million gets an F.
    assert [tag(attainable(n, n)) for n in (9, 90, 100, 10_000, 1_000_000)] == list("ABCDF")


def test_caution_gives_the_numbers() -> None:
    text = caution(548, 11196)
    assert "548 targets and 11,196 nontargets perfectly give 4.050 (D)" in text
    assert "depends on its size alone" in text


@pytest.mark.parametrize("function", [attainable, caution])
def test_no_trials(function: object) -> None:
    with pytest.raises(ScoreError, match="0 targets and 5 nontargets"):
        function(0, 5)  # type: ignore[operator]
