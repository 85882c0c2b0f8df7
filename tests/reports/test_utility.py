"""Privacy beside utility, of the EERs of a page: intervals and attackers are those of its rows."""

from __future__ import annotations

from harness.protocols.values import Value
from harness.ranking.model import Estimate
from harness.reports.page import ResultRow
from harness.reports.utility import utility_of


def row(
    system: str, attacker: str, scenario: str, mean: Estimate, split: str = "test"
) -> ResultRow:
    return ResultRow(
        system, attacker, scenario, split, {}, mean, None, {1: mean.percent}, None, None, "file"
    )


def wer(system: str, value: float, split: str = "test") -> Value:
    return Value(system, "wer", "", "WER", "libri", split, "", 9, value, value - 2, value + 3)


ORIGINAL = row("orig", "weak", "original", Estimate(10.0, 8.0, 13.0))
ROWS = (
    ORIGINAL,
    row("b2", "weak", "semi-informed", Estimate(30.0, reason="few")),
    # No attacker of that kind counts, though it is the strongest.
    row("b2", "strong", "lazy-informed", Estimate(5.0, 1.0, 2.0)),
    row("b2", "strong", "semi-informed", Estimate(20.0, 15.0, 26.0)),
)
VALUES = (wer("orig", 10.0), wer("b2", 55.0))


def test_of_each_system_the_strongest_attacker_with_its_interval() -> None:
    found = utility_of(ROWS, VALUES, "orig", ["tradeoff.csv", "utility.csv"])
    assert found is not None
    assert (found.original, found.files) == ("orig", ("tradeoff.csv", "utility.csv"))
    original, b2 = found.tradeoffs
    assert (original.system, b2.system) == ("orig", "b2")
    eer, words = original.kept
    assert (eer.by, eer.value, eer.low, eer.high, eer.change) == ("weak", 10.0, 8.0, 13.0, 0.0)
    assert (words.measure, words.dataset, words.value) == ("WER", "libri", 10.0)
    eer, words = b2.kept
    assert (eer.by, eer.value, eer.low, eer.high) == ("strong", 20.0, 15.0, 26.0)
    # Ten of the forty points up to a guess; 45 of the 90 up to no word right.
    assert eer.change == 0.25
    assert (words.by, words.value, words.low, words.high) == ("wer", 55.0, 53.0, 58.0)
    assert (words.change, b2.balance, b2.front) == (0.5, -0.25, True)


def test_an_interval_that_the_row_lacks() -> None:
    rows = [one for one in ROWS if one.attacker == "weak"]
    found = utility_of(rows, VALUES, "orig", [])
    assert found is not None
    eer = found.tradeoffs[1].kept[0]
    assert (eer.by, eer.low, eer.high) == ("weak", None, None)


def test_nothing_without_original_speech_or_other_measures() -> None:
    assert utility_of(ROWS, [], "orig", []) is None
    assert utility_of([], VALUES, "orig", []) is None
    # What is left of it is known, its EER is not.
    pitch = [
        Value(system, "pitch", "", "pitch-correlation", "libri", "test", "", 9, value)
        for system, value in (("orig", 1.0), ("b2", 0.5))
    ]
    assert utility_of(ROWS[1:], [*VALUES, *pitch], "orig", []) is None
    assert utility_of(ROWS, VALUES[1:], "orig", []) is None


def test_a_split_without_other_measures_is_left_out() -> None:
    other = row("orig", "weak", "original", Estimate(12.0), split="dev")
    found = utility_of((other, *ROWS), VALUES, "orig", [])
    assert found is not None
    assert {one.split for one in found.tradeoffs} == {"test"}


def test_a_system_that_was_not_measured_stays() -> None:
    found = utility_of(ROWS, VALUES[:1], "orig", [])
    assert found is not None
    original, b2 = found.tradeoffs
    assert len(original.kept) == 2
    assert [kept.measure for kept in b2.kept] == ["EER"]
    assert (b2.balance, b2.front) == (None, None)
