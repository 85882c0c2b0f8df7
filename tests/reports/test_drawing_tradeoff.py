"""The picture of privacy beside utility: every system in its place, told apart without colour."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from harness.reports import drawing
from harness.reports.drawing_tradeoff import LINE, tradeoff_figure
from harness.reports.tradeoff import Kept, Tradeoff

pytestmark = pytest.mark.heavy


def eer(value: float, low: float | None = None, high: float | None = None) -> Kept:
    return Kept("EER", "ecapa", "", value, low, high, 10.0, 0.0)


def wer(value: float, low: float | None = None, high: float | None = None) -> Kept:
    return Kept("WER", "wer", "libri", value, low, high, 8.0, 0.0)


def uar(value: float) -> Kept:
    return Kept("UAR", "emotion", "emodb", value, None, None, 70.0, 0.0)


FOUND = (
    Tradeoff("orig", "test", (eer(10.0), wer(8.0), uar(70.0)), 0.0, None),
    Tradeoff("b2", "test", (eer(30.0, 24.0, 36.5), wer(20.0, 18.0, 23.0), uar(50.0)), 0.1, True),
    Tradeoff("b3", "test", (eer(25.0), wer(21.0)), None, None),
    Tradeoff("b4", "test", (eer(24.0), wer(40.0), uar(45.0)), 0.1, False),
)


def panels(*found: Tradeoff) -> list[Axes]:
    return list(tradeoff_figure(found, "orig", "title").axes)


def markers(axes: Axes) -> dict[tuple[float, float], Line2D]:
    """By place."""
    drawn = [line for line in axes.lines if line.get_marker() != "None"]
    found = {tuple(line.get_xydata()[0].tolist()): line for line in drawn}
    assert len(found) == len(drawn)
    return found


def names(axes: Axes) -> dict[str, tuple[float, float]]:
    """The places that names are of."""
    return {text.get_text(): tuple(text.xy) for text in axes.texts}


def test_every_system_is_in_its_place_on_each_panel() -> None:
    first, second = panels(*FOUND)
    assert first.get_title("left") == "WER %\nlibri, wer"
    assert names(first) == {"orig": (8, 10), "b2": (20, 30), "b3": (21, 25), "b4": (40, 24)}
    assert set(markers(first)) == set(names(first).values())
    assert second.get_title("left") == "UAR %\nemodb, emotion"
    # Of b3 there is none.
    assert names(second) == {"orig": (70, 10), "b2": (50, 30), "b4": (45, 24)}
    assert set(markers(second)) == set(names(second).values())


def test_the_front_and_original_speech_are_told_apart_without_colour() -> None:
    found = {
        point: line.get_markerfacecolor() for point, line in markers(panels(*FOUND)[0]).items()
    }
    assert found[20, 30] == drawing.SERIES[0]
    assert found[21, 25] == found[40, 24] == drawing.PAPER
    shapes = {point: line.get_marker() for point, line in markers(panels(*FOUND)[0]).items()}
    assert shapes[8, 10] == "x"
    assert len(set(shapes.values())) == 4


def test_a_system_looks_the_same_on_each_panel() -> None:
    first, second = map(markers, panels(*FOUND))
    for at, there in (((20, 30), (50, 30)), ((40, 24), (45, 24)), ((8, 10), (70, 10))):
        for look in ("get_color", "get_marker", "get_markerfacecolor"):
            assert getattr(first[at], look)() == getattr(second[there], look)()


def test_intervals_are_lines_through_the_point() -> None:
    lines = {
        tuple(map(tuple, line.get_xydata().tolist()))
        for line in panels(*FOUND)[0].lines
        if line.get_marker() == "None"
    }
    # Only b2 has any.
    assert lines == {((18, 30), (23, 30)), ((20, 24), (20, 36.5))}


def test_axes_say_where_it_is_better() -> None:
    first, second = panels(*FOUND)
    assert first.get_xlabel() == "better to the left"
    assert second.get_xlabel() == "better to the right"
    assert first.get_ylabel() == "EER (%)"
    # A guess is on the picture.
    low, high = first.get_ylim()
    assert low < 0
    assert high > 50


def test_names_stand_where_there_is_room() -> None:
    sides = {text.get_text(): text.get_horizontalalignment() for text in panels(*FOUND)[0].texts}
    # From 8 to 40 %, with the intervals: the point at the right end has its name on its left.
    assert sides == {"orig": "left", "b2": "left", "b3": "left", "b4": "right"}


def test_names_of_equal_systems_do_not_overlap() -> None:
    same = [Tradeoff(f"s{n}", "test", (eer(30.0), wer(9.0)), 0.0, False) for n in range(9)]
    original = Tradeoff("orig", "test", (eer(10.0), wer(8.0)), 0.0, None)
    (axes,) = panels(original, *same)
    heights = sorted(text.xyann[1] for text in axes.texts)
    assert min(b - a for a, b in pairwise(heights)) >= LINE - 1e-9
    # As near to the points as may be: around 2 above them, not all of them above.
    of_same = [height for height in heights if height > 13]
    assert sum(of_same) / 9 == pytest.approx(32)


def test_the_same_picture_is_the_same_bytes() -> None:
    one, other = (drawing.svg(tradeoff_figure(FOUND, "orig", "title")) for _ in range(2))
    assert one == other
    written = re.findall(r"<text[^>]*>([^<]*)", one)
    assert {"title", "filled: on the Pareto front; ×: orig", "b2", "b3", "b4"} <= set(written)
