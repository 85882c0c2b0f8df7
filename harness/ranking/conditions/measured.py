"""Tables of measured values: what was measured of each system, read strictly."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from harness.errors import DataError
from harness.protocols.conditions import AnonymizerRanking, Measure, exact
from harness.protocols.texts import read_text
from harness.protocols.typed import did_you_mean
from harness.ranking.names import folded

COLUMNS = ("team", "system", "measure", "dataset", "split", "gender", "value")
TABLE = (
    "A table is a CSV file in UTF-8, separated by commas, with one measured value a line and the "
    f"columns {', '.join(COLUMNS)} in any order. Measures, data sets and splits are those of the "
    "edition; gender is f or m, or empty where a value is of all speakers together. Values are in "
    "the unit of the measure: error rates and recall in percent (12.9, not 0.129). An empty value "
    "or n/a is a missing one. Rows of the system `orig` are of original speech, and have no team. "
    "Several tables are read as one."
)

MOST_SYSTEMS = 1000
LONGEST_NAME = 200
SHOWN = 60
MISSING = ("", "-", "n/a", "na", "nan", "none", "null")
NUMBER = re.compile(r"[+-]?(\d{1,9}(\.\d{0,30})?|\.\d{1,30})", re.ASCII)

# Measure, data set, split, gender.
Place = tuple[str, str, str, str | None]


@dataclass(frozen=True)
class Measured:
    """What was measured of one system. team: empty for original speech.

    Of one from a submission also that (`submission`); measures that are its team's word alone
    (`claimed`); why it is in no group, whatever its values are (`hindrances`); what looks odd about
    its scores (`remarks`).
    """

    team: str
    system: str
    values: dict[Place, Fraction] = field(default_factory=dict)
    submission: str = ""
    claimed: tuple[str, ...] = ()
    hindrances: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_tables(paths: Sequence[Path], edition: AnonymizerRanking) -> tuple[Measured, ...]:
    """The systems of some tables, see `TABLE`; in any order of rows and tables the same.

    Teams, and a team's systems, that `folded` holds to be one are one, spelt as the one that sorts
    first. Raises ConfigError for a file that cannot be read, DataError for a row that
    is not understood, a value out of range, fractions for percent, and a value that stands twice.
    """
    places: dict[tuple[str, str, Place], str] = {}
    values: dict[tuple[str, str], dict[Place, Fraction]] = {}
    teams: dict[str, str] = {}
    systems: dict[tuple[str, str], str] = {}
    for path in paths:
        of_measures: dict[str, list[Fraction]] = {}
        for where, row in _rows(path):
            team, system = _names(row, edition, where)
            place = _place(row, edition, where)
            key = (folded(team), folded(system))
            if (*key, place) in places:
                raise DataError(
                    "a value that stands twice",
                    where=where,
                    fix=f"it stands at {places[*key, place]} already: keep one",
                )
            places[*key, place] = where
            teams[key[0]] = min(team, teams.get(key[0], team))
            systems[key] = min(system, systems.get(key, system))
            of_system = values.setdefault(key, {})
            if len(values) > MOST_SYSTEMS:
                raise DataError(
                    f"more than {MOST_SYSTEMS:,} systems", where=where, fix="rank fewer at a time"
                )
            value = _value(row["value"], edition.measure(place[0]), where)
            if value is not None:
                of_system[place] = value
                of_measures.setdefault(place[0], []).append(value)
        _refuse_fractions(of_measures, edition, path)
    return tuple(Measured(teams[key[0]], systems[key], values[key]) for key in sorted(values))


def _rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Each row with its place, `file:line`; rows without any content are passed over."""
    reader = csv.reader(io.StringIO(read_text(path, "a table in CSV"), newline=""), strict=True)
    header: list[str] = []
    try:
        for cells in reader:
            where = f"{path}:{reader.line_num}"
            cells = [" ".join(cell.split()) for cell in cells]
            if not any(cells):
                continue
            if not header:
                header = [cell.casefold() for cell in cells]
                _check_header(header, where)
            elif len(cells) != len(header):
                raise DataError(
                    f"{len(cells)} cells for {len(header)} columns",
                    where=where,
                    fix="give each column one, quoted where it holds a comma",
                )
            else:
                yield where, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise DataError(
            f"not a table ({error})", where=f"{path}:{reader.line_num}", fix="save it as CSV"
        ) from error
    if not header:
        raise DataError("an empty table", where=path, fix=f"write {','.join(COLUMNS)} first")


