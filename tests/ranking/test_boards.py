"""Boards made of contestants by hand: places, what is missing, trainings, the two sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.metrics.bootstrap import LOW_NOTE
from harness.metrics.draws import Pairs
from harness.metrics.eer import equal_error_rate
from harness.metrics.resampling import Sampling
from harness.protocols.protocol import TrialList
from harness.protocols.ranking import OverallRule
from harness.ranking.boards import NO_SPEAKERS, enough, make_board
from harness.ranking.contest import Contestant, ScoredList
from harness.ranking.model import Board, Estimate, ListRate, Reference, Row, Status
from harness.ranking.overall import make_overall
from harness.ranking.two_sided import make_two_sided

from .contests import edition, eer_of, list_name, scores_of, trials_of

LISTS = edition().lists
SAMPLING = Sampling(draws=199)


def scored(
    split: str, gender: str, strengths: tuple[float, ...], speakers: bool = True
) -> ScoredList:
    """One list, with a training of each strength."""
    (listed,) = [one for one in LISTS if one.trials == list_name(split, gender)]
    trials = trials_of(split, gender)
    pairs = Pairs(
        [trial.enrolment for trial in trials],
        [trial.utterance.partition("-")[0] for trial in trials],
    )
    scores = np.stack([scores_of(one, split, gender) for one in strengths])
    rates = tuple(rate_of(one, pairs.target, listed) for one in scores)
    return ScoredList(listed, pairs.target, pairs if speakers else None, scores, rates)


def rate_of(scores: np.ndarray, target: np.ndarray, listed: TrialList) -> ListRate:
    eer = equal_error_rate(scores[target], scores[~target])
    counts = (eer.misses, eer.false_alarms, eer.n_target, eer.n_nontarget)
    percent = 100 * eer.rate
    return ListRate(listed.trials, listed.split, listed.gender, percent, *counts, "scores", "")


def contestant(
    attacker: str,
    *strengths: float,
    status: Status = "official",
    entry: str = "",
    splits: tuple[str, ...] = ("dev", "test"),
    speakers: bool = True,
) -> Contestant:
    lists = {
        list_name(split, gender): scored(split, gender, strengths, speakers)
        for split in splits
        for gender in "fm"
    }
    return Contestant(attacker, entry or attacker, "A1", status, (), lists)


def board(*contestants: Contestant, **options: Any) -> Board:
    options = {"sampling": SAMPLING, **options}
    return make_board("A1", "system A1", contestants, LISTS, "test", **options)


def places(made: Board) -> list[tuple[str, int | None, int | None]]:
    return [(row.entry, row.rank, row.would_rank) for row in made.rows]


def test_the_order_of_all_kinds() -> None:
    made = board(
        contestant("not checkable", 3.0, status="not checkable"),
        contestant("refuted", 3.0, status="refuted"),
        contestant("unofficial", 2.2, status="unofficial"),
        contestant("late", 1.4, status="late"),
        contestant("half", 3.0, splits=("dev",)),
        contestant("b", 1.5),
        contestant("c", 2.0),
        contestant("a", 1.5),
        contestant("c", 1.0, entry="c again"),
        contestant("last", 0.2),
    )
    assert places(made) == [
        ("c", 1, None),
        ("a", 2, None),
        ("b", 2, None),
        ("last", 4, None),
        ("c again", None, None),
        # Without an EER of test it is not ranked, and no other entry of it counts.
        ("half", None, None),
        ("late", None, 4),
        ("unofficial", None, 1),
        ("refuted", None, None),
        ("not checkable", None, None),
    ]
    assert [row.entry for row in made.rows if not row.counted] == ["c again"]


def test_what_is_missing_is_never_first() -> None:
    # The entry of test without dev is ranked; that of dev alone is not, though it has trials.
    made = board(
        contestant("test alone", 1.0, splits=("test",)), contestant("dev", 3.0, splits=("dev",))
    )
    assert places(made) == [("test alone", 1, None), ("dev", None, None)]
    assert made.rows[0].averages is not None
    assert set(made.rows[0].averages) == {"test"}
    assert made.rows[1].tier is None
    nothing = Contestant("x", "x", "A1", "not checkable", ("no EER",), {})
    empty = board(nothing)
    assert places(empty) == [("x", None, None)]
    assert (empty.rows[0].averages, empty.strongest, empty.notes) == (None, None, ())
    assert board().rows == ()


def test_who_does_not_compete_changes_no_place() -> None:
    alone = board(contestant("a", 2.0), contestant("b", 1.0))
    beside = board(
        contestant("a", 2.0),
        contestant("b", 1.0),
        contestant("late", 3.0, status="late"),
        contestant("a", 1.9, entry="worse"),
    )
    assert beside.rows[:2] == alone.rows
    assert alone.strongest is not None
    assert beside.strongest is not None
    assert beside.strongest.percent < alone.strongest.percent
    assert (alone.strongest_of, beside.strongest_of) == (("a",), ("late",))


def test_no_team_is_its_own_rival() -> None:
    made = board(
        contestant("team", 1.5),
        contestant("team", 2.0, status="unofficial", entry="better"),
        contestant("team", 1.0, status="late", entry="worse"),
        contestant("other", 3.0),
        contestant("last", 0.5),
    )
    # The better one would come in the place of its own; the worse one would not count.
    assert places(made) == [
        ("other", 1, None),
        ("team", 2, None),
        ("last", 3, None),
        ("worse", None, None),
        ("better", None, 2),
    ]


def test_trainings_count_by_their_mean() -> None:
    made = board(contestant("two", 3.0, 1.0), contestant("one", 2.2))
    two, one = sorted(made.rows, key=lambda row: row.attacker, reverse=True)
    eers = [
        np.mean([100 * eer_of(scores_of(strength, "test", g), "test", g) for g in "fm"])
        for strength in (3.0, 1.0)
    ]
    assert two.averages is not None
    assert two.averages["test"].percent == pytest.approx(np.mean(eers))
    assert two.deviations is not None
    # Of two values the standard deviation is their distance by the root of two.
    assert two.deviations["test"] == pytest.approx(abs(eers[0] - eers[1]) / np.sqrt(2))
    assert one.deviations is None
    assert (one.rank, two.rank) == (1, 2)
    assert two.averages["test"].low is not None
    assert len(two.rates) == 8


def test_without_speakers_there_are_ranks_and_no_intervals() -> None:
    made = board(contestant("a", 1.0, speakers=False), contestant("b", 2.0, speakers=False))
    assert places(made) == [("b", 1, None), ("a", 2, None)]
    for row in made.rows:
        assert row.averages is not None
        assert row.averages["test"] == Estimate(
            row.averages["test"].percent, None, None, NO_SPEAKERS
        )
        assert (row.ranks, row.tier) == (None, None)
    assert made.strongest is not None
    assert made.strongest.reason == NO_SPEAKERS
    assert made.notes == ()


def test_too_few_speakers_is_told() -> None:
    def few(one: Contestant) -> Contestant:
        """Of five enrolled speakers alone."""
        lists = {}
        for name, of_list in one.lists.items():
            assert of_list.pairs is not None
            kept = np.isin(of_list.pairs.enrolled, np.unique(of_list.pairs.enrolled)[:5])
            lists[name] = replace(
                of_list,
                target=of_list.target[kept],
                pairs=Pairs(of_list.pairs.enrolled[kept], of_list.pairs.trial[kept]),
                scores=of_list.scores[:, kept],
            )
        return replace(one, lists=lists)

    made = board(few(contestant("a", 1.0)), few(contestant("b", 2.0)))
    assert places(made) == [("b", 1, None), ("a", 2, None)]
    for row in made.rows:
        assert row.averages is not None
        assert row.averages["test"].reason == "5 speakers have target trials, fewer than 10"
        assert (row.averages["test"].low, row.ranks, row.tier) == (None, None, None)


def test_draws_are_made_enough() -> None:
    sampling = Sampling(draws=100)
    teams = [contestant(f"{n:02d}", 1.0, splits=()) for n in range(11)]
    # Ten p-values of 2 / (399 + 1) are 0.05 after Holm; a hundredth of the draws may be dropped.
    assert enough(sampling, teams).draws == 399 + 4
    assert enough(sampling, teams[:2]).draws == 100
    late = [replace(one, status="late") for one in teams]
    assert enough(sampling, [*late, *teams[:1], *teams[:1]]).draws == 100
    assert enough(sampling, []) == sampling


def with_errors(attacker: str, trials: int, *errors: int, **said: Any) -> Contestant:
    """So many errors of each class in each list of test, which has so many trials of each, of 16
    speakers."""
    speakers = np.arange(trials) % 16
    pairs = Pairs(np.r_[speakers, speakers], np.r_[speakers, (speakers + 1) % 16])
    lists = {}
    for gender, wrong in zip("fm", errors, strict=True):
        (listed,) = [one for one in LISTS if one.trials == list_name("test", gender)]
        errs = np.arange(trials) < wrong
        scores = np.r_[np.where(errs, -1, 1), np.where(errs, 1, -1)].astype(np.float32)
        rates = (rate_of(scores, pairs.target, listed),)
        lists[listed.trials] = ScoredList(listed, pairs.target, pairs, scores[np.newaxis], rates)
    entry = said.get("entry", attacker)
    return Contestant(attacker, entry, "A1", said.get("status", "official"), (), lists)


def test_equal_means_are_tied_whatever_float32_left_of_them() -> None:
    # 15.625 % as the mean of 10 and 20, of 15 and 15, and of 20 and 10 of 96; float32 gives
    # 15.624999627, 15.625 and 15.625000373.
    errors = {"a": (10, 20), "b": (15, 15), "c": (20, 10), "d": (15, 16)}
    made = board(*(with_errors(name, 96, *both) for name, both in errors.items()))
    assert places(made) == [("a", 1, None), ("b", 1, None), ("c", 1, None), ("d", 4, None)]
    assert made.strongest_of == ("a", "b", "c")
    assert [row.averages["test"].percent for row in made.rows if row.averages][:3] == [15.625] * 3


def test_means_at_the_border_of_two_decimals_are_tied() -> None:
    # (1 + 8) / 1280 and (2 + 7) / 1280 are both 0.703125 %; float32 leaves one of them below it,
    # the other above.
    one, other = with_errors("a", 640, 1, 8), with_errors("b", 640, 2, 7)
    sums = [sum(of_list.rates[0].percent for of_list in c.lists.values()) for c in (one, other)]
    assert sums[0] > 2 * 0.703125 > sums[1]
    made = board(one, other, with_errors("late", 640, 7, 2, status="late"))
    assert places(made) == [("a", 1, None), ("b", 1, None), ("late", None, 1)]
    assert made.strongest_of == ("a", "b", "late")
    assert [row.averages["test"].percent for row in made.rows if row.averages] == [0.703125] * 3
    # Of a team's equal entries the first counts, as they are called.
    made = board(one, replace(other, attacker="a"))
    assert [(row.entry, row.counted) for row in made.rows] == [("a", True), ("b", False)]
    # All systems together: both have the mean rank 1, and share the place.
    overall = make_overall([board(one, other)], OverallRule("mean-rank", 1))
    assert [(row.attacker, row.place) for row in overall.rows] == [("a", 1), ("b", 1)]
    # Of two systems, neither is the more private.
    systems = [board(one), replace(board(other), system="A2")]
    two_sided = make_two_sided(systems)
    assert two_sided is not None
    assert two_sided.places == {"A1": 1, "A2": 1}


def test_references_are_shown_and_not_ranked() -> None:
    reference = Reference("baseline", "test", 1.0, "plan")
    made = board(contestant("a", 1.0), references=(reference,))
    assert made.references == (reference,)
    assert made.strongest_of == ("a",)
    # Of one attacker the strongest is no minimum of several.
    assert made.notes == ()


def test_an_interval_of_a_low_eer_is_told() -> None:
    made = board(contestant("a", 3.0))
    (row,) = made.rows
    assert row.averages is not None
    assert row.averages["test"].low is not None
    assert row.averages["test"].percent < 10
    assert made.notes == (LOW_NOTE,)


def made_board(system: str, **percents: float) -> Board:
    """A board by its EERs alone. An attacker that ends in `_` is refuted."""
    rows = tuple(
        Row(
            name,
            name,
            "refuted" if name.endswith("_") else "official",
            averages={"test": Estimate(percent)},
        )
        for name, percent in percents.items()
    )
    held = {row.attacker: percents[row.attacker] for row in rows if row.status == "official"}
    strongest = min(held, key=lambda name: held[name], default=None)
    return Board(
        system,
        system,
        "test",
        rows,
        strongest=None if strongest is None else Estimate(held[strongest]),
        strongest_of=() if strongest is None else (strongest,),
    )


def test_the_two_sides_by_hand() -> None:
    # Lowest of each: 20, 30, 25; only y attacked D, and nobody verified attacked E.
    boards = [
        made_board("A", x=20, y=40),
        made_board("B", x=35, y=30, z_=1),
        made_board("C", x=25),
        made_board("D", y=50),
        made_board("E", z_=1),
    ]
    two_sided = make_two_sided(boards)
    assert two_sided is not None
    assert two_sided.systems == ("D", "B", "C", "A")
    assert two_sided.attackers == ("x", "y")
    assert two_sided.strongest == {"A": ("x",), "B": ("y",), "C": ("x",), "D": ("y",)}
    assert two_sided.places == {"D": 1, "B": 2, "C": 3, "A": 4}
    assert {name: one.percent for name, one in two_sided.privacy.items()} == {
        "A": 20,
        "B": 30,
        "C": 25,
        "D": 50,
    }
    without_x, without_y = two_sided.without
    # Without x: A 40, B 30, D 50; C is not attacked. Before, among these, B stood above A.
    assert (without_x.order, without_x.moved) == (("D", "A", "B"), ("A", "B"))
    # Without y: A 20, B 35, C 25: as before, with D left out.
    assert (without_y.order, without_y.moved) == (("B", "C", "A"), ())


def test_equal_systems_share_a_place() -> None:
    two_sided = make_two_sided([made_board("A", x=20, y=30), made_board("B", x=25, y=20)])
    assert two_sided is not None
    assert two_sided.systems == ("A", "B")
    # Without x B is below A; A stays first, which it was before.
    assert [(one.order, one.moved) for one in two_sided.without] == [
        (("A", "B"), ("B",)),
        (("B", "A"), ("A",)),
    ]


def test_places_of_systems_by_hand() -> None:
    percents = {"B3": 30.0, "T8-5": 25.5, "B4": 25.5, "B5": 20.0}
    two_sided = make_two_sided([made_board(name, x=percent) for name, percent in percents.items()])
    assert two_sided is not None
    assert two_sided.places == {"B3": 1, "T8-5": 2, "B4": 2, "B5": 4}


def test_one_system_has_no_two_sides() -> None:
    assert make_two_sided([]) is None
    assert make_two_sided([made_board("A", x=20), made_board("B", z_=20)]) is None
    two_sided = make_two_sided([made_board("A", x=20), made_board("B", x=30)])
    assert two_sided is not None
    # Without the only attacker nothing is left.
    assert two_sided.without == ()
