"""`harness rerun`, with a stand-in for the container and the engine."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from harness.cli.main import main
from harness.errors import ContainerError
from harness.protocols import protocol
from harness.reruns.document import schema
from harness.runtime.containers import engine
from reruns import spoken
from reruns.standin import DIGEST, StandIn, normalised

DEADLY = "sha256:" + "de" * 32
Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _edition(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The small edition, and an engine that has all images but `absent`."""
    monkeypatch.setattr(protocol, "load", lambda name: spoken.edition())
    monkeypatch.setattr(engine, "require_engine", lambda: None)
    monkeypatch.setattr(engine, "image_digest", digest)
    monkeypatch.chdir(tmp_path)


def digest(image: str) -> str:
    if image == "absent":
        raise ContainerError("No such image: absent", where="'absent'", fix="see `docker images`")
    return DEADLY if image == "deadly" else DIGEST


def rerun(*arguments: object) -> int:
    return main(["rerun", *map(str, arguments), "--benchmark", "tiny"])


def test_one_that_comes_again(standin: StandIn, honest: Path, speech: Path, capsys: Said) -> None:
    arguments = (honest, "--image", "team", "--speech", speech, "--json", "out.json")
    assert rerun(*arguments, "--seed", 5, "--threads", 3) == 0
    said = capsys.readouterr()
    assert said.out.startswith("team: REPRODUCED (tiny)\n")
    assert "drawn by --seed 5\n" in said.out
    assert said.err.splitlines()[0] == "harness rerun: A1 tiny_test_trials_f: 112 pairs"
    document = json.loads(Path("out.json").read_text())
    jsonschema.validate(document, json.loads(schema()))
    assert (document["outcome"], document["reruns"][0]["seed"]) == ("reproduced", 5)
    assert {seen["circumstances"].threads for seen in standin.seen} == {3}
    assert rerun(*arguments[:-2], "--seed", 5, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out) == document


def test_one_that_does_not(standin: StandIn, honest: Path, speech: Path, capsys: Said) -> None:
    standin.change = normalised
    assert rerun(honest, "--image", "team", "--speech", speech) == 1
    said = capsys.readouterr().out
    assert said.startswith("team: NOT REPRODUCED (tiny)\n")
    assert "A2" in said.partition("what differs\n")[2]
    assert rerun(honest, "--image", "team", "--speech", speech, "--system", "A1") == 1
    assert "A2" not in capsys.readouterr().out


def test_a_refuted_submission_stays_refuted(
    standin: StandIn, speech: Path, tmp_path: Path, honest: Path, capsys: Said
) -> None:
    """Its scores come again, and its claims are wrong: the verification is told below."""
    reported = tmp_path / "reported.csv"
    reported.write_text("system,list,EER\nA1,tiny_test_trials_f,1.234\n")
    arguments = (honest, "--image", "team", "--speech", speech, "--reported", reported)
    assert rerun(*arguments) == 1
    said = capsys.readouterr().out
    assert said.startswith("team: REPRODUCED (tiny)\n")
    assert "\nteam: REFUTED (tiny)\n" in said


def test_samples_are_drawn_and_told(
    standin: StandIn, honest: Path, speech: Path, capsys: Said
) -> None:
    seeds = set()
    for _ in range(2):
        assert rerun(honest, "--image", "team", "--speech", speech, "--system", "A1") == 0
        said = capsys.readouterr().out
        seeds.add(said.partition("--seed ")[2].partition("\n")[0])
    assert len(seeds) == 2


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        ((), 64, "no SUBMISSION or no --image; give both, or --batch FILE"),
        (("team",), 64, "no SUBMISSION or no --image"),
        (("absent.zip", "--image", "team", "--speech", "."), 64, "absent.zip: no such submission"),
        (("team", "--image", "team"), 64, "data/tiny/anonymized: no such folder of speech"),
        (("team", "--image", "team", "--models", "no", "--speech", "."), 64, "no: no such folder"),
        (("team", "--image", "team", "--params", "no", "--speech", "."), 64, "no: no such file"),
        (("team", "--image", "t", "--params", ".", "--speech", "."), 2, ".: not a file of at"),
        (("team", "--image", "t", "--memory", "0", "--speech", "."), 64, "memory: 0 is no limit"),
        (("team", "--image", "t", "--seconds", "nan", "--speech", "."), 64, "seconds: nan is no"),
        (("team", "--image", "absent", "--speech", "."), 2, "'absent': No such image: absent"),
        (("team", "--image", "t", "--certificate", "c"), 64, "--certificate and --key belong"),
        (("team", "--image", "t", "--speech", ".", "--system", "A7"), 64, "no scores of the sys"),
        (("team", "--image", "t", "--jobs", "2"), 64, "--jobs 2; give it with --batch"),
        (("team", "--batch", "b.yaml"), 64, "leave out SUBMISSION, --image, --models"),
        (("--batch", "absent.yaml"), 64, "absent.yaml: no such file"),
        (("--batch", "b.yaml"), 64, "b.yaml.reruns[0]: 'image' is missing"),
        (("--batch", "b.yaml", "--jobs", "0"), 64, "--jobs: 0 is no number of jobs"),
    ],
)
def test_errors_are_one_line(
    arguments: tuple[str, ...],
    status: int,
    text: str,
    standin: StandIn,
    honest: Path,
    tmp_path: Path,
    capsys: Said,
) -> None:
    (tmp_path / "team").symlink_to(honest)
    (tmp_path / "b.yaml").write_text("reruns: [{submission: team}]\n")
    assert rerun(*arguments) == status
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("harness rerun: ")
    assert text in said.err
    assert said.err.count("\n") == 1


