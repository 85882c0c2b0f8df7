"""English numerals in words, as a reader says them.

A recognizer writes `1899` or `15th` where a transcript has the words that were said. What has no
one reading gets the usual one: four digits from 1100 to 1999, or from 2010 to 2099, are said in two
pairs, like a year; a number of more than fifteen digits, or with a zero in front, digit by digit;
hundreds take no `and`. Dates, clock times and Roman numerals are not known here.
"""

from __future__ import annotations

import re

SMALL = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {
    10**12: "trillion",
    10**9: "billion",
    10**6: "million",
    10**3: "thousand",
    10**2: "hundred",
}
MOST_DIGITS = 15
ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
NUMERAL = re.compile(
    r"(?P<whole>\d{1,3}(?:,\d{3})+(?!\d)|\d+)"
    r"(?:\.(?P<decimals>\d+))?"
    r"(?:(?:(?P<ordinal>st|nd|rd|th)|(?P<plural>'?s))(?![^\W_]))?",
    re.ASCII | re.IGNORECASE,
)
# Numbers that are said in two pairs.
YEAR = re.compile(r"1[1-9]\d\d|20[1-9]\d", re.ASCII)


def spelled(text: str) -> str:
    """The text with each numeral in words, spaces around them: `in 1899,` gives
    `in  eighteen ninety nine ,`."""
    return NUMERAL.sub(lambda found: f" {_words(found)} ", text)


def cardinal(number: int) -> str:
    """A number from 0 to below 10**15: `two hundred five`."""
    if number < len(SMALL):
        return SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return TENS[tens - 2] + (f" {SMALL[rest]}" if rest else "")
    scale = next(one for one in SCALES if number >= one)
    many, rest = divmod(number, scale)
    return f"{cardinal(many)} {SCALES[scale]}" + (f" {cardinal(rest)}" if rest else "")


def ordinal(number: int) -> str:
    """A number from 0 to below 10**15: `two hundred fifth`."""
    *before, last = cardinal(number).split()
    usual = f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"
    return " ".join([*before, ORDINALS.get(last, usual)])


def year(number: int) -> str:
    """A number from 1000 to 9999 in two pairs: `nineteen oh five`."""
    century, rest = divmod(number, 100)
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def _words(found: re.Match[str]) -> str:
    digits = found["whole"].replace(",", "")
    decimals = found["decimals"]
    if len(digits) > MOST_DIGITS or (digits[0] == "0" and len(digits) > 1):
        words = _one_by_one(digits)
    elif found["ordinal"]:
        words = ordinal(int(digits))
    elif decimals is None and YEAR.fullmatch(found["whole"]):
        words = year(int(digits))
    else:
        words = cardinal(int(digits))
    if decimals is not None:
        words = f"{words} point {_one_by_one(decimals)}"
    return _plural(words) if found["plural"] else words


def _plural(words: str) -> str:
    if words.endswith("y"):
        return f"{words[:-1]}ies"
    # Of `six`.
    return f"{words}es" if words.endswith("x") else f"{words}s"


def _one_by_one(digits: str) -> str:
    return " ".join(SMALL[int(digit)] for digit in digits)
