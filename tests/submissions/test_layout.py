"""Where score files and claims are found, in every layout that is known; real list names."""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
import small
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.protocols.protocol import load
from harness.submissions.contents.layout import MOST_GUESSES, Found, find
from harness.submissions.contents.naming import Names
from harness.submissions.members import Member, Submission

VPAC = load("vpac2025")
LISTS = tuple(listed.trials for listed in VPAC.lists)
ENROLMENTS = {listed.trials: listed.enrolments for listed in VPAC.lists}
DEV_F = "libri_dev_enrolls{0}-libri_dev_trials_f{0}"


def member(path: str, content: bytes = b"") -> Member:
    return Member(path, len(content), lambda: io.BytesIO(content))


def search(paths: Iterable[str], system: str | None = None, name: str = "mail.zip") -> Found:
    submission = Submission(name, None, tuple(member(path) for path in sorted(paths)))
    return find(submission, VPAC, system)


def scores(found: Found) -> dict[str, tuple[str, str]]:
    return {one.member.path: (one.system, one.listed.trials) for one in found.score_files}


def codes(found: Found) -> list[str]:
    return [check.code for check in found.checks]


@pytest.mark.parametrize(
    ("path", "system"),
    [
        # 2024, with the suffix of the organizers' scripts, a system's name, another, or none.
        ("exp/asv_anon_sttts/{e}_sttts-{t}_sttts/scores", "B3"),
        ("exp/asv_anon_nac/{e}_nac-{t}_nac/scores", "B4"),
        (
            "exp/asv_anon_asrbn_hifigan_bn_tdnnf_wav2vec2_vq_48_v1/"
            "{e}_asrbn_hifigan_bn_tdnnf_wav2vec2_vq_48_v1-"
            "{t}_asrbn_hifigan_bn_tdnnf_wav2vec2_vq_48_v1/scores",
            "B5",
        ),
        ("team/of/ours/exp/asv_anon_T8-5/{e}_T8-5-{t}_T8-5/scores", "T8-5"),
        ("exp/asv_anon_b5/{e}_b5-{t}_b5/scores", "B5"),
        ("exp/asv_anonB5/{e}B5-{t}B5/scores", "B5"),
        ("exp/asv_anon_mine/{e}_mine-{t}_mine/scores", "mine"),
        ("exp/asv_anon_T10-2/{e}-{t}/scores", "T10-2"),
        ("exp/asv_anon/{e}-{t}/scores", "unnamed"),
        ("{e}-{t}/scores", "unnamed"),
        # The system is a folder: the edition's name before a suffix of one's own.
        ("B4/exp/asv_anon_run7/{e}_run7-{t}_run7/scores", "B4"),
        ("team/T12-5/{e}-{t}/scores", "T12-5"),
        ("team/mcadams/{e}-{t}/scores.txt", "mcadams"),
        ("T25-1.tar.gz/{e}-{t}/scores.tsv", "T25-1"),
        ("T25-1/{t}/scores", "T25-1"),
        # 2022: `_anon` is no system's name.
        ("exp/results-2022-05-01-10-11-12/ASV-{e}_anon-{t}_anon/scores", "unnamed"),
        ("B3/exp/results-2022-05-01/ASV-{e}_anon-{t}_anon/scores", "B3"),
        # This harness's own.
        ("results/vpac2025/scores/B3/ecapa/seed-1986/semi-informed/{e}-{t}/scores", "B3"),
        ("results/vpac2025/scores/lpc/ecapa/seed-1986/semi-informed/{e}-{t}/scores", "lpc"),
        ("scores/orig/ecapa/seed-1986/original/{e}-{t}/scores", "orig"),
        ("exp/asv_orig/{e}-{t}/scores", "orig"),
        ("exp/results-2022-05-01.orig/ASV-{e}-{t}/scores", "orig"),
        ("exp/ASV-{e}-{t}/scores", "orig"),
        # One file for each list, in no folder of its own.
        ("B3/{e}-{t}.scores", "B3"),
        ("B3/{e}_B3-{t}_B3.txt", "B3"),
        ("B3/{t}.csv", "B3"),
        ("B3_{t}.txt", "B3"),
        ("scores_{t}_B3.txt", "B3"),
        ("B3/{t}_scores.txt", "B3"),
    ],
)
def test_every_layout(path: str, system: str) -> None:
    paths = {path.format(t=name, e=ENROLMENTS[name]): name for name in LISTS}
    found = search([*paths, "README.md", "paper/description.pdf"])
    assert scores(found) == {path: (system, name) for path, name in paths.items()}
    assert codes(found) == []


