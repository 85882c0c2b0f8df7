"""A page as one file of HTML: style, program, pictures and data are inside, and nothing is fetched.

What strangers wrote is text and stays text, three times over. Every value that a template puts out
passes `shown`, which makes invisible characters visible and cuts what is too long; Jinja2 escapes
it; and the page's policy lets a browser run and apply only what has the hash of our own files. The
one exception is `Figure.svg`, markup that this package drew.
"""

from __future__ import annotations

import hashlib
import posixpath
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.ranking.model import Status
from harness.reports.html.boards import BoardView, Heat, entries_of
from harness.reports.html.curves import DRAWN, Chart, series
from harness.reports.html.utility import UtilityView
from harness.reports.page import MeasureRow, Page, Results
from harness.submissions.shown import printable

HERE = Path(__file__).resolve().parent
# Characters of a stranger's text, and of any: messages are shorter, and what is longer was made to
# be in the way.
BRIEF, LONGEST = 600, 6000
Named = TypeVar("Named", str, tuple[str, str])


def render(page: Page, folder: str | None = None) -> str:
    """The whole page. The same page gives the same text.

    folder: where the file will lie, relative to the repository as `Figure.files` are. With it,
    pictures and tables are linked; without, they are named.
    """
    ranking = page.ranking
    results = page.results or Results((), (), ())
    boards = ranking.boards if ranking else ()
    entries = entries_of(ranking) if ranking else ()
    charts = [chart for chart in map(Chart.of, boards) if chart]
    heat = Heat.of(ranking) if ranking else None
    views = [BoardView.of(board, ranking.evidence) for board in boards] if ranking else []
    style = _text("page.css")
    script = _text("page.js")
    environment = templates()
    environment.tests["table"] = lambda path: path.endswith(".csv")
    environment.filters["series"] = series
    environment.filters["percent"] = "{:.2f}".format
    environment.filters["change"] = "{:z.2f}".format
    environment.filters["exact"] = "{:.3f}".format
    environment.filters["grouped"] = "{:,}".format
    text: str = environment.get_template("page.html.j2").render(
        page=page,
        ranking=ranking,
        results=results,
        utility=UtilityView.of(results.utility) if results.utility else None,
        rules=_union([page.rules, ranking.rules if ranking else ()]),
        genders=_union(row.by_gender for row in results.rows),
        measures=_union(row.values for row in results.measures),
        cautions=_union(row.cautions.items() for row in results.measures),
        style=style,
        style_hash=hash_of(style),
        script=script,
        script_hash=hash_of(script),
        boards=views,
        statuses=get_args(Status),
        views={view.board.system: view for view in views},
        heat=heat,
        figures=results.figures,
        measured=_by_training(results.measures),
        entries=entries,
        anchors={entry.name: entry.anchor for entry in entries},
        charts=charts,
        drawn=DRAWN,
        curves=[chart.data(brief) for chart in charts],
        link=lambda file: _link(file, folder),
    )
    return text


def templates() -> Environment:
    """The templates of this folder; whatever they put out is text, and visible."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["brief"] = brief
    return environment


def hash_of(text: str) -> str:
    """The hash of a style or a program, as a page's policy names it."""
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def shown(value: Any) -> Any:
    """What a template puts out for a value: of a text, one visible line of bounded length."""
    return value if hasattr(value, "__html__") else _bounded(value, LONGEST)


def brief(value: str) -> str:
    """The same of a stranger's text, of which less is shown."""
    return str(_bounded(value, BRIEF))


def _bounded(value: Any, longest: int) -> Any:
    if not isinstance(value, str):
        return value
    text = printable(value[: longest + 1])
    if len(value) <= longest and len(text) <= longest:
        return text
    return f"{text[:longest]} … (of {len(value):,} characters)"


def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _union(of_rows: Iterable[Iterable[Named]]) -> list[Named]:
    """What any row has, in the order of the first that has it."""
    return list(dict.fromkeys(one for row in of_rows for one in row))


def _by_training(
    measures: Iterable[MeasureRow],
) -> dict[tuple[str, str, str], dict[int, list[MeasureRow]]]:
    """The lists of each system, attacker and scenario, by seed."""
    found: dict[tuple[str, str, str], dict[int, list[MeasureRow]]] = {}
    for row in measures:
        place = (row.system, row.attacker, row.scenario)
        found.setdefault(place, {}).setdefault(row.seed, []).append(row)
    return found


def _link(file: str, folder: str | None) -> str | None:
    return None if folder is None else quote(posixpath.relpath(file, folder))
