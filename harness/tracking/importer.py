"""Runs of the MLflow store made from the files that stages left.

DVC brings the outputs of a stage from its cache without running it; `events.jsonl` among them is
enough to make the run that somebody else's store, or a deleted one, held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import TrackingError
from harness.runtime.events import FILE_NAME, read_events
from harness.runtime.files import sha256_file
from harness.tracking.fields import run_tags
from harness.tracking.quiet import BRIEF, failures, quietly, reason, redacted
from harness.tracking.sink import EVENTS_TAG, IMPORT, RunSink
from harness.tracking.store import Store

FOLDERS = (Path("models"), Path("results"), Path("submissions/reports"))


@dataclass(frozen=True)
class ImportReport:
    """Files of events whose runs were made, and whose runs were there already.

    problems: artifacts that an imported run names but that are gone, one line each.
    """

    imported: tuple[Path, ...]
    already: tuple[Path, ...]
    problems: tuple[str, ...] = ()


def import_runs(
    store: Store,
    root: Path,
    benchmark: str | None = None,
    folders: Sequence[Path] = FOLDERS,
    source: str = IMPORT,
) -> ImportReport:
    """Make the runs that are not in the store yet; of one benchmark only, if it is given.

    folders: where to look, relative to `root`. source: LIVE by a stage that has just written them.

    Raises DataError on a damaged file and TrackingError when the store fails; what was imported
    before stays, and a second call goes on.
    """
    imported: list[Path] = []
    already: list[Path] = []
    problems: list[str] = []
    for path in sorted(path for folder in folders for path in (root / folder).rglob(FILE_NAME)):
        run = next((event for event in read_events(path) if event["event"] == "run"), None)
        if run is None or (benchmark is not None and run.get("benchmark") != benchmark):
            continue
        stage = run_tags(run)["harness.key"]
        sha256 = sha256_file(path)
        if _holds(store, run["benchmark"], sha256):
            already.append(path)
            continue
        sink = RunSink(
            store,
            identity=f"{source}-{sha256}",
            dvc_stage=stage,
            source=source,
            root=root,
            milliseconds=path.stat().st_mtime_ns // 1_000_000,
        )
        sink.finish(path.parent)
        if not sink.finished:
            raise TrackingError(sink.problems[-1], where=path)
        imported.append(path)
        problems.extend(sink.problems)
    return ImportReport(tuple(imported), tuple(already), tuple(problems))


def _holds(store: Store, benchmark: str, sha256: str) -> bool:
    with quietly(BRIEF):
        try:
            runs = store.client.search_runs(
                [store.experiment(benchmark)],
                filter_string=f"tags.`{EVENTS_TAG}` = '{sha256}' "
                "AND attributes.status = 'FINISHED'",
                max_results=1,
            )
        except failures() as error:
            raise TrackingError(
                f"the MLflow store failed ({reason(error)})",
                where=redacted(store.uri),
                fix="run `harness track check`",
            ) from error
    return bool(runs)