def test_the_submission_itself_may_be_named_as_the_system() -> None:
    paths = [f"exp/asv_anon_x/{DEV_F.format('_x')}/scores"]
    assert scores(search(paths, name="T8-5.tar.xz")) == {paths[0]: ("T8-5", LISTS[0])}


def test_small_edition(tmp_path: Path) -> None:
    small.clean(tmp_path)
    paths = [str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()]
    found = find(
        Submission("x", None, tuple(member(p) for p in sorted(paths))), small.edition(), None
    )
    assert len(found.score_files) == len(found.claim_files) == 8
    assert {one.system for one in found.score_files} == set(small.SYSTEMS)
    assert {(c.kind, c.system) for c in found.claim_files} == {("EER", "A1"), ("EER", "A2")}
    assert codes(found) == []


def test_the_system_as_argument_names_the_one_there_is() -> None:
    paths = [
        f"exp/asv_anon_x/{DEV_F.format('_x')}/scores",
        f"exp/asv_anon_x/{DEV_F.format('_x')}/EER",
        f"exp/asv_orig/{DEV_F.format('')}/scores",
        "exp/results.csv",
    ]
    found = search(paths, system="b3")
    assert {one.system for one in found.score_files} == {"B3", "orig"}
    assert [one.system for one in found.claim_files] == ["B3", "B3"]
    several = search([*paths, f"B4/{DEV_F.format('')}/scores"], system="B3")
    assert {one.system for one in several.score_files} == {"x", "B4", "orig"}


@pytest.mark.parametrize(
    ("folder", "system", "trials"),
    [
        ("libri_test_enroll_B3-libri_test_trials_f_B3", "B3", "libri_test_trials_f"),
        ("lbri_test_enrolls_B3-libri_test_trials_m_B3", "B3", "libri_test_trials_m"),
        ("libri_test_enrolls_T8-5-libri_test_trial_f_T8-5", "T8-5", "libri_test_trials_f"),
        ("libri_dev_enrolls-lbri_dev_trials_m", "unnamed", "libri_dev_trials_m"),
        ("ASV-libri_dev_enroll_anon-libri_dev_trial_m_anon", "unnamed", "libri_dev_trials_m"),
        ("libri_dev_trails_f", "unnamed", "libri_dev_trials_f"),
    ],
)
def test_a_misspelt_folder_is_read_with_a_note(folder: str, system: str, trials: str) -> None:
    found = search([f"exp/{folder}/scores"])
    assert scores(found) == {f"exp/{folder}/scores": (system, trials)}
    assert codes(found) == ["folder-misspelt"]
    assert found.checks[0].message == f"{folder!r} is no name of a list; read as {trials}"


@pytest.mark.parametrize(
    "folder",
    [
        "libri_dev_enrolls-libri_dev_trials_x",  # as near to f as to m
        "libri_dev_enrolls-libri_dev_trials_mixed",  # the list of another edition
        "vctk_dev_enrolls-vctk_dev_trials_f",
        "libri_dev_trials_f_libri_dev_trials_m",
        DEV_F.format("_" + "x" * 120),
    ],
)
def test_a_folder_of_no_list_is_not_guessed(folder: str) -> None:
    found = search([f"B3/{folder}/scores", f"B3/{DEV_F.format('')}/scores"])
    assert list(scores(found)) == [f"B3/{DEV_F.format('')}/scores"]
    assert codes(found) == ["file-unknown"]
    assert found.checks[0].file == f"B3/{folder}/scores"


def test_the_name_of_one_list_may_begin_that_of_another() -> None:
    common = replace(VPAC.lists[0], trials=f"{LISTS[0]}_common")
    names = Names(replace(VPAC, lists=(*VPAC.lists, common)))
    for suffix in ("", "_B3", "_anon"):
        for listed in (VPAC.lists[0], common):
            name = f"{listed.enrolments}{suffix}-{listed.trials}{suffix}"
            for text in (name, f"ASV-{name}", f"{listed.trials}{suffix}"):
                pair = names.pair(text)
                assert pair is not None
                assert (pair.listed, pair.trial, pair.misspelt) == (listed, suffix, False)


def test_guesses_are_limited() -> None:
    names = [f"libri_dev_enrols_a{i:03}-lbri_dev_trials_f_a{i:03}" for i in range(150)]
    found = search(f"{name}/scores" for name in names)
    assert [one.system for one in found.score_files] == [f"a{i:03}" for i in range(MOST_GUESSES)]
    assert [(c.code, c.count) for c in found.checks] == [
        ("folder-misspelt", MOST_GUESSES),
        ("file-unknown", 50),
    ]


