"""Scores of this repository, as they stand in the workspace or stood at a commit.

Those of a commit are brought by DVC, from its cache or a remote, into a folder of their own. DVC
runs as a process of its own, as it does for a user.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from harness.errors import ConfigError, DataError, ResourceError
from harness.pipeline.layout import Layout
from harness.reports.commits import Commit, find_commit
from harness.reports.difference import Side
from harness.reports.lockfile import FILE_NAME, read_lock
from harness.runtime import events
from harness.runtime.parameters import NAME

SEED_FOLDER = re.compile(r"seed-(0|[1-9][0-9]*)")
FORMS = "give SYSTEM/ATTACKER or results/BENCHMARK/scores/SYSTEM/ATTACKER, or its seed-N"


@dataclass(frozen=True)
class Wanted:
    """Scores that were asked for. text: as they were. revision: None for the workspace. seed: None
    for all."""

    text: str
    revision: str | None
    benchmark: str
    system: str
    attacker: str
    seed: int | None

    @property
    def folder(self) -> Path:
        """Of all seeds, relative to the repository's root."""
        return Layout(self.benchmark).scores(self.system, self.attacker, self.seed or 0).parent


def parse(text: str, benchmark: str) -> Wanted:
    """What `[REV:]PATH` asks for. benchmark: of a path that names none.

    Raises ConfigError for a path that is not one of scores.
    """
    revision, colon, path = text.rpartition(":")
    parts = PurePosixPath(path).parts
    if parts[:1] == ("results",):
        parts, benchmark = (parts[3:], parts[1]) if parts[2:3] == ("scores",) else ((), benchmark)
    seed = SEED_FOLDER.fullmatch(parts[2]) if len(parts) == 3 else None
    named = all(NAME.fullmatch(part) for part in (benchmark, *parts))
    if not named or not (len(parts) == 2 or seed) or (colon and not revision):
        raise ConfigError("not a folder of scores", where=text, fix=FORMS)
    return Wanted(
        text,
        revision or None,
        benchmark,
        system=parts[0],
        attacker=parts[1],
        seed=int(seed[1]) if seed else None,
    )


def find(wanted: Wanted, work: Path, root: Path = Path()) -> Side:
    """The scores, and the lists and the lock that belong to them.

    work: where files of a commit are put; not there yet. root: of the repository.
    Raises DataError where there are none, ConfigError for a commit that is not there,
    ResourceError without git or DVC.
    """
    layout = Layout(wanted.benchmark)
    if wanted.revision is None:
        lock, where = _workspace_lock(root), FILE_NAME
        scores, corpus = root / wanted.folder, root / layout.corpus
    else:
        commit = find_commit(wanted.revision, root)
        lock, where = commit.read(PurePosixPath(FILE_NAME)), f"{FILE_NAME} at {wanted.revision}"
        scores, corpus = work / "scores", work / "corpus"
        work.mkdir(parents=True)
        _bring(commit, wanted.folder, scores)
        _bring(commit, layout.corpus / "lists", corpus / "lists")
    stages = read_lock(lock.decode("utf-8", "replace"), wanted.benchmark, where)
    by_seed = _by_seed(scores, wanted)
    return Side(
        name=wanted.text,
        benchmark=wanted.benchmark,
        system=wanted.system,
        attacker=wanted.attacker,
        folder=PurePosixPath(wanted.folder),
        scores=by_seed,
        corpus=corpus,
        stages=stages,
        runs={seed: _run(folder) for seed, folder in by_seed.items()},
    )


def _workspace_lock(root: Path) -> bytes:
    try:
        return (root / FILE_NAME).read_bytes()
    except FileNotFoundError as error:
        raise DataError(
            "no such file", where=FILE_NAME, fix="run it at the root of the repository"
        ) from error


def _bring(commit: Commit, path: Path, target: Path) -> None:
    """Let DVC bring an output of a commit to `target`."""
    if find_spec("dvc") is None:
        raise ResourceError(
            "DVC is not installed", where=commit.revision, fix="install requirements/full.lock"
        )
    command = [sys.executable, "-P", "-m", "dvc", "get", "--rev", commit.sha]
    done = subprocess.run(
        [*command, "--out", str(target.absolute()), ".", str(path)],
        cwd=commit.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0 or not target.is_dir():
        said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise DataError(
            f"DVC cannot bring it ({said[0] if said else f'exit status {done.returncode}'})",
            where=f"{commit.revision}:{path}",
            fix="see that its params.yaml has this benchmark, and that the cache or a remote "
            "(`dvc fetch --all-commits`) has its outputs",
        )


def _by_seed(scores: Path, wanted: Wanted) -> dict[int, Path]:
    """Folders of the seeds that were asked for, in ascending order."""
    found: dict[int, Path] = {}
    for folder in scores.glob("seed-*"):
        seed = SEED_FOLDER.fullmatch(folder.name)
        if seed and folder.is_dir() and wanted.seed in (None, int(seed[1])):
            found[int(seed[1])] = folder
    if not found:
        raise DataError("no scores there", where=wanted.text, fix="run `dvc repro`, or name others")
    return dict(sorted(found.items()))


def _run(folder: Path) -> Mapping[str, Any]:
    """The event with which the stage `score` begins; nothing where it is not there."""
    path = folder / events.FILE_NAME
    if not path.is_file():
        return {}
    return next((event for event in events.read_events(path) if event["event"] == "run"), {})
