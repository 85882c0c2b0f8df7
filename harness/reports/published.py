"""The published average that stands beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.protocols.protocol import Protocol
from harness.protocols.scenarios import ORIGINAL, SEMI_INFORMED
from harness.reports.evaluation import published_average

# Those whose EERs are published.
PUBLISHED_SCENARIOS = (ORIGINAL.name, SEMI_INFORMED.name)


@dataclass(frozen=True)
class PublishedAverage:
    """text: percent as printed; with ours made the same way, where only that gives the same
    number. source: where it is published."""

    text: str
    source: str


def published_beside(
    protocol: Protocol, system: str, scenario: str, split: str, eers: Sequence[float]
) -> PublishedAverage | None:
    """What is published of a split's average; None where nothing is that means the same.

    eers: ours of the lists of the split, percent.
    """
    if scenario not in PUBLISHED_SCENARIOS:
        return None
    for published in protocol.published:
        if (published.system, published.split, published.gender) == (system, split, "mean"):
            cell = f"{published.eer_percent:.2f}"
            printed_from = next(a.printed_from for a in protocol.averages if a.split == split)
            if printed_from is not None and f"{sum(eers) / len(eers):.2f}" != cell:
                # Some published averages are cut, others rounded: a cut one is no disagreement.
                ours = f"{published_average(eers, printed_from):.2f}"
                if ours == cell:
                    cell = f"{cell} (ours the published way: {ours})"
            return PublishedAverage(cell, published.source)
    return None
