"""Conditions of VoicePrivacy 2022 and categories of 2024, from tables of measured values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.ranking import load
from harness.ranking.conditions.measured import read_tables
from harness.ranking.conditions.model import Board, ConditionRanking
from harness.ranking.conditions.ranking import rank_measured

from . import measured_tables as tables


def edition(name: str) -> AnonymizerRanking:
    rules = load(name)
    assert isinstance(rules, AnonymizerRanking)
    return rules


VPC2022, VPC2024 = edition("vpc2022"), edition("vpc2024")


def ranked(folder: Path, lines: Iterable[str], rules: AnonymizerRanking) -> ConditionRanking:
    return rank_measured(read_tables([tables.write(folder, lines)], rules), rules)


def board(ranking: ConditionRanking, minimum: float, track: str) -> Board:
    return next(b for b in ranking.boards if (b.minimum, b.track) == (minimum, track))


def places(one: Board) -> list[tuple[str, int | None]]:
    return [(row.entry.system, row.rank) for row in one.rows]


def rounded(ranking: ConditionRanking, system: str, digits: int = 3) -> dict[tuple[str, str], str]:
    entry = next(one for one in ranking.entries if one.system == system)
    return {
        (name, split): f"{float(mean):.{digits}f}"
        for name, of_splits in entry.means.items()
        for split, mean in of_splits.items()
    }


def test_published_means_of_2022(tmp_path: Path) -> None:
    lines = [
        *tables.rows("organizers", "B2", tables.B2_2022),
        *tables.rows("organizers", "B1.b", tables.B1B_2022),
        *tables.rows("", "orig", tables.ORIG_2022),
    ]
    ranking = ranked(tmp_path, lines, VPC2022)
    # The last lines of the two result files, as the challenge's script wrote them.
    assert rounded(ranking, "B2") == {
        ("EER", "dev"): "6.529",
        ("EER", "test"): "7.769",
        ("WER", "dev"): "8.040",
        ("WER", "test"): "9.030",
        ("pitch-correlation", "dev"): "0.608",
        ("pitch-correlation", "test"): "0.620",
        ("GVD", "dev"): "-1.721",
        ("GVD", "test"): "-1.633",
    }
    assert rounded(ranking, "B1.b") == {
        ("EER", "dev"): "9.928",
        ("EER", "test"): "9.183",
        ("WER", "dev"): "7.585",
        ("WER", "test"): "7.560",
        ("pitch-correlation", "dev"): "0.804",
        ("pitch-correlation", "test"): "0.801",
    }
    original = ranking.original
    assert original is not None
    assert {
        (name, split): f"{float(original[name][split]):.3f}"
        for name in ("EER", "WER")
        for split in ("dev", "test")
    } == {
        ("EER", "dev"): "3.539",
        ("EER", "test"): "3.786",
        ("WER", "dev"): "7.305",
        ("WER", "test"): "8.485",
    }
    # None of the baselines comes near the first condition.
    assert [one.rows for one in ranking.boards] == [()] * 4
    b2 = next(one for one in ranking.entries if one.system == "B2")
    assert (b2.reached, b2.next, f"{float(b2.short or 0):.3f}") == ((), 15, "7.231")


def test_conditions_of_2022(tmp_path: Path) -> None:
    lines = [
        *tables.rows_2022("T04", "strict", "31", "8"),
        *tables.rows_2022("T04", "mild", "26", "7.5"),
        *tables.rows_2022("T11", "x", "29.9999999", "7"),
        *tables.rows_2022("T32", "y", "15", "7.5"),
        *tables.rows_2022("T40", "z", "14.9999999", "5"),
    ]
    ranking = ranked(tmp_path, lines, VPC2022)
    # Of T04 the lower WER counts in each; y has the same WER, and so the same rank.
    assert places(board(ranking, 15, "WER")) == [("x", 1), ("mild", 2), ("y", 2), ("strict", None)]
    assert places(board(ranking, 20, "WER")) == [("x", 1), ("mild", 2), ("strict", None)]
    assert places(board(ranking, 25, "WER")) == [("x", 1), ("mild", 2), ("strict", None)]
    assert places(board(ranking, 30, "WER")) == [("strict", 1)]
    reached = {one.system: (one.reached, one.next) for one in ranking.entries}
    assert reached == {
        "strict": ((15, 20, 25, 30), None),
        "mild": ((15, 20, 25), 30),
        "x": ((15, 20, 25), 30),
        "y": ((15,), 20),
        "z": ((), 15),
    }


def test_a_minimum_is_reached_exactly(tmp_path: Path) -> None:
    # 0.25 (17.0 + 16.8) + 0.2 (15.4 + 12.2) + 0.05 (19.8 + 0.8) = 8.45 + 5.52 + 1.03 = 15.
    weights = (0.25, 0.25, 0.2, 0.2, 0.05, 0.05)
    values = ("17.0", "16.8", "15.4", "12.2", "19.8", "0.8")
    in_floats = sum(weight * float(value) for weight, value in zip(weights, values, strict=True))
    assert in_floats < 15
    eers = tables.rows_2022("T", "s", "EER", "n/a")[:6]
    lines = [line[:-3] + value for line, value in zip(eers, values, strict=True)]
    (entry,) = ranked(tmp_path, lines, VPC2022).entries
    assert (entry.reached, entry.next, entry.short) == ((15,), 20, 5)


def test_categories_of_2024(tmp_path: Path) -> None:
    # EER, WER and UAR as the overview of 2024 prints them; B2 and B3 of early result files.
    lines = [
        *tables.rows_2024("NPU-NTU", "T10-2", "40.4", "3.2", "60.8"),
        *tables.rows_2024("JHU-CLSP", "T8-1", "49.5", "3.75", "30.6"),
        *tables.rows_2024("JHU-CLSP", "T8-5", "41.3", "3.2", "47"),
        *tables.rows_2024("T9", "T9", "34.5", "2.37", "61"),
        *tables.rows("organizers", "B2", tables.B2_2024),
        *tables.rows("organizers", "B3", tables.B3_2024),
        *tables.rows("", "orig", tables.ORIG_2024),
    ]
    ranking = ranked(tmp_path, lines, VPC2024)
    # Every system of a team is ranked, and the highest category is part of the lower ones.
    assert places(board(ranking, 40, "WER")) == [("T8-5", 1), ("T10-2", 1), ("T8-1", 3)]
    assert places(board(ranking, 40, "UAR")) == [("T10-2", 1), ("T8-5", 2), ("T8-1", 3)]
    assert places(board(ranking, 30, "UAR"))[0] == ("T9", 1)
    assert places(board(ranking, 20, "WER")) == [
        *(("T9", 1), ("T8-5", 2), ("T10-2", 2), ("T8-1", 4), ("B3", 5)),
    ]
    assert places(board(ranking, 10, "WER")) == places(board(ranking, 20, "WER"))
    # (7.483 + 1.557) / 2; (28.101 + 26.088) / 2.
    assert rounded(ranking, "B2")["EER", "test"] == "4.520"
    assert rounded(ranking, "B3", 4)["EER", "test"] == "27.0945"


def test_changes_against_original_speech(tmp_path: Path) -> None:
    lines = [
        *tables.rows_2024("T9", "T9", "34.5", "2.37", "61"),
        *tables.rows_2024("T10", "T10-1", "35", "2.56", "65"),
        *tables.rows("", "orig", tables.ORIG_2024),
    ]
    of = {one.system: one.changes for one in ranked(tmp_path, lines, VPC2024).entries}
    # The overview prints, from more digits: T9 UAR 14 %, WER 28 %; T10-1 UAR 9 %, WER 39 %.
    assert of["T9"] is not None
    assert of["T10-1"] is not None
    assert float(of["T9"]["UAR"]) == pytest.approx(-14, abs=0.5)
    assert float(of["T9"]["WER"]) == pytest.approx(28, abs=1)
    assert float(of["T10-1"]["UAR"]) == pytest.approx(-9, abs=0.6)
    assert float(of["T10-1"]["WER"]) == pytest.approx(39, abs=0.5)
    # (34.5 - 4.5895) / 4.5895
    assert float(of["T9"]["EER"]) == pytest.approx(651.716, abs=0.001)


def test_without_original_speech_there_are_no_changes(tmp_path: Path) -> None:
    ranking = ranked(tmp_path, tables.rows_2024("T9", "T9", "34.5", "2.37", "61"), VPC2024)
    assert (ranking.original, ranking.entries[0].changes) == (None, None)


def test_pareto_fronts_by_hand(tmp_path: Path) -> None:
    lines = [
        *tables.rows_2024("A", "private", "40", "5", "30"),
        *tables.rows_2024("A", "clear", "10", "2", "50"),
        *tables.rows_2024("A", "lively", "20", "5", "60"),
        # Worse than `lively` in EER, and than `clear` in nothing but EER.
        *tables.rows_2024("A", "dominated", "9", "2", "50"),
        *tables.rows_2024("A", "twin", "40", "5", "30"),
        *tables.rows_2024("A", "unknown", "45", "n/a", "70"),
    ]
    fronts = {
        front.measures: {one.system for one in front.entries}
        for front in ranked(tmp_path, lines, VPC2024).fronts
    }
    assert fronts == {
        ("EER", "WER"): {"private", "twin", "clear"},
        ("EER", "UAR"): {"unknown"},
        ("EER", "WER", "UAR"): {"private", "twin", "clear", "lively"},
    }


def test_what_is_missing_is_named_and_not_ranked(tmp_path: Path) -> None:
    lines = [
        *tables.rows_2024("A", "whole", "30", "5", "50"),
        *tables.rows_2024("A", "wordless", "30", "n/a", "60"),
        *tables.rows_2024("A", "open", "", "2", "70"),
        *tables.rows_2024("A", "half", "45", "2", "70")[1:],
    ]
    ranking = ranked(tmp_path, lines, VPC2024)
    assert {one.system: one.unranked for one in ranking.entries if one.unranked} == {
        "wordless": ("in no ranking by WER: no WER of libri (test)",),
        "open": ("in no category: no EER of libri f, libri m (test)",),
        "half": ("in no category: no EER of libri f (test)",),
    }
    assert places(board(ranking, 30, "WER")) == [("whole", 1)]
    assert places(board(ranking, 30, "UAR")) == [("wordless", 1), ("whole", 2)]
    assert places(board(ranking, 40, "UAR")) == []


def test_a_minimum_that_must_be_exceeded(tmp_path: Path) -> None:
    measures = [
        replace(one, exceeds=0.5) if one.name == "pitch-correlation" else one
        for one in VPC2022.measures
    ]
    strict = replace(VPC2022, measures=tuple(measures))

    def pitch(system: str, value: str) -> list[str]:
        return [
            line.replace("EER", "pitch-correlation")
            for line in tables.rows_2022("T", system, value, "9")
            if "EER" in line
        ]

    lines = [
        *(*tables.rows_2022("T", "above", "20", "9"), *pitch("above", "0.501")),
        *(*tables.rows_2022("T", "equal", "20", "8"), *pitch("equal", "0.5")),
        *tables.rows_2022("T", "unknown", "20", "7"),
    ]
    ranking = ranked(tmp_path, lines, strict)
    assert places(board(ranking, 20, "WER")) == [("above", 1)]
    reasons = {one.system: one.unranked for one in ranking.entries}
    assert reasons["above"] == ()
    assert reasons["equal"] == (
        "in no condition: a pitch-correlation of 0.5, which must exceed 0.5",
    )
    assert "no pitch-correlation of libri f" in reasons["unknown"][0]
    # The plan's own text at hand has no number, so nobody is judged by one.
    assert len(board(ranked(tmp_path, lines, VPC2022), 20, "WER").rows) == 3


# Few values, so that there are ties; an EER may be missing.
SYSTEM = st.tuples(
    st.sampled_from(["A", "B", "C"]),
    st.sampled_from(["n/a", "9.99", "10", "25", "30", "41"]),
    st.sampled_from(["n/a", "2", "3", "4"]),
    st.sampled_from(["n/a", "40", "50", "60"]),
)
SYSTEMS = st.lists(SYSTEM, min_size=1, max_size=6)
PROPERTY = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)


def lines_of(systems: list[tuple[str, str, str, str]]) -> list[str]:
    return [
        line
        for number, (team, *values) in enumerate(systems)
        for line in tables.rows_2024(team, f"s{number}", *values)
    ]


@PROPERTY
@given(SYSTEMS, st.randoms(), st.sampled_from(["best", "all"]))
def test_the_order_of_rows_never_matters(tmp_path: Path, systems, random, of_a_team) -> None:  # type: ignore[no-untyped-def]
    rules = replace(VPC2024, systems_of_a_team=of_a_team)
    lines = lines_of(systems)
    before = ranked(tmp_path, lines, rules)
    random.shuffle(lines)
    assert ranked(tmp_path, lines, rules) == before
    parts = [tables.write(tmp_path, lines[i::2], f"{i}.csv") for i in (0, 1)]
    assert rank_measured(read_tables(parts, rules), rules) == before


@PROPERTY
@given(SYSTEMS, st.sampled_from(["A", "D"]), st.sampled_from(["best", "all"]))
def test_a_worse_system_changes_no_place(tmp_path: Path, systems, team, of_a_team) -> None:  # type: ignore[no-untyped-def]
    rules = replace(VPC2024, systems_of_a_team=of_a_team)
    before = ranked(tmp_path, lines_of(systems), rules)
    worse = tables.rows_2024(team, "worse", "50", "9", "30")
    after = ranked(tmp_path, [*lines_of(systems), *worse], rules)
    for one, other in zip(before.boards, after.boards, strict=True):
        left = [place for place in places(other) if place[0] != "worse"]
        assert left == places(one)


@PROPERTY
@given(SYSTEMS)
def test_a_missing_value_is_never_ranked(tmp_path: Path, systems) -> None:  # type: ignore[no-untyped-def]
    ranking = ranked(tmp_path, lines_of(systems), VPC2024)
    for one in ranking.boards:
        known = {
            f"s{number}"
            for number, (_, eer, wer, uar) in enumerate(systems)
            if "n/a" not in (eer, wer if one.track == "WER" else uar)
        }
        assert {row.entry.system for row in one.rows} <= known
        ranks = [row.rank for row in one.rows]
        assert ranks[:1] in ([], [1])
