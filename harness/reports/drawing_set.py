"""All pictures of a page: what each shows, in words too, and the files that hold it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from statistics import fmean

from matplotlib.figure import Figure as Drawn

from harness.reports import drawing
from harness.reports.drawing_overview import Panel, heat_figure, speakers_figure
from harness.reports.drawing_tradeoff import tradeoff_figure
from harness.reports.figures import det_figure, histogram_figure
from harness.reports.measured import Measured, Training, mean_percent
from harness.reports.page import Figure, ResultRow, Utility
from harness.reports.published import PUBLISHED_SCENARIOS
from harness.reports.tradeoff import Tradeoff

FOLDER = "plots"
# Files beside the folders of the systems.
HEAT_MAP, TRADEOFF = "heat-map", "tradeoff"
# Tables of the numbers drawn, in the report's folder.
HISTOGRAMS, SPEAKERS = "histograms.csv", "speakers.csv"


@dataclass(frozen=True)
class Picture:
    """A figure of the page, and its files by name, relative to the report's folder."""

    figure: Figure
    files: dict[str, bytes]


def pictures(
    measured: Sequence[Measured],
    rows: Sequence[ResultRow],
    split: str,
    utility: Utility | None,
    *,
    folder: str,
    curves: str,
) -> Iterator[Picture]:
    """DET curves, histograms and speakers of each system, attacker and scenario, the heat map, and
    privacy beside utility.

    rows, utility: of the same, for the last two, which are of `split`. folder: of the report,
    curves: a table of all DET curves; relative to the repository.
    """
    for one in measured:
        lists = [[training.scored for training in trainings] for trainings in one.lists]
        eers = ", ".join(f"{_list_name(each)} {mean_percent(each):.2f} %" for each in one.lists)
        several = len(one.seeds) > 1
        first = f"{one.name}, seed {one.seeds[0]}" if several else one.name
        yield _picture(
            f"{_place(one)}/det",
            folder,
            det_figure(lists, one.name),
            title=f"DET curves: {one.name}",
            caption="Miss rate against false-alarm rate at every threshold, on probit axes; the "
            "marks are the official EERs."
            + (f" One curve for each of {len(one.seeds)} trainings." if several else ""),
            text=f"EER by list: {eers}.",
            source=curves,
        )
        yield _picture(
            f"{_place(one)}/histograms",
            folder,
            histogram_figure([scored[0] for scored in lists], first),
            title=f"Scores: {first}",
            caption="How the scores of target and nontarget trials are distributed; each class has "
            "the same area. Dashed: the threshold of the official EER.",
            text="; ".join(_means(each[0]) for each in one.lists) + ".",
            source=str(_scores(one)),
            table=HISTOGRAMS,
        )
        panels = [
            Panel(
                f"{_list_name(each)}: EER {mean_percent(each):.2f} %",
                mean_percent(each),
                _by_name(each),
            )
            for each in one.lists
        ]
        yield _picture(
            f"{_place(one)}/speakers",
            folder,
            speakers_figure(panels, one.name),
            title=f"Enrolled speakers: {one.name}",
            caption="The EER of each enrolled speaker's trials at a threshold of its own; dashed: "
            "of the list, at one threshold for all."
            + (" Dots are means over trainings, lines their range." if several else ""),
            text=" ".join(map(_extremes, panels)),
            # Of all trainings.
            source=str(_scores(one).parents[1]),
            table=SPEAKERS,
        )
    shown = [row for row in rows if row.split == split and row.scenario in PUBLISHED_SCENARIOS]
    percents = {(row.system, row.attacker): row.mean.percent for row in shown}
    title = f"EER in percent of {split}: {' and '.join(dict.fromkeys(r.scenario for r in shown))}"
    yield _picture(
        HEAT_MAP,
        folder,
        heat_figure(
            list(dict.fromkeys(row.system for row in shown)),
            list(dict.fromkeys(row.attacker for row in shown)),
            percents,
            title,
        ),
        title=title,
        caption="Mean over lists and trainings; the stronger the colour, the stronger the attack.",
        text=", ".join(f"{system} against {a}: {p:.2f}" for (system, a), p in percents.items())
        + ".",
        source=shown[0].file,
    )
    if utility is None:
        return
    found = [one for one in utility.tradeoffs if one.split == split]
    if found:
        title = f"Privacy and utility: {split}"
        yield _picture(
            TRADEOFF,
            folder,
            tradeoff_figure(found, utility.original, title),
            title=title,
            caption="Each system's EER over each measure of utility, with intervals as lines. "
            f"Filled: on the Pareto front; cross: original speech ({utility.original}).",
            text=" ".join(map(_kept, found)),
            source=utility.files[0],
        )


def _picture(
    stem: str,
    folder: str,
    drawn: Drawn,
    *,
    title: str,
    caption: str,
    text: str,
    source: str,
    table: str | None = None,
) -> Picture:
    """stem: the file below FOLDER without its ending. folder: of the report. table: of the numbers
    drawn, in that folder."""
    svg = drawing.svg(drawn)
    files = {f"{FOLDER}/{stem}.svg": svg.encode(), f"{FOLDER}/{stem}.png": drawing.png(drawn)}
    return Picture(
        Figure(
            title=title,
            caption=caption,
            text=text,
            # No two pictures have one place: names hold no `/`, and ids may hold anything.
            svg=drawing.inline(svg, stem),
            files=tuple(f"{folder}/{name}" for name in (*files, *([table] if table else []))),
            source=source,
        ),
        files,
    )


def _place(one: Measured) -> str:
    return f"{one.system}/{one.attacker}/{one.scenario}"


def _scores(one: Measured) -> PurePosixPath:
    """Where the scores of the first training stand, a folder for each list."""
    return PurePosixPath(one.lists[0][0].file).parents[1]


def _list_name(trainings: Sequence[Training]) -> str:
    listed = trainings[0].scored.listed
    return f"{listed.split}/{listed.gender}"


def _by_name(trainings: Sequence[Training]) -> dict[str, list[float]]:
    eers: dict[str, list[float]] = {}
    for training in trainings:
        for one in training.speakers:
            eers.setdefault(one.speaker, []).extend([] if one.eer is None else [one.eer.percent])
    return eers


def _means(training: Training) -> str:
    scored = training.scored
    target, nontarget = (float(scored.of(kind).mean()) for kind in (True, False))
    return (
        f"{scored.listed.split}/{scored.listed.gender}: mean score {target:.3g} of targets, "
        f"{nontarget:.3g} of nontargets"
    )


def _kept(one: Tradeoff) -> str:
    values = ", ".join(
        f"{kept.measure} {kept.value:.2f} ({', '.join(filter(None, (kept.dataset, kept.by)))})"
        for kept in one.kept
    )
    return f"{one.system}{', on the Pareto front' if one.front else ''}: {values}."


def _extremes(panel: Panel) -> str:
    means = {name: fmean(eers) for name, eers in panel.speakers.items() if eers}
    if not means:
        return f"{panel.title}; no speaker has an EER."
    lowest, highest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    return (
        f"{panel.title}; speakers from {means[lowest]:.2f} % ({lowest}) to "
        f"{means[highest]:.2f} % ({highest})."
    )
