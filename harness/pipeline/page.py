"""The page of what is there: some of a benchmark's runs, a ranking of submissions, or both."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.errors import ConfigError, DataError
from harness.pipeline.context import Context, open_context
from harness.pipeline.layout import Layout
from harness.pipeline.report import Report, Run, make_page, make_report, runs_of
from harness.protocols import protocol as protocols
from harness.protocols import ranking as rankings
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.protocol import Protocol
from harness.protocols.typed import did_you_mean
from harness.ranking.document import LARGEST, from_json
from harness.reports.page import Fact, Page
from harness.runtime.files import sha256_bytes
from harness.runtime.parameters import FILE_NAME, load


def page_of(benchmark: str | None, ranking_file: Path | None) -> Page:
    """The page of what is there: runs that have scores, and a ranking that `harness rank` wrote.

    benchmark: the ranking's, or else that of params.yaml, where none is named. Raises ConfigError
    where it has no page or the ranking is of another one, DataError where there is nothing to show.
    """
    ranking, facts = None, []
    if ranking_file is not None:
        with ranking_file.open("rb") as stream:
            # One byte more, so that what is too large is refused and not cut.
            data = stream.read(LARGEST + 1)
        ranking = from_json(data, ranking_file)
        facts = [Fact("ranking of submissions", f"sha256 {sha256_bytes(data)}", ranking_file.name)]
    name = benchmark or (load().benchmark.name if ranking is None else ranking.benchmark)
    named_in = None if benchmark else ranking_file
    protocol = _edition(name, named_in)
    if ranking is not None:
        _require_attackers(name, named_in)
    if ranking is not None and ranking.benchmark != name:
        raise ConfigError(
            f"a ranking of {ranking.benchmark}, not of {name}",
            where=ranking_file,
            fix="name its benchmark",
        )
    context = _context(name)
    runs = [] if context is None else [one for one in runs_of(context) if _has_scores(context, one)]
    if context is not None and runs:
        report = make_report(context, runs)
        page = report.page if _on_disk(report, context) else _without_files(report.page, context)
        return replace(page, ranking=ranking or page.ranking, provenance=(*facts, *page.provenance))
    if ranking is None:
        _require_attackers(name, named_in)
        raise DataError(
            "nothing to show: no scores here",
            where=Layout(name).results,
            fix="run `dvc repro`, or give --ranking FILE",
        )
    return make_page(protocol, None, ranking, facts)


def _edition(name: str, where: Path | None) -> Protocol:
    """The protocol of a benchmark; where: the file that names it, None for the user.

    Raises ConfigError for an unknown one.
    """
    if name not in protocols.names():
        raise ConfigError(
            f"unknown benchmark {name!r}", where=where, fix=did_you_mean(name, protocols.names())
        )
    return protocols.load(name)


def _require_attackers(name: str, where: Path | None) -> None:
    """Raises ConfigError for an edition whose rankings no page shows; where: as in `_edition`."""
    if isinstance(rankings.load(name), AnonymizerRanking):
        raise ConfigError(
            f"{name} ranks anonymizers, and has no page",
            where=where,
            fix=f"run `harness rank --benchmark {name}`",
        )


def _on_disk(report: Report, context: Context) -> bool:
    """Whether the stage has left the very same tables and pictures."""
    paths = {context.layout.report / name: data for name, data in report.files.items()}
    return all(path.is_file() and path.read_bytes() == data for path, data in paths.items())


def _without_files(page: Page, context: Context) -> Page:
    """A page that refers to nothing in the report's folder."""
    folder = f"{context.layout.report.as_posix()}/"
    facts = tuple(
        replace(one, file=None) if (one.file or "").startswith(folder) else one
        for one in page.provenance
    )
    if page.results is None:
        return replace(page, provenance=facts)
    figures = tuple(replace(one, files=()) for one in page.results.figures)
    return replace(page, results=replace(page.results, figures=figures), provenance=facts)


def _context(name: str) -> Context | None:
    """That of a benchmark of params.yaml; None where there is no such file or benchmark."""
    if not Path(FILE_NAME).is_file():
        return None
    parameters = load()
    known = {*parameters.benchmarks, parameters.benchmark.name}
    return open_context(name) if name in known else None


def _has_scores(context: Context, run: Run) -> bool:
    return context.layout.scores(run.system, run.attacker, run.seed).is_dir()
