"""One line of a score file: enrolled speaker, trial utterance, score, whatever separates them."""

from __future__ import annotations

MARKS = (b";", b",")

# Numbers from here on are infinite in single precision: halfway from its largest to the next step.
INFINITE = float.fromhex("0x1.ffffffp127")

REPLACEMENT = "\ufffd".encode()


def is_text(line: bytes) -> bool:
    """Is it UTF-8, without NUL and without the mark of a character that could not be decoded?"""
    if line.isascii():
        return b"\0" not in line
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in line and REPLACEMENT not in line


def split(line: bytes) -> tuple[list[bytes], bool]:
    """Columns of a line, and whether it is written as it should be: one space between each.

    Columns may be separated by `;`, by `,` or by white space; no column for a blank line.
    """
    for mark in MARKS:
        if line.count(mark) == 2:
            columns = [column.strip() for column in line.split(mark)]
            if all(len(column.split()) == 1 for column in columns):
                return columns, False
    columns = line.split()
    return columns, b" ".join(columns) == line


def to_number(text: bytes) -> float | None:
    """`float(text)` as the official scripts do it; None for what is not a plain ASCII number.

    Python also reads `1_0` and digits of other scripts; nobody means those.
    """
    if b"_" in text:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def with_decimal_comma(text: bytes) -> float | None:
    """The number of a text like `0,5`; None for any other."""
    if text.count(b",") != 1 or b"." in text:
        return None
    return to_number(text.replace(b",", b"."))


def is_finite(number: float) -> bool:
    """Is it finite in single precision?"""
    return abs(number) < INFINITE
