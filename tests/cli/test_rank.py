"""The command `harness rank`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from contests import edition, loose
from editions import Made, submit_2024, tiny

from harness.cli.main import main
from harness.protocols import protocol
from harness.protocols.protocol import Protocol
from harness.ranking.document import from_json

HEAVY = {"torch", "speechbrain", "mlflow", "dvc", "pandas", "matplotlib", "jinja2", "cryptography"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two submissions to a small edition, which the command knows as `field`."""
    load, names = protocol.load, protocol.names

    def patched(name: str) -> Protocol:
        return edition() if name == "field" else load(name)

    monkeypatch.setattr(protocol, "load", patched)
    monkeypatch.setattr(protocol, "names", lambda: [*names(), "field"])
    monkeypatch.chdir(tmp_path)
    loose(tmp_path / "one", {"A1": 2.0, "A2": 1.0})
    loose(tmp_path / "two", {"A1": 1.0, "A2": 2.0})
    return tmp_path


def run(*arguments: object) -> int:
    return main(["rank", *map(str, arguments), "--benchmark", "field", "--draws", "199"])


def test_a_ranking_is_shown_and_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("one", "two", "--seed", "7", "--json", "ranking.json") == 0
    out = capsys.readouterr().out
    assert "     1  one   one    18.11" in out
    assert "199 draws of speakers, seed 7" in out
    ranking = from_json((folder / "ranking.json").read_bytes(), "ranking.json")
    assert [[row.attacker for row in board.rows] for board in ranking.boards] == [
        ["one", "two"],
        ["two", "one"],
        [],
    ]
    assert (ranking.method.draws, ranking.method.seed) == (199, 7)
    # This edition says nothing of an overall order.
    assert ranking.overall is None


def test_json_goes_to_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("one", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["benchmark"] == "field"


def test_a_register_names_teams(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "register.csv").write_text(
        "submission,team,received\none,First,2024-12-07T00:00:00Z\ntwo,Second,\n"
    )
    assert run("one", "two", "--entries", "register.csv") == 0
    out = capsys.readouterr().out
    assert "     1  Second  two" in out
    assert "First (one), late: received 2024-12-07" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.zip",), "absent.zip: no such submission; give an archive or a folder"),
        (("one", "one"), "one: is given twice; name each submission once"),
        (("one", "--entries", "absent"), "absent: cannot be read"),
        (("one", "--trials", "absent"), "absent: no trial list of field"),
        (("one", "--certificates", "."), "--certificates and --key belong together"),
        (("one", "--resources-list", "absent"), "absent: cannot be read"),
        (("one", "--seed", "-1"), "seed: -1 is too low"),
        (("one", "--draws", "3"), "draws: 3 draws are too few for a level of 0.95"),
    ],
)
def test_usage_errors_are_one_line_and_exit_64(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert main(["rank", *arguments, "--benchmark", "field"]) == 64
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith(f"harness rank: {said}")
    assert shown.err.count("\n") == 1


def test_an_unknown_edition(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", "one", "--benchmark", "vpac2024"]) == 64
    assert capsys.readouterr().err.startswith("harness rank: --benchmark: unknown benchmark")


def test_a_certificate_that_is_refused_exits_1(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from harness.submissions.certificates.keys import generate_keys

    _, public = generate_keys(folder / "office")
    (folder / "certificates").mkdir()
    (folder / "certificates" / "a.json").write_text("{}")
    assert run("one", "--certificates", "certificates", "--key", public) == 1
    assert "a.json: changed after it was signed" in capsys.readouterr().err


def test_tables_are_ranked_where_the_edition_ranks_anonymizers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "table.csv").write_text("nothing\n")
    assert main(["rank", "table.csv", "--benchmark", "vpc2024"]) == 1
    assert capsys.readouterr().err.startswith("harness rank: table.csv:1: unknown column")


@pytest.mark.parametrize("option", ["--certificates", "--key", "--resources-list", "--draws"])
def test_options_that_say_nothing_of_tables_are_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    arguments = ["rank", "table.csv", "--benchmark", "vpc2024", "--seed", "0", option, "7"]
    assert main(arguments) == 64
    assert capsys.readouterr().err == (
        f"harness rank: {option}, --seed say nothing of vpc2024, which ranks anonymizers; leave "
        "them out\n"
    )


@pytest.fixture
def submissions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems of 2024, with tiny lists: 15 and 30 of 75 targets are 20 and 40 %."""
    load = protocol.load
    monkeypatch.setattr(
        protocol, "load", lambda name: tiny(name) if name == "vpc2024" else load(name)
    )
    monkeypatch.chdir(tmp_path)
    for name, misses, wer in (("low", 15, "2"), ("high", 30, "9")):
        submit_2024(tmp_path / name, tiny("vpc2024"), Made({"libri": misses}, {"libri": wer}))
    return tmp_path


def test_submissions_are_ranked_where_the_edition_ranks_anonymizers(
    submissions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (submissions / "e.csv").write_text("submission,team\nlow,Alpha\nhigh,Beta\n")
    made = ["rank", "low", "high", "--benchmark", "vpc2024"]
    assert main([*made, "--entries", "e.csv", "--json", "r.json"]) == 0
    document = json.loads((submissions / "r.json").read_text())
    boards = {(one["minimum"], one["track"]): one["rows"] for one in document["rankings"]}
    assert [row["team"] for row in boards[20, "WER"]] == ["Alpha", "Beta"]
    assert [row["team"] for row in boards[40, "WER"]] == ["Beta"]
    assert [one["submission"] for one in document["systems"]] == ["low", "high"]
    assert "WER: claimed by 2, not checkable" in capsys.readouterr().out


def test_a_submission_and_an_option_of_attackers(
    submissions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rank", "low", "--benchmark", "vpc2024", "--draws", "9"]) == 64
    said = "harness rank: --draws say nothing of vpc2024, which ranks anonymizers; leave them out\n"
    assert capsys.readouterr().err == said
    assert main(["rank", "absent", "--benchmark", "vpc2024"]) == 64
    assert capsys.readouterr().err.startswith("harness rank: absent: no such submission")


@pytest.mark.parametrize("option", ["--entries", "--trials"])
def test_options_of_submissions_say_nothing_of_tables(
    submissions: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (submissions / "t.csv").write_text("team,system,measure,dataset,split,gender,value\n")
    assert main(["rank", "t.csv", "--benchmark", "vpc2024", option, "e.csv"]) == 64
    assert capsys.readouterr().err == (
        f"harness rank: {option} say nothing of tables; leave them out\n"
    )


def test_it_loads_nothing_heavy(folder: Path) -> None:
    code = (
        "import sys; from harness.cli.main import main\n"
        "main(['rank', 'one', '--draws', '199', '--json', 'r.json'])\n"
        f"print(sorted({HEAVY!r} & {{m.split('.')[0] for m in sys.modules}}))"
    )
    out = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=folder)
    assert out.endswith("[]\n")
