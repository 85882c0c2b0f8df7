"""From score files to tables, on numbers small enough to check by hand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from harness.errors import DataError, ScoreError
from harness.protocols.lists import Trial, sha256_text, to_text
from harness.protocols.protocol import Average, Protocol, TrialList, load
from harness.protocols.scenarios import LAZY_INFORMED, SEMI_INFORMED, Scenario
from harness.protocols.scores import to_text as scores_to_text
from harness.reports import evaluation as ev

RUN: dict[str, Any] = {"benchmark": "demo", "system": "b2", "attacker": "ecapa", "seed": 1986}
# The table's columns as later tools read them.
FIXED_COLUMNS = [
    "benchmark",
    "system",
    "attacker",
    "seed",
    "scenario",
    "enrolment",
    "trial",
    "train",
    "dataset",
    "split",
    "gender",
    "n_target",
    "n_nontarget",
    "eer_percent",
]


def scored(
    folder: Path,
    target: list[float],
    nontarget: list[float],
    *,
    gender: str = "f",
    split: str = "test",
    scenario: Scenario = SEMI_INFORMED,
) -> ev.Scored:
    """A list with these scores, through files."""
    trials = [
        Trial("s", f"u{number:03d}", number < len(target))
        for number in range(len(target) + len(nontarget))
    ]
    listed = TrialList(
        f"trials_{gender}",
        "enrolls",
        "libri",
        split,
        gender,  # type: ignore[arg-type]
        len(target),
        len(nontarget),
        sha256_text(to_text(trials)),
    )
    values = np.array([*target, *nontarget], dtype=np.float32)
    (folder / "trials").write_text(to_text(trials))
    # Another order than the list's: it must not matter.
    lines = scores_to_text(trials, values).splitlines(keepends=True)
    (folder / "scores").write_text("".join(reversed(lines)))
    return ev.read_list(scenario, listed, folder / "trials", folder / "scores")


@pytest.fixture
def protocol() -> Protocol:
    return dataclasses.replace(load("demo"), averages=(Average("test", "Average eval"),))


def edition(protocol: Protocol, lists: list[ev.Scored]) -> Protocol:
    """The one whose lists these are."""
    return dataclasses.replace(protocol, lists=tuple(one.listed for one in lists))


# 2 of 8 targets missed and 1 of 4 nontargets accepted at the threshold 4: 25 %.
EASY = ([1, 4, 5, 6, 7, 8, 9, 10], [0, 2, 3, 5])
# Third parts: 1 of 3 each, 33.333 %.
THIRDS = ([1, 5, 6], [0, 2, 4.5])


def test_list_from_its_files(tmp_path: Path) -> None:
    one = scored(tmp_path, *EASY)
    assert one.eer.percent == 25.0
    assert (one.eer.misses, one.eer.false_alarms) == (2, 1)
    assert one.name == "semi-informed/test/f"
    assert one.of(True).tolist() == EASY[0]
    assert one.of(False).tolist() == EASY[1]


def test_row_of_a_list(tmp_path: Path) -> None:
    one = scored(tmp_path, *THIRDS, gender="m", scenario=LAZY_INFORMED)
    table = ev.eer_rows(RUN, [one])
    assert list(table.columns[: len(FIXED_COLUMNS)]) == FIXED_COLUMNS
    row = table.iloc[0].to_dict()
    assert (row["enrolment"], row["trial"], row["train"]) == (
        "anonymized",
        "anonymized",
        "original",
    )
    assert (row["dataset"], row["split"], row["gender"]) == ("libri", "test", "m")
    assert (row["n_target"], row["n_nontarget"], row["eer_percent"]) == (3, 3, 33.333)
    assert row["trials_sha256"] == sha256_text((tmp_path / "trials").read_text())


def test_wrong_list_and_scores_are_refused(tmp_path: Path) -> None:
    one = scored(tmp_path, *EASY)
    wrong = dataclasses.replace(one.listed, target=9)
    with pytest.raises(DataError, match=r"target 8 \(expected 9\)"):
        ev.read_list(SEMI_INFORMED, wrong, tmp_path / "trials", tmp_path / "scores")
    text = (tmp_path / "scores").read_text()
    (tmp_path / "scores").write_text(text.replace(" 10.0\n", " nan\n"))
    with pytest.raises(ScoreError, match=r"scores:5: the score 'nan' is not a finite number"):
        ev.read_list(SEMI_INFORMED, one.listed, tmp_path / "trials", tmp_path / "scores")


def test_average_is_of_unrounded_lists_with_equal_weight(
    tmp_path: Path, protocol: Protocol
) -> None:
    # 1/3 and 1/4: pooling the trials would give another number.
    lists = [scored(tmp_path, *THIRDS), scored(tmp_path, *EASY, gender="m")]
    table = ev.averages(edition(protocol, lists), RUN, lists)
    assert table.to_dict("records") == [
        {
            **RUN,
            "scenario": "semi-informed",
            "dataset": "libri",
            "split": "test",
            "eer_percent": 29.167,
        }
    ]


def test_one_average_per_scenario_and_split(tmp_path: Path, protocol: Protocol) -> None:
    both = dataclasses.replace(protocol, averages=(Average("dev", "a"), Average("test", "b")))
    lists = [
        scored(tmp_path, *values, split=split, scenario=scenario)
        for scenario in (LAZY_INFORMED, SEMI_INFORMED)
        for split, values in (("dev", EASY), ("test", THIRDS))
    ]
    table = ev.averages(edition(both, lists[:2]), RUN, lists)
    found = zip(table["scenario"], table["split"], table["eer_percent"], strict=True)
    assert list(found) == [
        ("lazy-informed", "dev", 25.0),
        ("lazy-informed", "test", 33.333),
        ("semi-informed", "dev", 25.0),
        ("semi-informed", "test", 33.333),
    ]


def test_det_table_is_the_curve_inside_the_probit_axes(tmp_path: Path) -> None:
    table = ev.det_rows(RUN, [scored(tmp_path, *EASY)])
    assert set(table["curve"]) == {"b2 ecapa 1986 semi-informed/test/f"}
    assert list(zip(table["false_alarm_rate"], table["miss_rate"], strict=True)) == [
        (0.75, 0.125),
        (0.5, 0.125),
        (0.25, 0.125),
        (0.25, 0.25),
    ]
    np.testing.assert_allclose(table["miss_probit"], norm.ppf(table["miss_rate"]), atol=1e-6)
    np.testing.assert_allclose(
        table["false_alarm_probit"], norm.ppf(table["false_alarm_rate"]), atol=1e-6
    )


def test_det_of_perfect_scores_is_empty_but_a_table(tmp_path: Path) -> None:
    table = ev.det_rows(RUN, [scored(tmp_path, [2.0, 3.0], [0.0, 1.0])])
    assert len(table) == 0
    assert "miss_probit" in table


def test_table_reads_back_exactly(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    table = pd.DataFrame({"system": "b2", "threshold": generator.normal(size=2_000)})
    path = tmp_path / "t.csv"
    path.write_text(ev.to_csv(table))
    assert b"\r" not in path.read_bytes()
    back = ev.read_table(path, ["system", "threshold"])
    pd.testing.assert_frame_equal(back, table, check_exact=True)
    assert ev.to_csv(back) == path.read_text()


def test_names_that_look_like_numbers_stay_names(tmp_path: Path) -> None:
    names = dict.fromkeys(ev.COLUMNS, "007") | {"seed": 7, "eer_percent": 25.0, "misses": 2}
    table = pd.DataFrame([names])
    path = tmp_path / "t.csv"
    path.write_text(ev.to_csv(table))
    row = ev.read_table(path, ev.COLUMNS).iloc[0].to_dict()
    numbers = {"seed", "n_target", "n_nontarget", "eer_percent", "threshold"}
    numbers |= {"misses", "false_alarms"}
    assert {name for name, value in row.items() if value == "007"} == set(ev.COLUMNS) - numbers
    assert (row["seed"], row["eer_percent"], row["misses"]) == (7, 25.0, 2)
    path.write_text("curve,miss_rate\n1,0.5\n")
    assert ev.read_table(path, ["curve"]).iloc[0].to_list() == ["1", 0.5]


# B4 at full precision, from the organizers' result files, and Table 3 of the plan.
@pytest.mark.parametrize(
    ("f", "m", "printed", "rounded"),
    [(29.378, 31.155, 30.26, "30.27"), (34.378, 31.056, 32.71, "32.72")],
)
def test_average_as_published(f: float, m: float, printed: float, rounded: str) -> None:
    assert ev.published_average([f, m], 2) == printed
    assert f"{(f + m) / 2:.2f}" == rounded


def test_cutting_is_not_fooled_by_binary_fractions() -> None:
    # 29.37 and 0.29 lie below their decimals in floating point; (0.1 + 0.2) lies above.
    assert ev.published_average([29.369999999999997], 2) == 29.37
    assert ev.published_average([0.29, 0.1 + 0.2], 2) == 0.29
    assert ev.published_average([0.299, 0.299], 1) == 0.2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"t\.csv: not a table \(No columns"),
        (b"a,b\n1,2\n1,2,3\n", r"t\.csv: not a table \(Error tokenizing"),
        (b"a\n\xff\n", r"t\.csv: not a table \(.*decode"),
        (b"a\n1\n", r"t\.csv: columns missing: b, c; run `dvc repro`"),
    ],
)
def test_malformed_table(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(DataError, match=message):
        ev.read_table(tmp_path / "t.csv", ["a", "b", "c"])


def test_missing_table(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.csv: cannot read the table \(No such file"):
        ev.read_table(tmp_path / "t.csv", ["a"])


def test_summary_is_the_mean_over_seeds() -> None:
    rows = [
        (system, seed, scenario, value)
        for system, scenario, values in (
            ("orig", "original", (6.5, 5.5, 6.9)),
            ("b2", "semi-informed", (11.0, 11.0, 12.0)),
        )
        for seed, value in enumerate(values)
    ]
    table = pd.DataFrame(rows, columns=["system", "seed", "scenario", "eer_percent"])
    table = table.assign(attacker="ecapa", split="test")
    assert json.loads(ev.summary_text(table)) == {
        "b2": {"ecapa": {"semi-informed": {"test": 11.333}}},
        "orig": {"ecapa": {"original": {"test": 6.3}}},
    }
