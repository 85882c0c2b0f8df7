"""`harness listen`: a page in its place, or one clear line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import scored_demo
from pipeline.test_listen import FEMALE, make

from harness.cli.main import main

pytestmark = pytest.mark.heavy

PAGE = Path("results/demo/listen.html")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make()


def line(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_the_page_goes_beside_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["listen", "b2"]) == 0
    assert capsys.readouterr().out == f"{PAGE}: 4 utterances × 2, 0.1 MB\n"
    html = PAGE.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert html.count("<audio ") == 8
    # The same once more, of the benchmark by name and with what need not be said.
    assert main(["listen", "orig", "b2", "--benchmark", "demo", "--output", "x/y.html"]) == 0
    assert Path("x/y.html").read_bytes() == PAGE.read_bytes()


def test_what_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["listen", "b2", "--set", FEMALE, "--utterances", "1", "--seconds", "0.1"]) == 0
    assert "listen.html: 1 utterance × 2, " in capsys.readouterr().out
    assert "0.10 s of 0.25 s" in PAGE.read_text(encoding="utf-8")
    assert main(["listen", "--utterance", "m2-2", "--utterance", "e1-1", "b2"]) == 0
    html = PAGE.read_text(encoding="utf-8")
    assert html.index("TEXT OF m2-2") < html.index("TEXT OF e1-1")
    assert html.count("<audio ") == 4


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["b3"], 64, "system 'b3' is not part of benchmark demo; known are: b2, b9"),
        (["b2", "--benchmark", "dem"], 64, "no benchmark 'dem'; did you mean 'demo'?"),
        (["b2", "--set", "x"], 64, "protocol demo: no set 'x'; known are: demo_test_enrolls"),
        (["b2", "--utterance", "x"], 64, "data/demo/corpus: no utterance 'x'; give a name"),
        (["b2", "--utterances", "-1"], 64, "-1 utterances of 8 s make no page"),
        (["b2", "--output", "."], 64, ".: a folder; give the file that the page goes to"),
        (["b9"], 1, "data/demo/anonymized/b9: not made yet; run `dvc repro`, or `harness stage"),
        (
            ["b2", "--output", "params.yaml/x.html"],
            1,
            "params.yaml/x.html: cannot be written (File exists); give another --output",
        ),
    ],
)
def test_faults_are_one_line(
    arguments: list[str], status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["listen", *arguments]) == status
    message = line(capsys)
    assert message.startswith("harness listen: ")
    assert said in message
    assert not Path("results").exists()


def test_a_system_of_another_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    scored_demo.parameters(systems=["orig", "b2"])
    assert main(["listen", "b9"]) == 64
    assert line(capsys) == (
        "harness listen: params.yaml: system 'b9' is not part of benchmark demo; "
        "it has an entry: add it to `systems` of that benchmark\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: SYSTEM"),
        (["b2", "--utterances", "1", "--utterance", "x"], "not allowed with argument --utterances"),
        (["b2", "--seconds", "long"], "argument --seconds: invalid float value: 'long'"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="^64$"):
        main(["listen", *arguments])
    assert said in line(capsys)


@pytest.mark.parametrize(
    ("absent", "extra"),
    [("jinja2", "pipeline"), ("matplotlib", "pipeline"), ("pyworld", "knn-vc")],
)
def test_without_what_draws_a_page(
    absent: str, extra: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python takes it for a module that is not there.
    monkeypatch.setitem(sys.modules, absent, None)
    assert main(["listen", "b2"]) == 1
    assert line(capsys) == (
        f"harness listen: {absent}: not installed; pip install 'anonymization-harness[{extra}]'\n"
    )


def test_help_says_what_a_status_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="^0$"):
        main(["listen", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "Exit status: 0 written, 1 error, 64 wrong usage." in said
    assert "60 kB" in said
