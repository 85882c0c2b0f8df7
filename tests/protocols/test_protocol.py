"""The protocols that come with the package, against the plans they implement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import ConfigError
from harness.protocols import protocol as protocols
from harness.protocols.protocol import data_file, load, names

# The evaluation plan of the Attacker Challenge, version 1.0, typed by hand.
# Table 1: (female speakers, male speakers, utterances) of training and enrolment; of trials the
# female and the male set together.
TRAINING = (439, 482, 104_014)
ENROLMENT = {"dev": (15, 14, 343), "test": (16, 13, 438)}
TRIALS = {"dev": (20, 20, 1_978), "test": (20, 20, 1_496)}
# Table 2: (same-speaker, different-speaker) trials by split and gender, and their totals.
COUNTS = {
    ("dev", "f"): (704, 14_566),
    ("dev", "m"): (644, 12_796),
    ("test", "f"): (548, 11_196),
    ("test", "m"): (449, 9_457),
}
TOTALS = {"dev": (1_348, 27_362), "test": (997, 20_653)}
# Table 3, one row a line: EER in percent of the baseline attacker.
SYSTEMS = ("orig", "B3", "B4", "B5", "T8-5", "T10-2", "T12-5", "T25-1")
EERS = {
    ("dev", "f"): (10.51, 28.43, 34.37, 35.82, 39.63, 43.63, 43.32, 42.65),
    ("dev", "m"): (0.93, 22.04, 31.06, 32.92, 40.84, 40.04, 44.10, 40.06),
    ("dev", "mean"): (5.72, 25.24, 32.71, 34.37, 40.24, 41.83, 43.71, 41.36),
    ("test", "f"): (8.76, 27.92, 29.37, 33.95, 42.50, 41.97, 43.61, 42.34),
    ("test", "m"): (0.42, 26.72, 31.16, 34.73, 40.05, 38.75, 41.88, 41.92),
    ("test", "mean"): (4.59, 27.32, 30.26, 34.34, 41.28, 40.36, 42.75, 42.13),
}
# Table 4.
DATES = {
    "release": "2024-09",
    "declaration": "2024-10-13",
    "final_list": "2024-10-15",
    "submission": "2024-12-05",
    "papers": "2024-12-09",
    "notification": "2024-12-30",
}


@pytest.mark.parametrize("name", names())
def test_shipped_protocol_is_consistent(name: str) -> None:
    protocol = load(name)
    assert protocol.name == name
    assert len({dataset.name for dataset in protocol.sets}) == len(protocol.sets)
    assert len({listed.sha256 for listed in protocol.lists}) == len(protocol.lists)
    for listed in protocol.lists:
        enrolments = protocol.dataset(listed.enrolments)
        trials = protocol.dataset(listed.trials)
        assert (enrolments.role, trials.role) == ("enrolment", "trial")
        enrolled = enrolments.female if listed.gender == "f" else enrolments.male
        # The list is a full cross product, and every trial has one speaker.
        assert listed.target + listed.nontarget == enrolled * trials.utterances
        assert (trials.male if listed.gender == "f" else trials.female) == 0


def test_shipped_protocols() -> None:
    assert names() == ["demo", "libri-mini", "vpac2025"]


def test_table_1() -> None:
    protocol = load("vpac2025")
    training = protocol.training_set()
    assert training.name == "train-clean-360"
    assert (training.female, training.male, training.utterances) == TRAINING
    for split, expected in ENROLMENT.items():
        dataset = protocol.dataset(f"libri_{split}_enrolls")
        assert (dataset.female, dataset.male, dataset.utterances) == expected
    for split, expected in TRIALS.items():
        f, m = (protocol.dataset(f"libri_{split}_trials_{gender}") for gender in "fm")
        assert (f.female, m.male, f.utterances + m.utterances) == expected


def test_table_2() -> None:
    lists = load("vpac2025").lists
    assert {(x.split, x.gender): (x.target, x.nontarget) for x in lists} == COUNTS
    for split, (target, nontarget) in TOTALS.items():
        assert sum(x.target for x in lists if x.split == split) == target
        assert sum(x.nontarget for x in lists if x.split == split) == nontarget


def test_table_3() -> None:
    protocol = load("vpac2025")
    found = {(p.system, p.split, p.gender): p.eer_percent for p in protocol.published}
    expected = {
        (system, split, gender): eer
        for (split, gender), row in EERS.items()
        for system, eer in zip(SYSTEMS, row, strict=True)
    }
    assert found == expected
    assert len(protocol.published) == len(expected) == 48
    assert tuple(protocol.systems) == SYSTEMS[1:]


def test_table_4() -> None:
    assert load("vpac2025").dates == DATES


def test_suffixes_of_the_baselines_folders() -> None:
    # As in the names of the organizers' own files of results, `result_for_rank_<suffix>`.
    assert load("vpac2025").suffixes == {
        "sttts": "B3",
        "nac": "B4",
        "asrbn_hifigan_bn_tdnnf_wav2vec2_vq_48_v1": "B5",
    }


def test_unknown_benchmark() -> None:
    with pytest.raises(ConfigError, match=r"unknown benchmark 'vpac205'; did you mean 'vpac2025'"):
        load("vpac205")


def test_unknown_set() -> None:
    with pytest.raises(ConfigError, match="protocol demo: no set 'trane'; did you mean 'train'"):
        load("demo").dataset("trane")


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The content of demo.yaml; what a test makes of it, `load_changed` loads."""
    content: dict[str, Any] = yaml.safe_load(data_file("demo.yaml").read_text())
    monkeypatch.setattr(protocols, "data_file", tmp_path.joinpath)
    return content


