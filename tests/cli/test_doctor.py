from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.cli import doctor
from harness.errors import ConfigError
from harness.runtime.machine import Finding

REPOSITORY = Path(__file__).resolve().parents[2]
FINE = Finding("git", "ok", "commit 1234567")
NOTE = Finding("docker", "note", "not installed", "sudo apt-get install docker.io")
PROBLEM = Finding("librispeech", "problem", "not set", "export HARNESS_LIBRISPEECH=x")


def run(monkeypatch: pytest.MonkeyPatch, findings: Sequence[Finding], *arguments: str) -> int:
    asked = {}

    def examine(benchmark: str | None, **options: object) -> list[Finding]:
        asked.update(benchmark=benchmark, deep=options["deep"])
        return list(findings)

    monkeypatch.setattr("harness.runtime.doctor.examine", examine)
    parser = argparse.ArgumentParser()
    doctor.register(parser.add_subparsers())
    parsed = parser.parse_args(["doctor", *arguments])
    status = int(parsed.handler(parsed))
    assert asked == {
        "benchmark": next((a for a in arguments if not a.startswith("-")), None),
        "deep": "--deep" in arguments,
    }
    return status


def test_notes_are_no_problems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, [FINE, NOTE], "--deep") == 0
    assert capsys.readouterr().out == (
        "ok       git     commit 1234567\n"
        "note     docker  not installed\n"
        "                 mend: sudo apt-get install docker.io\n"
        "0 problems\n"
    )


def test_a_problem_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, [FINE, PROBLEM], "libri-mini") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "problem  librispeech  not set",
        "                      mend: export HARNESS_LIBRISPEECH=x",
        "1 problem",
    ]


def test_the_parameters_are_in_order_only_where_every_entry_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = Finding("parameters", "ok", "params.yaml can be read, benchmark demo")
    text = (REPOSITORY / "params.yaml").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for alpha, status in (("0.6", 0), ("2.0", 1)):
        entry = f"b2: {{type: mcadams, alpha_min: {alpha}, "
        (tmp_path / "params.yaml").write_text(
            text.replace("b2: {type: mcadams, ", entry), encoding="utf-8"
        )
        assert run(monkeypatch, [read, FINE]) == status
    sound, faulty = capsys.readouterr().out.split("0 problems\n")
    assert sound.splitlines()[0] == "ok       parameters  params.yaml can be read, benchmark demo"
    assert "ok       parameters" not in faulty
    assert "problem  parameters  params.yaml: anonymizers.b2 (anonymizer mcadams): alpha" in faulty


def test_unknown_benchmark_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    parser = argparse.ArgumentParser()
    doctor.register(parser.add_subparsers())
    parsed = parser.parse_args(["doctor", "nope"])
    with pytest.raises(ConfigError, match="params.yaml: no benchmark 'nope'"):
        parsed.handler(parsed)
