"""Pictures of EERs side by side: of the speakers of each list, and of systems against attackers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from harness.reports import drawing
from harness.reports.page import GUESSING

COLUMNS = 2
SPEAKER_INCHES = 0.15
# Of the strongest colour of a cell: text on it stays readable, on light pages and on dark ones.
STRONGEST = 0.55


@dataclass(frozen=True)
class Panel:
    """One list. percent: its EER, mean over trainings. speakers: of each enrolled speaker the EERs
    of all trainings, percent; empty where the speaker has none."""

    title: str
    percent: float
    speakers: Mapping[str, Sequence[float]]


def speakers_figure(panels: Sequence[Panel], title: str) -> Figure:
    """A dot per enrolled speaker, the best protected on top; of several trainings the mean, with a
    line from the lowest to the highest. The dashed line is the EER of the list."""
    rows = [panels[start : start + COLUMNS] for start in range(0, len(panels), COLUMNS)]
    heights = [max(len(panel.speakers) for panel in row) for row in rows]
    highest = max(
        (max(eers) for panel in panels for eers in panel.speakers.values() if eers), default=0.0
    )
    with drawing.styled(SPEAKER_INCHES * sum(heights) + 0.6 * len(rows) + 0.6) as figure:
        grid = figure.subplots(
            len(rows), len(rows[0]), squeeze=False, height_ratios=[height + 1 for height in heights]
        )
        for axes in grid.flat[len(panels) :]:
            axes.set_visible(False)
        for axes, panel in zip(grid.flat, panels, strict=False):
            eers = {name: list(values) for name, values in panel.speakers.items() if values}
            names = sorted(eers, key=lambda name: (np.mean(eers[name]), name))
            places = np.arange(len(names))
            means = [np.mean(eers[name]) for name in names]
            axes.hlines(
                places,
                [min(eers[name]) for name in names],
                [max(eers[name]) for name in names],
                color=drawing.SERIES[0],
                linewidth=1,
            )
            axes.plot(means, places, **drawing.series(0) | {"linestyle": "none"})
            axes.axvline(
                panel.percent, color=drawing.INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0.5
            )
            axes.set_yticks(places, names, fontsize=7)
            axes.tick_params(axis="y", length=0)
            axes.set(xlim=(-2, max(GUESSING, highest) + 2), ylim=(-0.8, max(len(names), 1) - 0.2))
            axes.set_title(panel.title, loc="left")
        for axes in grid[-1]:
            axes.set_xlabel("EER of the speaker's trials (%)")
        figure.suptitle(title)
    return figure


def heat_figure(
    systems: Sequence[str],
    attackers: Sequence[str],
    percents: Mapping[tuple[str, str], float],
    title: str,
) -> Figure:
    """A cell per system and attacker with its EER in percent; the lower, the stronger its colour.

    percents: by system and attacker; a cell without a value is empty.
    """
    with drawing.styled(0.34 * len(systems) + 1.0) as figure:
        axes = figure.subplots()
        for (system, attacker), percent in percents.items():
            x, y = attackers.index(attacker), systems.index(system)
            exposed = min(max(1 - percent / GUESSING, 0.0), 1.0)
            axes.add_patch(
                Rectangle(
                    (x - 0.48, y - 0.46),
                    0.96,
                    0.92,
                    facecolor=drawing.SERIES[1],
                    alpha=STRONGEST * exposed,
                    linewidth=0,
                )
            )
            axes.text(x, y, f"{percent:.2f}", ha="center", va="center")
        axes.set_xticks(range(len(attackers)), attackers)
        axes.set_yticks(range(len(systems)), systems)
        axes.set(xlim=(-0.5, len(attackers) - 0.5), ylim=(len(systems) - 0.5, -0.5))
        axes.grid(visible=False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(title)
    return figure
