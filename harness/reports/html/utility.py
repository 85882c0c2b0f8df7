"""Privacy and utility as the page shows them: a table of each split, and what its measures are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.reports.html.boards import SHADES
from harness.reports.page import Utility
from harness.reports.tradeoff import PRIVACY, SCALES, Kept, Tradeoff


@dataclass(frozen=True)
class Cell:
    """A value beside original speech. shade: of its change, 0 to `SHADES`; None without one."""

    kept: Kept
    shade: int | None


@dataclass(frozen=True)
class Line:
    """One system. cells: in the order of the columns, None where it has no such value."""

    tradeoff: Tradeoff
    eer: Cell
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class SplitView:
    """One split. columns: any value of each, which says what they are of."""

    split: str
    columns: tuple[Kept, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class UtilityView:
    """The section. measures: what they are, units included; nothing: their values where nothing is
    left; both as text."""

    utility: Utility
    splits: tuple[SplitView, ...]
    measures: str
    nothing: str

    @staticmethod
    def of(utility: Utility) -> UtilityView:
        """What the section shows of trade-offs."""
        splits = dict.fromkeys(one.split for one in utility.tradeoffs)
        measured = {kept.measure for one in utility.tradeoffs for kept in one.kept[1:]}
        scales = [scale for scale in SCALES if scale.measure in measured]
        return UtilityView(
            utility,
            tuple(_split(utility, split) for split in splits),
            "; ".join(
                f"{scale.measure}: {scale.title}{', in percent' if scale.unit else ''}"
                for scale in scales
            ),
            ", ".join(f"{s.measure} {s.nothing:g} {s.unit}".strip() for s in (PRIVACY, *scales)),
        )


def _split(utility: Utility, split: str) -> SplitView:
    found = [one for one in utility.tradeoffs if one.split == split]
    columns = {kept.key: kept for one in found for kept in one.kept[1:]}
    lines = [Line(one, _cell(one.kept[0]), tuple(_cells(one, list(columns)))) for one in found]
    return SplitView(split, tuple(columns.values()), tuple(lines))


def _cells(one: Tradeoff, keys: list[tuple[str, str, str]]) -> Iterator[Cell | None]:
    kept = {each.key: each for each in one.kept[1:]}
    for key in keys:
        yield _cell(kept[key]) if key in kept else None


def _cell(kept: Kept) -> Cell:
    change = kept.change
    return Cell(kept, None if change is None else round(SHADES * min(max(change, 0.0), 1.0)))
