"""A ranking of attackers as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.ranking.model import Board, Estimate, Method, Overall, Ranking, Row, TwoSided
from harness.ranking.rows import strongest_rows
from harness.submissions.shown import printable
from harness.submissions.table import aligned

NOTHING = "-"
# Of a stranger's text in a table.
LONGEST = 40
DECIMALS = 2


def to_text(ranking: Ranking) -> str:
    """All boards, then what is said of them together; what a terminal would obey is visible."""
    lines = [f"{ranking.title} ({ranking.benchmark}): attackers, EER in percent"]
    for board in ranking.boards:
        lines += ["", *_board(board, ranking.method)]
    if ranking.overall is not None:
        lines += ["", *_overall(ranking.overall)]
    if ranking.two_sided is not None:
        rows = {board.system: strongest_rows(board) for board in ranking.boards}
        lines += ["", *_two_sided(ranking.two_sided, rows)]
    lines += ["", "submissions"]
    lines += _indented(
        aligned([(_cut(one.name), _cut(one.attacker), one.verdict) for one in ranking.evidence], ())
        if ranking.evidence
        else ["none"]
    )
    if ranking.remarks:
        lines += ["", "remarks", *_indented(ranking.remarks)]
    notes = dict.fromkeys(note for board in ranking.boards for note in board.notes)
    if notes:
        lines += ["", "notes", *_indented(list(notes))]
    lines += ["", "rules", *_indented(ranking.rules), *_indented([_method(ranking.method)])]
    return "".join(f"{printable(line)}\n" for line in lines)


def _board(board: Board, method: Method) -> Iterator[str]:
    yield f"{board.system}: {board.title}" if board.title != board.system else board.system
    if not board.rows:
        yield "  no entry"
    else:
        others = list(
            dict.fromkeys(
                split for row in board.rows for split in row.averages or {} if split != board.split
            )
        )
        interval = f"{100 * method.level:g} % interval"
        header = ("rank", "team", "entry", board.split, interval, *others, "ranks", "tier", "")
        rows = [_row(row, board.split, others) for row in board.rows]
        right = (0, 3, *range(5, 5 + len(others)))
        yield from _indented(aligned([header, *rows], right))
    for one in board.references:
        yield f"  {one.label} ({one.source}), {one.split}: {one.percent:.{DECIMALS}f}"
    if board.strongest is not None:
        of = _attackers(board.strongest_of, strongest_rows(board))
        yield f"  strongest: {_with_interval(board.strongest)}, {of}"
    for reason in dict.fromkeys(_why_no_interval(board)):
        yield f"  no interval: {reason}"
    for row in board.rows:
        for reason in row.reasons:
            yield f"  {_cut(row.attacker)} ({_cut(row.entry)}), {row.status}: {reason}"


def _row(row: Row, split: str, others: Sequence[str]) -> tuple[str, ...]:
    averages = row.averages or {}
    status: str = row.status if row.rank is None else ""
    if not row.counted:
        status = "another entry of the team counts"
    if row.would_rank is not None:
        status += f", would be {row.would_rank}"
    return (
        NOTHING if row.rank is None else str(row.rank),
        _cut(row.attacker),
        _cut(row.entry),
        _percent(averages.get(split)),
        _interval(averages.get(split)),
        *(_percent(averages.get(other)) for other in others),
        NOTHING if row.ranks is None else f"{row.ranks[0]} to {row.ranks[1]}",
        NOTHING if row.tier is None else str(row.tier),
        status,
    )


def _why_no_interval(board: Board) -> Iterator[str]:
    """Of rows that take part."""
    for row in board.rows:
        estimate = (row.averages or {}).get(board.split)
        takes_part = row.rank is not None or row.would_rank is not None
        if takes_part and estimate is not None and estimate.reason is not None:
            yield estimate.reason


def _overall(overall: Overall) -> Iterator[str]:
    yield f"overall, {overall.top} are invited"
    rows = [
        (
            str(row.place),
            _cut(row.attacker),
            f"{row.score:.2f}",
            "invited" if row.place <= overall.top else "",
            ", ".join(f"{system} {rank}" for system, rank in row.ranks.items()),
        )
        for row in overall.rows
    ]
    header = ("place", "team", "mean rank", "", "ranks")
    yield from _indented(aligned([header, *rows], (0, 2)) if rows else ["nobody is ranked"])
    yield f"  {overall.rule}"


def _two_sided(two_sided: TwoSided, rows: Mapping[str, Mapping[str, Row | None]]) -> Iterator[str]:
    """rows: of the strongest attackers, by system and name."""
    yield "systems, most private first: the strongest attacker's EER"
    lines = [
        (
            system,
            _percent(two_sided.privacy[system]),
            _interval(two_sided.privacy[system]),
            _attackers(two_sided.strongest[system], rows.get(system, {})),
        )
        for system in two_sided.systems
    ]
    yield from _indented(aligned([("system", "EER", "interval", "strongest"), *lines], (1,)))
    for one in two_sided.without:
        if one.moved:
            yield f"  without {_cut(one.attacker)}: {' > '.join(one.order)}"


def _attackers(names: Iterable[str], rows: Mapping[str, Row | None]) -> str:
    """Names, and what those count as that are not official. rows: by name."""
    said = []
    for name in names:
        row = rows.get(name)
        status = "" if row is None or row.status == "official" else f" ({row.status})"
        said.append(f"{_cut(name)}{status}")
    return ", ".join(said)


def _method(method: Method) -> str:
    return (
        f"Intervals of {100 * method.level:g} %, ranks and tiers: {method.draws:,} draws of "
        f"{method.unit}, seed {method.seed}."
    )


def _percent(estimate: Estimate | None) -> str:
    return NOTHING if estimate is None else f"{estimate.percent:.{DECIMALS}f}"


def _interval(estimate: Estimate | None) -> str:
    if estimate is None or estimate.low is None or estimate.high is None:
        return NOTHING
    return f"{estimate.low:.{DECIMALS}f} to {estimate.high:.{DECIMALS}f}"


def _with_interval(estimate: Estimate) -> str:
    interval = _interval(estimate)
    return _percent(estimate) + ("" if interval == NOTHING else f" ({interval})")


def _cut(text: str) -> str:
    """Made visible before it is measured and cut."""
    text = printable(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
