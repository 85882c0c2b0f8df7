"""What one page shows: tables, pictures and provenance as plain data, without any markup.

Rates are in percent. `file` is always a path relative to the repository (or to the archive that is
named beside it), so that each number can be looked up where it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.ranking.model import Estimate, Method, Ranking
from harness.reports.tradeoff import Tradeoff

# The EER of an attacker who knows nothing.
GUESSING = 50.0


@dataclass(frozen=True)
class ResultRow:
    """One system, attacker, scenario and split, over all seeds.

    by_gender: mean over seeds of each gender's EER. mean: over seeds, of the mean over lists, with
    its interval over speakers; lists: each list's, by name. deviation: standard deviation over
    seeds, in points; None for one. seeds: EER of each seed. published: the published value as
    printed, percent; source: where.
    """

    system: str
    attacker: str
    scenario: str
    split: str
    by_gender: dict[str, float]
    mean: Estimate
    deviation: float | None
    seeds: dict[int, float]
    published: str | None
    source: str | None
    file: str
    lists: dict[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasureRow:
    """Further measures of one list and seed. values: printed text by title of the measure, with
    cautions by the same title where there is something to say beside the number."""

    system: str
    attacker: str
    scenario: str
    seed: int
    list: str
    values: dict[str, str]
    cautions: dict[str, str]
    file: str


@dataclass(frozen=True)
class Figure:
    """A picture. svg: markup made here whose colours are CSS variables (--ink, --paper, --grid,
    --s1 to --s8). text: what it shows, for those who do not see it. files: the same picture as
    files. source: the data behind it."""

    title: str
    caption: str
    text: str
    svg: str
    files: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Fact:
    """One line of provenance. file: where it is written; None where it speaks for itself."""

    label: str
    value: str
    file: str | None = None


@dataclass(frozen=True)
class Utility:
    """Privacy beside utility. tradeoffs: of each an EER first, and the original's too; original:
    its name. files: tables of the same."""

    tradeoffs: tuple[Tradeoff, ...]
    original: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class Results:
    """What a benchmark's own runs gave. cautions: how to read the numbers, one sentence each.
    method: of the intervals of the rows. utility: None where nothing but EERs was measured."""

    rows: tuple[ResultRow, ...]
    measures: tuple[MeasureRow, ...]
    figures: tuple[Figure, ...]
    cautions: tuple[str, ...] = ()
    method: Method | None = None
    utility: Utility | None = None


@dataclass(frozen=True)
class Page:
    """One benchmark on one page. results: of this repository's runs. ranking: of those, or of
    submissions. provenance: of the page as a whole."""

    benchmark: str
    title: str
    reference: str | None
    rules: tuple[str, ...]
    results: Results | None
    ranking: Ranking | None
    provenance: tuple[Fact, ...]
