"""Anonymizers ranked within minimums of privacy, as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from harness.ranking.conditions.model import Board, ConditionRanking, Entry
from harness.submissions.shown import printable
from harness.submissions.table import aligned

NOTHING = "-"
# Official scripts print three.
DECIMALS = 3


def to_text(ranking: ConditionRanking) -> str:
    """Rules, a table for each minimum and track, what is not ranked, and all values.

    What a terminal would obey is made visible.
    """
    edition = ranking.edition
    lines = [f"{edition.name}: {edition.title}"]
    lines += [f"  {rule}" for rule in edition.rules]
    for board in ranking.boards:
        lines += ["", *_board(board, ranking)]
    if any(entry.unranked for entry in ranking.entries):
        lines += ["", "not ranked"]
        lines += [
            f"  {_name(entry)}: {reason}" for entry in ranking.entries for reason in entry.unranked
        ]
    lines += _told(ranking)
    if ranking.entries:
        lines += ["", f"all systems, and how far each is from the next {edition.group}"]
        lines += _values(ranking)
        lines += ["", "Pareto fronts: no other system is as good in all of these and better in one"]
        for front in ranking.fronts:
            names = ", ".join(map(_name, front.entries)) or "nobody"
            lines.append(f"  {' and '.join(front.measures)}: {names}")
        lines += ["", *_changes(ranking)]
    return "".join(f"{printable(line)}\n" for line in lines)


def _told(ranking: ConditionRanking) -> Iterator[str]:
    """What of submissions was not checked, and what looks odd about them."""
    edition = ranking.edition
    submitted = [entry for entry in ranking.entries if entry.submission]
    if not submitted:
        return
    yield ""
    yield f"of the {len(submitted)} systems of submissions"
    yield f"  {edition.privacy}: computed from their scores"
    for measure in edition.measures:
        count = sum(measure.name in entry.claimed for entry in submitted)
        if count:
            yield (f"  {measure.name}: claimed by {count}, not checkable; it takes {measure.needs}")
    for entry in submitted:
        for remark in entry.remarks:
            yield f"  {_name(entry)}: {remark}"


def _board(board: Board, ranking: ConditionRanking) -> Iterator[str]:
    edition = ranking.edition
    privacy, track = edition.measure(edition.privacy), edition.measure(board.track)
    yield (
        f"{edition.group} with {privacy.name} of at least {board.minimum:g} {privacy.unit}, "
        f"by {track.name} ({track.better} is better)"
    )
    if not board.rows:
        yield "  nobody"
        return
    others = [one for one in edition.measures if one not in (track, privacy)]
    splits = sorted(edition.splits, key=lambda split: split != edition.split)
    columns = [
        (one.name, split)
        for one in (track, privacy, *others)
        for split in splits
        if any(split in row.entry.means[one.name] for row in board.rows)
    ]
    rows = [
        (
            NOTHING if row.rank is None else str(row.rank),
            printable(row.entry.team),
            printable(row.entry.system),
            *(_number(row.entry.means[name].get(split)) for name, split in columns),
        )
        for row in board.rows
    ]
    header = ("rank", "team", "system", *(f"{name} {split}" for name, split in columns))
    for line in aligned([header, *rows], {0, *range(3, len(header))}):
        yield f"  {line}"
    if any(row.rank is None for row in board.rows):
        yield f"  {NOTHING}: not the best of its team here"


def _values(ranking: ConditionRanking) -> Iterator[str]:
    edition = ranking.edition
    header = ("team", "system", edition.privacy, "reaches", "next", "short by")
    rows = [
        (
            printable(entry.team),
            printable(entry.system),
            _number(entry.means[edition.privacy].get(edition.split)),
            f"{entry.reached[-1]:g}" if entry.reached else NOTHING,
            NOTHING if entry.next is None else f"{entry.next:g}",
            NOTHING if entry.short is None else _gap(entry.short),
        )
        for entry in ranking.entries
    ]
    for line in aligned([header, *rows], range(2, len(header))):
        yield f"  {line}"


def _changes(ranking: ConditionRanking) -> Iterator[str]:
    edition = ranking.edition
    if ranking.original is None:
        yield (f"no changes against original speech: no table has the system `{edition.original}`")
        return
    names = (edition.privacy, *edition.tracks)
    yield f"change against original speech, in % of its value ({edition.split})"
    rows = [("team", "system", *names)]
    rows += [
        (
            printable(entry.team),
            printable(entry.system),
            *(_change((entry.changes or {}).get(name)) for name in names),
        )
        for entry in ranking.entries
    ]
    before = (_number(ranking.original[name].get(edition.split)) for name in names)
    rows.append(("", f"{edition.original} has", *before))
    for line in aligned(rows, range(2, 2 + len(names))):
        yield f"  {line}"


def _name(entry: Entry) -> str:
    return f"{entry.team} {entry.system}"


def _number(value: Fraction | None) -> str:
    return NOTHING if value is None else f"{float(value):.{DECIMALS}f}"


def _gap(short: Fraction) -> str:
    """Never 0.000: a minimum that is missed is missed."""
    least = Fraction(1, 10**DECIMALS)
    return f"<{float(least):g}" if short < least else _number(short)


def _change(percent: Fraction | None) -> str:
    return NOTHING if percent is None else f"{float(percent):+.1f}"
