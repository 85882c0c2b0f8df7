"""How pictures are drawn: one style, and one figure as PNG, as SVG, and as SVG within a page.

Series are told apart by dash and marker as well as by colour. Text stays text. Nothing written
depends on the day, the version or the process: the same figure gives the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from harness.reports import vector

# By the CSS variable that stands for it on a page, whose colours by day are these. No colour stands
# twice: the variable is found again by it.
PALETTE = {
    "--ink": "#1c1b19",
    "--paper": "#ffffff",
    "--grid": "#d9d5cb",
    "--s1": "#1d5fa8",
    "--s2": "#a8480c",
    "--s3": "#1f7440",
    "--s4": "#7d3c98",
    "--s5": "#a3283a",
    "--s6": "#0f6f74",
    "--s7": "#6b5d0a",
    "--s8": "#55524c",
}
VARIABLES = {colour: name for name, colour in PALETTE.items()}
INK, PAPER, GRID, *SERIES = PALETTE.values()
# Their numbers have no common factor with that of the colours: the first 24 lines all differ.
DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
# Narrow enough for text to be read on a phone.
WIDTH_INCHES = 5.4
DPI = 150

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "figure.titlesize": 10,
    "legend.fontsize": 8,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": PAPER,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": PAPER,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.facecolor": PAPER,
    "legend.edgecolor": GRID,
    "lines.linewidth": 1.4,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",
}


@contextmanager
def styled(height_inches: float) -> Iterator[Figure]:
    """An empty figure to draw in while the block runs."""
    with _style():
        yield Figure(figsize=(WIDTH_INCHES, height_inches), layout="constrained")


def series(number: int) -> dict[str, Any]:
    """How a series looks, by its number from 0; its points are hollow, so that those below stay
    visible."""
    return {
        "color": SERIES[number % len(SERIES)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markerfacecolor": PAPER,
        "markersize": 5,
    }


def png(figure: Figure) -> bytes:
    """The figure as pixels."""
    # The creator's version would change the bytes without changing the picture.
    return _written(figure, "png", dpi=DPI, metadata={"Software": None})


def svg(figure: Figure) -> str:
    """The figure as the text of a file, in the colours of PALETTE."""
    return f"{vector.plain(_written(figure, 'svg'))}\n"


def inline(text: str, prefix: str) -> str:
    """The text of `svg` as a part of a page; prefix: as in `harness.reports.vector`."""
    return vector.inline(text, prefix, VARIABLES)


@contextmanager
def _style() -> Iterator[None]:
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def _written(figure: Figure, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    with _style():
        figure.savefig(stream, format=kind, **options)
    return stream.getvalue()
