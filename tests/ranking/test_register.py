"""The organizer's register, and whose a submission is."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.ranking.register import Registered, read_register, teams_of
from harness.submissions.model import SubmissionResult

NAMES = ("a.zip", "b, with a comma.tar.gz", "c")


def read(folder: Path, text: str) -> dict[str, Registered]:
    path = folder / "register.csv"
    path.write_text(text)
    return read_register(path, NAMES)


def test_all_columns(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "\ufeffsubmission,team,received\na.zip,The Team,2024-12-05T18:30:00Z\n\n"
        '"b, with a comma.tar.gz",,\nc\n',
    )
    assert found == {
        "a.zip": Registered("The Team", datetime(2024, 12, 5, 18, 30, tzinfo=UTC)),
        "b, with a comma.tar.gz": Registered(None, None),
        "c": Registered(None, None),
    }


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_any_system_ends_them(tmp_path: Path, end: str) -> None:
    path = tmp_path / "register.csv"
    path.write_bytes(f"submission,team{end}c,T{end}a.zip,U{end}".encode())
    assert read_register(path, NAMES) == {
        "c": Registered("T", None),
        "a.zip": Registered("U", None),
    }


def test_columns_in_another_order_or_absent(tmp_path: Path) -> None:
    assert read(tmp_path, "team, submission\nT,c\n") == {"c": Registered("T", None)}
    assert read(tmp_path, "submission\n") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"csv:1: the first line is ''; begin with the columns submission,team,received"),
        ("team\nT\n", r"csv:1: the first line is 'team'"),
        ("submission,team,team\n", r"csv:1: the first line is 'submission,team,team'"),
        ("submission,recieved\n", r"csv:1: no column is called 'recieved'; did you mean 'received"),
        ("submission\nA.zip\n", r"csv:2: 'A.zip' is no submission here; did you mean 'a.zip'"),
        ("submission\n''\n", r"csv:2: .* is no submission here"),
        ("submission\nc\na.zip\nc\n", r"csv:4: 'c' stands twice; leave one row"),
        ("submission,team\nc,T,x\n", r"csv:2: 3 values below 2 columns; quote a value"),
        ("submission,received\nc,2024-12-05T18:30\n", r"csv:2: .* has no time zone; add it"),
        ("submission,received\nc,yesterday\n", r"csv:2: 'yesterday' is no time; write it as"),
        ('submission\n"c\n', r"csv:2: not CSV"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        read(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_rows_without_content_and_capitals_as_spreadsheets_write_them(tmp_path: Path) -> None:
    found = read(tmp_path, "Submission,TEAM , Received\n,,\na.zip,T,\n   \n , ,\n")
    assert found == {"a.zip": Registered("T", None)}


@pytest.mark.parametrize("team", ["Alpha\u200b", "Al\x00pha", "\u202eahplA", "Alpha\x1b[31m"])
def test_a_team_with_what_nobody_sees_is_one_line(tmp_path: Path, team: str) -> None:
    with pytest.raises(ConfigError, match=r"csv:2: 'A?.*has characters that nobody sees") as caught:
        read(tmp_path, f"submission,team\na.zip,{team}\n")
    assert str(caught.value).isprintable()


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="absent.csv: cannot be read"):
        read_register(tmp_path / "absent.csv", NAMES)
    (tmp_path / "latin").write_bytes(b"submission\n\xe9\n")
    with pytest.raises(ConfigError, match="latin: not UTF-8"):
        read_register(tmp_path / "latin", NAMES)
    huge = f"submission\n{'x' * (csv.field_size_limit() + 1)}\n"
    with pytest.raises(ConfigError, match="not CSV"):
        read(tmp_path, huge)


def test_whose_it_is() -> None:
    def result(name: str, team: str | None = None) -> SubmissionResult:
        return SubmissionResult(name, team=team)

    results = [
        result("registered.zip", "As it says"),
        result("described.zip", "As it says"),
        result("folder/archive.v2.tar.zst"),
        result("plain"),
        result(".zip"),
    ]
    register = {
        "registered.zip": Registered("Registered", None),
        "described.zip": Registered(None, None),
        "folder/archive.v2.tar.zst": Registered(None, None),
        "plain": Registered(None, None),
        ".zip": Registered(None, None),
    }
    assert teams_of(results, register) == {
        "registered.zip": "Registered",
        "described.zip": "As it says",
        "folder/archive.v2.tar.zst": "archive.v2",
        "plain": "plain",
        ".zip": ".zip",
    }


def test_case_and_white_space_make_no_team() -> None:
    names = ["the  Team", "The Team ", "THE\tTEAM", "Team", "the-team"]
    results = [SubmissionResult(str(n), team=team) for n, team in enumerate(names)]
    assert list(teams_of(results, None).values()) == ["THE TEAM"] * 3 + ["Team", "the-team"]
    assert set(teams_of(results[1::-1], None).values()) == {"The Team"}


def test_nobody_joins_a_registered_team_by_saying_so() -> None:
    results = [
        SubmissionResult("a.zip", team="Anything"),
        SubmissionResult("b.zip", team="ALPHA"),
        SubmissionResult("c.zip", team="ALPHA"),
        SubmissionResult("alpha"),
        SubmissionResult("d.zip", team="Beta"),
        SubmissionResult("e.zip", team="BETA"),
        SubmissionResult("f.zip", team="beta"),
        SubmissionResult("g.zip", team="Anything"),
    ]
    register = {
        "a.zip": Registered("alpha", None),
        # A row that names no team.
        "b.zip": Registered(None, None),
        "d.zip": Registered(None, None),
        "e.zip": Registered(None, None),
        "g.zip": Registered("\uff21lpha", None),
    }
    assert teams_of(results, register) == {
        # The register's spelling, of several the first.
        "a.zip": "alpha",
        "g.zip": "alpha",
        "b.zip": "ALPHA (b.zip)",
        "c.zip": "ALPHA (c.zip)",
        "alpha": "alpha (alpha)",
        "d.zip": "BETA",
        "e.zip": "BETA",
        "f.zip": "beta (f.zip)",
    }
