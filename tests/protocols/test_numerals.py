"""Numerals in words: by hand, as people say them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.protocols.numerals import ORDINALS, SCALES, SMALL, TENS, cardinal, ordinal, spelled

# Those of `cardinal` and `ordinal`, which have no other letters.
WORDS = {*SMALL, *TENS, *SCALES.values(), *ORDINALS.values()}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0", "zero"),
        ("14 days", "fourteen days"),
        ("36", "thirty six"),
        ("90", "ninety"),
        ("205", "two hundred five"),
        ("1,000", "one thousand"),
        ("500,000 men", "five hundred thousand men"),
        ("12,345,678", "twelve million three hundred forty five thousand six hundred seventy "
         "eight"),
        ("1000", "one thousand"),
        # In pairs, unless a comma says that it is a quantity.
        ("in 1899.", "in eighteen ninety nine ."),
        ("1905", "nineteen oh five"),
        ("1500", "fifteen hundred"),
        ("1,899", "one thousand eight hundred ninety nine"),
        ("2009", "two thousand nine"),
        ("2024", "twenty twenty four"),
        ("1st 2nd 3rd 4th", "first second third fourth"),
        ("5th 8th 9th 12th 13th", "fifth eighth ninth twelfth thirteenth"),
        ("20TH", "twentieth"),
        ("121st", "one hundred twenty first"),
        ("100th", "one hundredth"),
        ("1880s", "eighteen eighties"),
        ("the 90's", "the nineties"),
        ("6s and 7s", "sixes and sevens"),
        ("3.14", "three point one four"),
        ("0.05", "zero point zero five"),
        ("1899.5", "one thousand eight hundred ninety nine point five"),
        ("007", "zero zero seven"),
        ("1234567890123456", "one two three four five six seven eight nine zero one two three four "
         "five six"),
        ("2,3", "two , three"),
        ("1,0000", "one , zero zero zero zero"),
        ("1-28", "one - twenty eight"),
        ("M16 12abc 5sec", "M sixteen twelve abc five sec"),
        ("no numbers", "no numbers"),
        ("", ""),
    ],
)  # fmt: skip
def test_by_hand(text: str, words: str) -> None:
    assert spelled(text).split() == words.split()


def test_what_repeats_itself_is_spelled_whatever_its_length() -> None:
    # Python refuses to make a number of more than 4,300 digits.
    assert spelled("1" * 5000).split() == ["one"] * 5000


@given(st.integers(0, 10**15 - 1))
def test_every_number_has_its_own_words(number: int) -> None:
    said = cardinal(number)
    assert set(said.split()) <= WORDS
    assert value(said) == number
    # An ordinal is the same but for its last word.
    assert ordinal(number).split()[:-1] == said.split()[:-1]
    assert re.search("(th|first|second|third)$", ordinal(number))


@given(st.text())
def test_no_digit_stays(text: str) -> None:
    assert not re.search("[0-9]", spelled(text))


def value(words: str) -> int:
    """The number that words say, read from the left."""
    units = {word: number for number, word in enumerate(SMALL)}
    units |= {word: 10 * number for number, word in enumerate(TENS, start=2)}
    sizes = {word: size for size, word in SCALES.items()}
    total = within = 0
    for word in words.split():
        if word == "hundred":
            within *= 100
        elif word in sizes:
            total, within = total + within * sizes[word], 0
        else:
            within += units[word]
    return total + within
