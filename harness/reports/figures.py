"""Pictures of scored lists: DET curves on probit axes, and score histograms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from scipy.special import ndtri

from harness.metrics.det import det
from harness.reports import drawing
from harness.reports.evaluation import Scored
from harness.reports.histogram import histogram

Floats = npt.NDArray[np.float64]

TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
# Along the curves of one list together, at least so many along each.
POINTS = 200
FEWEST_POINTS = 50
PANEL_INCHES = 1.3


def det_figure(lists: Sequence[Sequence[Scored]], title: str) -> Figure:
    """DET curves with the official operating points.

    lists: of each list its trainings, whose curves look the same. The legend says the mean EER.
    """
    with drawing.styled(5.0) as figure:
        axes = figure.subplots()
        limits = ndtri([TICKS[0], TICKS[-1]])
        axes.plot(limits, limits, color=drawing.GRID, linewidth=1, zorder=0)
        for number, trainings in enumerate(lists):
            label = f"{trainings[0].name}: {_mean_eer(trainings):.2f} %"
            for one in trainings:
                false_alarm, miss = _probits(one, max(POINTS // len(trainings), FEWEST_POINTS))
                axes.plot(
                    false_alarm,
                    miss,
                    # The other trainings look the same and need no entry of their own.
                    label=label if one is trainings[0] else "",
                    **drawing.series(number),
                    linewidth=1.4 if len(trainings) == 1 else 0.9,
                    markevery=_nearest(false_alarm, miss),
                )
        for axis, set_limits in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
            axis.set_ticks(ndtri(TICKS), [f"{100 * tick:g}" for tick in TICKS])
            set_limits(*limits)
        axes.set(xlabel="false-alarm rate (%)", ylabel="miss rate (%)", title=title)
        axes.legend(loc="upper right")
    return figure


def histogram_figure(scored: Sequence[Scored], title: str) -> Figure:
    """Densities of target and nontarget scores, one panel per list, with the EER's threshold."""
    with drawing.styled(PANEL_INCHES * len(scored) + 0.7) as figure:
        panels = np.atleast_1d(figure.subplots(len(scored), 1))
        for axes, one in zip(panels, scored, strict=True):
            found = histogram(one)
            # Filled and outlined: told apart without colour.
            axes.stairs(
                found.nontarget,
                found.edges,
                fill=True,
                color=drawing.SERIES[0],
                alpha=0.35,
                label="nontarget",
            )
            axes.stairs(
                found.target,
                found.edges,
                color=drawing.SERIES[1],
                linewidth=1.4,
                label="target",
            )
            axes.axvline(one.eer.threshold, color=drawing.INK, linewidth=0.8, linestyle=(0, (4, 3)))
            axes.set_title(f"{one.name}: EER {one.eer.percent:.2f} %", loc="left")
            axes.set_yticks([])
        handles = panels[0].get_legend_handles_labels()
        figure.legend(*handles, loc="outside lower right", ncols=2)
        panels[-1].set_xlabel("score (dashed: the threshold of the EER)", loc="left")
        figure.suptitle(title)
    return figure


def _mean_eer(trainings: Sequence[Scored]) -> float:
    return 100 * float(np.mean([one.eer.rate for one in trainings]))


def _probits(one: Scored, points: int) -> tuple[Floats, Floats]:
    """False-alarm and miss rates on the probit scale, at most `points`, evenly along the curve.

    Rates of 0 and 1 lie at infinity and are left out.
    """
    curve = det(one.of(True), one.of(False))
    rates = np.array([curve.false_alarm_rate, curve.miss_rate])
    x, y = ndtri(rates[:, ((rates > 0) & (rates < 1)).all(axis=0)])
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], points)))[: len(x)]
    return x[kept], y[kept]


def _nearest(false_alarm: Floats, miss: Floats) -> list[int]:
    """Where the two rates are nearest, to be marked; nothing on an empty curve."""
    return [int(np.argmin(np.abs(false_alarm - miss)))] if len(miss) else []
