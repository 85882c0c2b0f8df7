"""Pictures of scored lists: DET curves on probit axes, and score histograms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy.special import ndtri

from harness.metrics.det import det
from harness.reports.evaluation import Scored
from harness.runtime.files import whole_file

TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
BINS = 60
DPI = 100


def _save(figure: Figure, path: Path) -> None:
    # The creator's version would change the bytes without changing the picture.
    with whole_file(path) as temporary, matplotlib.rc_context({"svg.hashsalt": "harness"}):
        figure.savefig(temporary, format="png", dpi=DPI, metadata={"Software": None})


def draw_det(scored: Sequence[Scored], title: str, path: Path) -> None:
    """One DET curve per list, with its EER in the legend."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    axes = figure.subplots()
    for one in scored:
        curve = det(one.of(True), one.of(False))
        with np.errstate(divide="ignore"):
            axes.plot(
                ndtri(curve.false_alarm_rate),
                ndtri(curve.miss_rate),
                label=f"{one.name}: {one.eer.percent:.2f} %",
            )
    limits = ndtri([TICKS[0], TICKS[-1]])
    axes.plot(limits, limits, color="0.8", linewidth=1, zorder=0)
    for axis, set_limits in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        axis.set_ticks(ndtri(TICKS), [f"{100 * tick:g}" for tick in TICKS])
        set_limits(*limits)
    axes.set(xlabel="false-alarm rate (%)", ylabel="miss rate (%)", title=title)
    axes.grid(color="0.9")
    axes.legend(fontsize="small", loc="upper right")
    _save(figure, path)


def draw_histograms(scored: Sequence[Scored], title: str, path: Path) -> None:
    """Densities of target and nontarget scores, one panel per list, with the EER's threshold."""
    figure = Figure(figsize=(7, 2.2 * len(scored) + 0.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(len(scored), 1))
    for axes, one in zip(panels, scored, strict=True):
        bins = np.linspace(float(one.scores.min()), float(one.scores.max()) + 1e-6, BINS)
        for target, label in ((False, "nontarget"), (True, "target")):
            axes.hist(one.of(target), bins=bins, density=True, alpha=0.6, label=label)
        axes.axvline(one.eer.threshold, color="0.3", linewidth=1)
        axes.set_title(f"{one.name}: EER {one.eer.percent:.2f} %", fontsize="small")
    panels[0].legend(fontsize="small")
    panels[-1].set_xlabel("score")
    figure.suptitle(title)
    _save(figure, path)
