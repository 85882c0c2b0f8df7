"""Claims from a file beside the submission, in every form."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from claim_texts import OFFICIAL_CSV, RANK, RESULTS_2022, brief

from harness.errors import ConfigError
from harness.protocols.protocol import load
from harness.submissions.contents.claims import read_reported
from harness.submissions.limits import MIB

VPAC = load("vpac2025")
DEV_F, DEV_M, TEST_F, TEST_M = (listed.trials for listed in VPAC.lists)
PAIR = f"libri_dev_enrolls_B3-{DEV_F}_B3"


@pytest.mark.parametrize(
    "text",
    [
        f"system,list,EER\nB3,{DEV_F},12.91\nmine,average dev,13.5\n",
        f"System;List;EER (%)\nsttts;{DEV_F};12,91\nmine;average_dev;13,5\n",
        "SYSTEM\tSplit\tGENDER\tnote\teer_percent\n_B3\tdev\tF\t\t12.91\nmine\tdev\tmean\tx,y\t13.5\n",
        'system,dataset,split,gender,EER\r\n"B3",libri,dev,female,12.91\r\nmine,libri,dev,all,13.5\r\n',
        f"\nsystem   list  EER\nB3  {DEV_F}   12.91\nmine average-dev 13.5\n",
        f"system,list,EER\nB3,{DEV_F},12.91\nmine,dev,13.5\nmine,vctk_dev_trials_f_all,1.5\n",
        f"anonymizer,trials,EER%\nb3,libri_dev_enrolls-{DEV_F},12.91\nmine,Average dev,13.5\n",
    ],
)
def test_reported_tables(text: str, tmp_path: Path) -> None:
    path = tmp_path / "reported.csv"
    path.write_bytes(text.encode())
    claims, checks = read_reported(path, VPAC, None)
    expected = [("B3", DEV_F, Decimal("12.91")), ("mine", "average dev", Decimal("13.5"))]
    assert [(one.system, one.list, one.percent) for one in claims] == expected
    assert checks == []
    assert {one.file for one in claims} == {"reported.csv"}


def test_reported_claims_of_one_system(tmp_path: Path) -> None:
    path = tmp_path / "reported.csv"
    path.write_text(f"system,list,EER\nB3,{DEV_F},12.91\nmine,{DEV_F},13.5\n")
    assert brief(read_reported(path, VPAC, "b3")[0]) == [("B3", DEV_F, "12.91", 2)]
    with pytest.raises(ConfigError, match=r"reported\.csv: no EER of mien; did you mean 'mine'"):
        read_reported(path, VPAC, "mien")
    path.write_text(f"list,EER\n{DEV_F},12.91\n")
    assert [one.system for one in read_reported(path, VPAC, "mine")[0]] == ["mine"]
    assert [one.system for one in read_reported(path, VPAC, None)[0]] == [None]


def test_reported_in_the_official_forms(tmp_path: Path) -> None:
    for name, text, number in (
        ("results_nac.csv", OFFICIAL_CSV, 4),
        ("result_for_rank_nac", RANK, 3),
        ("results_nac.txt", RESULTS_2022, 4),
    ):
        (tmp_path / name).write_text(text)
        claims, checks = read_reported(tmp_path / name, VPAC, None)
        assert len(claims) == number
        assert {one.system for one in claims} == {"orig", "B4"}
        assert checks == []
        assert {one.system for one in read_reported(tmp_path / name, VPAC, "x")[0]} == {"x"}


def test_reported_in_one_number(tmp_path: Path) -> None:
    path = tmp_path / PAIR / "EER"
    path.parent.mkdir()
    path.write_text("0.1291\n")
    assert brief(read_reported(path, VPAC, None)[0]) == [("B3", DEV_F, "12.91", 1)]
    assert brief(read_reported(path, VPAC, "mine")[0]) == [("mine", DEV_F, "12.91", 1)]
    (tmp_path / "EER").write_text("0.1291\n")
    with pytest.raises(ConfigError, match="EER: one number, and nothing tells its list; give a"):
        read_reported(tmp_path / "EER", VPAC, None)


@pytest.mark.parametrize("prefix", ["", "claims:\n  "])
def test_reported_in_yaml(prefix: str, tmp_path: Path) -> None:
    path = tmp_path / "reported.yaml"
    path.write_text(f'{prefix}b3: {{{DEV_F}: "12.910", average dev: "13", {DEV_M}: 1.5}}\n')
    claims, checks = read_reported(path, VPAC, None)
    assert brief(claims) == [("B3", DEV_F, "12.910", None), ("B3", "average dev", "13", None)]
    assert [c.message for c in checks] == [
        f"put the EER of {DEV_M} in quotes, so that its digits are kept"
    ]


def test_reported_by_this_harness(tmp_path: Path) -> None:
    path = tmp_path / "eer.csv"
    both = "anonymized,anonymized"
    counts = "0.5,6,7,abc"
    path.write_text(
        "benchmark,system,attacker,seed,scenario,enrolment,trial,train,dataset,split,gender,"
        "n_target,n_nontarget,eer_percent,threshold,misses,false_alarms,trials_sha256\n"
        f"vpac2025,orig,e,1,original,original,original,original,libri,dev,f,7,9,10.5,{counts}\n"
        f"vpac2025,B3,e,1,ignorant,original,anonymized,original,libri,dev,f,7,9,40.1,{counts}\n"
        f"vpac2025,B3,e,1,lazy-informed,{both},original,libri,dev,f,7,9,33,{counts}\n"
        f"vpac2025,B3,e,1,semi-informed,{both},anonymized,libri,dev,f,7,9,28.4,{counts}\n"
        f"demo,B4,e,1,semi-informed,{both},anonymized,libri,dev,f,7,9,28.4,{counts}\n"
    )
    assert brief(read_reported(path, VPAC, None)[0]) == [
        ("orig", DEV_F, "10.5", 2),
        ("B3", DEV_F, "28.4", 5),
    ]
    path.write_text("system,scenario,dataset,split,eer_percent\nB3,semi-informed,libri,dev,25.2\n")
    assert brief(read_reported(path, VPAC, None)[0]) == [("B3", "average dev", "25.2", 2)]


def test_reported_as_published(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    path.write_text(
        "system,attacker,split,gender,eer_percent,source,note\n"
        "Orig,ASV_eval,dev,f,10.511,somewhere,k=74/704\n"
        "B3,ASV_eval_anon,test,m,26.724,somewhere,\n"
        "T8-5,A.5,dev,avg,27.2,a picture,\n"
        "B3,ASV_eval_anon,test,pooled_fm,27.78,a paper,not a mean\n"
    )
    claims, checks = read_reported(path, VPAC, None)
    assert brief(claims) == [
        ("orig", DEV_F, "10.511", 2),
        ("B3", TEST_M, "26.724", 3),
        ("T8-5", "average dev", "27.2", 4),
    ]
    assert checks == []


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.csv", b"a,b\n1,2\n", r"r\.csv: no EER of a list of vpac2025; give a table"),
        ("r.csv", b"", r"r\.csv: no EER of a list of vpac2025"),
        ("r.csv", b"system,list,EER\nB3,libri_dev_trials_f,x\n", r"r\.csv:2: 'x' is no EER"),
        (
            "r.csv",
            b"system,list,EER\nB3,libri_dev_trial_f,1.5\n",
            r"r\.csv:2: 'libri_dev_trial_f' is no list of vpac2025: use libri_dev_trials_f, ",
        ),
        ("r.csv", b"\xff\x00", r"r\.csv: not text in UTF-8 or UTF-16"),
        ("r.csv", b"1" * (MIB + 1), r"r\.csv: more than 1,048,576 bytes"),
        ("r.yaml", b"B3: [", r"r\.yaml:1: not valid YAML"),
        ("r.yaml", b"B3: 12.91", r"r\.yaml: 'B3' is not followed by lists"),
    ],
)
def test_reported_that_is_none(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=message):
        read_reported(tmp_path / name, VPAC, None)


def test_reported_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no\.csv: cannot be read \(No such file"):
        read_reported(tmp_path / "no.csv", VPAC, None)
    with pytest.raises(ConfigError, match=r"cannot be read \(Is a directory"):
        read_reported(tmp_path, VPAC, None)
