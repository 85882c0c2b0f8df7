"""`harness track`: the MLflow store."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def register(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser("track", help="the MLflow store")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    importing = actions.add_parser("import", help="make the runs of stages that are not in it yet")
    importing.add_argument("--benchmark", metavar="NAME", help="only runs of this benchmark")
    importing.set_defaults(handler=run)
    checking = actions.add_parser("check", help="say whether it can be used")
    checking.set_defaults(handler=run)


def run(args: argparse.Namespace) -> int:
    from harness.runtime.parameters import FILE_NAME, load
    from harness.tracking.quiet import redacted
    from harness.tracking.store import open_store

    store = open_store(load(Path(FILE_NAME)).tracking)
    if store is None:
        print(f"tracking is off (tracking.enabled: false in {FILE_NAME})")
    elif args.action == "check":
        print(f"tracking works: {redacted(store.uri)}")
    else:
        from harness.tracking.importer import import_runs

        report = import_runs(store, Path(), args.benchmark)
        for problem in report.problems:
            print(f"warning: {problem}")
        print(f"{len(report.imported)} runs imported, {len(report.already)} already there")
    return 0
