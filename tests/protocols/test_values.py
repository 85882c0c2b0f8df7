"""The table of values: its text by hand, read back, and every fault told with its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import DataError
from harness.protocols.values import Value, read_values, to_csv

HEADER = "system,evaluator,seed,measure,dataset,split,gender,n,value,low,high\n"
WER = Value("b2", "wer", "", "WER", "libri", "test", "f", 870, 12.5, 11.25, 13.75)
UAR = Value("b2", "emotion", "", "UAR", "emodb", "test", "", 339, 57.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "values.csv"


def test_text_of_a_table() -> None:
    assert to_csv([WER, UAR]) == (
        f"{HEADER}b2,wer,,WER,libri,test,f,870,12.5,11.25,13.75\n"
        "b2,emotion,,UAR,emodb,test,,339,57,,\n"
    )
    assert to_csv([]) == HEADER


def test_seven_digits_are_written() -> None:
    values = [replace(UAR, value=number) for number in (200 / 3, 1 / 3, 1e-9 / 3, 123_456_789.0)]
    assert [line.split(",")[8] for line in to_csv(values).splitlines()[1:]] == [
        *("66.66667", "0.3333333", "3.333333e-10", "1.234568e+08"),
    ]


def test_what_is_written_is_read(path: Path) -> None:
    # Names that are text whatever they look like, or that hold what parts fields.
    named = replace(WER, system="007", evaluator='a, "b"', seed="1986", dataset="é", gender="")
    path.write_text(to_csv([WER, UAR, named]), encoding="utf-8")
    assert read_values(path) == [WER, UAR, named]
    path.write_text(HEADER, encoding="utf-8")
    assert read_values(path) == []


def test_an_interval_of_zero_is_there(path: Path) -> None:
    one = replace(UAR, value=0.0, low=0.0, high=0.0)
    path.write_text(to_csv([one]), encoding="utf-8")
    assert read_values(path) == [one]


@pytest.mark.parametrize("field", ["value", "low", "high"])
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_refused(path: Path, field: str, number: float) -> None:
    bad = replace(WER, **{field: number})  # type: ignore[arg-type]
    with pytest.raises(DataError, match=rf"^b2, wer: WER of libri test is .*{number}.*; mend the"):
        to_csv([UAR, bad])
    cells = {"value": "12.5", "low": "11.25", "high": "13.75"}
    text = to_csv([UAR, WER]).replace(cells[field], str(number))
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=rf"csv:3: not a value: {number} is not finite; run `dvc"):
        read_values(path)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("b2,wer,,WER,libri,test,,870,12.5,", r"not enough values .*expected 11, got 10"),
        ("b2,wer,,WER,libri,test,,870,12.5,,,", "too many values"),
        ("", "not enough values"),
        ("b2,wer,,WER,libri,test,,8.7,12.5,,", "invalid literal for int.*'8.7'"),
        ("b2,wer,,WER,libri,test,,870,,,", "could not convert string to float: ''"),
        ("b2,wer,,WER,libri,test,,870,12.5,x,", "could not convert string to float: 'x'"),
        ("b2,wer,,WER,libri,test,,870,12.5,,x", "could not convert string to float: 'x'"),
        ("b" * 200_000, "field larger than field limit"),
    ],
)
def test_a_malformed_row_is_told_with_its_line(path: Path, row: str, said: str) -> None:
    path.write_text(f"{to_csv([UAR])}{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"values\.csv:3: not a value: {said}.*; run `dvc repro`"):
        read_values(path)


@pytest.mark.parametrize(
    "text",
    ["", "\n", HEADER.upper(), HEADER.replace(",low", ""), HEADER.replace("n,value", "value,n")],
)
def test_other_columns_are_refused(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    match = r"values\.csv: the columns are not system,evaluator,seed,measure.*,low,high; run `dvc"
    with pytest.raises(DataError, match=match):
        read_values(path)


def test_what_is_no_text_or_not_there(path: Path) -> None:
    with pytest.raises(DataError, match=r"values\.csv: no such table; run `dvc repro`"):
        read_values(path)
    path.write_bytes(b"\xff" + HEADER.encode())
    with pytest.raises(DataError, match=r"values\.csv:1: not a value: 'utf-8' codec"):
        read_values(path)
