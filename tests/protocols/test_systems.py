from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from harness.errors import ConfigError
from harness.protocols import systems

# By hand, from the documents: the plan of the Attacker Challenge, the plan of 2022, the paper of
# 2024 (which also has B1 to B6).
ATTACKED = ["B3", "B4", "B5", "T8-5", "T10-2", "T12-5", "T25-1"]
OF_2022 = ["B1.a", "B1.b", "B2-2022"]
OF_2024 = [
    *("B1", "B2", "B3", "B4", "B5", "B6", "T7", "T8", "T8-1", "T8-5", "T9", "T10", "T10-1"),
    *("T10-2", "T12", "T17", "T18", "T19", "T19-2", "T25", "T30-2"),
]
# The plan's Table 3: dev f, dev m, dev mean, test f, test m, test mean.
TABLE_3 = {
    "Orig": "10.51 0.93 5.72 8.76 0.42 4.59",
    "B3": "28.43 22.04 25.24 27.92 26.72 27.32",
    "B4": "34.37 31.06 32.71 29.37 31.16 30.26",
    "B5": "35.82 32.92 34.37 33.95 34.73 34.34",
    "T8-5": "39.63 40.84 40.24 42.50 40.05 41.28",
    "T10-2": "43.63 40.04 41.83 41.97 38.75 40.36",
    "T12-5": "43.32 44.10 43.71 43.61 41.88 42.75",
    "T25-1": "42.65 40.06 41.36 42.34 41.92 42.13",
}
# The paper's sections 6.2 and 8: EER, WER, UAR in the order of its text.
PAPER = {
    ("T8-1", "EER"): ["49.5"],
    ("T8-1", "WER"): ["3.75"],
    ("T8-1", "UAR"): ["30.6"],
    ("T8-5", "EER"): ["41.3"],
    ("T8-5", "UAR"): ["47"],
    ("T9", "EER"): ["34.5"],
    ("T9", "WER"): ["2.4", "2.37"],
    ("T9", "UAR"): ["61"],
    ("T10-1", "UAR"): ["65"],
    ("T10-2", "EER"): ["40.4"],
    ("T10-2", "WER"): ["3.2"],
    ("T10-2", "UAR"): ["60.8"],
    ("B1", "WER"): ["2.9"],
    ("B2", "UAR"): ["54"],
    ("B5", "EER"): ["34"],
}
# Result files of the challenge: EER dev f, dev m, test f, test m; WER dev, test; UAR dev, test.
RESULTS_2024 = {
    "B1": "10.937 7.454 7.474 4.675 3.069 2.911 42.7104 42.7792",
    "B2": "12.910 2.045 7.483 1.557 10.442 9.954 55.6146 53.4914",
    "B3": "28.426 22.044 27.920 26.724 4.288 4.352 38.0880 37.5698",
    "B4": "34.378 31.056 29.378 31.155 6.146 5.899 41.9682 42.7800",
    "B5": "35.816 32.918 33.946 34.729 4.731 4.369 38.0806 38.1660",
    "B6": "25.141 20.961 21.146 21.137 9.693 9.092 36.3890 36.1314",
}


def measured(name: str, source: str) -> list[systems.Measured]:
    return [one for one in systems.find(name).published if one.source.startswith(source)]


def test_every_system_of_the_documents_is_there() -> None:
    names = {system.name for system in systems.everything()}
    assert names == {"Orig", "B2-2020", *ATTACKED, *OF_2022, *OF_2024}


@pytest.mark.parametrize(("year", "names"), [("2025", ATTACKED), ("2022", OF_2022)])
def test_editions(year: str, names: list[str]) -> None:
    found = {s.name for s in systems.everything() if year in s.editions}
    assert found - {"Orig"} == set(names)


@pytest.mark.parametrize("name", TABLE_3)
def test_values_of_the_plan(name: str) -> None:
    dev, test = measured(name, "attacker-plan, Table 3")
    assert (dev.split, test.split) == ("dev", "test")
    found = [dev.f, dev.m, dev.mean, test.f, test.m, test.mean]
    assert found == TABLE_3[name].split()


@pytest.mark.parametrize("name", RESULTS_2024)
def test_values_of_the_result_files(name: str) -> None:
    found = measured(name, "code-2024, results/result_for_rank_")
    assert [one.measure for one in found] == ["EER", "EER", "WER", "WER", "UAR", "UAR"]
    assert [one.split for one in found] == ["dev", "test"] * 3
    values = [value for one in found for value in one.values().values()]
    assert values == RESULTS_2024[name].split()


def test_values_of_b1a_are_those_of_the_file_that_the_recipe_of_2022_links() -> None:
    # EER test f, m; weighted dev, test; WER dev, test: as that file has them.
    found = measured("B1.a", "code-2022, baseline/results/RESULTS_summary_tts_old_c at b697fdb")
    assert len(found) == len(systems.find("B1.a").published) == 5
    values = [value for one in found for value in one.values().values()]
    assert values == ["12.04", "8.909", "11.742", "11.809", "7.940", "8.285"]


