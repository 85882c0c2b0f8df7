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
    known = [listed for listed in protocol.lists if listed.sha256 is not None]
    assert len({listed.sha256 for listed in known}) == len(known)
    for listed in protocol.lists:
        enrolments = protocol.dataset(listed.enrolments)
        trials = protocol.dataset(listed.trials)
        assert (enrolments.role, trials.role) == ("enrolment", "trial")
        if listed in known:
            enrolled = enrolments.female if listed.gender == "f" else enrolments.male
            # The list is a full cross product, and every trial has one speaker.
            assert listed.target + listed.nontarget == enrolled * trials.utterances
            assert (trials.male if listed.gender == "f" else trials.female) == 0


def test_shipped_protocols() -> None:
    assert names() == ["demo", "libri-mini", "vpac2025", "vpc2022", "vpc2024", "vpc2026"]


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


def test_emodb_as_its_paper_counts_it() -> None:
    # Burkhardt et al. 2005: ten speakers; of 535 utterances those of these four emotions.
    emodb = load("libri-mini").emotion_set("emodb")
    assert emodb.emotions == {"angry": 127, "happy": 71, "neutral": 79, "sad": 62}
    assert (emodb.female, emodb.male) == (5, 5)
    women, men = {"08", "09", "13", "14", "16"}, {"03", "10", "11", "12", "15"}
    assert sorted(sum(emodb.folds.values(), ())) == sorted(women | men)
    assert all(len(women & set(speakers)) == 1 for speakers in emodb.folds.values())
    assert load("demo").emotion_sets == ()


def test_unknown_emotion_set() -> None:
    match = "protocol libri-mini: no set of emotional speech 'emo'; did you mean 'emodb'"
    with pytest.raises(ConfigError, match=match):
        load("libri-mini").emotion_set("emo")
    with pytest.raises(ConfigError, match="protocol demo: no set of emotional speech 'emodb'; kno"):
        load("demo").emotion_set("emodb")


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


# Result files of the challenge of 2022 (baseline/results), typed by hand: test EERs of LibriSpeech,
# VCTK different and VCTK common, female before male, and the weighted average printed there.
TEST_2022 = {
    "B1.a": ((12.04, 8.909, 16, 10.05, 17.34, 9.887), 11.809),
    "B1.b": ((9.489, 7.795, 10.91, 7.52, 15.32, 8.192), 9.183),
    "B2": ((7.117, 1.114, 16.92, 7.692, 10.98, 4.802), 7.769),
}
DATASETS_2022 = ("libri", "vctk_different", "vctk_common")


@pytest.mark.parametrize("system", TEST_2022)
def test_the_weighted_averages_of_2022_come_out(system: str) -> None:
    protocol = load("vpc2022")
    eers, average = TEST_2022[system]
    of = dict(zip(((d, g) for d in DATASETS_2022 for g in "fm"), eers, strict=True))
    lists = [listed for listed in protocol.lists if listed.split == "test"]
    values = {listed.trials: of[listed.dataset, listed.gender] for listed in lists}
    assert protocol.average("test", values) == pytest.approx(average, abs=0.0006)
    found = {
        (one.dataset, one.gender): one.eer_percent
        for one in protocol.published
        if (one.system, one.split) == (system, "test")
    }
    assert found == {**of, (None, "mean"): average}


@pytest.mark.parametrize("split", ["dev", "test"])
@pytest.mark.parametrize("system", ["orig", *TEST_2022])
def test_published_eers_and_averages_of_2022_agree(system: str, split: str) -> None:
    protocol = load("vpc2022")
    of = {
        (one.dataset, one.gender): one.eer_percent
        for one in protocol.published
        if (one.system, one.split) == (system, split)
    }
    lists = [listed for listed in protocol.lists if listed.split == split]
    values = {listed.trials: of[listed.dataset, listed.gender] for listed in lists}
    assert protocol.average(split, values) == pytest.approx(of[None, "mean"], abs=0.0006)


def test_targets_of_2022_fit_the_published_eers() -> None:
    # Kaldi's EER is a whole number of targets by all targets, with four significant digits.
    protocol = load("vpc2022")
    targets = {(one.dataset, one.split, one.gender): one.target for one in protocol.lists}
    for one in protocol.published:
        if one.gender == "mean":
            continue
        target = targets[one.dataset, one.split, one.gender]
        misses = round(one.eer_percent * target / 100)
        assert f"{100 * misses / target:.4g}" == f"{one.eer_percent:.4g}", one


def test_levels_of_2022() -> None:
    # Plan, note 3: speaker level for trials and enrolments, utterance level for training.
    levels = {(one.role, one.level) for one in load("vpc2022").sets}
    assert levels == {("train", "utterance"), ("enrolment", "speaker"), ("trial", "speaker")}
    # Plan of the Attacker Challenge, 1: 2024 asked for the utterance level.
    assert {one.level for one in load("vpc2024").sets} == {"utterance"}


def test_the_lists_of_2024_are_those_of_the_attacker_challenge() -> None:
    assert load("vpc2024").lists == load("vpac2025").lists
    assert load("vpc2024").systems == {}
    # The plan prints two decimals of the same EERs; of B4 it cuts them.
    whole = {(p.system, p.split, p.gender): p.eer_percent for p in load("vpc2024").published}
    for system in ("orig", "B3", "B4", "B5"):
        for (split, gender), row in EERS.items():
            if gender != "mean":
                printed = row[SYSTEMS.index(system)]
                assert abs(whole[system, split, gender] - printed) < 0.0101


def test_the_lists_of_2026_have_the_targets_of_both_genders() -> None:
    protocol = load("vpc2026")
    assert [(one.gender, one.target) for one in protocol.lists] == [
        ("mixed", TOTALS["dev"][0]),
        ("mixed", TOTALS["test"][0]),
    ]
    assert {(one.nontarget, one.sha256) for one in protocol.lists} == {(None, None)}


def test_whose_eer_is_the_edition_s() -> None:
    assert {name: load(name).eer for name in names() if name.startswith("vp")} == {
        "vpac2025": "speechbrain",
        "vpc2022": "kaldi",
        "vpc2024": "speechbrain",
        "vpc2026": "speechbrain",
    }


def test_an_average_without_weights_is_the_plain_mean() -> None:
    protocol = load("vpac2025")
    values = {"libri_test_trials_f": 1.0, "libri_test_trials_m": 4.0, "libri_dev_trials_f": 9.0}
    assert protocol.average("test", values) == 2.5


@pytest.mark.parametrize(
    "weights",
    [
        {"demo_test_trials_f": 0.5},
        {"demo_test_trials_f": 0.5, "demo_test_trials_m": 0.4},
        {"demo_test_trials_f": 0.5, "demo_test_trials_x": 0.5},
    ],
)
def test_weights_are_of_every_list_together_1(
    changed: dict[str, Any], tmp_path: Path, weights: dict[str, float]
) -> None:
    changed["averages"][0]["weights"] = weights
    with pytest.raises(ConfigError, match=r"demo\.yaml\.averages: the weights are not of every"):
        load_changed(changed, tmp_path)
