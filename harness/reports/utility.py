"""What a page shows of privacy beside utility: the trade-offs of the very EERs that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from harness.protocols.values import Value
from harness.reports.page import ResultRow, Utility
from harness.reports.published import PUBLISHED_SCENARIOS
from harness.reports.tradeoff import EER, Tradeoff, tradeoffs


def utility_of(
    rows: Sequence[ResultRow], values: Sequence[Value], original: str, files: Sequence[str]
) -> Utility | None:
    """The trade-offs of the systems of the rows, EERs with the intervals of the rows.

    values, original: as in `harness.reports.tradeoff`. files: tables of the same, relative to the
    repository. None where no split has both EERs and another measure.
    """
    columns = ["system", "attacker", "scenario", "split", "eer_percent"]
    averages = pd.DataFrame(
        [(row.system, row.attacker, row.scenario, row.split, row.mean.percent) for row in rows],
        columns=columns,
    )
    found = [one for one in tradeoffs(averages, values, original) if _is_attacked(one)]
    splits = {one.split for one in found if len(one.kept) > 1}
    shown = tuple(_with_interval(one, rows) for one in found if one.split in splits)
    return Utility(shown, original, tuple(files)) if shown else None


def _is_attacked(one: Tradeoff) -> bool:
    """Whether there is an EER, and one of original speech to hold it against."""
    return bool(one.kept) and one.kept[0].measure == EER


def _with_interval(one: Tradeoff, rows: Sequence[ResultRow]) -> Tradeoff:
    eer, *others = one.kept
    mean = next(
        row.mean
        for row in rows
        if (row.system, row.attacker, row.split) == (one.system, eer.by, one.split)
        and row.scenario in PUBLISHED_SCENARIOS
    )
    return replace(one, kept=(replace(eer, low=mean.low, high=mean.high), *others))
