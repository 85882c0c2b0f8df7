"""`harness compare` in a workspace: exit statuses, what is printed, what is written."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from harness.cli.main import main
from harness.protocols.lists import cross_product, to_text, trials_path
from harness.protocols.protocol import load
from harness.protocols.scores import score_path

PARAMETERS = """\
benchmarks: {}
benchmark:
  {name: demo, systems: [orig], attackers: [ecapa], seeds: [1], segment_seconds: null,
   evaluators: [wer]}
anonymizers: {orig: {type: original}}
attackers: {ecapa: {type: ecapa}}
evaluators: {wer: {type: wer}}
seed: 1
sources: {}
runtime: {}
tracking: {}
"""
# By attacker: how many of its scores are turned to their opposite, and its seeds.
TURNED = {"good": (0.05, (1, 2, 3)), "bad": (0.3, (1, 2, 3)), "once": (0.05, (1,))}


def pseudo_noise(text: str) -> float:
    """From 0 to 1, the same in every run."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory has scores of three attackers, that no lock names."""
    monkeypatch.chdir(tmp_path)
    Path("params.yaml").write_text(PARAMETERS)
    stage = {"cmd": "c", "outs": [{"path": "data/demo/corpus", "md5": "1.dir"}]}
    Path("dvc.lock").write_text(yaml.safe_dump({"stages": {"corpus@demo": stage}}))
    for listed in load("demo").lists:
        names = [f"{listed.gender}{number:02d}" for number in range(14)]
        spoken = {f"{name}-0-{u}": name for name in names for u in range(4)}
        trials = cross_product(names[:11], spoken)
        path = trials_path(Path("data/demo/corpus"), listed.trials)
        path.parent.mkdir(parents=True)
        path.write_text(to_text(trials))
        for attacker, (share, seeds) in TURNED.items():
            for seed in seeds:
                lines = []
                for trial in trials:
                    name = f"{trial.enrolment} {trial.utterance}"
                    noise = pseudo_noise(f"{name} {seed}")
                    turned = trial.target == (noise < share)
                    lines.append(f"{name} {(-1 if turned else 1) + noise / 2}\n")
                path = score_path(
                    Path(f"results/demo/scores/orig/{attacker}/seed-{seed}"), "original", listed
                )
                path.parent.mkdir(parents=True)
                path.write_text("".join(lines))


def test_what_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "orig/bad", "results/demo/scores/orig/good"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "A  orig/bad, seeds 1, 2, 3",
        "B  results/demo/scores/orig/good, seeds 1, 2, 3",
    ]
    assert "  attacker  name: bad -> good" in lines
    assert sum("dvc.lock does not name the scores of" in line for line in lines) == 2
    assert "    more than trials, speakers and seeds explain" in lines


def test_one_training(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "orig/bad/seed-2", "orig/once"]) == 0
    assert (
        "    more than trials and speakers explain; the noise of training is not known, with one "
        "training each (an attacker trained again moves by 1 to 2 points)\n"
    ) in capsys.readouterr().out


def test_options_reach_the_arithmetic(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--draws", "99", "--level", "0.9", "--unit", "trials", "--seed", "7"]
    assert main(["compare", "orig/bad", "orig/good", *options, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["method"] == {"draws": 99, "level": 0.9, "unit": "trials", "seed": 7}
    (row,) = document["rows"]
    assert row["sentence"] == "more than trials and seeds explain"
    assert row["first"]["trainings"] == 3
    assert row["difference"] == pytest.approx(row["second"]["mean"] - row["first"]["mean"])
    assert row["low"] < row["difference"] < row["high"] < 0

    assert main(["compare", "orig/bad", "orig/good", *options, "--json", "found.json"]) == 0
    assert capsys.readouterr().out.startswith("A  orig/bad")
    assert json.loads(Path("found.json").read_text()) == document


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["orig", "orig/bad"], "orig: not a folder of scores; give SYSTEM/ATTACKER"),
        (
            ["orig/bad", "results/vpac2025/scores/orig/bad"],
            "orig/bad and results/vpac2025/scores/orig/bad: one is of demo, the other of vpac2025",
        ),
        (["results/x/scores/a/b", "results/x/scores/a/b"], "params.yaml: unknown benchmark 'x'"),
        (["orig/bad", "orig/good", "--draws", "3"], "draws: 3 draws are too few"),
        (["HEAD~9:orig/bad", "orig/good"], "revision 'HEAD~9': "),
        (["orig/bad", "orig/good", "--level", "95"], "level: 95.0 is no level"),
    ],
)
def test_wrong_usage(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["compare", *arguments]) == 64
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"harness compare: {message}")
    assert captured.err.count("\n") == 1


def test_what_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "orig/bad", "orig/none"]) == 1
    assert capsys.readouterr().err.startswith("harness compare: orig/none: no scores there; run")
    Path("data/demo/corpus/lists/demo_test_trials_f/trials").unlink()
    assert main(["compare", "orig/bad", "orig/good"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("harness compare: ")
    assert "no such trial list" in captured.err


def test_the_command_is_registered_without_arithmetic() -> None:
    code = (
        "import sys; from harness.cli.main import parser; parser(); "
        "print({'scipy', 'pandas', 'dvc', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