def load_changed(content: dict[str, Any], folder: Path) -> None:
    (folder / "demo.yaml").write_text(yaml.safe_dump(content))
    load("demo")


def test_unchanged_copy_loads(changed: dict[str, Any], tmp_path: Path) -> None:
    load_changed(changed, tmp_path)


def test_list_of_an_unknown_set(changed: dict[str, Any], tmp_path: Path) -> None:
    changed["lists"][0]["enrolments"] = "demo_test_enrols"
    with pytest.raises(ConfigError, match="no set 'demo_test_enrols'; did you mean 'demo_test_enr"):
        load_changed(changed, tmp_path)


def test_average_of_an_unknown_split(changed: dict[str, Any], tmp_path: Path) -> None:
    changed["averages"][0]["split"] = "tset"
    with pytest.raises(
        ConfigError, match=r"demo\.yaml\.averages: no list of the split 'tset'; did"
    ):
        load_changed(changed, tmp_path)


@pytest.mark.parametrize("role", ["enrolment", "train"])
def test_other_than_one_training_set(changed: dict[str, Any], tmp_path: Path, role: str) -> None:
    for dataset in changed["sets"][:2]:
        dataset["role"] = role
    count = {"enrolment": 0, "train": 2}[role]
    with pytest.raises(ConfigError, match=f"demo.yaml.sets: {count} sets have the role train"):
        load_changed(changed, tmp_path)


def test_misspelt_field(changed: dict[str, Any], tmp_path: Path) -> None:
    changed["lists"][1]["gander"] = changed["lists"][1].pop("gender")
    with pytest.raises(
        ConfigError, match=r"demo\.yaml\.lists\[1\]: unknown name 'gander'; did you"
    ):
        load_changed(changed, tmp_path)


def test_suffix_of_an_unknown_system(changed: dict[str, Any], tmp_path: Path) -> None:
    changed["systems"] = {"B3": "one"}
    changed["suffixes"] = {"sttts": "B33"}
    with pytest.raises(
        ConfigError, match=r"demo\.yaml\.suffixes\.sttts: no system 'B33'; did you mean 'B3'"
    ):
        load_changed(changed, tmp_path)