@pytest.mark.parametrize(
    "path",
    [
        "exp/asv_orig/libri_dev_enrolls_B3-libri_dev_trials_f_B3/scores",  # lazy-informed
        "exp/asv_orig/libri_dev_enrolls-libri_dev_trials_f_B3/scores",  # ignorant
        "exp/asv_orig_B3/libri_dev_enrolls-libri_dev_trials_f_B3/scores",
        "exp/results-1/ASV-libri_dev_enrolls-libri_dev_trials_f_anon/scores",
        "exp/results-1/ASV-libri_dev_enrolls-libri_dev_trials_f/scores",  # trained on anonymized
        "exp/results-1.orig/ASV-libri_dev_enrolls_anon-libri_dev_trials_f_anon/scores",  # lazy
        "scores/B3/ecapa/seed-1/ignorant/libri_dev_enrolls-libri_dev_trials_f/scores",
        "scores/B3/ecapa/seed-1/lazy-informed/libri_dev_enrolls-libri_dev_trials_f/scores",
        "exp/asv_anon_B3/libri_dev_enrolls_B3-libri_dev_trials_f/scores",
    ],
)
def test_other_scenarios_are_left_out_with_a_note(path: str) -> None:
    asked = f"exp/asv_anon_B3/{DEV_F.format('_B3')}/scores"
    found = search([path, path.replace("scores", "EER"), asked])
    assert scores(found) == {asked: ("B3", LISTS[0])}
    assert found.claim_files == ()
    assert codes(found) == ["scenario-other"]
    assert (found.checks[0].file, found.checks[0].count) == (path, 1)


def test_two_files_for_one_list_are_ambiguous() -> None:
    pair = DEV_F.format("")
    paths = [f"B3/first/{pair}/scores", f"B3/second/{pair}/scores", f"B4/{pair}/scores"]
    found = search(paths)
    assert scores(found) == {paths[2]: ("B4", LISTS[0])}
    (check,) = found.checks
    assert (check.code, check.count) == ("scores-ambiguous", 2)
    assert f"2 score files of B3 for {LISTS[0]}: {paths[0]}, {paths[1]}" in check.message


def test_two_seeds_of_one_attacker_are_ambiguous() -> None:
    paths = [f"scores/B3/ecapa/seed-{i}/semi-informed/{DEV_F.format('')}/scores" for i in (1, 2)]
    assert codes(search(paths)) == ["scores-ambiguous"]


def test_no_scores() -> None:
    found = search(["a.txt", "b.txt", "c.txt", "d.txt"])
    (check,) = found.checks
    assert check.code == "no-scores"
    assert check.message == (
        "no score file, such as libri_dev_enrolls-libri_dev_trials_f/scores, for a list of "
        "vpac2025; there are a.txt, b.txt, c.txt and 1 more"
    )
    assert codes(search([])) == []  # the archive's own checks say why


@pytest.mark.parametrize(
    "path", ["model.ckpt", "B3/embeddings.npy", "wav/1.wav", "B3/scores.bin", "B3/other.scores"]
)
def test_a_file_that_nothing_asks_for(path: str) -> None:
    found = search([path, f"B3/{DEV_F.format('')}/scores"])
    assert codes(found) == ["file-unknown"]
    assert found.checks[0].message == f"no part of the format: {path}"


@pytest.mark.parametrize(
    "path",
    [
        "README", "LICENSE", "paper.PDF", "config.yaml", "run.sh", "B3/libri_dev_trials_f/trials",
        "B3/libri_dev_trials_f_det.txt", "B3/trials_libri_dev_trials_f.log", "params.json",
    ],
)  # fmt: skip
def test_common_documents_are_not_noted(path: str) -> None:
    found = search([path, f"B3/{DEV_F.format('')}/scores"])
    assert len(found.score_files) == 1
    assert codes(found) == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("exp/asv_anon_nac/{p}_nac/EER", ("EER", "B4", LISTS[0], False)),
        ("B3/libri_dev_trials_f/EER.txt", ("EER", "B3", LISTS[0], False)),
        ("B3/libri_dev_trials_f_EER.txt", ("EER", "B3", LISTS[0], False)),
        ("B3/libri_dev_trials_f.eer", ("EER", "B3", LISTS[0], False)),
        ("exp/asv_orig/{q}/EER", ("EER", "orig", LISTS[0], False)),
        ("results/results_sttts.csv", ("results", "B3", None, False)),
        ("results/result_for_rank_nac", ("results", "B4", None, False)),
        ("exp/results-2022-05-01/results.txt", ("results", None, None, False)),
        ("exp/results_anon.txt", ("results", None, None, False)),
        ("team/results.csv", ("results", None, None, False)),
        ("T8-5/result_for_rank", ("results", "T8-5", None, False)),
        ("exp/asv_orig/results_nac.csv", ("results", "B4", None, True)),
        ("results/vpac2025/eer.csv", ("results", None, None, False)),
    ],
)
def test_claim_files(path: str, expected: tuple[object, ...]) -> None:
    pair = "libri_dev_enrolls_nac-libri_dev_trials_f"
    found = search([path.format(p=pair, q=DEV_F.format(""))])
    (claim,) = found.claim_files
    listed = claim.listed.trials if claim.listed else None
    assert (claim.kind, claim.system, listed, claim.original_only) == expected


