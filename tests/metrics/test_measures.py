"""The table of measures: what it says of each is so."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from harness.errors import ScoreError
from harness.metrics.dcf import Application, actual_dcf, min_dcf
from harness.metrics.eer import equal_error_rate
from harness.metrics.measures import MEASURES, Direction, Needs
from harness.metrics.operating import false_alarm_rate_at, miss_rate_at

from .normal import normal_ratios, quantiles

# Of 20,000 some that differ are equal in single precision, and bending changes which.
ratios = partial(normal_ratios, of=quantiles(2_000))
RANGES = {"fraction": 1.0, "bit": np.inf, "log10": np.inf, "cost": np.inf}


def test_the_official_eer_comes_first() -> None:
    assert next(iter(MEASURES)) == "eer"
    found = MEASURES["eer"].function(*ratios(1))
    assert found == equal_error_rate(*ratios(1)).rate


def test_names_say_what_is_computed() -> None:
    pair = ratios(1)
    for name, expected in (
        ("miss-at-1", miss_rate_at(*pair, 0.01).miss_rate),
        ("miss-at-0.1", miss_rate_at(*pair, 0.001).miss_rate),
        ("false-alarm-at-1", false_alarm_rate_at(*pair, 0.01).false_alarm_rate),
        ("min-dcf", min_dcf(*pair, Application(0.01))),
        ("dcf", actual_dcf(*pair, Application(0.01))),
    ):
        assert MEASURES[name].function(*pair) == expected
    assert MEASURES["dcf"].title == "actual detection cost at a prior of 0.01"


def test_cautions_depend_on_the_size_of_the_class_that_is_held() -> None:
    # 30 errors are enough: 1 % of 3,000 trials, 0.1 % of 30,000.
    for name, enough in (("miss-at-1", 3_000), ("miss-at-0.1", 30_000)):
        assert MEASURES[name].caution(1, enough) is None
        assert f"of {enough - 100:,} trials" in str(MEASURES[name].caution(10**6, enough - 100))
    assert MEASURES["false-alarm-at-1"].caution(3_000, 1) is None
    assert "of 2,900 trials" in str(MEASURES["false-alarm-at-1"].caution(2_900, 10**6))
    assert MEASURES["eer"].caution(1, 1) is None


def test_titles_differ() -> None:
    assert len({measure.title for measure in MEASURES.values()}) == len(MEASURES)


@pytest.mark.parametrize("name", MEASURES)
def test_direction(name: str) -> None:
    measure = MEASURES[name]
    private, exposed = (measure.function(*ratios(distance)) for distance in (0.5, 3))
    assert (private > exposed) == (measure.direction is Direction.HIGHER)
    assert private != exposed
    for value in (private, exposed):
        assert 0 <= value <= RANGES[measure.unit]


@pytest.mark.parametrize("name", MEASURES)
def test_needs(name: str) -> None:
    # Rising functions of the scores: another unit, and a bend that spreads out the high scores.
    measure = MEASURES[name]
    pair = ratios(1)
    plain, scaled, bent = (
        measure.function(*(function(one) for one in pair))
        for function in (lambda one: one, lambda one: 8 * one, lambda one: np.exp(2 * one))
    )
    same = (scaled == pytest.approx(plain, abs=1e-9), bent == pytest.approx(plain, abs=1e-9))
    assert (
        same
        == {
            Needs.ORDER: (True, True),
            Needs.SCALE: (True, False),
            Needs.RATIOS: (False, False),
        }[measure.needs]
    )


@pytest.mark.parametrize("name", MEASURES)
def test_constant_scores_are_measured(name: str) -> None:
    measure = MEASURES[name]
    value = measure.function([0.0] * 50, [0.0] * 50)
    assert type(value) is float
    assert 0 <= value <= 1


@pytest.mark.parametrize("name", MEASURES)
def test_fewest_targets(name: str) -> None:
    measure = MEASURES[name]
    target = np.arange(measure.fewest_targets, dtype=float)
    assert np.isfinite(measure.function(target, [0.5, 1.5]))
    with pytest.raises(ScoreError, match="no target score|linkability of 19 targets"):
        measure.function(target[1:], [0.5, 1.5])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("target", "nontarget", "message"),
    [
        ([], [1.0], "there is no target score"),
        ([1.0], [], "there is no nontarget score"),
        ([np.nan] * 20, [1.0], "20 target scores are NaN"),
        ([1.0] * 20, [np.inf, 2.0], "1 nontarget scores are infinite"),
        ([1.0] * 20, [1e39], "infinite in single precision"),
        ([[1.0]], [1.0], r"target scores have shape \(1, 1\)"),
    ],
)
def test_refuses_what_the_eer_refuses(
    name: str, target: object, nontarget: object, message: str
) -> None:
    with pytest.raises(ScoreError, match=message):
        MEASURES[name].function(target, nontarget)  # type: ignore[arg-type]
