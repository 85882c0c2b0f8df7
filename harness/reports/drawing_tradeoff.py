"""A picture of privacy beside utility: the EER of each system over each measure of what is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import offset_copy
from scipy.optimize import isotonic_regression

from harness.reports import drawing
from harness.reports.page import GUESSING
from harness.reports.tradeoff import SCALES, Kept, Tradeoff

COLUMNS = 2
ROW_INCHES = 2.5
NAME_POINTS = 7
# In points of EER: how far above the line of its interval a name stands, and how far two names are
# apart, so that nothing overlaps. In points of print: between a marker and its name.
ABOVE, LINE = 2.0, 3.6
APART = 8
SCALE = {scale.measure: scale for scale in SCALES}


def tradeoff_figure(found: Sequence[Tradeoff], original: str, title: str) -> Figure:
    """A panel per measure, EER upwards, intervals as lines. Markers of systems on the Pareto front
    are filled; the cross is original speech.

    found: of one split, each with its EER first, and at least one with another measure.
    """
    keys = list(dict.fromkeys(kept.key for one in found for kept in one.kept[1:]))
    rows, columns = math.ceil(len(keys) / COLUMNS), min(COLUMNS, len(keys))
    looks, heights = _looks(found, original), _heights(found)
    with drawing.styled(ROW_INCHES * rows + 0.4) as figure:
        grid = figure.subplots(rows, columns, squeeze=False, sharey=True)
        for axes in grid.flat[len(keys) :]:
            axes.set_visible(False)
        for axes, key in zip(grid.flat, keys, strict=False):
            points = {
                one.system: (kept, one.kept[0])
                for one in found
                for kept in one.kept[1:]
                if kept.key == key
            }
            for name, (kept, eer) in points.items():
                _mark(axes, kept, eer, looks[name])
            middle = fmean(axes.get_xlim())
            for name, (kept, eer) in points.items():
                _name(axes, name, (kept.value, eer.value), heights[name], kept.value < middle)
            _say(axes, next(iter(points.values()))[0])
        highest = max(GUESSING, *heights.values(), *(one.kept[0].high or 0 for one in found))
        grid[0, 0].set_ylim(min(0, *heights.values()) - 2, highest + 2)
        for axes in grid[:, 0]:
            axes.set_ylabel("EER (%)")
        figure.suptitle(f"{title}\nfilled: on the Pareto front; ×: {original}")
    return figure


def _looks(found: Sequence[Tradeoff], original: str) -> dict[str, dict[str, Any]]:
    """Of each system's marker. Original speech has none of the colours and shapes of the others."""
    looks: dict[str, dict[str, Any]] = {}
    for number, one in enumerate(each for each in found if each.system != original):
        look = drawing.series(number) | {"linestyle": "none"}
        looks[one.system] = look | ({"markerfacecolor": look["color"]} if one.front else {})
    cross = {"color": drawing.INK, "linestyle": "none", "marker": "x", "markersize": 6}
    return looks | {original: cross}


def _heights(found: Sequence[Tradeoff]) -> dict[str, float]:
    """Where names stand: as near to the EERs as there is room for a line each."""
    ordered = sorted(found, key=lambda one: one.kept[0].value)
    room = LINE * np.arange(len(ordered))
    wanted = np.array([one.kept[0].value + ABOVE for one in ordered])
    places = isotonic_regression(wanted - room).x + room
    return {one.system: float(place) for one, place in zip(ordered, places, strict=True)}


def _mark(axes: Axes, kept: Kept, eer: Kept, look: dict[str, Any]) -> None:
    thin = {"color": look["color"], "linewidth": 0.7, "alpha": 0.7}
    if kept.low is not None and kept.high is not None:
        axes.plot([kept.low, kept.high], [eer.value] * 2, **thin)
    if eer.low is not None and eer.high is not None:
        axes.plot([kept.value] * 2, [eer.low, eer.high], **thin)
    axes.plot(kept.value, eer.value, **look)


def _name(
    axes: Axes, name: str, point: tuple[float, float], height: float, on_the_right: bool
) -> None:
    shift = APART if on_the_right else -APART
    axes.annotate(
        name,
        point,
        (point[0], height),
        textcoords=offset_copy(axes.transData, axes.figure, shift, 0, units="points"),
        horizontalalignment="left" if on_the_right else "right",
        verticalalignment="center",
        fontsize=NAME_POINTS,
        arrowprops={
            "arrowstyle": "-",
            "linewidth": 0.5,
            "shrinkA": 0,
            "shrinkB": 3,
            "color": drawing.INK,
        },
    )


def _say(axes: Axes, kept: Kept) -> None:
    """What the panel is of, and where it is better."""
    scale = SCALE[kept.measure]
    of = f"{kept.measure} {scale.unit}".strip()
    axes.set_title(f"{of}\n{kept.dataset}, {kept.by}", loc="left", fontsize=8)
    side = "left" if scale.nothing > kept.original else "right"
    axes.set_xlabel(f"better to the {side}")
