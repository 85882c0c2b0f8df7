"""Pictures of similarity matrices: every cell in its place, in the shade of its value."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import numpy.typing as npt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

from harness.metrics.distinctiveness import SimilarityMatrix
from harness.reports import drawing
from harness.reports.drawing_similarity import MOST_NAMED, similarity_figure

pytestmark = pytest.mark.heavy

# Of ten shades 0 to 9: 9 and 0, 5 and 2.
BY_HAND = [[0.95, 0.05], [0.5, 0.29]]


def matrix(values: npt.ArrayLike) -> SimilarityMatrix:
    array = np.asarray(values, np.float64)
    return SimilarityMatrix(tuple(f"s{number}" for number in range(len(array))), array)


def panels(original: SimilarityMatrix, *others: SimilarityMatrix) -> list[Axes]:
    crossed, anonymized = others or (original, original)
    axes: list[Axes] = similarity_figure(original, crossed, anonymized, "title").axes
    return axes


def shades(axes: Axes, size: int) -> dict[tuple[int, int], float]:
    """The opacity in the middle of each cell, by row and column, of those that are drawn."""
    found = {}
    for patch in axes.patches:
        assert to_hex(patch.get_facecolor()) == drawing.SERIES[0]
        for row, column in np.ndindex(size, size):
            # A path of several shapes holds a point if any of them does.
            corners = patch.get_path().to_polygons()
            inside = [
                one[:, 0].min() < column + 0.5 < one[:, 0].max()
                and one[:, 1].min() < row + 0.5 < one[:, 1].max()
                for one in corners
            ]
            if any(inside):
                assert inside.count(True) == 1
                assert (row, column) not in found
                found[row, column] = patch.get_alpha()
    return found


def test_cells_by_hand() -> None:
    # The shade of the paper is not drawn.
    expected = {(0, 0): 9 / 9, (1, 0): 5 / 9, (1, 1): 2 / 9}
    for axes in panels(matrix(BY_HAND))[:3]:
        assert shades(axes, 2) == expected
        # The first row is on top.
        assert axes.get_ylim() == (2, 0)


def test_every_cell_has_its_shade() -> None:
    values = np.random.default_rng(1).integers(0, 101, (7, 7)) / 100
    found = shades(panels(matrix(values))[0], 7)
    for place in np.ndindex(7, 7):
        level = min(int(values[place] * 10), 9)
        assert found.get(place, 0) == pytest.approx(level / 9)


def test_panels_say_what_they_are_and_how_dominant_the_diagonal_is() -> None:
    # Of BY_HAND the diagonal's mean is 0.62, of all else 0.275.
    others = matrix([[0.5, 0.4], [0.4, 0.5]]), matrix([[0.5, 0.5], [0.5, 0.5]])
    text = drawing.svg(similarity_figure(matrix(BY_HAND), *others, "a title"))
    found = re.findall(r"<text[^>]*>([^<]*)", text)
    for expected in (
        *("original", "D_diag 0.345", "original, anonymized", "D_diag 0.100"),
        *("anonymized", "D_diag 0.000", "similarity", "0.5", "a title"),
    ):
        assert expected in found
    assert Counter(found)["s0"] == 1


def test_the_key_has_all_shades_in_their_order() -> None:
    key = panels(matrix(BY_HAND))[4]
    places = {patch.get_alpha(): patch.get_path().get_extents().x0.item() for patch in key.patches}
    assert places == {level / 9: level for level in range(1, 10)}


def test_names_that_would_overlap_are_left_out() -> None:
    for size, shown in ((MOST_NAMED, MOST_NAMED), (MOST_NAMED + 1, 0)):
        axes = panels(matrix(np.eye(size)))
        assert [len(each.get_yticks()) for each in axes[:3]] == [shown, 0, 0]


def test_pictures_of_official_lists_are_small() -> None:
    # 20 speakers, and no two neighbours of one shade.
    alternating = np.indices((20, 20)).sum(axis=0) % 2 * 0.5 + 0.25
    several = matrix(alternating)
    assert len(drawing.svg(similarity_figure(several, several, several, "title"))) < 90_000
    alike = matrix(np.full((20, 20), 0.5))
    assert len(drawing.svg(similarity_figure(alike, alike, alike, "title"))) < 15_000
