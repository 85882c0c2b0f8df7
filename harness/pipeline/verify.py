"""The stage `verify`: every submission of an inbox, its report kept, an MLflow run each.

`submissions/inbox/<benchmark>/` holds archives and folders as they came; each gets a folder of its
name in `submissions/reports/<benchmark>/`. A refuted submission is a result, not a failure.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.errors import DataError
from harness.pipeline.context import Context
from harness.runtime.events import Events
from harness.runtime.files import finished_folder, folder_fingerprint, work_folder, write_text
from harness.runtime.parameters import LISTS_VARIABLE, Tracking
from harness.submissions.document import to_json
from harness.submissions.model import SubmissionResult, Verification
from harness.submissions.table import to_text
from harness.submissions.verification import Options, verify
from harness.tracking.sink import RunSink
from harness.tracking.store import open_store

STAGE = "verify"
REPORT_FILE = "verification.json"
TABLE_FILE = "verification.txt"
# Enough for every search to end by itself: a report does not depend on the machine's speed.
EXPLAIN_SECONDS = 3600.0


def run(context: Context) -> str:
    """Verify all of the inbox together; returns the lines that tell a person the verdicts."""
    layout = context.layout
    paths = _inbox(layout.inbox)
    options = Options(
        trials=context.parameters.folder(LISTS_VARIABLE), explain_seconds=EXPLAIN_SECONDS
    )
    verification = verify(paths, context.protocol, options)
    work = work_folder(STAGE, to_json(verification))
    with finished_folder(layout.reports, work) as folder:
        for submission in verification.submissions:
            write_report(verification, submission, folder / submission.name)
    problems = []
    for submission in verification.submissions:
        problems += log(layout.reports / submission.name, context.parameters.tracking)
    lines = [f"{one.name}: {one.verdict}" for one in verification.submissions]
    return "\n".join([*lines, *(f"tracking: {problem}" for problem in problems)])


def _inbox(folder: Path) -> list[Path]:
    """What lies in the inbox, in C order. Raises DataError when there is nothing."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = [path for path in paths if not path.name.startswith(".")]
    if not paths:
        raise DataError("no submission", where=folder, fix="put archives or folders there")
    return paths


def write_report(verification: Verification, submission: SubmissionResult, folder: Path) -> None:
    """Write one submission's report to `folder`, and the events that its MLflow run is made of."""
    alone = replace(verification, submissions=[submission], verdict=submission.verdict)
    report = to_json(alone)
    benchmark = verification.protocol.name
    key = f"{STAGE}@{benchmark}-{submission.name}"
    events = Events()
    events.emit(
        "run",
        stage=STAGE,
        key=key,
        benchmark=benchmark,
        submission=submission.name,
        verdict=submission.verdict,
        datasets=[
            {
                "name": f"{benchmark}/{name}",
                "digest": one.sha256,
                "context": "trials",
            }
            for name, one in verification.reference_of(submission).lists.items()
        ],
    )
    for one in submission.lists:
        if one.eer is not None:
            events.emit(
                "metric", name=f"eer/{one.system}/{one.list}", value=one.eer.percent, step=0
            )
    for verdict in ("verified", "refuted", "not checkable"):
        count = sum(claim.verdict == verdict for claim in submission.claims)
        events.emit("metric", name=f"claims/{verdict}", value=count, step=0)
    write_text(folder / REPORT_FILE, report)
    write_text(folder / TABLE_FILE, to_text(alone))
    for name in (REPORT_FILE, TABLE_FILE):
        events.emit("artifact", path=name)
    events.emit("done")
    events.write(folder)


def log(folder: Path, tracking: Tracking) -> list[str]:
    """Log the report in `folder` as an MLflow run, if tracking is on.

    Returns what went wrong with tracking, one line each: it never takes a report away.
    """
    store = open_store(tracking)
    if store is None:
        return []
    identity = folder_fingerprint(folder)
    with RunSink(store, identity=identity, dvc_stage=STAGE) as sink:
        sink.finish(folder)
    return sink.problems
