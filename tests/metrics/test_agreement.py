"""Agreement of scores, by hand arithmetic; ranks by SciPy."""

from __future__ import annotations

import math
import re

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from harness.errors import ScoreError
from harness.metrics.agreement import (
    ABSOLUTE_SHARE,
    NOISE_SHARE,
    RANK_SHARE,
    agreement,
    rank_share,
    ranks,
    shares,
)

# Their mean is 5 and the squared deviations 9, 1, 1, 9: the standard deviation is the root of 5.
BEFORE = np.array([2.0, 4.0, 6.0, 8.0])
SPREAD = math.sqrt(5)


def shifted(*by: float) -> npt.NDArray[np.float64]:
    return BEFORE + np.array(by)


def test_a_movement_is_a_share_of_the_spread() -> None:
    assert shares(BEFORE, BEFORE).tolist() == [0, 0, 0, 0]
    assert shares(BEFORE, shifted(0, -1, 0, 0.5)) == pytest.approx([0, 1 / SPREAD, 0, 0.5 / SPREAD])
    # Another scale of the scores is another scale of the differences.
    assert shares(10 * BEFORE, 10 * BEFORE + 5) == pytest.approx([0.5 / SPREAD] * 4)


def test_the_spread_may_be_that_of_more_scores() -> None:
    assert shares([4.0], [5.0], among=BEFORE) == pytest.approx([1 / SPREAD])
    assert shares([4.0], [4.0], among=BEFORE).tolist() == [0]


@pytest.mark.parametrize("before", [[3.0], [0.1, 0.1, 0.1]], ids=["one", "constant"])
def test_without_a_spread_any_difference_is_infinite(before: list[float]) -> None:
    assert not shares(before, before).any()
    after = [*before[:-1], before[-1] + 1e-6]
    assert shares(before, after).tolist() == [*[0] * (len(before) - 1), math.inf]
    made = agreement(before, after)
    # Equal scores have no order that could come again.
    assert (made.agreed, made.beyond, made.worst) == ("differs", 1, len(before) - 1)
    assert agreement(before, before).agreed == "reproduced"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([], [], "scores of shape (0,)"),
        ([[1.0]], [[1.0]], "scores of shape (1, 1)"),
        ([1.0, math.nan], [1.0, 2.0], "not finite"),
        ([1.0, 2.0], [1.0, math.inf], "not finite"),
        ([1.0, 2.0], [1.0], "2 scores before, 1 after"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    before: npt.ArrayLike, after: npt.ArrayLike, said: str
) -> None:
    for function in (shares, rank_share, agreement):
        with pytest.raises(ScoreError, match=re.escape(said)):
            function(before, after)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=40))
def test_ranks_are_those_of_scipy(scores: list[int]) -> None:
    assert ranks(scores).tolist() == rankdata(scores).tolist()


def test_a_movement_in_rank_is_a_share_of_the_pairs() -> None:
    # 2 goes from rank 1 to rank 3 of 4, behind 4 and 6.
    assert rank_share(BEFORE, [7, 4, 6, 8]) == 2 / 4
    # Ties share the mean of ranks 2 and 3.
    assert rank_share(BEFORE, [2, 5, 5, 8]) == 0.5 / 4
    assert rank_share(BEFORE, BEFORE**3) == 0


def test_agreement_tells_all_of_it() -> None:
    made = agreement(BEFORE, [2, 4.001, 6, 7])
    assert (made.pairs, made.largest, made.worst, made.beyond) == (4, 1, 3, 1)
    assert made.share == pytest.approx(1 / SPREAD)
    assert made.rank_share == 0
    assert made.ordered


def test_small_differences_are_reproduced_and_rescaled_scores_in_the_same_order() -> None:
    spread = ABSOLUTE_SHARE * SPREAD
    assert agreement(BEFORE, shifted(0, 0.99 * spread, 0, 0)).agreed == "reproduced"
    assert agreement(BEFORE, shifted(0, 1.01 * spread, 0, 0)).agreed == "same order"
    assert agreement(BEFORE, 3 * BEFORE + 1).agreed == "same order"
    assert agreement(BEFORE, -BEFORE).agreed == "differs"


def test_one_in_a_hundred_ranks_is_the_same_order() -> None:
    before = np.arange(200.0)
    after = 2 * before
    # Two ranks of 200 are 0.01 of them, three are more.
    after[10] = after[12] + 0.5
    assert rank_share(before, after) == RANK_SHARE
    assert agreement(before, after).agreed == "same order"
    after[10] = after[13] + 0.5
    assert agreement(before, after).agreed == "differs"


def test_the_tolerances_are_those_that_are_published() -> None:
    assert (NOISE_SHARE, ABSOLUTE_SHARE, RANK_SHARE) == (0.001, 0.01, 0.01)
