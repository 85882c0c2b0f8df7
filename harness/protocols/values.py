"""What was measured of a system beside its EER, as a table that any room can read: `values.csv`.

One row is one value: of a measure, on one data set and split, of one gender or (`gender` empty) of
all its speakers. Percentages are percentages here, not fractions. `low` and `high` bound the
interval of 95 %; both are empty where there is none. `n` is the number of utterances, or of pairs
where the measure is one of pairs.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from harness.errors import DataError

FILE_NAME = "values.csv"
# An interval of 95 % from resampled speakers moves by more than the seventh digit.
DIGITS = 7


@dataclass(frozen=True)
class Value:
    """One row. evaluator: by its name in params.yaml, or the attacker's; seed: of its training."""

    system: str
    evaluator: str
    seed: str
    measure: str
    dataset: str
    split: str
    gender: str
    n: int
    value: float
    low: float | None = None
    high: float | None = None


COLUMNS = tuple(one.name for one in fields(Value))


def to_csv(values: Iterable[Value]) -> str:
    """The table as text. Raises DataError for a number that is not finite: it has to be told."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in values:
        numbers = [one.value, *(end for end in (one.low, one.high) if end is not None)]
        if not all(map(math.isfinite, numbers)):
            raise DataError(
                f"{one.measure} of {one.dataset} {one.split} is {', '.join(map(str, numbers))}",
                where=f"{one.system}, {one.evaluator}",
                fix="mend the evaluator: what is undefined needs a defined value",
            )
        writer.writerow([_written(field) for field in astuple(one)])
    return text.getvalue()


def _written(field: object) -> object:
    if field is None:
        return ""
    return f"{field:.{DIGITS}g}" if isinstance(field, float) else field


def read_values(path: Path) -> list[Value]:
    """The rows of a table. Raises DataError for one that is missing or malformed."""
    if not path.is_file():
        raise DataError("no such table", where=path, fix="run `dvc repro`")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.reader(stream)
        try:
            if tuple(next(rows, ())) != COLUMNS:
                raise DataError(
                    f"the columns are not {','.join(COLUMNS)}", where=path, fix="run `dvc repro`"
                )
            return [_value(row) for row in rows]
        except (ValueError, csv.Error) as error:
            raise DataError(
                f"not a value: {error}", where=f"{path}:{rows.line_num or 1}", fix="run `dvc repro`"
            ) from error


def _value(row: list[str]) -> Value:
    system, evaluator, seed, measure, dataset, split, gender, n, value, low, high = row
    return Value(
        system,
        evaluator,
        seed,
        measure,
        dataset,
        split,
        gender,
        int(n),
        _finite(value),
        _finite(low) if low else None,
        _finite(high) if high else None,
    )


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not finite")
    return number
