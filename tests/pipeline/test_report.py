"""The stage `report`: its files say what the scores say, the same each time, and nothing else."""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
import scored_demo
import yaml

from harness.errors import ConfigError, DataError, ScoreError
from harness.pipeline import report
from harness.pipeline.page import page_of
from harness.ranking.document import from_json
from harness.reports.html.render import render
from harness.reports.page import Page

pytestmark = pytest.mark.heavy

FOLDER = Path("results/demo/report")
PICTURES = ("det", "histograms", "speakers")
KINDS = ("svg", "png")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        scored_demo.make()
        report.run(scored_demo.context())
    return root


@pytest.fixture(scope="module")
def narrow(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with fewer runs, whose report takes less time."""
    root = tmp_path_factory.mktemp("narrow") / "repository"
    shutil.copytree(made, root)
    shutil.rmtree(root / FOLDER)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        scored_demo.parameters(systems=["orig", "b2"], attackers=["weak"])
        report.run(scored_demo.context())
    return root


@pytest.fixture
def repository(narrow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One of its own, for tests that change it."""
    shutil.copytree(narrow, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def table(made: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(made / FOLDER / name, keep_default_na=False, na_values=[""])


def test_everything_is_there(made: Path) -> None:
    anonymized = ["ignorant", "lazy-informed", "semi-informed"]
    scenarios = {"orig": ["original"], "b2": anonymized, "b9": anonymized}
    expected = {
        f"plots/{system}/{attacker}/{scenario}/{picture}.{kind}"
        for system, names in scenarios.items()
        for attacker in ("strong", "weak")
        for scenario in names
        for picture in PICTURES
        for kind in KINDS
    }
    expected |= {f"plots/{name}.{kind}" for name in ("heat-map", "tradeoff") for kind in KINDS}
    expected |= {"index.html", "ranking.json"}
    expected |= {
        f"leaderboard/{attacker}{name}"
        for attacker in ("", "strong/", "weak/")
        for name in ("events.jsonl", "table.json", "table.png")
    }
    expected |= {f"{name}.csv" for name in ("intervals", "measures", "speakers", "histograms")}
    assert set(contents(made / FOLDER)) == expected


def test_the_same_bytes_in_another_process(narrow: Path, repository: Path) -> None:
    shutil.rmtree(FOLDER)
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli.main", "stage", "report", "demo"],
        env={"PYTHONHASHSEED": "123", "PATH": "/usr/bin:/bin", "HOME": str(repository)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "report demo: results/demo/report/index.html\n"
    assert contents(repository / FOLDER) == contents(narrow / FOLDER)


def test_a_second_run_replaces_the_folder_as_a_whole(repository: Path) -> None:
    (FOLDER / "left-over.png").write_text("x", encoding="utf-8")
    report.run(scored_demo.context())
    assert not (FOLDER / "left-over.png").exists()


def test_no_path_or_day_in_any_file(made: Path) -> None:
    for name, data in contents(made / FOLDER).items():
        assert str(made).encode() not in data, name
        assert not re.search(rb"\b20[2-9]\d-\d\d-\d\d", data), name


def test_svg_files_are_well_formed_and_small(made: Path) -> None:
    for path in (made / FOLDER).rglob("*.svg"):
        assert path.stat().st_size < 40_000, path
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "script" not in {element.tag.rpartition("}")[2] for element in root.iter()}


def test_intervals_are_of_the_averages(made: Path) -> None:
    averages = pd.read_csv(made / "results/demo/averages.csv")
    keys = ["system", "attacker", "scenario", "split"]
    every = table(made, "intervals.csv")
    rows = every[every["list"] == "mean"].set_index(keys)
    eers = pd.read_csv(made / "results/demo/eer.csv")
    lists = eers.groupby([*keys, "gender"])["eer_percent"].mean()
    single = every[every["list"] != "mean"]["eer_percent"]
    assert sorted(single) == pytest.approx(sorted(lists), abs=0.001)
    groups = averages.groupby(keys)["eer_percent"]
    assert len(rows) == len(groups) == 14
    for key, values in groups:
        row = rows.loc[key]
        assert row["seeds"] == 2
        assert row["eer_percent"] == pytest.approx(values.mean(), abs=0.001)
        assert row["deviation"] == pytest.approx(values.std(), abs=0.001)
        # 12 speakers a list, none almost without errors: an interval, with the mean inside.
        assert row["low"] < row["eer_percent"] < row["high"]


def test_measures_name_score_files_by_hash(made: Path) -> None:
    rows = table(made, "measures.csv")
    assert len(rows) == 14 * 2 * 2
    eers = pd.read_csv(made / "results/demo/eer.csv")
    assert sorted(100 * rows["eer_fraction"]) == pytest.approx(
        sorted(eers["eer_percent"]), abs=0.001
    )
    lines = [f"{row.sha256}  {made / row.file}" for row in rows.itertuples()]
    subprocess.run(
        ["sha256sum", "--check", "--quiet"], input="\n".join(lines), text=True, check=True
    )


def test_the_ranking_is_of_semi_informed_attackers(made: Path) -> None:
    path = made / FOLDER / "ranking.json"
    ranking = from_json(path.read_bytes(), path)
    assert [board.system for board in ranking.boards] == ["b2", "b9"]
    for board in ranking.boards:
        # 2.5 deviations against one: apart in any draw of 12 speakers a list. But of two trainings
        # the noise is hardly known (Student's t with one degree of freedom).
        assert [(row.attacker, row.rank, row.tier) for row in board.rows] == [
            ("strong", 1, 1),
            ("weak", 2, 1),
        ]
        assert board.strongest_of == ("strong",)
        assert [rate.seed for rate in board.rows[0].rates] == [1, 2, 1, 2]
    assert ranking.two_sided is not None
    assert ranking.two_sided.attackers == ("strong", "weak")


def test_privacy_beside_utility_is_that_of_compare(made: Path) -> None:
    rows = pd.read_csv(made / "results/demo/tradeoff.csv", keep_default_na=False)
    eers = rows[rows["measure"] == "EER"].set_index("system")
    others = rows[~rows["measure"].isin(["EER", "balance"])].set_index(["system", "measure"])
    # Changes of the demo's values, by hand: 18 and 45 of 90 points; a quarter and a half of 1.
    changes = {
        ("orig", "WER"): 0.0,
        ("b2", "WER"): 0.2,
        ("b9", "WER"): 0.5,
        ("orig", "pitch-correlation"): 0.0,
        ("b2", "pitch-correlation"): 0.25,
        ("b9", "pitch-correlation"): 0.5,
    }
    assert {key: float(value) for key, value in others["change"].items()} == changes
    section = page(made).partition('<section aria-labelledby="utility">')[2]
    section = section.partition("</section>")[0]
    shown = {
        name: re.findall(r"<td[^>]*>([\d.-]*)", cells)
        for name, cells in re.findall(
            r'<th scope="row"><bdi>(\w+)</bdi></th>(.*?)</tr>', section, re.S
        )
    }
    assert set(shown) == {"orig", "b2", "b9"}
    for name, (eer, change, wer, *_) in shown.items():
        assert float(eer) == pytest.approx(float(eers.loc[name, "value"]), abs=0.006)
        assert float(change) == pytest.approx(float(eers.loc[name, "change"]), abs=0.006)
        assert eers.loc[name, "by"] == "strong"
        assert float(wer) == scored_demo.WER[name][0]
    # The interval of the row of that attacker; that of the word error rate as it was measured.
    intervals = table(made, "intervals.csv").set_index(["system", "attacker", "scenario", "list"])
    row = intervals.loc["b2", "strong", "semi-informed", "mean"]
    assert f"[{row['low']:.2f}, {row['high']:.2f}]" in section
    assert "[24.00, 32.00]" in section


def test_without_values_there_is_no_report(repository: Path) -> None:
    Path("results/demo/utility.csv").unlink()
    with pytest.raises(DataError, match=r"results/demo/utility\.csv: no such table"):
        report.run(scored_demo.context())


def page(made: Path) -> str:
    return (made / FOLDER / "index.html").read_text(encoding="utf-8")


def test_ids_on_the_page_differ(made: Path) -> None:
    ids = re.findall(r'\bid="([^"]+)"', page(made))
    assert len(ids) == len(set(ids))
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', page(made)))
    assert referred <= set(ids)


def test_links_lead_to_files(made: Path) -> None:
    links = set(re.findall(r'href="([^"#:]+)"', page(made)))
    assert "plots/b2/strong/semi-informed/det.svg" in links
    assert {"../averages.csv", "../utility.csv", "../tradeoff.csv"} <= links
    # These are the repository's, of which only the benchmark's folders are here.
    elsewhere = re.compile(r"\.\./\.\./\.\./(dvc\.lock|harness/|models/)")
    for link in links:
        assert elsewhere.match(link) or (made / FOLDER / link).exists(), link


def test_tables_of_other_scores_are_refused(repository: Path) -> None:
    path = repository / "results/demo/averages.csv"
    text = path.read_text(encoding="utf-8")
    text, count = re.subn(r"(?m)^(demo,orig,weak,1,.*,)[\d.]+$", r"\g<1>1.5", text)
    assert count == 1
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"orig, weak, seed 1, original, test: 1\.5, but the sc"):
        report.run(scored_demo.context())


def test_a_run_without_scores_stops_the_stage_and_not_the_command(repository: Path) -> None:
    shutil.rmtree("results/demo/scores/b2/weak/seed-2")
    with pytest.raises(ScoreError, match="no such score file"):
        report.run(scored_demo.context())
    shown = page_of("demo", None)
    assert shown.results is not None
    seeds = {row.system: tuple(row.seeds) for row in shown.results.rows}
    assert seeds == {"orig": (1, 2), "b2": (1,)}


def figure_files(shown: Page) -> set[str]:
    assert shown.results is not None
    return {file for figure in shown.results.figures for file in figure.files}


def test_a_page_refers_to_files_of_the_stage_only_where_they_are_of_these_scores(
    repository: Path,
) -> None:
    files = figure_files(page_of(None, None))
    assert "results/demo/report/plots/b2/weak/ignorant/det.png" in files
    assert "results/demo/report/speakers.csv" in files
    (FOLDER / "speakers.csv").write_text("of other scores\n", encoding="utf-8")
    shown = page_of(None, None)
    assert figure_files(shown) == set()
    assert not [fact for fact in shown.provenance if (fact.file or "").startswith(str(FOLDER))]


def test_a_ranking_of_submissions_stands_in_for_that_of_the_attackers(repository: Path) -> None:
    document = json.loads((FOLDER / "ranking.json").read_bytes())
    document["title"] = "Submissions"
    Path("r.json").write_text(json.dumps(document), encoding="utf-8")
    shown = page_of(None, Path("r.json"))
    assert shown.ranking is not None
    assert shown.ranking.title == "Submissions"
    assert shown.results is not None
    assert shown.provenance[0].file == "r.json"


def test_a_page_of_runs_and_of_a_ranking_of_others(repository: Path) -> None:
    text = (FOLDER / "ranking.json").read_text(encoding="utf-8")
    document = json.loads(text.replace('"weak"', '"Team 7"'))
    document["method"] |= {"draws": 5000, "seed": 7}
    Path("r.json").write_text(json.dumps(document), encoding="utf-8")
    html = render(page_of(None, Path("r.json")), "results/demo")
    start = [html.index(f'<h2 id="{name}">') for name in ("results", "heat", "boards", "figures")]
    results, heat, boards, figures = (
        html[one:other] for one, other in zip(start, [*start[1:], None], strict=True)
    )
    assert "by 2,000 draws of <bdi>speakers</bdi>, seed 1986" in results
    assert "by 5,000 draws of <bdi>speakers</bdi>, seed 7" in boards
    assert "5,000" not in results
    # The picture is of this repository's attackers, and not beside the table of others.
    assert "Team 7" in heat
    assert "weak" not in heat
    assert "heat-map.svg" not in heat
    assert 'href="report/plots/heat-map.svg"' in figures
    assert "b2 against weak" in figures


def test_a_ranking_needs_no_runs_and_no_repository(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = page_of(None, made / FOLDER / "ranking.json")
    assert shown.benchmark == "demo"
    assert shown.results is None
    assert shown.ranking is not None
    with pytest.raises(ConfigError, match="a ranking of demo, not of vpac2025"):
        page_of("vpac2025", made / FOLDER / "ranking.json")
    with pytest.raises(DataError, match="nothing to show"):
        page_of("demo", None)


def test_images_are_named_under_docker(repository: Path) -> None:
    scored_demo.parameters(runner="docker", systems=["orig"], attackers=["weak"])
    entry = {"digest": "sha256:abc", "lock_sha256": "0", "code_sha256": "0"}
    lock = {"docker": {"anonymizer": {"anonymizer-x": entry}, "verifier": {"v": entry}}}
    Path("docker").mkdir()
    Path("docker/images.lock").write_text(yaml.safe_dump(lock), encoding="utf-8")
    facts = {fact.label: (fact.value, fact.file) for fact in page_of(None, None).provenance}
    assert facts["image recorded: anonymizer-x"] == ("sha256:abc", "docker/images.lock")
    assert not [label for label in facts if label.endswith(": v")]


def test_original_speech_alone_has_a_report(repository: Path) -> None:
    scored_demo.parameters(systems=["orig"], attackers=["weak"])
    report.run(scored_demo.context())
    assert json.loads((FOLDER / "ranking.json").read_bytes())["boards"] == []
    shown = pd.read_csv(io.BytesIO((FOLDER / "intervals.csv").read_bytes()))
    assert set(shown["system"]) == {"orig"}
