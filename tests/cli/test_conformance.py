"""`harness conformance`: what is printed of findings, and the exit status."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.cli.main import main
from harness.contracts.anonymizer import conformance as anonymizer
from harness.contracts.attacker import conformance as attacker
from harness.contracts.clauses import Finding
from harness.errors import ContainerError
from harness.runtime.containers.fence import Fence

KEPT, BROKEN = (
    Finding("C1", "kept"),
    Finding("C7", "broken", "score, an empty model: exit status 0"),
)
UNTOLD = Finding("S5", "not checked", "another clause is broken")
Given = tuple[str, Any, dict[str, Any]]


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Finding], list[Given]]:
    """What checks will find, and what they were given; no image is run."""
    findings: list[Finding] = []
    given: list[Given] = []

    def check(image: str, parameters: Any, **options: Any) -> Sequence[Finding]:
        given.append((image, parameters, options))
        return findings

    kinds: tuple[ModuleType, ...] = (anonymizer, attacker)
    for kind in kinds:
        monkeypatch.setattr(kind, "check", check)
    return findings, given


def test_findings_and_status(
    checked: tuple[list[Finding], list[Given]], capsys: pytest.CaptureFixture[str]
) -> None:
    findings, _ = checked
    findings += [KEPT]
    assert main(["conformance", "anonymizer", "theirs"]) == 0
    assert capsys.readouterr().out == "C1   kept         Start\ntheirs: conforms\n"
    findings += [BROKEN, UNTOLD]
    assert main(["conformance", "attacker", "theirs"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "C1   kept         Start",
        "C7   broken       Failure: score, an empty model: exit status 0",
        "S5   not checked  Repeatable: another clause is broken",
        "theirs: 1 clause broken",
    ]


def test_options_reach_the_check(
    checked: tuple[list[Finding], list[Given]], tmp_path: Path
) -> None:
    parameters = tmp_path / "parameters.json"
    parameters.write_text('{"epochs": 1}', encoding="utf-8")
    common = ["--params", str(parameters), "--seconds", "7", "--memory", "512"]
    main(["conformance", "attacker", "theirs", "--untrained", "--system", "B3", *common])
    main(["conformance", "anonymizer", "theirs", "--unseeded", *common])
    (first, second) = checked[1]
    assert first[:2] == second[:2] == ("theirs", {"epochs": 1})
    assert (first[2]["trained"], first[2]["system"], second[2]["seeded"]) == (False, "B3", False)
    for options in (first[2], second[2]):
        fence: Fence = options["fence"]
        assert (fence.seconds, fence.memory) == (7.0, 512)


def test_what_cannot_be_checked_is_one_line(
    checked: tuple[list[Finding], list[Given]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    missing = tmp_path / "parameters.json"
    assert main(["conformance", "anonymizer", "theirs", "--params", str(missing)]) == 2
    said = f"harness conformance: {missing}: no such file; name the right one\n"
    assert capsys.readouterr().err == said
    assert checked[1] == []

    def check(*arguments: Any, **options: Any) -> None:
        raise ContainerError("no Docker engine\x1b[2J", fix="start it")

    monkeypatch.setattr(attacker, "check", check)
    assert main(["conformance", "attacker", "theirs"]) == 2
    assert capsys.readouterr().err == "harness conformance: no Docker engine\\x1b[2J; start it\n"