def _check_header(header: Sequence[str], where: str) -> None:
    for name in header:
        if name not in COLUMNS:
            raise DataError(
                f"unknown column {name[:SHOWN]!r}", where=where, fix=did_you_mean(name, COLUMNS)
            )
    if sorted(header) != sorted(COLUMNS):
        wrong = [name for name in COLUMNS if header.count(name) != 1]
        raise DataError(
            f"columns that do not stand once: {', '.join(wrong)}",
            where=where,
            fix=f"write {','.join(COLUMNS)}",
        )


def _names(row: dict[str, str], edition: AnonymizerRanking, where: str) -> tuple[str, str]:
    team, system = row["team"], row["system"]
    if folded(system) == folded(edition.original):
        if team:
            raise DataError(
                f"{edition.original} is original speech, and no team's system",
                where=where,
                fix="leave the team empty, or name the system otherwise",
            )
        return "", edition.original
    for name, text in (("team", team), ("system", system)):
        if not text or len(text) > LONGEST_NAME:
            raise DataError(
                f"a {name} of {len(text)} characters",
                where=where,
                fix=f"name it, in at most {LONGEST_NAME}",
            )
    return team, system


def _place(row: dict[str, str], edition: AnonymizerRanking, where: str) -> Place:
    name = _known(row["measure"], [one.name for one in edition.measures], "measure", where)
    parts = edition.measure(name).parts
    of = [part.dataset for part in parts]
    dataset = _known(row["dataset"], of, f"data set of {name}", where)
    split = _known(row["split"], edition.splits, "split", where)
    genders = [part.gender or "" for part in parts if part.dataset == dataset]
    gender = row["gender"].casefold()
    if gender not in genders:
        raise DataError(
            f"{gender[:SHOWN]!r} is no gender that {name} of {dataset} is of",
            where=where,
            fix="leave it empty" if genders == [""] else f"write {' or '.join(genders)}",
        )
    return name, dataset, split, gender or None


def _known(text: str, names: Sequence[str], what: str, where: str) -> str:
    for name in names:
        if name.casefold() == text.casefold():
            return name
    raise DataError(
        f"{text[:SHOWN]!r} is no {what}", where=where, fix=did_you_mean(text[:SHOWN], set(names))
    )


def _value(text: str, measure: Measure, where: str) -> Fraction | None:
    if text.casefold() in MISSING:
        return None
    if not NUMBER.fullmatch(text):
        raise DataError(
            f"{text[:SHOWN]!r} is no number",
            where=where,
            fix="write digits with a point, or n/a for a missing value",
        )
    value = Fraction(text)
    if not exact(measure.least) <= value <= exact(measure.most):
        unit = f" {measure.unit}" if measure.unit else ""
        hint = "a fraction? write it in percent" if 0 < value < 1 else "write it in that unit"
        raise DataError(
            f"{measure.name} of {text}, outside {measure.least:g} to {measure.most:g}{unit}",
            where=where,
            fix=hint,
        )
    return value


def _refuse_fractions(
    of_measures: dict[str, list[Fraction]], edition: AnonymizerRanking, path: Path
) -> None:
    """Of a single value nobody can tell 0.4 % from 40 %; of all values of a table, mostly."""
    for name, values in of_measures.items():
        if edition.measure(name).unit == "%" and 0 < max(values) < 1:
            raise DataError(
                f"every {name} is below 1: fractions, it seems",
                where=path,
                fix="write percent: 12.9, not 0.129",
            )
