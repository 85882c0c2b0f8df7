"""`harness diff-lock`: exit status 0 unless the result is different, or cannot be compared."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from harness.cli.main import main

LOCK = """\
schema: '2.0'
stages:
  compare@demo:
    cmd: harness stage compare demo
    outs:
    - path: results/demo/averages.csv
      hash: md5
      md5: {md5}
"""
AVERAGES = (
    "benchmark,system,attacker,seed,scenario,dataset,split,eer_percent\n"
    "demo,b2,ecapa,1986,semi-informed,demo,test,{eer}\n"
)
EER = (
    "benchmark,system,attacker,seed,scenario,enrolment,trial,train,dataset,split,gender,n_target,"
    "n_nontarget,eer_percent,threshold,misses,false_alarms,trials_sha256\n"
)
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


def write(eer: float) -> None:
    averages = AVERAGES.format(eer=eer)
    Path("results/demo").mkdir(parents=True, exist_ok=True)
    Path("results/demo/averages.csv").write_text(averages)
    Path("results/demo/eer.csv").write_text(EER)
    Path("dvc.lock").write_text(LOCK.format(md5=hashlib.md5(averages.encode()).hexdigest()))


@pytest.fixture(autouse=True)
def _repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is a repository in which an EER of 22 % is committed."""
    monkeypatch.chdir(tmp_path)
    write(22.0)
    Path("params.yaml").write_text(PARAMETERS)
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*identity, "commit", "-q", "-m", "result")):
        subprocess.run(["git", *arguments], check=True)


@pytest.mark.parametrize(
    ("eer", "arguments", "status", "verdict"),
    [
        (22.0, [], 0, "identical (1 EER averages, band 2 points; 0 lists, band 4 points)"),
        (23.5, [], 0, "within the band (1 EER averages, band 2 points; 0 lists, band 4 points)"),
        (
            23.5,
            ["demo", "--rev", "HEAD"],
            0,
            "within the band (1 EER averages, band 2 points; 0 lists, band 4 points)",
        ),
        (
            23.5,
            ["--band", "1.25"],
            1,
            "different (1 EER averages, band 1.25 points; 0 lists, band 2.5 points)",
        ),
        (
            22.0,
            ["--list-band", "3"],
            0,
            "identical (1 EER averages, band 2 points; 0 lists, band 3 points)",
        ),
        (25.0, [], 1, "different (1 EER averages, band 2 points; 0 lists, band 4 points)"),
    ],
)
def test_status_and_verdict(
    capsys: pytest.CaptureFixture[str],
    eer: float,
    arguments: list[str],
    status: int,
    verdict: str,
) -> None:
    write(eer)
    assert main(["diff-lock", *arguments]) == status
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("compare@demo  ")
    assert lines[-1] == f"verdict: {verdict}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rev", "v9"], "harness: revision 'v9': git finds no such commit"),
        (["vpac2025"], "harness: dvc.lock at HEAD: no stage of vpac2025"),
        (["--band", "-1"], "harness: --band: a band of -1.0 points; give 0 to 100 points"),
        (["--list-band", "101"], "harness: --list-band: a band of 101.0 points; give 0 to 100"),
    ],
)
def test_what_cannot_be_compared(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["diff-lock", *arguments]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(message)
    assert captured.err.count("\n") == 1


def test_stale_results_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    lock = Path("dvc.lock")
    lock.write_text(lock.read_text() + "    deps:\n    - path: code.py\n      md5: 0123456789\n")
    assert main(["diff-lock"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "harness: rebuilt results are stale: compare@demo: deps code.py 01234567 -> none; "
        "run `dvc repro`\n"
    )


def test_help_says_what_it_reads(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["diff-lock", "--help"])
    assert "50 GB" in capsys.readouterr().out
