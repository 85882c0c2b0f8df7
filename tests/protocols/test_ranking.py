"""Rankings as data: the files that come with the package, the usual one, and what is malformed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.protocols import protocol, ranking
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.ranking import AttackerRanking, OverallRule
from harness.protocols.typed import build, read_yaml


def test_the_attacker_challenge() -> None:
    # Plan: ranked separately for each system; five participants are invited.
    assert ranking.load("vpac2025") == AttackerRanking(
        "attackers", "test", "best", OverallRule("mean-rank", 5)
    )


def test_an_edition_without_a_file_ranks_by_its_last_average() -> None:
    for name in ("demo", "libri-mini"):
        assert ranking.load(name) == AttackerRanking("attackers", "test")


@pytest.mark.parametrize("name", ranking.names())
def test_every_file_loads_and_names_what_the_edition_has(name: str) -> None:
    rules = ranking.load(name)
    if isinstance(rules, AnonymizerRanking):
        assert rules.name == name
    else:
        splits = {one.split for one in protocol.load(name).averages}
        assert rules.rank_by in splits


def test_an_unknown_edition_is_one_line() -> None:
    with pytest.raises(ConfigError, match="unknown benchmark 'vpac205'; did you mean 'vpac2025'"):
        ranking.load("vpac205")
    with pytest.raises(ConfigError, match="unknown benchmark"):
        ranking.load("../data/demo")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: teams\n", "no ranking of the kind 'teams'; known are: anonymizers, attackers"),
        ("rank_by: test\n", "no ranking of the kind None"),
        ("kind: [attackers]\nrank_by: test\n", "no ranking of the kind"),
        ("kind: attackers\n", "'rank_by' is missing"),
        ("kind: attackers\nrank_by: test\nteam_entry: last\n", "'last' is not possible"),
        ("kind: attackers\nrank_by: test\ntop: 5\n", "unknown name 'top'"),
    ],
)
def test_a_malformed_file_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    monkeypatch.setattr(ranking, "FOLDER", tmp_path)
    with pytest.raises(ConfigError, match=r"mine\.yaml") as caught:
        ranking.load("mine")
    assert said in str(caught.value)


def anonymizers(name: str) -> AnonymizerRanking:
    rules = ranking.load(name)
    assert isinstance(rules, AnonymizerRanking)
    return rules


def test_conditions_of_2022() -> None:
    # Plan, 5.1: minimum EERs, weights of the data sets; the lower WER, the better the rank; of
    # several systems of a team the one with the lowest WER.
    rules = anonymizers("vpc2022")
    assert (rules.privacy, rules.minimums, rules.tracks) == ("EER", (15, 20, 25, 30), ("WER",))
    assert (rules.split, rules.systems_of_a_team) == ("test", "best")
    weights: dict[str, float] = {}
    for part in rules.measure("EER").parts:
        weights[part.dataset] = weights.get(part.dataset, 0) + part.weight
    assert weights == {"libri": 0.5, "vctk_different": 0.4, "vctk_common": 0.1}
    wer = rules.measure("WER")
    assert {part.dataset: part.weight for part in wer.parts} == {"libri": 0.5, "vctk": 0.5}
    assert (wer.better, rules.measure("EER").better) == ("lower", "higher")


def test_categories_of_2024() -> None:
    # Overview, 3: minimum EERs; ranked by WER and by UAR, separately.
    rules = anonymizers("vpc2024")
    assert (rules.privacy, rules.minimums) == ("EER", (10, 20, 30, 40))
    assert rules.tracks == ("WER", "UAR")
    assert [rules.measure(name).better for name in rules.tracks] == ["lower", "higher"]
    assert {part.dataset for part in rules.measure("UAR").parts} == {"IEMOCAP"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"privacy": "EET"}, "no measure 'EET'; known are: EER, UAR, WER"),
        ({"tracks": ["GVD"]}, "no measure 'GVD'; known are: EER, UAR, WER"),
        ({"split": "eval"}, "no split 'eval'; known are: dev, test"),
        ({"minimums": [10, 30, 20]}, "minimums not in ascending order; sort them"),
        ({"minimums": [10, 10]}, "minimums not in ascending order"),
        ({"group": "class"}, "'class' is not possible"),
        ({"measures.0.parts.0.weight": 0.6}, "the weights of EER add up to 1.1"),
        ({"measures.0.better": "more"}, "'more' is not possible"),
    ],
)
def test_malformed_rules_for_anonymizers_are_one_line(change: dict[str, Any], said: str) -> None:
    content = read_yaml(ranking.FOLDER / "vpc2024.yaml")
    (place, value), *_ = change.items()
    *way, last = place.split(".")
    within: Any = content
    for step in way:
        within = within[int(step) if step.isdigit() else step]
    within[last] = value
    with pytest.raises(ConfigError, match=re.escape(said)) as caught:
        build(AnonymizerRanking, content, "vpc2024.yaml")
    assert "vpc2024" in str(caught.value)
