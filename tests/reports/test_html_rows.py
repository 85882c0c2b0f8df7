"""Boards, heat map, curves and tables of the page: which row stands where, and what it says."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from harness.ranking.model import Board, Estimate, ListRate, Reference, Row
from harness.reports import figures
from harness.reports.html import curves
from harness.reports.html.boards import BAR, BoardView, Heat
from harness.reports.html.curves import Chart, thinned
from harness.reports.html.render import render
from harness.reports.page import Page
from reports.pages import LATE, SVG, det, page
from reports.test_html import Reader

pytestmark = pytest.mark.heavy


def row(attacker: str, eer: float, **more: Any) -> Row:
    status = more.pop("status", "official")
    return Row(
        attacker, attacker, status, averages={"test": Estimate(eer, **more.pop("ends", {}))}, **more
    )


def test_published_values_stand_below_all_others() -> None:
    rows = (
        row("a", 16.0, rank=1, tier=1, ends={"low": 11.0, "high": 19.0}),
        row("b", 20.0, rank=2, tier=2, ends={"reason": "3 speakers are too few"}),
        row("late", 14.0, status="late"),
        row("false", 12.0, status="refuted"),
    )
    references = (
        Reference("baseline", "test", 18.0, "plan"),
        Reference("baseline", "dev", 17.0, "plan"),
        Reference("weak", "test", 29.0, "plan"),
        Reference("dev only", "dev", 1.0, "plan"),
    )
    board = Board("B3", "", "test", rows, references, Estimate(14.0), ("late",))
    view = BoardView.of(board)
    assert [line.row.attacker for line in view.lines] == ["a", "b", "late"]
    assert [one.label for one in view.published] == ["baseline", "weak", "dev only"]
    assert [line.row.attacker for line in view.apart] == ["false"]
    assert view.splits == ("test", "dev")
    assert {split: one.percent for split, one in view.published[0].eers.items()} == {
        "test": 18.0,
        "dev": 17.0,
    }
    assert view.published[0].sources == ("plan",)
    # From 11 to 29: multiples of 5 are 10 to 30, six units a point.
    assert view.scale == (10, 30)
    first, second = view.lines[0].bar, view.lines[1].bar
    assert first is not None
    assert second is not None
    assert (first.low, first.point, first.high) == (6, 36, 54)
    assert (second.low, second.point, second.high) == (None, BAR // 2, None)
    assert [one.bar.point if one.bar else None for one in view.published] == [48, 114, None]
    assert view.notes == ("3 speakers are too few",)
    assert [line.note for line in view.lines] == [None, 1, None]
    assert [line.new_tier for line in view.lines] == [True, True, False]
    assert view.strongest == {"late": rows[2]}
    # Of equal ones of one attacker the first, as they stand; a document may name what is not there.
    equal = (row("a", 14.0), row("late", 14.0, status="late"), row("a", 14.0, status="late"))
    tied = dataclasses.replace(board, rows=equal, strongest_of=("a", "late", "nobody"))
    assert BoardView.of(tied).strongest == {"a": equal[0], "late": equal[1], "nobody": None}
    assert view.n_ranked == 2


def test_entries_of_one_attacker_are_told_apart() -> None:
    rows = (
        Row("a", "a-1.zip", "official", averages={"test": Estimate(16.0)}),
        row("b", 20.0),
        Row("a", "a-2.zip", "refuted"),
    )
    view = BoardView.of(Board("B3", "", "test", rows))
    assert [line.of for line in (*view.lines, *view.apart)] == ["a-1.zip", None, "a-2.zip"]
    curve = (rates("f", det(20.0), 20.0),)
    drawn = tuple(
        Row("a", f"a-{number}.zip", "official", rates=curve, averages={"test": Estimate(20.0)})
        for number in (1, 2)
    )
    chart = Chart.of(Board("B3", "", "test", (*drawn, row("b", 20.0, rates=curve))))
    assert chart is not None
    assert chart.names == ("a (a-1.zip)", "a (a-2.zip)", "b")


def seen(made: Page, folder: str | None = None) -> str:
    """All text, with single spaces."""
    return " ".join(" ".join(Reader(render(made, folder)).texts).split())


def test_a_late_row_says_when_and_its_evidence_says_all() -> None:
    made = page()
    text = seen(made)
    # Of each of three systems; the check stands in the evidence of every made-up submission.
    assert text.count("received 2024-12-07T09:00:00+00:00, after the deadline") == 3
    assert text.count(LATE) == 8


def with_boards(made: Page, *boards: Board) -> Page:
    assert made.ranking is not None
    return dataclasses.replace(made, ranking=dataclasses.replace(made.ranking, boards=boards))


def test_a_strongest_attacker_that_is_not_official_says_so() -> None:
    rows = (row("a", 16.0, rank=1), row("b", 14.0, status="late"))
    made = page(["a", "b"], ("B3",))
    board = Board("B3", "", "test", rows, (), Estimate(14.0), ("b",))
    assert "Strongest attacker: b late 14.00" in seen(with_boards(made, board))
    rows = (row("a", 14.0, rank=1), rows[1], row("c", 14.0, status="unofficial"))
    board = Board("B3", "", "test", rows, (), Estimate(14.0), ("a", "b", "c"))
    several = with_boards(made, board)
    assert "Strongest attacker: a , b late , c unofficial 14.00" in seen(several)
    board = Board("B3", "", "test", rows[:1], (), Estimate(14.0), ("a",))
    assert "Strongest attacker: a 14.00" in seen(with_boards(made, board))


def test_two_sides_name_all_that_are_strongest_and_places_are_those_given() -> None:
    made = page(["a", "b"], ("B3", "B4"))
    assert made.ranking is not None
    assert made.ranking.two_sided is not None
    rows = (row("a", 14.0, rank=1), row("b", 14.0, status="late"))
    board = Board("B3", "", "test", rows, (), Estimate(14.0), ("a", "b"))
    two_sided = dataclasses.replace(
        made.ranking.two_sided,
        places={"B3": 2, "B4": 1},
        privacy={"B3": Estimate(14.0), "B4": Estimate(14.0)},
        strongest={"B3": ("a", "b"), "B4": ("b",)},
    )
    ranking = dataclasses.replace(made.ranking, boards=(board,), two_sided=two_sided)
    # Of B4, which has no board here, no status is known.
    assert "2 B3 14.00 a , b late 1 B4 14.00 b" in seen(dataclasses.replace(made, ranking=ranking))


def test_the_filter_offers_every_status() -> None:
    text = render(page())
    offered = re.findall(r"<option>([a-z ]+)</option>", text)
    assert offered == ["official", "unofficial", "late", "refuted", "not checkable"]


def test_a_board_without_entries_is_one_line() -> None:
    references = (
        Reference("baseline", "dev", 32.0, "plan, Table 3"),
        Reference("baseline", "test", 34.34, "plan, Table 3"),
    )
    made = with_boards(page(), Board("B4", "B4", "test", (), references))
    line = "No entry; baseline test 34.34, dev 32.00 (plan, Table 3) ."
    assert line in seen(made)
    apart = Board("B4", "B4", "test", (row("false", 12.0, status="refuted"),), references)
    assert f"No verified entry{line[8:]}" in seen(with_boards(made, apart))


def test_a_missing_rank_stands_in_brackets() -> None:
    made = page(8)
    assert made.ranking is not None
    assert made.ranking.overall is not None
    # Of eight teams four are ranked on each board; the last has no entry of B4.
    *others, last = made.ranking.overall.rows
    ranks = {name: rank for name, rank in last.ranks.items() if name != "B4"}
    last = dataclasses.replace(last, ranks=ranks, missing=("B4",))
    overall = dataclasses.replace(made.ranking.overall, rows=(*others, last))
    ranking = dataclasses.replace(made.ranking, overall=overall)
    text = seen(dataclasses.replace(made, ranking=ranking))
    assert "Place Attacker Mean rank" in text
    assert f"4 {last.attacker} 4.00 4 (5) 4" in text
    assert "In brackets stands what counts as the rank" in text
    assert "In brackets stands" not in seen(made)


def test_every_picture_is_among_the_figures_whatever_is_ranked() -> None:
    made = page()
    assert made.results is not None
    (figure,) = made.results.figures
    heat_map = dataclasses.replace(
        figure, title="EER of ours", files=("results/plots/heat-map.svg",)
    )
    results = dataclasses.replace(made.results, figures=(figure, heat_map))
    both = render(dataclasses.replace(made, results=results), "results")
    before, figures = both.split('<h2 id="figures">')
    # The table above is of those who are ranked, who may be others.
    assert '<h2 id="heat">' in before
    assert "heat-map.svg" not in before
    assert figures.count(SVG) == 2
    assert 'href="plots/heat-map.svg"' in figures


def test_intervals_of_results_and_of_a_ranking_say_how_each_was_made() -> None:
    made = page()
    assert made.results is not None
    text = seen(made)
    start, results, boards = (
        text.index(one) for one in ("How to read this ", "± EER of each seed", "A line separates")
    )
    ours = "Intervals are of 90 %, by 1,500 draws of speakers"
    theirs = (
        "Intervals are of 95 %, by 2,000 draws of speakers, jointly among enrolments and trials"
    )
    assert text.count("Intervals are of") == 2
    assert start < text.index(ours) < results
    assert boards < text.index(theirs)
    results_alone = seen(dataclasses.replace(made, ranking=None))
    assert ours in results_alone
    assert theirs not in results_alone
    unsaid = dataclasses.replace(made, results=dataclasses.replace(made.results, method=None))
    assert ours not in seen(unsaid)


def test_columns_without_any_value_are_left_out() -> None:
    made = page()
    assert made.results is not None
    assert "EER of each seed 1 / 2 Published Printed in" in seen(made)
    rows = tuple(
        dataclasses.replace(one, published=None, source=None, deviation=None, seeds={number: 5.0})
        for number, one in enumerate(made.results.rows)
    )
    text = seen(dataclasses.replace(made, results=dataclasses.replace(made.results, rows=rows)))
    assert "Interval EER of each seed orig" in text
    assert "7: 5.00" in text


def test_a_shade_says_how_far_from_guessing() -> None:
    made = page(2, ("B3", "B4")).ranking
    assert made is not None
    boards = (
        Board("B3", "", "test", (row("weak", 50.0), row("strong", 0.0), row("odd", 61.0))),
        Board(
            "B4",
            "",
            "test",
            (
                row("strong", 25.0),
                row("strong", 30.0, counted=False),
                row("false", 1.0, status="refuted"),
            ),
        ),
    )
    heat = Heat.of(dataclasses.replace(made, boards=boards))
    assert heat == Heat(
        ("B3", "B4"),
        {
            "strong": {"B3": (0.0, 10), "B4": (25.0, 5)},
            "weak": {"B3": (50.0, 0)},
            "odd": {"B3": (61.0, 0)},
        },
    )
    assert list(heat.cells) == ["strong", "weak", "odd"]


def rates(name: str, curve: tuple[tuple[float, float], ...], percent: float) -> ListRate:
    return ListRate(name, "test", "f", percent, 1, 1, 1, 1, "scores", "0", det=curve)


def test_curves_lie_on_probit_axes() -> None:
    rows = (
        # Normal distributions give a straight line, of which two points are enough.
        row("straight", 20.0, rates=(rates("f", det(20.0), 20.0),)),
        row("refuted", 1.0, status="refuted", rates=(rates("f", det(1.0), 1.0),)),
        # 0 and 1 lie at infinity.
        row("point", 20.0, rates=(rates("f", ((1.0, 0.0), (0.2, 0.2), (0.0, 1.0)), 20.0),)),
        row("none", 20.0),
    )
    chart = Chart.of(Board("B3", "", "test", rows))
    assert chart is not None
    assert chart.names == ("straight", "point")
    (panel,) = chart.panels
    # Probits: of 0.1 % -3.0902, of 20 % -0.8416, of 80 % 0.8416.
    assert panel.ticks[0] == ("0.1", 0)
    assert panel.ticks[-1] == ("80", 1000)
    across = round(1000 * (3.0902 - 0.8416) / (3.0902 + 0.8416))
    assert dict(panel.ticks)["20"] == across
    assert panel.lines[1] == ((f"{across},{1000 - across}"),)
    (line,) = panel.lines[0]
    ends = [tuple(map(int, point.split(","))) for point in line.split()]
    assert len(ends) == 2
    # The line has slope -1 and so the same sum of probits everywhere: twice that of the EER.
    assert [x + 1000 - y for x, y in ends] == pytest.approx([2 * across] * 2, abs=2)


def test_axes_are_those_of_the_pictures() -> None:
    assert curves.TICKS == figures.TICKS


def test_thinning_keeps_what_can_be_seen() -> None:
    corner = [(0.0, 0.0), (50.0, 1.0), (100.0, 0.0), (100.0, 50.0), (100.0, 100.0)]
    assert thinned(corner) == [(0.0, 0.0), (100.0, 0.0), (100.0, 100.0)]
    bump = [(0.0, 0.0), (50.0, 3.0), (100.0, 0.0)]
    assert thinned(bump) == bump
    assert thinned([]) == []
    assert thinned(bump[:1]) == bump[:1]
    assert thinned([(5.0, 5.0)] * 4) == [(5.0, 5.0)] * 2