def test_weights_of_the_recipe_of_2022() -> None:
    weights = {name: [one.name for one in systems.find(name).weights] for name in OF_2022}
    assert weights == {
        "B1.a": ["1_asr_am", "2_xvect_extr", "3_ss_am", "4_nsf"],
        "B1.b": ["1_asr_am", "2_xvect_extr", "5_joint_tts_nsf_hifigan"],
        "B2-2022": [],
    }


def test_every_source_is_cited() -> None:
    cited = {c.partition(", ")[0] for s in systems.everything() for c in s.cited()}
    assert cited == set(systems.sources())


def test_what_no_source_tells_is_absent() -> None:
    assert [s.name for s in systems.everything() if s.family is None] == ["T7", "T25"]
    assert all(one.licence is None for s in systems.everything() for one in s.weights)


def test_the_attacked_systems_have_one_remark() -> None:
    teams = ("T8-5", "T10-2", "T12-5", "T25-1")
    assert len({systems.find(name).disagreements[-1] for name in teams}) == 1


def test_values_of_the_paper() -> None:
    found: dict[tuple[str, str], list[str | None]] = {}
    for system in systems.everything():
        for one in measured(system.name, "paper-2024"):
            found.setdefault((system.name, one.measure), []).append(one.whole)
    assert found == PAPER


def test_the_weighted_eer_of_2022_follows_from_its_parts() -> None:
    own = {one.over: one for one in systems.find("B2-2022").published if one.split == "test"}
    # Plan of 2022: 0.5 LibriSpeech, 0.4 VCTK different, 0.1 VCTK common; halved between f and m.
    parts = {"LibriSpeech": 0.5, "VCTK, different": 0.4, "VCTK, common": 0.1}
    mean = sum(
        weight / 2 * (float(own[over].f or "nan") + float(own[over].m or "nan"))
        for over, weight in parts.items()
    )
    assert f"{mean:.3f}" == own["LibriSpeech and VCTK, weighted"].whole == "7.769"


def test_both_accounts_of_t12_are_told() -> None:
    assert "FACodec" in systems.find("T12").says[0].text
    assert "B5" in systems.find("T12-5").says[0].text
    for name in ("T12", "T12-5"):
        (text,) = [t for t in systems.find(name).disagreements if "FACodec" in t]
        assert "paper-2024" in text
        assert "attacker-plan" in text


def test_nothing_is_known_of_code_that_teams_keep() -> None:
    teams = [s for s in systems.everything() if s.name.startswith("T")]
    assert all(s.code is None and not s.weights for s in teams)


def test_a_misspelt_system() -> None:
    with pytest.raises(ConfigError, match=r"^no system 'T8-6'; did you mean 'T8-5'\?$"):
        systems.find("T8-6")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text("plan: A plan\n")
    return tmp_path


SYSTEM = {
    "name": "X",
    "family": "hybrid",
    "editions": ["2024"],
    "says": [{"text": "mixed", "source": "plan, 3"}],
    "ways": [{"how": "imported audio", "giver": "a friend"}],
}


def write(folder: Path, *changed: dict[str, object]) -> None:
    content = {"systems": [SYSTEM | change for change in changed]}
    (folder / "few.yaml").write_text(yaml.safe_dump(content))


def test_a_small_registry(folder: Path) -> None:
    write(folder, {})
    (system,) = systems.load(folder)
    assert (system.name, system.level, system.published) == ("X", None, ())


EER = {"measure": "EER", "over": "LibriSpeech", "source": "plan, 1"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"familly": "x"}, r"few.yaml.systems\[0\]: unknown name 'familly'; did you mean 'family'"),
        ({"family": "magic"}, "'magic' is not possible"),
        ({"says": [{"text": "a", "source": "plam, 3"}]}, "'plam, 3' is not known; .*'plan'"),
        ({"says": [{"text": "a", "source": "plan"}]}, "few.yaml: X: the source 'plan' is not"),
        ({"published": [EER | {"whole": "9.9"}]}, "EER lacks a number or an attacker"),
        ({"published": [EER | {"attacker": "A", "f": "about 9"}]}, "EER lacks a number"),
        ({"published": [EER | {"attacker": "A"}]}, "EER lacks a number"),
        ({"published": [EER | {"measure": "WER", "attacker": "A", "f": "9"}]}, "WER lacks"),
        ({"published": [EER | {"attacker": "A", "f": 9.5}]}, "expected str, found 9.5"),
        ({"ways": [{"how": "built in"}]}, "an entry with a type"),
        ({"ways": [{"how": "container", "entry": {"type": "image"}}]}, "an entry with a type"),
    ],
)
def test_a_malformed_registry_is_one_line(
    folder: Path, change: dict[str, object], message: str
) -> None:
    write(folder, change)
    with pytest.raises(ConfigError, match=message) as caught:
        systems.load(folder)
    assert "\n" not in str(caught.value)


def test_a_name_that_stands_twice(folder: Path) -> None:
    write(folder, {}, {})
    with pytest.raises(ConfigError, match="X stands twice"):
        systems.load(folder)
