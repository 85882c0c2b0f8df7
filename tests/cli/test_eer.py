from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.metrics.measures import MEASURES

# Four targets and five nontargets. Between 0.5 and 0.6 one of four targets (0.4) is missed and one
# of five nontargets (0.7) accepted: (1/4 + 1/5) / 2 = 22.5 %. No other threshold is as near.
TARGETS = [0.4, 0.6, 0.8, 0.9]
NONTARGETS = [0.1, 0.2, 0.3, 0.5, 0.7]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    scored = [("target", s) for s in TARGETS] + [("nontarget", s) for s in NONTARGETS]
    trials, scores = tmp_path / "trials", tmp_path / "scores"
    trials.write_text("".join(f"s s-{i} {label}\n" for i, (label, _) in enumerate(scored)))
    lines = [f"s s-{i} {score}\n" for i, (_, score) in enumerate(scored)]
    scores.write_text("".join(reversed(lines)))
    return trials, scores


def run(files: tuple[Path, Path], *more: str) -> int:
    trials, scores = files
    return main(["eer", "--trials", str(trials), "--scores", str(scores), *more])


def test_a_table_for_people(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files) == 0
    first, second, empty, head, official, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("list       4 targets, 5 nontargets, sha256 ")
    assert second == "threshold  0.5: 1 targets missed, 1 nontargets accepted"
    assert (empty, head.split()) == ("", ["estimator", "EER", "in", "%"])
    assert official.split() == ["official", "22.500", "EER"]
    assert any(line.split()[0] == "rocch" for line in others)
    assert all(re.fullmatch(r"[a-z0-9-]+ +\d+\.\d{3}  \S.*", line) for line in others)


def test_json_for_machines(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    rates = document.pop("eer_percent")
    assert document == {
        "trials": {
            "file": str(files[0]),
            "sha256": hashlib.sha256(files[0].read_bytes()).hexdigest(),
        },
        "scores": {
            "file": str(files[1]),
            "sha256": hashlib.sha256(files[1].read_bytes()).hexdigest(),
        },
        "n_target": 4,
        "n_nontarget": 5,
        "threshold": 0.5,
        "misses": 1,
        "false_alarms": 1,
    }
    assert next(iter(rates)) == "official"
    assert rates["official"] == pytest.approx(22.5, abs=1e-5)  # float32 rates
    # Kaldi's rule: sorted targets .4 .6 .8; the first above its paired nontarget, at tp = 1, is
    # 0.6 > 0.5 (index 5 - 1 - floor(1 * 5 / 4) = 3); so 1 of 4.
    assert rates["kaldi"] == 25
    assert all(0 <= rate <= 100 for rate in rates.values())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("s s-3 0.9\n", ""), "1 missing, e.g. s s-3"),
        (lambda text: text.replace("0.9", "nan"), "scores:6: the score 'nan' is not a finite"),
        (lambda text: text.replace("0.9", "0,9"), "scores:6: expected `speaker utterance score`"),
        (lambda text: "", "0 scores for 9 trials"),
    ],
)
def test_a_fault_is_one_line(
    change: object, said: str, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(change)
    files[1].write_text(change(files[1].read_text()))
    assert run(files) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_a_list_without_targets_is_refused(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    files[0].write_text(files[0].read_text().replace(" target", " nontarget"))
    assert run(files) == 1
    assert "there is no target score" in capsys.readouterr().err


def test_an_absent_file_is_named(
    tmp_path: Path, files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for absent in ((tmp_path / "nothing", files[1]), (files[0], tmp_path / "nothing")):
        assert run(absent) == 1
        assert re.search(r"nothing: no such (trial list|score file)", capsys.readouterr().err)


def test_a_folder_is_told_to_be_one(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for given, name in (
        ((files[0].parent, files[1]), "trials"),
        ((files[0], files[1].parent), "scores"),
    ):
        assert run(given) == 1
        folder = files[0].parent
        said = f"harness: {folder}: a folder; give the file in it: {folder / name}\n"
        assert capsys.readouterr().err == said


def test_a_measure_is_no_estimator_for_its_title(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed = replace(MEASURES["eer"], title="equal error rate")
    monkeypatch.setitem(MEASURES, "eer", renamed)
    monkeypatch.setitem(MEASURES, "cllr", replace(MEASURES["cllr"], title="EER"))
    assert run(files, "--measures", "--json") == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert "eer" not in measures
    assert "cllr" in measures


def test_further_measures(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(files, "--measures", "--json") == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    # No nontarget is accepted from 0.7 on: 0.4 and 0.6 of four targets are missed.
    assert measures["miss-at-1"]["value"] == 0.5
    # There the cost is 1 x 0.5 + 99 x 0; any false alarm costs 99 / 5 at least.
    assert measures["min-dcf"]["value"] == pytest.approx(0.5)
    assert "fewer than 30" in measures["miss-at-1"]["caution"]
    assert measures["linkability"]["value"] is None
    assert measures["linkability"]["caution"] == "fewer than 20 targets"
    assert measures["cllr"]["direction"] == "higher is more private"
    assert measures["cllr"]["needs"] == "natural log-likelihood ratios"
    assert not {"eer", "eer-kaldi", "eer-rocch"} & set(measures)
    assert run(files, "--measures") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "miss-at-1           0.5000  fraction  miss rate at 1 % false alarms" in "\n".join(lines)
    assert any(line.startswith("linkability           none  fraction") for line in lines)
