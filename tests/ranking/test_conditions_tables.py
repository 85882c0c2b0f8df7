"""Tables of measured values: what is read, and each fault as one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.errors import ConfigError, DataError, HarnessError
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.ranking import load
from harness.protocols.texts import MOST_BYTES
from harness.ranking.conditions.measured import COLUMNS, TABLE, read_tables

from . import measured_tables as tables


def edition(name: str) -> AnonymizerRanking:
    rules = load(name)
    assert isinstance(rules, AnonymizerRanking)
    return rules


VPC2022, VPC2024 = edition("vpc2022"), edition("vpc2024")


def test_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(
        b"\xef\xbb\xbfsystem,team,Value,measure,dataset,split,gender\r\n"
        b"B2,  The   Team ,+12.910,eer,Libri,TEST,F\r\n"
        b",,,,,,\r\n"
        b"b2,the team,N/A,UAR,iemocap,test,\r\n"
        b'"a, ""b""",z,.5,EER,libri,dev,m\r\n'
        b"ORIG, ,100,EER,libri,test,f\r\n"
    )
    original, team, other = read_tables([path], VPC2024)
    assert (original.team, original.system) == ("", "orig")
    assert original.values == {("EER", "libri", "test", "f"): 100}
    # Names that differ in case or white space alone are one; a missing value is none.
    assert (team.team, team.system) == ("The Team", "B2")
    assert {place: float(value) for place, value in team.values.items()} == {
        ("EER", "libri", "test", "f"): 12.91
    }
    assert (other.team, other.system) == ("z", 'a, "b"')
    assert float(other.values["EER", "libri", "dev", "m"]) == 0.5


def test_a_team_is_spelt_one_way(tmp_path: Path) -> None:
    lines = [
        *tables.rows_2024("npu", "a", "30", "2", "60"),
        *tables.rows_2024("NPU", "b", "30", "2", "60"),
        # Full width.
        *tables.rows_2024("\uff2e\uff30\uff35", "c", "30", "2", "60"),
    ]
    found = read_tables([tables.write(tmp_path, lines)], VPC2024)
    assert [(one.team, one.system) for one in found] == [("NPU", name) for name in "abc"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("T,s,EET,libri,test,f,12", "'EET' is no measure; known are: EER, UAR, WER"),
        ("T,s,EER,librispeech,test,f,12", "'librispeech' is no data set of EER; known are: libri"),
        ("T,s,UAR,libri,test,,50", "'libri' is no data set of UAR; known are: IEMOCAP"),
        ("T,s,EER,libri,eval,f,12", "'eval' is no split; known are: dev, test"),
        ("T,s,EER,libri,test,,12", "'' is no gender that EER of libri is of; write f or m"),
        ("T,s,WER,libri,test,f,12", "'f' is no gender that WER of libri is of; leave it empty"),
        ("T,s,EER,libri,test,m,twelve", "'twelve' is no number; write digits"),
        ("T,s,EER,libri,test,m,12.9%", "'12.9%' is no number"),
        ("T,s,EER,libri,test,m,1e2", "'1e2' is no number"),
        ("T,s,EER,libri,test,m,inf", "'inf' is no number"),
        ("T,s,EER,libri,test,m,100.1", "EER of 100.1, outside 0 to 100 %; write it in that unit"),
        ("T,s,EER,libri,test,m,-1", "EER of -1, outside 0 to 100 %"),
        ("T,s,WER,libri,test,,0.035", "WER of 0.035, outside 1 to 1000 %; a fraction?"),
        ("T,s,UAR,IEMOCAP,test,,0.61", "UAR of 0.61, outside 1 to 100 %; a fraction?"),
        (",s,EER,libri,test,f,12", "a team of 0 characters; name it, in at most 200"),
        (f"T,{'s' * 201},EER,libri,test,f,12", "a system of 201 characters"),
        ("T,Orig,EER,libri,test,f,12", "orig is original speech, and no team's system; leave"),
        ("T,s,EER,libri,test,12", "6 cells for 7 columns"),
        ('T,"s"s,EER,libri,test,f,12', "not a table"),
        ("t,S,eer,libri,test,f,13", "a value that stands twice; it stands at {path}:2 already"),
        ("t,S,eer,libri,test,f,n/a", "a value that stands twice"),
    ],
)
def test_a_faulty_row_is_one_line(tmp_path: Path, line: str, said: str) -> None:
    path = tables.write(tmp_path, ["T,s,EER,libri,test,f,12.5", line])
    told = f"{path}:3: {said.replace('{path}', str(path))}"
    with pytest.raises(DataError, match=f"^{re.escape(told)}") as raised:
        read_tables([path], VPC2024)
    assert "\n" not in str(raised.value)


