from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import making
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
        (("team", "--explain-seconds", "-1"), "--explain-seconds: -1.0 is no time; use 0 or more"),
        (("team", "--explain-seconds", "nan"), "--explain-seconds: nan is no time"),
        (("team", "--certificate", "c.json"), "--certificate and --key belong together"),
        (("team", "--jobs", "2"), "--jobs 2; give 1 or more containers at once, with --container"),
        (("team", "--jobs", "0", "--container"), "--jobs 0; give 1 or more"),
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


def test_a_certificate_is_written_and_accepted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    falsify(folder)
    assert main(["cert", "keygen", "organizer"]) == 0
    arguments = (folder, "--certificate", "team.json", "--key", "organizer.key")
    assert run(*arguments) == 1
    capsys.readouterr()
    check = ["cert", "check", "team.json", "--key", "organizer.pub", "--submission", str(folder)]
    assert main(check) == 0
    assert capsys.readouterr().out.startswith("team: REFUTED (tiny)\n")
    # A certificate is of one submission.
    assert run(folder, *arguments) == 64
    assert "a certificate is of one submission; give one PATH" in capsys.readouterr().err
    next(folder.rglob("scores")).write_text("")
    assert main(check) == 1


@pytest.mark.parametrize(
    ("time", "late"), [("2024-12-05T23:59:59-12:00", False), ("2024-12-06T12:00:01Z", True)]
)
def test_what_comes_late_is_marked(
    folder: Path, capsys: pytest.CaptureFixture[str], time: str, late: bool
) -> None:
    """The deadline is the end of 2024-12-05 everywhere on Earth; a mark is no verdict."""
    assert run(folder, "--received", time) == 0
    assert ("error       late: " in capsys.readouterr().out) == late


def test_resources_that_are_not_listed_are_marked(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "packed").mkdir()
    resource = "{name: VoxCeleb, kind: data, source: https://example.org, declared: 2024-10-01}"
    path = making.described(tmp_path / "packed", f"resources:\n  - {resource}\n").paths[0]
    Path("list.txt").write_text("WavLM\n")
    assert run(path, "--resources-list", "list.txt") == 0
    assert "resource-unlisted" in capsys.readouterr().out
    Path("list.txt").write_text("VoxCeleb\n")
    assert run(path, "--resources-list", "list.txt") == 0
    assert "resource-unlisted" not in capsys.readouterr().out


def test_the_one_system_is_named_where_nothing_else_does(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (folder / "exp/asv_anon_A1").iterdir():
        path.rename(path.with_name(path.name.replace("_A1", "")))
    (folder / "exp/asv_anon_A1").rename(folder / "exp/asv_anon")
    assert run(folder, "--system", "A1", "--json", "out.json") == 0
    systems = {one["system"] for one in json.loads(Path("out.json").read_text())["lists"]}
    assert systems == {"A1"}


@pytest.mark.heavy
def test_tracking_without_parameters_is_told_before_any_work(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "--track", "--json", "out.json") == 64
    assert "params.yaml: no such file" in capsys.readouterr().err
    assert not Path("out.json").exists()


def test_claims_from_outside(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("eer.csv").write_text("system,list,EER\nA1,tiny_dev_trials_f,1.234\n")
    assert run(folder, "--reported", "eer.csv") == 1
    assert "  1.234  " in capsys.readouterr().out


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
