"""Normalizations as data: the files that come with the package, by hand, and what is malformed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigError
from harness.protocols import normalizations
from harness.protocols.normalizations import Step, load, normalized


def heard(text: str, name: str) -> str:
    return normalized(text, load(name).hypothesis)


def said(text: str, name: str) -> str:
    return normalized(text, load(name).reference)


def test_of_2024_transcripts_lose_four_marks_and_their_case() -> None:
    # Only these four, and nothing takes their place; what was heard stays.
    assert said(" Don't go,  Mr. Smith-Jones!\t3.5?\n", "vpc2024") == "DON'T GO MR SMITH-JONES 35"
    assert said("a;b: c", "vpc2024") == "A;B: C"
    assert heard(" DON'T  go, Mr.\n", "vpc2024") == "DON'T go, Mr."


def test_of_2022_only_white_space_goes() -> None:
    for of in (said, heard):
        assert of(" A  b,\tC.\n", "vpc2022") == "A b, C."


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("Mr. and Mrs. Brown saw Dr. Grey at St. Ives.", "MISTER AND MISSUS BROWN SAW DOCTOR GREY "
         "AT SAINT IVES"),
        ("On May 12th, 1856, 500,000 men came.", "ON MAY TWELFTH EIGHTEEN FIFTY SIX FIVE HUNDRED "
         "THOUSAND MEN CAME"),
        ("Well-known, pre-Socratic — ex-governor", "WELL KNOWN PRE SOCRATIC EX GOVERNOR"),
        ("“Don’t!” said o'clock's 'boys' friend.", "DON'T SAID O'CLOCK'S BOYS FRIEND"),
        ("'Tis rock 'n' roll", "TIS ROCK N ROLL"),
        ("Café naïve, Æneas, Dvořák, œuvre", "CAFE NAIVE AENEAS DVORAK OEUVRE"),
        ("Søren's name", "SØREN'S NAME"),
        ("the U.S. at 5 p.m.", "THE U S AT FIVE P M"),
        ("Bread & butter: 5% or £1,000 or $2 million.", "BREAD AND BUTTER FIVE PER CENT OR ONE "
         "THOUSAND POUNDS OR TWO MILLION DOLLARS"),
        ("It cost $50.", "IT COST FIFTY DOLLARS"),
        ("five percent", "FIVE PER CENT"),
        ("snake_case [music] ♪", "SNAKE CASE MUSIC"),
        ("...", ""),
    ],
)  # fmt: skip
def test_english_makes_what_is_written_and_what_is_transcribed_one(
    written: str, words: str
) -> None:
    assert heard(written, "english") == words.lower()
    assert said(words, "english") == words.lower()


@given(st.text(), st.sampled_from(["english", "vpc2022"]))
def test_twice_is_once(text: str, name: str) -> None:
    assert heard(heard(text, name), name) == heard(text, name)


def test_steps_are_taken_in_order() -> None:
    steps = [
        Step(replace={"a": "b", "b": "c"}),
        Step(case="upper"),
        Step(words={"C": "ONE TWO"}),
        Step(unicode="NFKC"),
        Step(numerals="english"),
    ]
    assert normalized("a ca c ２", steps) == "ONE TWO CC ONE TWO two"


@pytest.mark.parametrize("name", normalizations.names())
def test_every_file_loads(name: str) -> None:
    assert load(name).title


def test_an_unknown_one_is_one_line() -> None:
    with pytest.raises(ConfigError, match="unknown normalization 'englsh'; did you mean 'english'"):
        load("englsh")
    with pytest.raises(ConfigError, match="unknown normalization"):
        load("../rankings/vpc2024")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("[{}]", "mine.yaml.reference[0]: a step says nothing; say one of unicode, case, numerals"),
        ("[{case: upper}, {case: lower, numerals: english}]", "mine.yaml.reference[1]: a step says "
         "case and numerals; say one of"),
        ("[{replace: {'(': ''}}]", "mine.yaml.reference[0].replace: '(' cannot be replaced by ''"),
        (r"[{replace: {'a': '\1'}}]", r"reference[0].replace: 'a' cannot be replaced by '\\1'"),
        ("[{case: title}]", "'title' is not possible"),
        ("[{remove: ','}]", "unknown name 'remove'"),
        ("{case: upper}", "expected a list"),
    ],
)  # fmt: skip
def test_a_malformed_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: str, message: str
) -> None:
    (tmp_path / "mine.yaml").write_text(f"title: mine\nreference: {steps}\nhypothesis: []\n")
    monkeypatch.setattr(normalizations, "FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=re.escape(message)):
        load("mine")
