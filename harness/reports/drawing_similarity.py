"""Pictures of voice similarity matrices: who is taken for whom, before anonymization and after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from harness.metrics.distinctiveness import SimilarityMatrix, diagonal_dominance
from harness.reports import drawing

HEIGHT_INCHES = 2.7
# Shades, of equal steps of similarity. The first is that of the paper.
LEVELS = 10
# With more speakers their names would overlap.
MOST_NAMED = 24
NAME_POINTS = 4.5

Floats = npt.NDArray[np.float64]


def similarity_figure(
    original: SimilarityMatrix,
    crossed: SimilarityMatrix,
    anonymized: SimilarityMatrix,
    title: str,
) -> Figure:
    """M_oo, M_oa and M_aa side by side, each with its diagonal dominance.

    All of the same speakers, in one order from the top and from the left; of M_oa rows are original
    speech. The more like each other two speakers are, the stronger the colour of their cell, in
    LEVELS steps. At most about 70 bytes of SVG a cell: a picture for a few dozen speakers.
    """
    panels = {"original": original, "original, anonymized": crossed, "anonymized": anonymized}
    with drawing.styled(HEIGHT_INCHES) as figure:
        grid = figure.subplots(2, len(panels), height_ratios=[1, 0.05])
        for axes, (name, matrix) in zip(grid[0], panels.items(), strict=True):
            size = len(matrix.speakers)
            _draw_cells(axes, matrix.values)
            axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal", xticks=[], yticks=[])
            axes.set_title(f"{name}\nD_diag {diagonal_dominance(matrix):.3f}", loc="left")
            axes.spines[:].set_visible(True)
        if len(original.speakers) <= MOST_NAMED:
            places = np.arange(len(original.speakers)) + 0.5
            grid[0, 0].set_yticks(places, original.speakers, fontsize=NAME_POINTS)
            grid[0, 0].tick_params(axis="y", length=0)
            grid[0, 0].grid(visible=False)
        for axes in grid[1, [0, 2]]:
            axes.set_visible(False)
        _draw_key(grid[1, 1])
        figure.suptitle(title)
    return figure


def _draw_key(axes: Axes) -> None:
    _draw_cells(axes, (np.arange(LEVELS)[None] + 0.5) / LEVELS)
    axes.set(xlim=(0, LEVELS), ylim=(1, 0), yticks=[], xlabel="similarity")
    axes.set_xticks([0, LEVELS / 2, LEVELS], ["0", "0.5", "1"])
    axes.spines[:].set_visible(True)
    axes.grid(visible=False)


def _draw_cells(axes: Axes, values: Floats) -> None:
    """One shape for each shade, so that pictures stay small: of runs of cells in one row."""
    levels = np.minimum((values * LEVELS).astype(int), LEVELS - 1)
    for level in range(1, LEVELS):
        edges = np.diff(np.pad(levels == level, ((0, 0), (1, 1))).astype(int), axis=1)
        rows, starts = np.nonzero(edges == 1)
        ends = np.nonzero(edges == -1)[1]
        if len(rows):
            corners = [(starts, rows), (ends, rows), (ends, rows + 1), (starts, rows + 1)]
            # Of the last point of a shape only its code counts.
            points = np.array([*corners, corners[0]]).transpose(2, 0, 1).reshape(-1, 2)
            codes = [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(rows)
            shade = level / (LEVELS - 1)
            axes.add_patch(
                PathPatch(
                    Path(points, codes), facecolor=drawing.SERIES[0], alpha=shade, linewidth=0
                )
            )