def test_results_of_a_system_that_is_no_edition_s() -> None:
    pair = DEV_F.format("_mine")
    found = search(["exp/results_mine.csv", "results_other.csv", f"exp/{pair}/scores"])
    assert [one.system for one in found.claim_files] == ["mine", None]


def test_results_of_attackers_that_are_not_asked_for() -> None:
    found = search(["eer/B3/ecapa/seed-1/ignorant/results.csv", "B3/lazy-informed/results.csv"])
    assert found.claim_files == ()


@pytest.mark.parametrize("path", ["submission.yaml", "team/submission.yaml"])
def test_description(path: str) -> None:
    found = search([path, f"team/B3/{DEV_F.format('')}/scores"])
    if "/" in path:
        assert found.description is not None
        assert found.description.path == path
        found = search([path, f"other/B3/{DEV_F.format('')}/scores"])
        assert found.description is not None
    else:
        assert found.description is not None
    assert codes(found) == []


@pytest.mark.parametrize(
    ("paths", "read", "message"),
    [
        (["t/submission.yaml", "README"], "t/submission.yaml", None),
        (["a.zip/t/submission.yaml"], "a.zip/t/submission.yaml", None),
        (
            ["t/submission.yaml", "t/B3/submission.yaml"],
            "t/submission.yaml",
            "there is t/submission.yaml too: leave one",
        ),
        (["t/Submission.yaml"], None, "it must be called submission.yaml"),
        (["t/submission.yml"], None, "it must be called submission.yaml"),
    ],
)
def test_no_description_is_passed_over(
    paths: list[str], read: str | None, message: str | None
) -> None:
    found = search([*paths, f"t/B3/{DEV_F.format('')}/scores"])
    assert (found.description.path if found.description else None) == read
    told = [one.message for one in found.checks if one.code == "description-unreadable"]
    assert told == ([] if message is None else [message])


@pytest.mark.parametrize("name", ["results2.csv", "resultsB3.csv", "result_for_rank2", "eer2.csv"])
def test_a_suffix_needs_no_mark(name: str) -> None:
    assert [one.kind for one in search([f"exp/{name}"]).claim_files] == ["results"]


def test_names_of_an_edition() -> None:
    names = Names(VPAC)
    assert [names.system(text) for text in ("_T10-2", "NAC", "Orig", "b6", "")] == [
        "T10-2", "B4", "orig", None, None,
    ]  # fmt: skip
    assert names.list_of("", "eval", "female") == "libri_test_trials_f"
    assert names.list_of("Libri", "dev", "avg") == "average dev"
    assert names.list_of("vctk", "dev", "f") is None
    assert names.list_of("", "test", "pooled_fm") is None
    assert names.list_named("Average eval") == "average test"
    assert names.list_named("LIBRI_DEV_TRIALS_M") == "libri_dev_trials_m"
    assert names.list_named("average") is None


PARTS = st.sampled_from(
    [*LISTS, *ENROLMENTS.values(), "-", "_B3", "ASV-", "scores", "EER", "exp", "asv_orig", ".txt",
     "/", "//", "T8-5", "results", "seed-1", "original", "submission.yaml", "\n", "é", ".", ""]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(PARTS, max_size=9).map("".join), max_size=6, unique=True))
def test_any_paths(paths: list[str]) -> None:
    found = search(paths)
    kept = [(one.system, one.listed.trials) for one in found.score_files]
    assert len(kept) == len(set(kept))
    assert all(one.member.path in paths for one in (*found.score_files, *found.claim_files))
    assert not paths or found.score_files or {"no-scores", "scores-ambiguous"} & set(codes(found))
