"""Submissions to the editions of 2022, 2024 and 2026, verified."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import editions
import making
import numpy as np
import pytest
from editions import Made, submit_2022, submit_2024, tiny, write_lists
from simulated import kaldi, official

from harness.submissions.document import to_document
from harness.submissions.model import SubmissionResult
from harness.submissions.table import to_text
from harness.submissions.verification import Options, verify

# 6, 24 and 30 of 75 targets are 8, 32 and 40 %.
MADE = Made(
    {"libri": 6, "vctk_different": 24, "vctk_common": 30},
    {"libri": "4.58", "vctk": "13.48"},
    uar="53.4914",
)
SUBMIT = {"vpc2022": submit_2022, "vpc2024": submit_2024, "vpc2026": submit_2024}


def verified(name: str, path: Path, **options: object) -> SubmissionResult:
    edition = tiny(name, known=bool(options.pop("known", True)))
    (result,) = verify([path], edition, Options(**options)).submissions  # type: ignore[arg-type]
    return result


@pytest.mark.parametrize("suffix", ["", ".zip", ".tar.gz"])
@pytest.mark.parametrize("name", SUBMIT)
def test_an_honest_submission_is_verified(name: str, suffix: str, tmp_path: Path) -> None:
    path = making.archive(SUBMIT[name](tmp_path / "team", tiny(name), MADE), suffix)
    result = verified(name, path)
    assert result.verdict == "verified"
    assert {one.verdict for one in result.claims} == {"verified"}
    # Of original speech nothing is asked, and of other scenarios neither.
    # No path of 2022 names the system: an archive's top folder does, or nothing.
    nameless = name == "vpc2022" and not suffix
    assert {one.system for one in result.claims} == {"unnamed" if nameless else "team"}
    rates = {one.list: 100 * one.eer.rate for one in result.lists if one.eer is not None}
    expected = {one.trials: MADE.misses[one.dataset] / 0.75 for one in tiny(name).lists}
    assert rates == pytest.approx(expected)
    assert {check.severity for check in result.checks} == {"note"}


def test_the_weighted_average_of_2022(tmp_path: Path) -> None:
    result = verified("vpc2022", submit_2022(tmp_path / "team", tiny("vpc2022"), MADE))
    # 0.5 x 8 + 0.4 x 32 + 0.1 x 40; the plain mean would be 26.67.
    averages = {name: mean for (_, name), mean in result.averages(tiny("vpc2022")).items()}
    assert averages == pytest.approx({"average dev": 20.8, "average test": 20.8})
    claims = {one.list: one for one in result.claims}
    assert str(claims["average test"].claimed) == "20.800"
    assert claims["average test"].remark == ""


def test_averages_of_printed_eers_are_no_lies(tmp_path: Path) -> None:
    # 19 of 75 are 25.333…, printed 25.33: the scripts average that.
    made = replace(MADE, misses=dict.fromkeys(MADE.misses, 19))
    result = verified("vpc2022", submit_2022(tmp_path / "team", tiny("vpc2022"), made))
    averages = [one for one in result.claims if one.list.startswith("average")]
    assert {(str(one.claimed), one.remark) for one in averages} == {("25.330", "of printed EERs")}
    assert result.verdict == "verified"


def test_a_plain_mean_is_no_average_of_2022(tmp_path: Path) -> None:
    edition = tiny("vpc2022")
    path = submit_2022(tmp_path / "team", edition, MADE)
    summary = path / editions.RESULTS / "results_summary.txt"
    summary.write_text(summary.read_text().replace("test anon: 20.800", "test anon: 26.667"))
    result = verified("vpc2022", path)
    assert result.verdict == "refuted"
    (told,) = (one for one in result.explanations if one.list == "average test")
    expected = "26.667 is the mean Kaldi EER when all its lists weigh the same"
    assert told.sentence.startswith(expected)


@pytest.mark.parametrize("name", SUBMIT)
def test_a_false_eer_is_refuted(name: str, tmp_path: Path) -> None:
    made = replace(MADE, claimed={"libri": 12})
    result = verified(name, SUBMIT[name](tmp_path / "team", tiny(name), made))
    assert result.verdict == "refuted"
    false = {one.list for one in result.claims if one.verdict == "refuted"}
    assert {one for one in false if not one.startswith("average")} == {
        one.trials for one in tiny(name).lists if one.dataset == "libri"
    }


def test_kaldi_leaves_zeros_out(tmp_path: Path) -> None:
    # 16 % is claimed as `16%`, and 15.6 % must not be taken for it.
    made = replace(MADE, misses=dict.fromkeys(MADE.misses, 12))
    path = submit_2022(tmp_path / "team", tiny("vpc2022"), made)
    assert "EER: 16%" in (path / editions.RESULTS / "results.txt").read_text()
    result = verified("vpc2022", path)
    assert {str(one.claimed) for one in result.claims if "average" not in one.list} == {"16.00"}
    assert not [check for check in result.checks if check.code == "claim-coarse"]


@pytest.mark.parametrize(
    ("name", "measures"),
    [
        ("vpc2022", {"WER": 4, "pitch-correlation": 12, "GVD": 12}),
        ("vpc2024", {"WER": 2, "UAR": 2}),
        ("vpc2026", {"WER": 2, "UAR": 2}),
    ],
)
def test_other_measures_are_not_checkable(
    name: str, measures: dict[str, int], tmp_path: Path
) -> None:
    result = verified(name, SUBMIT[name](tmp_path / "team", tiny(name), MADE))
    own = [one for one in result.measures if one.system != "orig"]
    assert {one: sum(m.measure == one for m in own) for one in measures} == measures
    assert len(own) == sum(measures.values())
    notes = [one.message for one in result.checks if one.code == "measure-unchecked"]
    assert len(notes) == len(measures)
    assert any(one.startswith("WER is claimed, and not checkable from scores") for one in notes)
    shown = to_text(verify([tmp_path / "team"], tiny(name)))
    assert "not checkable" in shown.partition("claims of other measures")[2].splitlines()[1]


@pytest.mark.parametrize(("name", "unproven"), [("vpc2022", 8), ("vpc2024", 0), ("vpc2026", 2)])
def test_what_is_no_known_list_is_said(name: str, unproven: int, tmp_path: Path) -> None:
    edition = tiny(name, known=False)
    path = SUBMIT[name](tmp_path / "team", edition, MADE)
    result = verified(name, path, known=False)
    checks = [one for one in result.checks if one.code == "list-unproven"]
    assert [one.count for one in checks] == ([unproven] if unproven else [])
    assert result.verdict == ("not checkable" if unproven else "verified")
    # The EERs of the pairs that are there are computed all the same.
    assert {one.verdict for one in result.claims} == {"verified"}
    lists = write_lists(edition, tmp_path / "lists")
    assert verified(name, path, known=False, trials=lists).verdict == "verified"


def test_a_false_eer_is_refuted_on_an_unknown_list_too(tmp_path: Path) -> None:
    made = replace(MADE, claimed={"libri": 12})
    path = submit_2024(tmp_path / "team", tiny("vpc2026"), made)
    assert verified("vpc2026", path, known=False).verdict == "refuted"


def test_a_list_of_other_numbers_is_not_taken(tmp_path: Path) -> None:
    path = submit_2024(tmp_path / "team", tiny("vpc2026"), MADE)
    (file,) = path.glob("exp/asv_anon_team/*dev*/scores")
    trials = editions.trials_of(tiny("vpc2026").lists[0])
    first = next(i for i, trial in enumerate(trials) if trial.target)
    text = file.read_text().splitlines(keepends=True)
    file.write_text("".join(text[:first] + text[first + 1 :]))
    result = verified("vpc2026", path, known=False)
    assert "trials-unknown" in {one.code for one in result.checks}
    assert {one.list for one in result.lists} == {"libri_test_trials_mixed"}


def test_the_real_lists_of_2024(test_data: Path, tmp_path: Path) -> None:
    from harness.protocols.lists import read_trials
    from harness.protocols.protocol import load

    edition = load("vpc2024")
    for listed in edition.lists:
        trials = read_trials(test_data / "vpc-lists" / listed.trials / "trials")
        text = "".join(
            f"{t.enrolment} {t.utterance} {i % 997 + (400 if t.target else 0)}\n"
            for i, t in enumerate(trials)
        )
        pair = f"{listed.enrolments}_T1-{listed.trials}_T1"
        editions._write(tmp_path / f"team/exp/asv_anon_T1/{pair}/scores", text)
    (result,) = verify([tmp_path / "team"], edition).submissions
    assert [one.list for one in result.lists if one.eer is not None] == [
        one.trials for one in edition.lists
    ]
    assert {one.code for one in result.checks if one.severity == "unscorable"} == {"claim-missing"}


def test_the_eer_of_2022_is_kaldi_s(tmp_path: Path) -> None:
    edition = tiny("vpc2022")
    path = submit_2022(tmp_path / "team", edition, MADE)
    (file,) = path.glob(f"{editions.RESULTS}/*_anon-libri_dev_trials_f_anon/scores")
    trials = editions.trials_of(edition.lists[0])
    target = np.array([trial.target for trial in trials])
    # Other numbers of errors at each point, so that the two rules differ.
    scores = np.random.default_rng(3).normal(size=len(trials)).astype(np.float32) + target
    lines = zip(trials, scores.tolist(), strict=True)
    file.write_text("".join(f"{t.enrolment} {t.utterance} {score!r}\n" for t, score in lines))
    lists = {one.list: one for one in verified("vpc2022", path).lists}
    found = lists[edition.lists[0].trials]
    classes = scores[target], scores[~target]
    assert abs(kaldi(*classes) - official(*classes)) > 0.01
    assert found.eer is not None
    assert 100 * found.eer.rate == pytest.approx(kaldi(*classes))


def test_pairs_of_another_list_are_no_list(tmp_path: Path) -> None:
    # Else whoever submits first could take another list's trials away from everybody.
    edition = tiny("vpc2022", known=False)
    path = submit_2022(tmp_path / "team", edition, MADE)
    (libri,) = path.glob(f"{editions.RESULTS}/*_anon-libri_dev_trials_f_anon/scores")
    (vctk,) = path.glob(f"{editions.RESULTS}/*_anon-vctk_dev_trials_f_anon/scores")
    vctk.write_bytes(libri.read_bytes())
    result = verified("vpc2022", path, known=False)
    unknown = [one for one in result.checks if one.code == "trials-unknown"]
    assert [one.file for one in unknown] == [str(vctk.relative_to(path))]
    assert "libri_dev_trials_f" in {one.list for one in result.lists if one.eer is not None}


@pytest.mark.parametrize("turned", [False, True])
def test_a_list_that_one_submission_states_is_no_other_s(turned: bool, tmp_path: Path) -> None:
    edition = tiny("vpc2026", known=False)
    paths = [
        submit_2024(tmp_path / team, edition, MADE, seed) for seed, team in enumerate(("a", "b"))
    ]
    (spoilt,) = paths[1].glob("exp/asv_anon_b/*dev*/scores")
    with spoilt.open("a") as file:
        # A nontarget pair that the other one lacks.
        file.write(f"{spoilt.read_text().split()[0]} nobody-1-1 -0.1234\n")
    together = to_document(verify(paths[::-1] if turned else paths, edition))
    for path in paths:
        alone = to_document(verify([path], edition))
        for part in ("submissions", "lists", "averages", "claims", "checks", "measures"):
            name = "name" if part == "submissions" else "submission"
            own = [one for one in together[part] if one[name] == path.name]
            assert own == alone[part], part
    rates = {(o["submission"], o["list"][6:9]): o["eer_percent"] for o in together["lists"]}
    # 6 of 75 targets; of b one nontarget more is rejected.
    assert rates["a", "dev"] == rates["a", "tes"] == rates["b", "tes"] == 8.0
    assert rates["b", "dev"] == pytest.approx(100 * (6 / 75 + 30 / 376) / 2, abs=1e-4)
    pairs = sorted((o["list"][6:9], o["n_nontarget"]) for o in together["trials"])
    assert pairs == [("dev", 375), ("dev", 376), ("tes", 375)]
