"""Privacy against what is kept: changes, balance and front by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

import pandas as pd
import pytest

from harness.protocols.values import Value
from harness.reports import evaluation
from harness.reports.tradeoff import Tradeoff, strongest, to_table, tradeoffs

SEMI = "semi-informed"


def attacked(*rows: tuple[str, str, str, float], split: str = "test") -> pd.DataFrame:
    """Averages: system, attacker, scenario, EER in percent; one row a training."""
    columns = ["system", "attacker", "scenario", "eer_percent"]
    return pd.DataFrame(rows, columns=columns).assign(split=split, dataset="libri", seed=1)


def value(
    system: str,
    measure: str,
    number: float,
    dataset: str = "libri",
    split: str = "test",
    gender: str = "",
) -> Value:
    evaluator = {"UAR": "emotion", "WER": "wer"}.get(measure, "pitch")
    return Value(
        system, evaluator, "", measure, dataset, split, gender, 9, number, number - 1, number + 1
    )


def words(**rates: float) -> list[Value]:
    return [value(system, "WER", number) for system, number in rates.items()]


def eers(**percent: float) -> pd.DataFrame:
    """Of each system by one attacker; `orig` is original speech."""
    return attacked(
        *(
            (system, "ecapa", "original" if system == "orig" else SEMI, number)
            for system, number in percent.items()
        )
    )


def by_system(found: Sequence[Tradeoff]) -> dict[str, Tradeoff]:
    return {one.system: one for one in found}


# The strongest attacker


def test_the_strongest_attacker_is_so_on_average_over_trainings() -> None:
    averages = attacked(
        ("b2", "strong", SEMI, 28.0),
        ("b2", "strong", SEMI, 32.0),
        # Once the lowest of all, yet 32 on average.
        ("b2", "lucky", SEMI, 20.0),
        ("b2", "lucky", SEMI, 44.0),
        # Scenarios in which nobody learns from anonymized speech, and another system.
        ("b2", "lucky", "lazy-informed", 5.0),
        ("b2", "lucky", "ignorant", 1.0),
        ("b3", "lucky", SEMI, 2.0),
    )
    assert strongest(averages, "b2", "test") == ("strong", 30.0)
    assert strongest(averages, "b3", "test") == ("lucky", 2.0)
    assert strongest(averages, "b2", "dev") is None
    assert strongest(averages, "b9", "test") is None
    assert strongest(attacked(("b2", "a", "ignorant", 1.0)), "b2", "test") is None


def test_of_equal_attackers_the_first_name_is_taken() -> None:
    averages = attacked(("b2", "ba", SEMI, 30.0), ("b2", "ab", SEMI, 30.0))
    assert strongest(averages, "b2", "test") == ("ab", 30.0)


# Changes and balance


def test_changes_and_balance_by_hand() -> None:
    averages = attacked(
        ("orig", "weak", "original", 20.0),
        ("orig", "strong", "original", 10.0),
        ("b2", "weak", SEMI, 30.0),
        ("b2", "strong", SEMI, 34.0),
    )
    values = [
        value(system, measure, number, dataset)
        for system, measures in (("orig", (10.0, 85.0, 1.0, 1.0)), ("b2", (28.0, 55.0, 0.75, -0.2)))
        for (measure, dataset), number in zip(
            (
                ("WER", "libri"),
                ("UAR", "emodb"),
                ("pitch-correlation", "libri"),
                ("pitch-correlation-voiced", "libri"),
            ),
            measures,
            strict=True,
        )
    ]
    original, b2 = tradeoffs(averages, values, "orig")
    assert [astuple(one) for one in b2.kept] == [
        # 20 of the 40 points up to a guess, by another attacker.
        ("EER", "weak", "", 30.0, None, None, 10.0, 0.5),
        # 18 of the 90 up to no word right.
        ("WER", "wer", "libri", 28.0, 27.0, 29.0, 10.0, 0.2),
        # 30 of the 60 down to a guess of four emotions.
        ("UAR", "emotion", "emodb", 55.0, 54.0, 56.0, 85.0, 0.5),
        ("pitch-correlation", "pitch", "libri", 0.75, -0.25, 1.75, 1.0, 0.25),
        # Worse than nothing.
        ("pitch-correlation-voiced", "pitch", "libri", -0.2, -1.2, 0.8, 1.0, 1.2),
    ]
    assert b2.balance == pytest.approx(0.5 - (0.2 + 0.5 + (0.25 + 1.2) / 2) / 3, abs=1e-15)
    assert b2.front is True
    assert [one.change for one in original.kept] == [0.0] * 5
    # Not -0: it is shown.
    assert str([one.change for one in original.kept]) == "[0.0, 0.0, 0.0, 0.0, 0.0]"
    assert (original.balance, original.front) == (0.0, None)


def test_better_than_original_speech_is_below_zero() -> None:
    found = by_system(tradeoffs(eers(orig=10, b2=6), words(orig=20, b2=12), "orig"))
    assert [one.change for one in found["b2"].kept] == [-0.1, -0.1]
    assert found["b2"].balance == 0.0


def test_what_has_no_scale_or_is_of_one_gender_is_left_out() -> None:
    values = words(orig=10, b2=55)
    for system in ("orig", "b2"):
        values += [value(system, "WER", 99, gender="f"), value(system, "recall-sad", 50)]
        values += [value(system, "length-gap", 3), value(system, "WER", 77, split="dev")]
    found = by_system(tradeoffs(eers(orig=10, b2=30), values, "orig"))
    assert [(one.measure, one.change) for one in found["b2"].kept] == [("EER", 0.5), ("WER", 0.5)]


def test_each_split_and_data_set_is_for_itself() -> None:
    averages = pd.concat(
        [eers(orig=10, b2=30), eers(orig=20, b2=30).assign(split="dev")], ignore_index=True
    )
    values = [
        value(system, "WER", number, dataset, split)
        for split, dataset, *numbers in (
            ("test", "libri", 10, 28),
            ("test", "vctk", 20, 60),
            ("dev", "libri", 0, 30),
        )
        for system, number in zip(("orig", "b2"), numbers, strict=True)
    ]
    found = tradeoffs(averages, values, "orig")
    places = [("test", "orig"), ("test", "b2"), ("dev", "orig"), ("dev", "b2")]
    assert [(one.split, one.system) for one in found] == places
    assert [(one.dataset, one.change) for one in found[1].kept] == [
        ("", 0.5),
        ("libri", 0.2),
        ("vctk", 0.5),
    ]
    assert found[1].balance == pytest.approx(0.15, abs=1e-15)
    assert [one.change for one in found[3].kept] == pytest.approx([1 / 3, 0.3])


@pytest.mark.parametrize("percent", [50.0, 52.5])
def test_original_speech_that_nobody_can_tell_apart(percent: float) -> None:
    found = by_system(tradeoffs(eers(orig=percent, b2=51), words(orig=10, b2=28), "orig"))
    assert [one.change for one in found["b2"].kept] == [None, 0.2]
    assert (found["b2"].balance, found["b2"].front) == (None, None)


@pytest.mark.parametrize(
    ("measure", "number"), [("UAR", 25.0), ("UAR", 20.0), ("WER", 104.0), ("pitch-correlation", 0)]
)
def test_original_speech_with_nothing_left(measure: str, number: float) -> None:
    voiced = [value(name, "pitch-correlation-voiced", x) for name, x in (("orig", 1), ("b2", 0.5))]
    values = [value("orig", measure, number), value("b2", measure, number / 2), *voiced]
    found = by_system(tradeoffs(eers(orig=10, b2=30), values, "orig"))
    assert [one.change for one in found["b2"].kept] == [0.5, None, 0.5]
    assert (found["b2"].balance, found["b2"].front) == (None, None)


# What is missing


def test_a_system_without_all_measures_has_no_balance_and_is_in_nobodys_way() -> None:
    values = words(orig=10, b2=28, b3=19)
    values += [value("orig", "UAR", 85), value("b2", "UAR", 55)]
    # Nobody measured b3 on emotions, and nobody attacked b4.
    averages = eers(orig=10, b2=30, b3=40)
    averages = pd.concat([averages, attacked(("b4", "ecapa", "ignorant", 45.0))])
    values += [value("b4", "WER", 11), value("b4", "UAR", 84)]
    found = by_system(tradeoffs(averages, values, "orig"))
    assert [one.measure for one in found["b3"].kept] == ["EER", "WER"]
    assert [one.measure for one in found["b4"].kept] == ["WER", "UAR"]
    for name in ("b3", "b4"):
        assert (found[name].balance, found[name].front) == (None, None)
    assert found["b2"].front is True


def test_without_an_attack_on_original_speech_there_is_no_balance() -> None:
    values = [*words(orig=10, b2=28), value("orig", "UAR", 85), value("b2", "UAR", 55)]
    averages = attacked(("orig", "ecapa", "ignorant", 10.0), ("b2", "ecapa", SEMI, 30.0))
    found = by_system(tradeoffs(averages, values, "orig"))
    assert [one.measure for one in found["b2"].kept] == ["WER", "UAR"]
    assert (found["b2"].balance, found["b2"].front) == (None, None)


def test_without_utility_there_is_no_balance() -> None:
    found = by_system(tradeoffs(eers(orig=10, b2=30), [], "orig"))
    assert [one.measure for one in found["b2"].kept] == ["EER"]
    assert (found["b2"].balance, found["b2"].front) == (None, None)


def test_a_value_that_original_speech_lacks_is_left_out() -> None:
    values = [*words(orig=10, b2=28), value("b2", "UAR", 55)]
    found = by_system(tradeoffs(eers(orig=10, b2=30), values, "orig"))
    assert [one.measure for one in found["b2"].kept] == ["EER", "WER"]
    assert found["b2"].balance == pytest.approx(0.3)


# The front


def fronts(averages: pd.DataFrame, values: Sequence[Value]) -> dict[str, bool | None]:
    return {one.system: one.front for one in tradeoffs(averages, values, "orig")}


def test_the_front_by_hand() -> None:
    averages = eers(orig=10, b2=30, b3=40, b4=30, b5=30, b6=35, b7=42)
    values = words(orig=10, b2=28, b3=46, b4=37, b5=28, b6=46.5, b7=80)
    assert fronts(averages, values) == {
        "orig": None,
        # As private and as useful as b5: neither is better in anything.
        "b2": True,
        "b5": True,
        "b3": True,
        # As private as b2, and less useful.
        "b4": False,
        # Between two that are on it, and worse than b3 in both.
        "b6": False,
        # The most private, whatever else.
        "b7": True,
    }


def test_better_in_one_measure_is_enough() -> None:
    averages = eers(orig=10, b2=30, b3=25, b4=25)
    values = words(orig=10, b2=28, b3=40, b4=40)
    # Emotions, of which more is better, are left by b3 alone.
    values += [value(name, "UAR", x) for name, x in (("orig", 85), ("b2", 55), ("b3", 56))]
    assert fronts(averages, [*values, value("b4", "UAR", 54)]) == {
        "orig": None,
        "b2": True,
        "b3": True,
        "b4": False,
    }


def test_original_speech_is_no_rival() -> None:
    # Worse than doing nothing, but there is no other system.
    assert fronts(eers(orig=10, b2=9), words(orig=10, b2=50)) == {"orig": None, "b2": True}


# The table


def test_the_table_as_text() -> None:
    averages = eers(orig=10, b2=70 / 3, b3=20)
    values = [*words(orig=10, b2=28, b3=37), value("b2", "UAR", 55)]
    assert evaluation.to_csv(to_table(tradeoffs(averages, values, "orig"))) == (
        "split,system,measure,by,dataset,value,low,high,change,front\n"
        "test,orig,EER,ecapa,,10.0,,,0.0,\n"
        "test,orig,WER,wer,libri,10.0,9.0,11.0,0.0,\n"
        "test,orig,balance,,,0.0,,,,\n"
        "test,b2,EER,ecapa,,23.333,,,0.333,yes\n"
        "test,b2,WER,wer,libri,28.0,27.0,29.0,0.2,yes\n"
        "test,b2,balance,,,0.133,,,,\n"
        "test,b3,EER,ecapa,,20.0,,,0.25,no\n"
        "test,b3,WER,wer,libri,37.0,36.0,38.0,0.3,no\n"
        "test,b3,balance,,,-0.05,,,,\n"
    )


def test_the_table_never_says_minus_zero() -> None:
    table = to_table(tradeoffs(eers(orig=10, b2=9.999), words(orig=10, b2=9.999), "orig"))
    assert "-0" not in evaluation.to_csv(table)
