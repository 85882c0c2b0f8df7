"""Twenty submissions whose order is known: the ranking has to come out right."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from harness.errors import ConfigError, DataError
from harness.metrics.resampling import Sampling
from harness.protocols.ranking import AttackerRanking, OverallRule
from harness.ranking.document import to_json
from harness.ranking.model import Board, Evidence, Ranking, Row
from harness.ranking.ranking import Options, rank
from harness.ranking.table import to_text
from harness.submissions.contents.description import Resource

from .contests import edition, loose, mean_of, packed, place_of

RULES = AttackerRanking("attackers", "test", "best", OverallRule("mean-rank", 5))
SAMPLING = Sampling(draws=399)
# A folder without a row in the register, and whose team it is then.
FOLDER = "Evil \x1b[31m\u202eteam"
ESCAPES = f"{FOLDER} ({FOLDER})"
MARKUP = "<script>alert(1)</script>"
OWN = {"own_anonymizers": ("A1",)}
DATA = Resource("Voices", "data", "https://voices.example", "2024-10-13")
# What the organizer knows. Everywhere on Earth 5 December ends at noon of the 6th in UTC.
REGISTER = """submission,team,received
early.zip,,2024-12-01T10:00:00+01:00
last-moment.zip,,2024-12-06T11:59:59Z
late.zip,,2024-12-06T12:00:00Z
delta-1.zip,Delta,
delta-2.zip,"  dELTA ",
"""
WITHOUT_TEAM_OR_TIME = (
    *("twin-1.zip", "twin-2.zip", "own.zip", "released.zip", "declared.zip", "undeclared.zip"),
    *("markup.zip", "reversed", "constant", "false-claim", "not-a-number", "no-claim"),
    *("three-lists", "no-archive.zip"),
)
REGISTER += "".join(f"{name},,\n" for name in WITHOUT_TEAM_OR_TIME)


@dataclass(frozen=True)
class Contest:
    paths: list[Path]
    options: Options
    ranking: Ranking


def write_all(folder: Path) -> list[Path]:
    """Twenty submissions. Strengths of the same number make the same scores."""
    paths = [
        packed(folder, "early", "Early", {"A1": 3.0, "A2": 1.0, "A3": 2.0}),
        packed(folder, "last-moment", "Last Moment", {"A1": 2.5, "A2": 2.6}),
        packed(folder, "late", "Late", {"A1": 3.4}),
        # A tie: the same order of all scores, and no score the same.
        packed(folder, "twin-1", "Twin One", {"A1": 2.0}),
        packed(folder, "twin-2", "Twin Two", {"A1": 2.0}, lambda scores: scores * 2 + 1),
        packed(folder, "delta-1", "Unsaid", {"A1": 0.8, "A2": 1.6}),
        packed(folder, "delta-2", "Unsaid", {"A1": 2.2, "A2": 0.6}),
        packed(folder, "own", "Own", {"A1": 3.2, "A2": 0.8}, **OWN),
        packed(folder, "released", "Released", {"A1": 1.8}, own_code_released="2024-10-13", **OWN),
        packed(folder, "declared", "Declared", {"A1": 1.2}, resources=(DATA,)),
        packed(
            folder,
            "undeclared",
            "Undeclared",
            {"A1": 2.8},
            resources=(replace(DATA, declared="2024-10-14"),),
        ),
        loose(folder / FOLDER, {"A1": 0.5}),
        packed(folder, "markup", MARKUP, {"A1": 1.6}),
        loose(folder / "reversed", {"A1": 3.0}, np.negative),
        loose(folder / "constant", {"A1": 3.0}, lambda scores: np.zeros_like(scores)),
        loose(folder / "false-claim", {"A1": 3.1, "A3": 1.0}),
        loose(folder / "not-a-number", {"A1": 3.3, "A2": 0.4}),
        loose(folder / "no-claim", {"A1": 2.4}),
        loose(folder / "three-lists", {"A1": 2.7}),
        folder / "no-archive.zip",
    ]
    (place_of(folder / "false-claim", "A1") / "EER").write_text("0.123\n")
    scores = place_of(folder / "not-a-number", "A1") / "scores"
    lines = scores.read_text().splitlines()
    lines[7] = f"{lines[7].rpartition(' ')[0]} nan"
    scores.write_text("".join(f"{line}\n" for line in lines))
    (place_of(folder / "no-claim", "A1") / "EER").unlink()
    shutil.rmtree(place_of(folder / "three-lists", "A1"))
    (folder / "no-archive.zip").write_bytes(b"PK\x03\x04 and no more")
    assert len(paths) == 20
    return paths


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Contest:
    folder = tmp_path_factory.mktemp("submissions")
    paths = write_all(folder)
    register = folder / "register.csv"
    register.write_text(REGISTER)
    options = Options(register=register, sampling=SAMPLING)
    return Contest(paths, options, rank(paths, edition(), RULES, options))


def board_of(ranking: Ranking, system: str) -> Board:
    (board,) = [one for one in ranking.boards if one.system == system]
    return board


def row_of(ranking: Ranking, system: str, entry: str) -> Row:
    (row,) = [one for one in board_of(ranking, system).rows if one.entry == entry]
    return row


def test_the_order_is_the_known_one(contest: Contest) -> None:
    ranked = [
        (row.rank, row.attacker)
        for row in board_of(contest.ranking, "A1").rows
        if row.rank is not None
    ]
    assert ranked == [
        (1, "Early"),
        (2, "Last Moment"),
        (3, "Delta"),
        (4, "Twin One"),
        (4, "Twin Two"),
        (6, "Released"),
        (7, MARKUP),
        (8, "Declared"),
        (9, ESCAPES),
        # No information at all, and then the wrong way round.
        (10, "constant"),
        (11, "reversed"),
    ]
    assert [(r.rank, r.attacker) for r in board_of(contest.ranking, "A2").rows[:4]] == [
        (1, "Last Moment"),
        (2, "Delta"),
        (3, "Early"),
        (4, "Own"),
    ]


def test_who_is_not_ranked_follows_and_is_told_why(contest: Contest) -> None:
    rest = [
        (row.entry, row.status, row.counted, row.would_rank)
        for row in board_of(contest.ranking, "A1").rows
        if row.rank is None
    ]
    assert rest == [
        ("delta-1.zip", "official", False, None),
        ("late.zip", "late", True, 1),
        ("own.zip", "unofficial", True, 1),
        ("undeclared.zip", "unofficial", True, 2),
        ("false-claim", "refuted", True, None),
        # It has an EER of test; the next two lack one.
        ("no-claim", "not checkable", True, None),
        ("not-a-number", "not checkable", True, None),
        ("three-lists", "not checkable", True, None),
    ]

    def why(entry: str) -> str:
        return "; ".join(row_of(contest.ranking, "A1", entry).reasons)

    assert "the deadline, the end of 2024-12-05 everywhere on Earth" in why("late.zip")
    assert "the team's own A1 without a date" in why("own.zip")
    assert "declared on 2024-10-14, after 2024-10-13" in why("undeclared.zip")
    assert why("false-claim").startswith("field_test_trials_f: 12.3 is claimed")
    assert "field_test_trials_f: no EER" in why("not-a-number")
    assert "non-finite: " in why("not-a-number")
    assert "field_test_trials_f: no claim" in why("no-claim")
    assert "field_test_trials_f: no EER" in why("three-lists")


def test_a_fault_of_one_system_does_not_touch_another(contest: Contest) -> None:
    assert row_of(contest.ranking, "A3", "false-claim").rank == 2
    assert row_of(contest.ranking, "A2", "not-a-number").status == "official"
    assert row_of(contest.ranking, "A2", "own.zip").status == "official"


def test_of_a_team_the_best_entry_of_each_system_counts(contest: Contest) -> None:
    counted = {
        (system, entry): row_of(contest.ranking, system, entry).counted
        for system in ("A1", "A2")
        for entry in ("delta-1.zip", "delta-2.zip")
    }
    assert counted == {
        ("A1", "delta-1.zip"): False,
        ("A1", "delta-2.zip"): True,
        ("A2", "delta-1.zip"): True,
        ("A2", "delta-2.zip"): False,
    }


def test_eers_are_those_of_the_scores(contest: Contest) -> None:
    row = row_of(contest.ranking, "A1", "early.zip")
    assert row.averages is not None
    assert row.averages["test"].percent == pytest.approx(mean_of(3.0, "test"), abs=1e-4)
    assert row.averages["dev"].percent == pytest.approx(mean_of(3.0, "dev"), abs=1e-4)
    constant = row_of(contest.ranking, "A1", "constant").averages
    assert constant is not None
    assert constant["test"].percent == 50
    assert [rate.list for rate in row.rates] == [one.trials for one in edition().lists]


def test_intervals_hold_what_they_are_of(contest: Contest) -> None:
    for row in board_of(contest.ranking, "A1").rows:
        for estimate in (row.averages or {}).values():
            if row.status in ("refuted", "not checkable"):
                assert (estimate.low, estimate.reason) == (None, f"the entry is {row.status}")
            elif estimate.low is not None and estimate.high is not None:
                assert 0 <= estimate.low <= estimate.percent <= estimate.high <= 100
        if row.ranks is not None and row.rank is not None:
            assert row.ranks[0] <= row.rank <= row.ranks[1]
    late = row_of(contest.ranking, "A1", "late.zip")
    assert late.averages is not None
    assert late.averages["test"].low is not None
    assert (late.ranks, late.tier) == (None, None)


def test_tiers_part_what_is_far_apart_and_not_what_ties(contest: Contest) -> None:
    tiers = {
        row.attacker: row.tier
        for row in board_of(contest.ranking, "A1").rows
        if row.rank is not None and row.tier is not None
    }
    assert tiers["Early"] == 1
    assert tiers["Twin One"] == tiers["Twin Two"]
    assert tiers["Early"] < tiers["Twin One"] < tiers["Declared"] < tiers["reversed"]


def test_the_strongest_may_be_late(contest: Contest) -> None:
    board = board_of(contest.ranking, "A1")
    assert board.strongest is not None
    assert board.strongest.percent == pytest.approx(mean_of(3.4), abs=1e-4)
    assert board.strongest_of == ("Late",)
    assert board.strongest.low is not None
    assert "one of a minimum" in board.notes[0]


def test_the_overall_order_by_hand(contest: Contest) -> None:
    overall = contest.ranking.overall
    assert overall is not None
    assert overall.top == 5
    # A1 has 11 ranked teams, A2 five (not-a-number is the fifth), A3 two: a missing entry counts
    # as rank 12, 6 or 3.
    expected = {
        "Early": (1 + 3 + 1) / 3,
        "Last Moment": (2 + 1 + 3) / 3,
        "Delta": (3 + 2 + 3) / 3,
        "Twin One": (4 + 6 + 3) / 3,
        "Twin Two": (4 + 6 + 3) / 3,
        "Released": (6 + 6 + 3) / 3,
        MARKUP: (7 + 6 + 3) / 3,
        "Declared": (8 + 6 + 3) / 3,
        ESCAPES: (9 + 6 + 3) / 3,
        "Own": (12 + 4 + 3) / 3,
        "constant": (10 + 6 + 3) / 3,
        "false-claim": (12 + 6 + 2) / 3,
        "reversed": (11 + 6 + 3) / 3,
        "not-a-number": (12 + 5 + 3) / 3,
    }
    assert {row.attacker: row.score for row in overall.rows} == expected
    assert [(row.place, row.attacker) for row in overall.rows[:6]] == [
        (1, "Early"),
        (2, "Last Moment"),
        (3, "Delta"),
        (4, "Twin One"),
        (4, "Twin Two"),
        (6, "Released"),
    ]
    assert overall.rows[1].missing == ("A3",)
    assert overall.rows[1].ranks == {"A1": 2, "A2": 1}
    assert "leaves this rule to the organizers" in overall.rule


def test_the_two_sides(contest: Contest) -> None:
    two_sided = contest.ranking.two_sided
    assert two_sided is not None
    # Strongest attacks: A1 3.4 (late), A2 2.6, A3 2.0.
    assert two_sided.systems == ("A3", "A2", "A1")
    assert two_sided.strongest == {
        "A1": ("Late",),
        "A2": ("Last Moment",),
        "A3": ("Early",),
    }
    without = {one.attacker: one for one in two_sided.without}
    # Then A2 is at 1.6, and A3 no longer the most private.
    assert without["Last Moment"].order == ("A2", "A3", "A1")
    assert without["Last Moment"].moved == ("A2", "A3")
    assert without["Late"].moved == ()
    # Then A3 is at 1.0, still first.
    assert without["Early"].moved == ()


def test_what_cannot_be_read_is_told(contest: Contest) -> None:
    evidence = {one.name: one for one in contest.ranking.evidence}
    assert len(evidence) == 20
    unread = evidence["no-archive.zip"]
    assert unread.verdict == "not checkable"
    assert unread.checks[0].code == "archive-unreadable"
    assert evidence["late.zip"].received == "2024-12-06T12:00:00+00:00"
    assert evidence[FOLDER].attacker == ESCAPES
    false = evidence["false-claim"]
    assert (false.claims[0].claimed, false.claims[0].verdict) == ("12.3", "refuted")
    assert {one.code for one in evidence["reversed"].checks} >= {"sign-reversed"}


def test_what_whoever_ranks_should_know(contest: Contest) -> None:
    remarks = contest.ranking.remarks
    assert remarks[0] == (
        "no-archive.zip: on no board, has no scores of a system of field (archive-unreadable: "
        f"{evidence_of(contest, 'no-archive.zip').checks[0].message})"
    )
    told = [one for one in remarks if "register.csv" in one]
    assert f"{FOLDER}: no row in register.csv: a team of its own, not checked for lateness" in told
    assert "markup.zip: no time in register.csv: not checked for lateness" in told
    # All but those with a time.
    assert len(told) == 20 - 3
    # The same strength makes the same scores; that of late.zip is nobody else's.
    copied = {one.partition(":")[0] for one in remarks[18:]}
    assert {"twin-1.zip", "twin-2.zip"} < copied
    assert "late.zip" not in copied
    (reason,) = row_of(contest.ranking, "A1", "twin-1.zip").reasons
    assert reason.startswith("scores-shared: 'A1' field_dev_trials_f has its scores in the same")
    text = to_text(contest.ranking)
    assert "\n  no-archive.zip: on no board" in text
    assert "  Twin One (twin-1.zip), official: scores-shared: " in text


def evidence_of(contest: Contest, name: str) -> Evidence:
    (evidence,) = [one for one in contest.ranking.evidence if one.name == name]
    return evidence


def test_neither_the_order_of_paths_nor_workers_change_a_byte(contest: Contest) -> None:
    again = rank(
        contest.paths[::-1],
        edition(),
        RULES,
        replace(contest.options, sampling=replace(SAMPLING, workers=3)),
    )
    assert to_json(again) == to_json(contest.ranking)


def test_an_edition_without_a_deadline_has_no_late_submissions(
    contest: Contest,
) -> None:
    undated = replace(edition(), dates={})
    ranking = rank(contest.paths[2:3], undated, RULES, contest_options(contest, "late.zip"))
    assert row_of(ranking, "A1", "late.zip").rank == 1
    assert ranking.evidence[0].received == "2024-12-06T12:00:00+00:00"


def contest_options(contest: Contest, name: str) -> Options:
    register = contest.paths[0].parent / "one.csv"
    register.write_text(
        "".join(
            f"{line}\n" for line in REGISTER.splitlines() if line.startswith(("submission", name))
        )
    )
    return replace(contest.options, register=register)


def test_an_edition_without_systems_ranks_those_attacked(contest: Contest) -> None:
    ranking = rank(contest.paths[:1], replace(edition(), systems={}), RULES, Options())
    assert [board.system for board in ranking.boards] == ["A1", "A2", "A3"]


def test_what_the_caller_gave_is_refused(contest: Contest, tmp_path: Path) -> None:
    path = contest.paths[0]
    with pytest.raises(ConfigError, match=r"early\.zip: is given twice"):
        rank([path, path.parent / "." / path.name], edition(), RULES)
    with pytest.raises(ConfigError, match="--certificates and --key belong together"):
        Options(certificates=tmp_path)
    with pytest.raises(DataError, match=r"absent\.zip: "):
        rank([tmp_path / "absent.zip"], edition(), RULES)


def test_few_draws_are_made_enough_and_told(contest: Contest) -> None:
    # Eleven teams compete for A1: ten p-values of 2 / (399 + 1) are 0.05 after Holm, and some
    # are to spare.
    few = replace(contest.options, sampling=Sampling(draws=50))
    ranking = rank(contest.paths, edition(), RULES, few)
    assert ranking.method.draws == 399 + 4
    assert row_of(ranking, "A1", "early.zip").tier == 1
