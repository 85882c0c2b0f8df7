from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import small

from harness.cli.main import main
from harness.protocols import protocol
from harness.protocols.protocol import Protocol
from harness.submissions.codes import CODES
from harness.submissions.document import schema

HEAVY = {"torch", "speechbrain", "mlflow", "dvc", "pandas", "scipy", "numba", "cryptography"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clean submission to the small edition, which the command knows as `tiny`."""
    load = protocol.load

    def patched(name: str) -> Protocol:
        return small.edition() if name == "tiny" else load(name)

    monkeypatch.setattr(protocol, "load", patched)
    monkeypatch.chdir(tmp_path)
    return small.clean(tmp_path / "team", ("A1",))


def run(*arguments: object) -> int:
    return main(["verify", *map(str, arguments), "--benchmark", "tiny"])


def falsify(folder: Path) -> None:
    next(folder.rglob("EER")).write_text("0.123\n")


def test_exit_status_is_the_verdict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    assert capsys.readouterr().out.startswith("team: VERIFIED (tiny)\n")
    falsify(folder)
    assert run(folder) == 1
    assert capsys.readouterr().out.startswith("team: REFUTED (tiny)\n")
    for path in folder.rglob("EER"):
        path.unlink()
    assert run(folder) == 2
    assert capsys.readouterr().out.startswith("team: NOT CHECKABLE (tiny)\n")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "no submission is named; give a PATH"),
        (("absent.zip",), "absent.zip: no such submission; give an archive or a folder"),
        (("team", "--trials", "absent"), "absent: no trial list of tiny"),
        (("team", "--reported", "absent"), "absent"),
        (("team", "--max-ratio", "-1"), "--max-ratio: -1 is no limit"),
        (("team", "--received", "2024-12-06"), "time"),
        (("team", "--certificate", "c.json"), "--certificate and --key belong together"),
        (("team", "--certificate", "c.json", "--key", "absent.key"), "absent.key"),
    ],
)
def test_usage_errors_are_one_line_and_exit_64(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    assert run(*arguments) == 64
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("harness verify: ")
    assert text in said.err
    assert said.err.count("\n") == 1


def test_an_unknown_edition(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["verify", str(tmp_path), "--benchmark", "vpac2052"]) == 64
    assert "did you mean 'vpac2025'?" in capsys.readouterr().err


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    falsify(folder)
    assert run(folder, "--json", "out.json") == 1
    capsys.readouterr()
    written = Path("out.json").read_text(encoding="utf-8")
    document = json.loads(written)
    assert main(["verify", "--schema"]) == 0
    published = capsys.readouterr().out
    assert published == schema()
    jsonschema.validate(document, json.loads(published))
    assert document["verdict"] == "refuted"
    assert run(folder, "--json", "-") == 1
    assert capsys.readouterr().out == written


def test_a_json_file_that_cannot_be_written_is_no_verdict(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    falsify(folder)
    Path("file").write_text("")
    assert run(folder, "--json", "file/out.json") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_codes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--codes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [code.name for code in CODES]


def test_a_limit_is_named_with_its_option(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--max-members", "3") == 2
    said = capsys.readouterr().out
    assert "archive-limit" in said
    assert "--max-members" in said


def test_lists_of_the_environment(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_LISTS", "absent")
    assert run(folder) == 64
    monkeypatch.setenv("HARNESS_LISTS", str(small.write_lists(folder.parent / "lists")))
    assert run(folder) == 0


def test_nothing_heavy_is_loaded(test_data: Path, tmp_path: Path) -> None:
    """On the real path: an archive of the real edition, refuted so that explanations run too."""
    lists = test_data / "vpc-lists"
    for listed in protocol.load("vpac2025").lists:
        place = tmp_path / "team" / "B3" / f"{listed.enrolments}-{listed.trials}"
        place.mkdir(parents=True)
        trials = (lists / listed.trials / "trials").read_text().splitlines()
        lines = [f"{line.rpartition(' ')[0]} {hash(line) / 2**63}\n" for line in trials]
        (place / "scores").write_text("".join(lines))
        (place / "EER").write_text("0.123\n")
    code = (
        "import sys\nfrom harness.cli.main import main\n"
        f"status = main(['verify', {str(tmp_path / 'team')!r}])\n"
        f"print(status, sorted({HEAVY!r} & {{m.split('.')[0] for m in sys.modules}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "1 []", done.stdout + done.stderr
