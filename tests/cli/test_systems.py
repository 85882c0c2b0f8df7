from __future__ import annotations

import argparse
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.cli import systems
from harness.errors import ConfigError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside the repository, and without an engine: nothing of this machine is told."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    systems.register(parser.add_subparsers(required=True))
    arguments = parser.parse_args(["systems", *words])
    status: int = arguments.handler(arguments)
    return status


def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    lines = capsys.readouterr().out.splitlines()
    rows = {line.split()[0]: line for line in lines if line}
    assert lines[0].split("  ")[0] == "system"
    assert rows["Orig"].endswith("built in               runs here")
    assert rows["T10-2"].endswith("audio from the organizers")
    assert "not known" in rows["B2-2020"]
    assert rows["T7"].split("  ")[-1].strip() == "audio from its team"
    assert rows["T7"].split(maxsplit=3)[1:3] == ["not", "known"]
    assert "of its kind" not in rows["B2-2022"]
    # A name, and then columns that stand under each other.
    column = lines[0].index("status")
    assert all(line[column - 2 : column] == "  " for line in lines[1:-2])


def test_one_system(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("T12-5") == 0
    text = capsys.readouterr().out
    assert text.startswith("T12-5\n")
    assert "  code       not known\n" in text
    assert "where they disagree\n  of T12, the paper describes a system on FACodec" in text
    line = "EER of ASV_eval_anon, LibriSpeech, dev: f 43.32, m 44.10, mean 43.71"
    assert f"  {line} [attacker-plan, Table 3]\n" in text
    title = "The First VoicePrivacy Attacker Challenge Evaluation Plan, version 1.0"
    assert f"  attacker-plan: {title}\n" in text


def test_weights_and_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("B3") == 0
    text = capsys.readouterr().out
    assert "at 400de3a86c2f33f7a6fc63f10869a88914ccd8bc" in text
    assert "licence: GPL-3.0-or-later" in text
    assert "sha256: not known; licence: not known" in text


def test_without_a_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("T25") == 0
    assert "  family     not known\n" in capsys.readouterr().out


def test_without_published_values(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("T18") == 0
    assert "published values, in percent\n  not known\n" in capsys.readouterr().out


def test_json_of_all_and_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--json") == 0
    documents = json.loads(capsys.readouterr().out)
    by_name = {document["name"]: document for document in documents}
    assert (by_name["Orig"]["runs"], by_name["Orig"]["status"]) == (True, "runs here")
    assert by_name["T9"]["runs"] is False
    # What runs is of its kind, not the system.
    (way,) = by_name["B2-2020"]["ways"]
    assert (by_name["B2-2020"]["runs"], way["runs"]) == (False, False)
    # The light environment lacks what it works with.
    expected = "needs the package numba"
    if find_spec("numba") is not None:
        expected = "one of its kind runs here: type mcadams, with the definition of 2024"
    assert way["status"] == expected
    assert run("T9", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document == by_name["T9"]
    assert document["code"] is None
    assert [one["whole"] for one in document["published"]] == ["34.5", "2.4", "2.37", "61"]
    assert list(document["sources"]) == ["paper-2024"]


def test_a_misspelt_name() -> None:
    with pytest.raises(ConfigError, match=r"did you mean 'T25-1'\?"):
        run("T25-l")