def test_twice_in_two_tables(tmp_path: Path) -> None:
    one = tables.write(tmp_path, ["T,s,EER,libri,test,f,12.5"], "one.csv")
    two = tables.write(tmp_path, ["T,s,EER,libri,test,f,12.5"], "two.csv")
    with pytest.raises(DataError, match=f"{two}:2: .* it stands at {one}:2 already"):
        read_tables([one, two], VPC2024)


def test_fractions_of_a_whole_table(tmp_path: Path) -> None:
    lines = ["T,s,EER,libri,test,f,0.404", "T,s,EER,libri,test,m,0.41"]
    path = tables.write(tmp_path, lines)
    with pytest.raises(DataError, match="every EER is below 1: fractions, it seems; write percent"):
        read_tables([path], VPC2024)
    # One list of original speech had an EER of 0.418 %.
    tables.write(tmp_path, [*lines, "T,t,EER,libri,test,f,8.761"])
    assert len(read_tables([path], VPC2024)) == 2


def test_units_that_are_not_percent(tmp_path: Path) -> None:
    lines = ["T,s,pitch-correlation,libri,test,f,-0.1", "T,s,GVD,libri,test,f,-6.5"]
    (one,) = read_tables([tables.write(tmp_path, lines)], VPC2022)
    assert sorted(float(value) for value in one.values.values()) == [-6.5, -0.1]
    path = tables.write(tmp_path, ["T,s,pitch-correlation,libri,test,f,62"])
    with pytest.raises(DataError, match="pitch-correlation of 62, outside -1 to 1; write it in"):
        read_tables([path], VPC2022)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "an empty table; write team,system,measure,dataset,split,gender,value first"),
        (b"\n\n", "an empty table"),
        (b"team;system\n", "1: unknown column 'team;system'"),
        (b"team,system,measures,dataset,split,gender,value\n", "1: unknown column 'measures'; did"),
        (b"team,system,measure,dataset,split,gender\n", "1: columns that do not stand once: value"),
        (
            b"team,team,system,measure,dataset,split,gender,value\n",
            "1: columns that do not stand once: team",
        ),
        (b"team,\xff\n", "not UTF-8; save it as UTF-8"),
    ],
)
def test_a_faulty_file_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "results.csv"
    path.write_bytes(content)
    with pytest.raises(HarnessError, match=re.escape(said)) as raised:
        read_tables([path], VPC2024)
    assert str(raised.value).startswith(str(path))


def test_what_is_no_table(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent.csv"):
        with pytest.raises(ConfigError, match="cannot be read .*; name a table in CSV"):
            read_tables([path], VPC2024)
    large = tmp_path / "large.csv"
    with large.open("wb") as stream:
        stream.truncate(MOST_BYTES + 1)
    with pytest.raises(ConfigError, match="more than 16,777,216 bytes"):
        read_tables([large], VPC2024)


def test_a_flood_of_systems_ends(tmp_path: Path) -> None:
    lines = [f"T,s{number},EER,libri,test,f,12" for number in range(1001)]
    with pytest.raises(DataError, match="more than 1,000 systems"):
        read_tables([tables.write(tmp_path, lines)], VPC2024)


def test_the_help_names_every_column() -> None:
    assert all(name in TABLE for name in COLUMNS)
