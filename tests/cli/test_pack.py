"""`harness pack`: what it prints, and how it ends."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from small import clean, edition, eer_of

from harness.cli.main import main
from harness.protocols import protocol


@pytest.fixture(autouse=True)
def _small_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "load", lambda name: edition())


def arguments(folder: Path, *more: str) -> list[str]:
    (folder / "paper.pdf").write_bytes(b"%PDF-1.7\n")
    given = {
        "--scores": str(folder / "mine"),
        "--team": "t",
        "--description": str(folder / "paper.pdf"),
        "--output": str(folder / "s.zip"),
    }
    return ["pack", *(word for pair in given.items() for word in pair), *more]


def test_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean(tmp_path / "mine")
    assert main(arguments(tmp_path)) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert err == ""
    assert lines[0].split() == [
        "A1",
        "tiny_dev_trials_f",
        f"{100 * eer_of('A1', 'dev', 'f'):.3f}",
        "%",
    ]
    assert len(lines) == 13
    digest = hashlib.sha256((tmp_path / "s.zip").read_bytes()).hexdigest()
    assert lines[-1] == f"{tmp_path / 's.zip'}  sha256:{digest}"
    assert main(["verify", str(tmp_path / "s.zip"), "--benchmark", "tiny"]) == 0


def test_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = clean(tmp_path / "mine")
    for path in sorted(source.rglob("scores"))[:2]:
        path.write_text(path.read_text().replace(" ", "  "))
    assert main(arguments(tmp_path)) == 1
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 3
    assert lines[0].startswith("harness pack: exp/asv_anon_A1/")
    assert lines[0].endswith("[separators]")
    assert lines[2] == "harness pack: nothing written, 2 faults"
    assert not (tmp_path / "s.zip").exists()


def test_warned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clean(tmp_path / "mine")
    assert main(arguments(tmp_path, "--own-anonymizer", "A1")) == 0
    err = capsys.readouterr().err
    assert err.startswith(
        "harness pack: warning: submission.yaml: the team's own A1 without a date"
    )
    assert err.endswith("[own-anonymizer]\n")
    released = ["--own-anonymizer", "A1", "--own-code-released", "2024-10-13", "--force"]
    assert main(arguments(tmp_path, *released)) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("more", "line"),
    [
        (["--output", "s.rar"], "harness pack: s.rar: not a known kind of archive"),
        (["--scores", "/none"], "harness pack: /none: no such folder"),
        (["--trials", "/none"], "harness pack: /none: no trial list of tiny"),
        (["--resources", "/none"], "harness pack: /none: no such file"),
        (["--resources-list", "/none"], "harness pack: /none: cannot be read"),
        (["--claims", "/none"], "harness pack: /none: "),
    ],
)
def test_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], line: str
) -> None:
    clean(tmp_path / "mine", ("A1",))
    assert main(arguments(tmp_path, *more)) == 64
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(line)
    assert err.count("\n") == 1
