"""Two sides compared: what is planted is found, what training undoes is not, what is not known is
said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.errors import ConfigError, DataError, ListError, ScoreError
from harness.metrics.bootstrap import Interval
from harness.metrics.comparison import SeedSpread
from harness.metrics.eer import equal_error_rate
from harness.metrics.resampling import Sampling
from harness.protocols.lists import Trial
from harness.protocols.scores import read_scores, score_path
from harness.reports.difference import Row, Side, difference_rows
from harness.reports.difference_text import sentence

from .compared import DEMO, small_lists, write_side

LISTS = small_lists()
QUICK = Sampling(draws=599)
SEMI = "semi-informed"
# Three trainings each: clearly apart; and so unlike each other that nothing is.
STRONG, WEAK = {1: 0.6, 2: 0.65, 3: 0.7}, {1: 1.6, 2: 1.65, 3: 1.7}
UNSTEADY = {1: 0.6, 2: 1.7, 3: 1.1}


def rows(first: Side, second: Side, sampling: Sampling = QUICK) -> tuple[Row, ...]:
    return difference_rows(first, second, DEMO, sampling)


def side(root: Path, noise: dict[int, float], draw: int = 1) -> Side:
    return write_side(root, {SEMI: noise}, LISTS, draw=draw)


def mean_eer(one: Side, seed: int) -> float:
    """As the official scripts average f and m."""
    eers = []
    for listed in DEMO.lists:
        trials = LISTS[listed.trials]
        target = np.array([trial.target for trial in trials])
        scores = read_scores(score_path(one.scores[seed], SEMI, listed), trials)
        eers.append(equal_error_rate(scores[target], scores[~target]).rate)
    return sum(eers) / len(eers)


def test_a_stronger_attacker_of_three_seeds_is_told_apart(tmp_path: Path) -> None:
    weak, strong = side(tmp_path / "a", WEAK), side(tmp_path / "b", STRONG, draw=2)
    (row,) = rows(weak, strong)
    assert (row.scenario, row.split, row.finding) == (SEMI, "test", "more")
    assert sentence(row, "speakers") == "more than trials, speakers and seeds explain"
    assert row.first.mean == pytest.approx(np.mean([mean_eer(weak, seed) for seed in WEAK]))
    assert row.second.mean == pytest.approx(np.mean([mean_eer(strong, seed) for seed in STRONG]))
    assert row.first.deviation == pytest.approx(np.std([mean_eer(weak, s) for s in WEAK], ddof=1))
    # Second minus first: the second is the stronger.
    assert row.difference.estimate == pytest.approx(row.second.mean - row.first.mean)
    assert row.difference.high is not None
    assert row.difference.high < 0
    assert row.p_value is not None
    assert row.p_value <= 0.05


def test_what_seeds_explain_is_no_difference(tmp_path: Path) -> None:
    first, second = side(tmp_path / "a", UNSTEADY), side(tmp_path / "b", UNSTEADY, draw=2)
    (row,) = rows(first, second)
    assert row.finding == "not more"
    assert sentence(row, "speakers") == "not more than trials, speakers and seeds explain"
    assert sentence(row, "trials") == "not more than trials and seeds explain"


def test_equal_attackers_are_told_apart_rarely(tmp_path: Path) -> None:
    # Trainings with noise of their own, of one distribution on both sides: 0 or 1 of 12.
    rng = np.random.default_rng(3)
    apart = 0
    for number in range(12):
        sides = [
            side(tmp_path / f"{number}{name}", dict(enumerate(rng.uniform(0.6, 1.4, 3))), draw)
            for draw, name in enumerate("ab")
        ]
        (row,) = rows(*sides, Sampling(draws=199))
        apart += row.finding == "more"
    assert apart <= 1


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({1: 1.7}, {1: 0.6}, "one training each"),
        ({1: 1.7}, STRONG, "one training of A"),
        (WEAK, {1: 0.6}, "one training of B"),
    ],
)
def test_of_one_training_the_noise_is_not_known(
    tmp_path: Path, first: dict[int, float], second: dict[int, float], said: str
) -> None:
    (row,) = rows(side(tmp_path / "a", first), side(tmp_path / "b", second, draw=2))
    assert row.finding == "more, seeds aside"
    known = "the noise of training is not known, with"
    moves = "(an attacker trained again moves by 1 to 2 points)"
    assert sentence(row, "speakers") == (
        f"more than trials and speakers explain; {known} {said} {moves}"
    )
    assert sentence(row, "trials") == f"more than trials explain; {known} {said} {moves}"
    assert row.p_value is not None
    assert row.p_value <= 0.05


def test_one_training_of_no_difference_needs_no_other(tmp_path: Path) -> None:
    # More noise only makes the interval wider.
    (row,) = rows(side(tmp_path / "a", {1: 1.0}), side(tmp_path / "b", {1: 1.0}, draw=2))
    assert row.finding == "not more"
    assert sentence(row, "speakers") == "not more than trials and speakers alone explain"
    assert sentence(row, "trials") == "not more than trials alone explain"


def test_identical_scores_are_said_to_be(tmp_path: Path) -> None:
    first, second = side(tmp_path / "a", STRONG), side(tmp_path / "b", STRONG)
    (row,) = rows(first, second)
    assert (row.finding, row.p_value, row.difference.estimate) == ("identical", None, 0)
    assert sentence(row, "speakers") == "identical: the same scores, byte for byte"
    # One byte, in one file of one training.
    path = score_path(second.scores[2], SEMI, DEMO.lists[1])
    path.write_text(path.read_text().replace("\n", " \n", 1))
    assert rows(first, second)[0].finding == "not more"


def test_too_few_speakers_cannot_tell(tmp_path: Path) -> None:
    lists = small_lists(enrolled=9)
    (row,) = rows(
        *(write_side(tmp_path / n, {SEMI: STRONG}, lists, draw=d) for d, n in enumerate("ab"))
    )
    assert (row.finding, row.p_value) == ("cannot tell", None)
    said = "cannot tell: 9 speakers have target trials, fewer than 10"
    assert sentence(row, "speakers") == said


def test_names_that_do_not_tell_speakers_cannot_tell(tmp_path: Path) -> None:
    # As in VCTK: the speaker's name ends with an underscore.
    lists = {
        name: [Trial(t.enrolment, t.utterance.replace("-", "_"), t.target) for t in trials]
        for name, trials in LISTS.items()
    }
    weak, strong = (
        write_side(tmp_path / name, {SEMI: noise}, lists)
        for name, noise in (("a", WEAK), ("b", STRONG))
    )
    (row,) = rows(weak, strong)
    assert (row.finding, row.p_value) == ("cannot tell", None)
    assert sentence(row, "speakers") == "cannot tell: the speakers of the trials are not known"
    assert row.difference.low is None
    assert row.difference.estimate == pytest.approx(row.second.mean - row.first.mean)


def test_rows_of_what_both_have_and_holm_over_them(tmp_path: Path) -> None:
    first = write_side(tmp_path / "a", {SEMI: WEAK, "ignorant": UNSTEADY, "original": WEAK}, LISTS)
    second = write_side(tmp_path / "b", {SEMI: STRONG, "ignorant": UNSTEADY}, LISTS, draw=2)
    found = rows(first, second)
    assert [row.scenario for row in found] == ["ignorant", SEMI]
    # Two rows: the lower p-value is doubled, and alone it is what it is.
    (alone,) = rows(*(replace_scenario(one) for one in (first, second)))
    assert alone.p_value is not None
    assert found[1].p_value == pytest.approx(2 * alone.p_value)


def row_of(low: float | None, high: float | None, trainings: SeedSpread) -> Row:
    interval = Interval(-0.09, 0.95, low, high)
    return Row(SEMI, "test", trainings, trainings, interval, 0.09, "not more")


def test_an_interval_that_disagrees_is_explained() -> None:
    # The interval is of the row alone, and the p-value adjusted: one may leave 0 out at 0.09.
    three, one = SeedSpread(0.2, 0.01, 3), SeedSpread(0.2, None, 1)
    together = ", once all rows are looked at together"
    said = "not more than trials, speakers and seeds explain"
    assert sentence(row_of(-0.17, -0.003, three), "speakers") == f"{said}{together}"
    assert sentence(row_of(0.003, 0.17, three), "speakers") == f"{said}{together}"
    for low, high in ((-0.17, 0.003), (-0.17, 0.0), (0.0, 0.17), (None, None)):
        assert sentence(row_of(low, high, three), "speakers") == said
    said = "not more than trials alone explain"
    assert sentence(row_of(-0.17, -0.003, one), "trials") == f"{said}{together}"


def replace_scenario(one: Side) -> Side:
    """The same, of the semi-informed scenario alone."""
    for folder in one.scores.values():
        for other in ("ignorant", "original"):
            if (folder / other).exists():
                (folder / other).rename(folder / f"not-{other}")
    return one


def test_nothing_in_common(tmp_path: Path) -> None:
    first = write_side(tmp_path / "a", {"original": STRONG}, LISTS)
    second = write_side(tmp_path / "b", {SEMI: STRONG}, LISTS)
    with pytest.raises(DataError, match="no scenario and split has scores on both sides"):
        rows(first, second)


def test_lists_have_to_be_the_same(tmp_path: Path) -> None:
    first, second = side(tmp_path / "a", STRONG), side(tmp_path / "b", STRONG)
    path = second.corpus / "lists/demo_test_trials_f/trials"
    path.write_text(path.read_text().replace("nontarget", "target", 1))
    with pytest.raises(ListError, match="^demo_test_trials_f: not the same list: sha256 [0-9a-f]+"):
        rows(first, second)


def test_every_training_has_to_have_scored_every_list(tmp_path: Path) -> None:
    first, second = side(tmp_path / "a", STRONG), side(tmp_path / "b", STRONG, draw=2)
    score_path(second.scores[3], SEMI, DEMO.lists[0]).unlink()
    with pytest.raises(ScoreError, match=r"seed-3/.*: no such score file"):
        rows(first, second)


def test_draws_have_to_reach_the_level(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = {SEMI: UNSTEADY, "ignorant": UNSTEADY}
    first, second = (
        write_side(tmp_path / name, scenarios, LISTS, draw=draw) for draw, name in enumerate("ab")
    )
    with monkeypatch.context() as patch:
        # Before anything is drawn, which may take minutes.
        patch.delattr("harness.reports.difference.compare")
        with pytest.raises(
            ConfigError, match="39 draws cannot tell 2 differences .*; draw 79 times"
        ):
            rows(first, second, Sampling(draws=39))
    assert len(rows(first, second, Sampling(draws=79))) == 2
