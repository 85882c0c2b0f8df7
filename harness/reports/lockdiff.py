"""A rebuilt result against the committed one, stage by stage.

The same inputs give the same bytes only on the same CPU type and with the same number of threads.
Elsewhere models and scores differ in their last digits, training amplifies that, and what must
agree is the EER, within the noise of training an attacker again. So every output is compared by
its hash in `dvc.lock`, and where hashes differ the EERs of the benchmark decide: the averages, and
each list for itself, since moves of f and m in opposite directions cancel in their average.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

import pandas as pd

from harness.errors import ConfigError, DataError, IntegrityError
from harness.reports.commits import find_commit
from harness.reports.evaluation import (
    AVERAGE_COLUMNS,
    AVERAGES_FILE,
    COLUMNS,
    DECIMALS,
    EER_FILE,
    parse_table,
)
from harness.reports.freshness import require_fresh
from harness.reports.lockfile import FILE_NAME, Stage, differing_inputs, read_lock

# Percentage points of EER: an attacker trained again on the same data moves 1 to 2 points
# (VoicePrivacy 2024, B2 and B3 trained two and three times by the organizers).
EER_BAND_POINTS = 2.0
# The band of one list, as a multiple of the band of averages. A list has half of the trials of the
# average of f and m, so its EER is noisier; and where one list moves alone, by twice the band, the
# average of the two moves by the band.
LIST_BAND_FACTOR = 2.0
KEY_COLUMNS = AVERAGE_COLUMNS[:-1]
LIST_KEY_COLUMNS = (*KEY_COLUMNS, "gender")

Status = Literal["identical", "within the band", "different bytes", "different", "missing"]
Verdict = Literal["identical", "within the band", "different"]
Read = Callable[[PurePosixPath], bytes]
Key = tuple[str, ...]


@dataclass(frozen=True)
class Result:
    """One side. stages: in pipeline order. averages, eers: in percent, of splits and of single
    lists, by what they belong to. lists: hashes of the trial lists, by the same as eers."""

    stages: Mapping[str, Stage]
    averages: Mapping[Key, float]
    eers: Mapping[Key, float]
    lists: Mapping[Key, str]


@dataclass(frozen=True)
class StageDifference:
    """A stage on both sides; note: what differs in its inputs, or where it is missing."""

    name: str
    status: Status
    note: str = ""


@dataclass(frozen=True)
class Move:
    """An EER or an average on both sides, in percent; None where a side lacks it."""

    key: Key
    committed: float | None
    rebuilt: float | None

    @property
    def points(self) -> float | None:
        """Rebuilt minus committed, in percentage points."""
        if self.committed is None or self.rebuilt is None:
            return None
        return round(self.rebuilt - self.committed, DECIMALS)

    def within(self, band: float) -> bool:
        """Whether both are there and at most `band` points apart."""
        return self.points is not None and abs(self.points) <= band


@dataclass(frozen=True)
class Comparison:
    """All of it. moves: of averages. list_moves: of single lists. Bands are in percentage points.

    lists_differ: an EER on both sides comes from different trial lists.
    """

    stages: tuple[StageDifference, ...]
    moves: tuple[Move, ...]
    list_moves: tuple[Move, ...]
    lists_differ: bool
    band: float
    list_band: float
    verdict: Verdict


def from_workspace(benchmark: str, results: PurePosixPath, root: Path = Path()) -> Result:
    """The rebuilt result. results: folder of the benchmark's tables, relative to `root`.

    Raises DataError when an output is not there, IntegrityError when anything that the benchmark
    read or wrote is not what the lock says (see `require_fresh`).
    """

    def read(path: PurePosixPath) -> bytes:
        try:
            return (root / path).read_bytes()
        except FileNotFoundError as error:
            raise DataError("nothing rebuilt here", where=path, fix="run `dvc repro`") from error

    result = read_result(benchmark, results, read, FILE_NAME)
    require_fresh(result.stages, benchmark, root)
    return result


def from_commit(
    benchmark: str, results: PurePosixPath, revision: str = "HEAD", root: Path = Path()
) -> Result:
    """The result committed at a revision of the repository. Raises ConfigError, DataError."""
    commit = find_commit(revision, root)
    return read_result(benchmark, results, commit.read, f"{FILE_NAME} at {revision}")


def read_result(benchmark: str, results: PurePosixPath, read: Read, where: str) -> Result:
    """A result through `read`, which gives the bytes of a path. Raises ConfigError, DataError,
    IntegrityError."""
    lock = read(PurePosixPath(FILE_NAME)).decode("utf-8", "replace")
    stages = read_lock(lock, benchmark, where)
    locked = {path: md5 for stage in stages.values() for path, md5 in stage.outs.items()}

    def table(name: str, columns: Iterable[str]) -> pd.DataFrame:
        path = results / name
        data = read(path)
        found = hashlib.md5(data, usedforsecurity=False).hexdigest()
        expected = locked.get(str(path), found)
        if found != expected:
            raise IntegrityError(
                f"md5 {found} (expected {expected})",
                where=f"{path} beside {where}",
                fix="run `dvc repro`, or commit both together",
            )
        return parse_table(data, list(columns), path)

    averages = table(AVERAGES_FILE, AVERAGE_COLUMNS)
    eers = table(EER_FILE, COLUMNS)

    def percents(table: pd.DataFrame, columns: Iterable[str], name: str) -> dict[Key, float]:
        try:
            values = [float(value) for value in table["eer_percent"]]
        except ValueError as error:
            raise DataError(
                f"an EER is no number ({error})",
                where=f"{results / name} beside {where}",
                fix="run `dvc repro`",
            ) from error
        return dict(zip(_keys(table, columns), values, strict=True))

    return Result(
        stages=stages,
        averages=percents(averages, KEY_COLUMNS, AVERAGES_FILE),
        eers=percents(eers, LIST_KEY_COLUMNS, EER_FILE),
        lists=dict(zip(_keys(eers, LIST_KEY_COLUMNS), eers["trials_sha256"], strict=True)),
    )


def _keys(table: pd.DataFrame, columns: Iterable[str]) -> Iterable[Key]:
    return zip(*(table[column].map(str) for column in columns), strict=True)


def compare(
    committed: Result,
    rebuilt: Result,
    results: PurePosixPath,
    band: float = EER_BAND_POINTS,
    list_band: float | None = None,
) -> Comparison:
    """Both sides, stage by stage.

    band, list_band: percentage points by which an average and a single list may move; None for
    LIST_BAND_FACTOR times the band. Raises ConfigError for a bad band.
    """
    for option, points in (("--band", band), ("--list-band", list_band)):
        if points is not None and not 0 <= points <= 100:
            raise ConfigError(
                f"a band of {points} points", where=option, fix="give 0 to 100 points"
            )
    if list_band is None:
        list_band = LIST_BAND_FACTOR * band
    moves = _moves(committed.averages, rebuilt.averages)
    list_moves = _moves(committed.eers, rebuilt.eers)
    both = committed.lists.keys() & rebuilt.lists.keys()
    # EERs of different trial lists are not comparable, however near they are.
    lists_differ = any(committed.lists[key] != rebuilt.lists[key] for key in both)
    agree = (
        not lists_differ
        and all(move.within(band) for move in moves)
        and all(move.within(list_band) for move in list_moves)
    )
    names = [*committed.stages, *(n for n in rebuilt.stages if n not in committed.stages)]
    stages = tuple(_compare_stage(name, committed, rebuilt, results, agree) for name in names)
    statuses = {stage.status for stage in stages}
    verdict: Verdict = "within the band" if agree and "missing" not in statuses else "different"
    unmoved = all(move.points == 0 for move in (*moves, *list_moves))
    if statuses == {"identical"} and agree and unmoved:
        verdict = "identical"
    return Comparison(stages, moves, list_moves, lists_differ, band, list_band, verdict)


def _moves(committed: Mapping[Key, float], rebuilt: Mapping[Key, float]) -> tuple[Move, ...]:
    keys = [*committed, *(key for key in rebuilt if key not in committed)]
    return tuple(Move(key, committed.get(key), rebuilt.get(key)) for key in keys)


def _compare_stage(
    name: str, committed: Result, rebuilt: Result, results: PurePosixPath, agree: bool
) -> StageDifference:
    before, after = committed.stages.get(name), rebuilt.stages.get(name)
    if before is None or after is None:
        side = "only in the committed" if after is None else "only in the rebuilt"
        return StageDifference(name, "missing", f"{side} {FILE_NAME}")
    if before.outs == after.outs:
        return StageDifference(name, "identical")
    status: Status = "different bytes"
    if any(results in PurePosixPath(out).parents for out in after.outs):
        status = "within the band" if agree else "different"
    return StageDifference(name, status, differing_inputs(before, after))


def to_text(comparison: Comparison) -> str:
    """What a person reads: stages, averages and lists that differ, and last the verdict."""
    width = max(len(stage.name) for stage in comparison.stages)
    lines = [
        f"{stage.name:{width}}  {stage.status:15}  {stage.note}".rstrip()
        for stage in comparison.stages
    ]
    for kind, moves, band in (
        ("EER averages", comparison.moves, comparison.band),
        ("EERs of single lists", comparison.list_moves, comparison.list_band),
    ):
        moved = [_move_line(move, band) for move in moves if move.points != 0]
        if moved:
            lines += ["", f"{kind} in percent that differ; band {band:g} points:", *moved]
    if comparison.lists_differ:
        lines.append("the trial lists differ, so the EERs are not comparable")
    averages = f"{len(comparison.moves)} EER averages, band {comparison.band:g} points"
    lists = f"{len(comparison.list_moves)} lists, band {comparison.list_band:g} points"
    return "\n".join([*lines, "", f"verdict: {comparison.verdict} ({averages}; {lists})"]) + "\n"


def _move_line(move: Move, band: float) -> str:
    values = [
        f"{v:.{DECIMALS}f}" if v is not None else "none" for v in (move.committed, move.rebuilt)
    ]
    points = "" if move.points is None else f" ({move.points:+.{DECIMALS}f})"
    outside = "" if move.within(band) else "  outside the band"
    return f"  {' '.join(move.key[1:])}: {values[0]} -> {values[1]}{points}{outside}"