def test_a_certificate_is_written_and_checked(
    standin: StandIn, honest: Path, speech: Path, capsys: Said
) -> None:
    assert main(["cert", "keygen", "key"]) == 0
    written = ("--certificate", "team.json", "--key", "key.key")
    assert rerun(honest, "--image", "team", "--speech", speech, *written) == 0
    capsys.readouterr()
    check = ["cert", "check", "team.json", "--key", "key.pub", "--submission", str(honest)]
    assert main([*check, "--rescore"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("team: VERIFIED (tiny)\n")
    assert "attacker run again: REPRODUCED\n" in said
    assert str(speech.parent) not in Path("team.json").read_text()


def test_the_result_is_shown_even_where_it_cannot_be_written(
    standin: StandIn, honest: Path, speech: Path, tmp_path: Path, capsys: Said
) -> None:
    (tmp_path / "out.json").mkdir()
    assert rerun(honest, "--image", "team", "--speech", speech, "--json", "out.json") == 2
    assert capsys.readouterr().out.startswith("team: REPRODUCED (tiny)\n")


def test_the_schema_is_published(capsys: Said) -> None:
    assert main(["rerun", "--schema"]) == 0
    assert capsys.readouterr().out == schema()


def batch(tmp_path: Path, honest: Path, rows: list[dict[str, Any]]) -> Path:
    for row in rows:
        shutil.copytree(honest, tmp_path / row["submission"])
    (tmp_path / "b.yaml").write_text(json.dumps({"reruns": rows}))
    return tmp_path / "b.yaml"


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_batch_goes_on_whatever_fails(
    jobs: int, standin: StandIn, honest: Path, speech: Path, tmp_path: Path, capsys: Said
) -> None:
    rows = [
        {"submission": "good", "image": "team"},
        {"submission": "bad", "image": "absent"},
        {"submission": "one", "image": "team", "systems": ["A2"], "models": "models"},
    ]
    (tmp_path / "below" / "models" / "A2").mkdir(parents=True)
    file = batch(tmp_path / "below", honest, rows)
    arguments = ("--batch", file, "--speech", speech, "--jobs", jobs, "--json", "out.json")
    assert rerun(*arguments) == 2
    said = capsys.readouterr()
    summary = said.out.splitlines()[-5:]
    assert [line.split()[:3] for line in summary] == [
        ["submission", "verification", "rerun"],
        ["good", "verified", "reproduced"],
        ["bad", "-", "not"],
        ["one", "verified", "reproduced"],
        ["all", "3", "reruns:"],
    ]
    assert summary[2].endswith("'absent': No such image: absent; see `docker images`")
    assert summary[-1] == "all 3 reruns: not checkable"
    assert "bad: NOT CHECKABLE: 'absent': No such image" in said.out
    document = json.loads(Path("out.json").read_text())
    jsonschema.validate(document, json.loads(schema()))
    assert [one["submission"]["name"] for one in document["reruns"]] == ["good", "bad", "one"]
    assert [one["system"] for one in document["reruns"][2]["systems"]] == ["A2"]


def test_a_process_that_dies_ends_no_other(
    standin: StandIn, honest: Path, speech: Path, tmp_path: Path, capsys: Said
) -> None:
    def dies(scores: np.ndarray, pairs: Any) -> np.ndarray:
        if standin.seen[-1]["image"] == DEADLY:
            os._exit(137)
        return scores

    standin.change = dies
    rows = [{"submission": name, "image": name} for name in ("first", "deadly")]
    assert rerun("--batch", batch(tmp_path, honest, rows), "--speech", speech) == 2
    said = capsys.readouterr().out.splitlines()
    assert said[-3].split() == ["first", "verified", "reproduced"]
    assert said[-2].split(None, 1)[1].endswith("not checkable  its process died")
