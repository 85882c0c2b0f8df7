"""What is packed is found whole again, and what is not right is not packed."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from small import (
    GENDERS,
    SPLITS,
    SYSTEMS,
    clean,
    edition,
    eer_of,
    enrolments_name,
    list_name,
    score_text,
    write_lists,
)

from harness.errors import ConfigError
from harness.submissions.contents.description import Resource
from harness.submissions.packing.packing import Draft, Packing, pack, read_declared
from harness.submissions.verification import Options, verify

EDITION = edition()
PDF = b"%PDF-1.7\nnothing in it\n"
FIRST = "exp/asv_anon_A1/tiny_dev_enrolls_A1-tiny_dev_trials_f_A1"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return clean(tmp_path / "mine")


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "paper.pdf"
    path.write_bytes(PDF)
    return path


@pytest.fixture
def draft(document: Path) -> Draft:
    return Draft("Our Team", document)


def packed(source: Path, target: Path, draft: Draft, options: Options | None = None) -> Packing:
    packing = pack(source, target, draft, EDITION, options)
    assert packing.faults == ()
    assert packing.sha256 == hashlib.sha256(target.read_bytes()).hexdigest()
    return packing


def refusal(source: Path, draft: Draft, options: Options | None = None) -> list[str]:
    """The lines of what is refused; nothing may be left behind."""
    folder = source.parent / "out"
    folder.mkdir()
    packing = pack(source, folder / "s.zip", draft, EDITION, options)
    assert (packing.description, packing.sha256) == (None, None)
    assert list(folder.iterdir()) == []
    assert packing.faults
    assert not any("\n" in line for line in packing.faults)
    return list(packing.faults)


def expected_files() -> dict[str, bytes]:
    return {
        f"Our_Team/{system}/{enrolments_name(split)}-{list_name(split, gender)}/scores": score_text(
            system, split, gender
        ).encode()
        for system in SYSTEMS
        for split in SPLITS
        for gender in GENDERS
    } | {"Our_Team/description.pdf": PDF}


def test_what_is_packed_is_found_whole_again(source: Path, draft: Draft, tmp_path: Path) -> None:
    target = tmp_path / "out" / "s.zip"
    packing = packed(source, target, draft)
    assert packing.warnings == ()
    with zipfile.ZipFile(target) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    text = found.pop("Our_Team/submission.yaml")
    assert found == expected_files()

    content = yaml.safe_load(text)
    assert content["format"] == 1
    assert (content["benchmark"], content["team"]) == ("tiny", "Our Team")
    assert content["systems"] == ["A1", "A2"]
    assert content["files"] == {
        name.removeprefix("Our_Team/"): hashlib.sha256(data).hexdigest()
        for name, data in expected_files().items()
    }
    for system in SYSTEMS:
        rates = {(s, g): 100 * eer_of(system, s, g) for s in SPLITS for g in GENDERS}
        claims = {list_name(s, g): f"{rate:.3f}" for (s, g), rate in rates.items()}
        for split in SPLITS:
            claims[f"average {split}"] = f"{(rates[split, 'f'] + rates[split, 'm']) / 2:.3f}"
        assert content["claims"][system] == claims

    (result,) = verify([target], EDITION).submissions
    assert (result.verdict, result.checks) == ("verified", [])
    assert len(result.claims) == 12


def test_tar_holds_the_same(source: Path, draft: Draft, tmp_path: Path) -> None:
    packed(source, tmp_path / "s.tar.gz", draft)
    packed(source, tmp_path / "s.zip", draft)
    with tarfile.open(tmp_path / "s.tar.gz") as tar, zipfile.ZipFile(tmp_path / "s.zip") as zipped:
        assert tar.getnames() == zipped.namelist() == sorted(zipped.namelist())
        for member in tar:
            stream = tar.extractfile(member)
            assert stream is not None
            assert stream.read() == zipped.read(member.name)
    assert verify([tmp_path / "s.tar.gz"], EDITION).verdict == "verified"


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tgz"])
def test_the_same_bytes_twice(source: Path, draft: Draft, tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first{suffix}", tmp_path / "elsewhere" / f"second{suffix}"
    packed(source, first, draft)

    # Another folder, order of creation, age, mode and umask.
    other = tmp_path / "other" / "deep"
    umask = os.umask(0o077)
    try:
        for path in sorted(source.rglob("*"), reverse=True):
            if path.is_file():
                copy = other / path.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
                copy.chmod(0o600)
                os.utime(copy, (86_400, 86_400))
        packed(other, second, draft)
    finally:
        os.umask(umask)
    assert first.read_bytes() == second.read_bytes()

    with_lists = tmp_path / f"third{suffix}"
    packed(source, with_lists, draft, Options(trials=write_lists(tmp_path / "lists")))
    assert first.read_bytes() == with_lists.read_bytes()


def test_an_archive_is_a_source_too(source: Path, draft: Draft, tmp_path: Path) -> None:
    packed(source, tmp_path / "first.zip", draft)
    packed(tmp_path / "first.zip", tmp_path / "second.zip", draft)
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()


def test_results_of_this_harness_without_original_speech(tmp_path: Path, draft: Draft) -> None:
    source = tmp_path / "results" / "tiny" / "scores"
    for system, scenario in (("orig", "original"), ("A1", "semi-informed"), ("A1", "ignorant")):
        for split in SPLITS:
            for gender in GENDERS:
                pair = f"{enrolments_name(split)}-{list_name(split, gender)}"
                place = source / system / "ecapa" / "seed-1986" / scenario / pair
                place.mkdir(parents=True)
                seen = scenario if scenario == "ignorant" else system
                (place / "scores").write_text(score_text(seen, split, gender))
    target = tmp_path / "s.zip"
    assert packed(source, target, draft).description is not None
    with zipfile.ZipFile(target) as archive:
        names = [name for name in archive.namelist() if name.endswith("scores")]
        assert names == [name for name in sorted(expected_files()) if "/A1/" in name]
        assert archive.read(names[0]) == expected_files()[names[0]]


def test_one_system_is_named_where_the_folder_does_not(tmp_path: Path, draft: Draft) -> None:
    clean(tmp_path / "mine", ("A1",))
    folder = tmp_path / "mine" / "exp"
    (folder / "asv_anon_A1").rename(folder / "asv_anon")
    for path in (folder / "asv_anon").iterdir():
        path.rename(path.with_name(path.name.replace("_A1", "")))
    named = Draft(draft.team, draft.description, system="A1")
    assert packed(tmp_path / "mine", tmp_path / "s.zip", named).description is not None
    assert "A1/" in " ".join(zipfile.ZipFile(tmp_path / "s.zip").namelist())


def replaced(old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / FIRST / "scores"
        text = path.read_bytes().decode()
        assert old in text
        path.write_bytes(text.replace(old, new, 1).encode())

    return change


def first_line(change: Callable[[str], str]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / FIRST / "scores"
        line, _, rest = path.read_text().partition("\n")
        path.write_bytes(f"{change(line)}{rest}".encode())

    return apply


def remove_list(folder: Path) -> None:
    shutil.rmtree(folder / FIRST)


def second_attacker(folder: Path) -> None:
    shutil.copytree(folder / "exp", folder / "old")


def other_system(folder: Path) -> None:
    for path in [*folder.rglob("*_A2*")][::-1]:
        path.rename(path.with_name(path.name.replace("_A2", "_A22")))


def stale_result(folder: Path) -> None:
    (folder / FIRST / "EER").write_text("0.12909\n")


def link(folder: Path) -> None:
    (folder / "link").symlink_to("exp")


def emptied(folder: Path) -> None:
    shutil.rmtree(folder / "exp")


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (first_line(lambda line: ""), f"{FIRST}/scores: "),
        (first_line(lambda line: ""), "[pair-missing]"),
        (first_line(lambda line: line.rpartition(" ")[0] + " nan\n"), "[non-finite]"),
        (first_line(lambda line: line + "\n" + line + "\n"), "[pair-duplicate]"),
        (replaced("\n", "\r\n"), "[line-ends]"),
        (replaced(" ", "\t"), "[separators]"),
        (remove_list, "A1 has no scores for tiny_dev_trials_f: a submission has all lists"),
        (second_attacker, "[scores-ambiguous]"),
        (other_system, "tiny has no system 'A22', did you mean 'A2'?"),
        (stale_result, f"{FIRST}/EER: A1 tiny_dev_trials_f: it says 12.909, the scores give "),
        (link, "[archive-link]"),
        (emptied, "[archive-empty]"),
    ],
)
def test_a_fault_is_one_line_and_nothing_is_written(
    source: Path, draft: Draft, fault: Callable[[Path], None], line: str
) -> None:
    fault(source)
    assert any(line in one for one in refusal(source, draft)), line


def test_all_faults_are_told_at_once(source: Path, draft: Draft) -> None:
    remove_list(source)
    path = source / FIRST.replace("A1", "A2") / "scores"
    path.write_text(path.read_text() + "a b 1\nc d 2\n")
    lines = refusal(source, draft)
    assert len(lines) == 2
    assert any(line.endswith("[list-missing]") for line in lines)
    assert any(line.endswith("[pair-unknown]") for line in lines)


def test_given_claims_are_kept_as_they_are(source: Path, draft: Draft, tmp_path: Path) -> None:
    truth = 100 * eer_of("A1", "dev", "f")
    path = tmp_path / "claims.csv"
    path.write_text(f"system,list,EER\nA1,tiny_dev_trials_f,{truth:.1f}\n")
    given = Draft(draft.team, draft.description, claims=path)
    description = packed(source, tmp_path / "s.zip", given).description
    assert description is not None
    assert description.claims["A1"]["tiny_dev_trials_f"] == f"{truth:.1f}"
    assert description.claims["A1"]["tiny_dev_trials_m"] == f"{100 * eer_of('A1', 'dev', 'm'):.3f}"


def test_given_claims_are_checked(source: Path, draft: Draft, tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    path.write_text("system,list,EER\nA1,tiny_dev_trials_f,12.3\nA3,tiny_dev_trials_f,1.0\n")
    lines = refusal(source, Draft(draft.team, draft.description, claims=path))
    truth = f"{100 * eer_of('A1', 'dev', 'f'):.3f}"
    assert any(
        f"A1 tiny_dev_trials_f: 12.3 is claimed, the scores give {truth}" in x for x in lines
    )
    assert any("A3 tiny_dev_trials_f is claimed, and there are no scores" in x for x in lines)


def test_what_is_declared_is_packed_and_warned_of(
    source: Path, document: Path, tmp_path: Path
) -> None:
    draft = Draft(
        "t",
        document,
        resources=(Resource("WavLM", "model", "u", "2024-10-20"),),
        own_anonymizers=("A2",),
        own_code_released="2024-10-01",
    )
    options = Options(listed_resources=frozenset({"VoxCeleb"}))
    packing = packed(source, tmp_path / "s.zip", draft, options)
    late, unlisted = packing.warnings
    assert late.endswith(
        "'WavLM' was declared on 2024-10-20, after 2024-10-13 [resource-undeclared]"
    )
    assert unlisted.endswith("[resource-unlisted]")
    content = yaml.safe_load(zipfile.ZipFile(tmp_path / "s.zip").read("t/submission.yaml"))
    assert content["own_anonymizers"] == ["A2"]
    assert content["resources"][0]["declared"] == "2024-10-20"


def test_an_archive_is_replaced_only_when_asked(source: Path, draft: Draft, tmp_path: Path) -> None:
    target = tmp_path / "s.zip"
    target.write_bytes(b"precious")
    with pytest.raises(ConfigError, match="s.zip: is there already; name another, or give --force"):
        pack(source, target, draft, EDITION)
    remove_list(source)
    assert pack(source, target, draft, EDITION, replace_existing=True).faults
    assert target.read_bytes() == b"precious"
    shutil.rmtree(source)
    clean(source)
    assert pack(source, target, draft, EDITION, replace_existing=True).faults == ()
    assert zipfile.is_zipfile(target)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "paper.pdf: no such file; give the system description as PDF"),
        (b"PK\x03\x04", "paper.pdf: not a PDF"),
        (b"", "paper.pdf: not a PDF"),
    ],
)
def test_the_system_description_is_a_pdf(
    source: Path, draft: Draft, tmp_path: Path, content: bytes | None, line: str
) -> None:
    draft.description.unlink()
    if content is not None:
        draft.description.write_bytes(content)
    with pytest.raises(ConfigError, match=line):
        pack(source, tmp_path / "s.zip", draft, EDITION)


@pytest.mark.parametrize("team", ["", "团队", "..", "Original"])
def test_a_team_needs_a_name_for_its_folder(
    source: Path, document: Path, tmp_path: Path, team: str
) -> None:
    with pytest.raises(ConfigError, match="team: '.*' cannot be a folder; use letters and digits"):
        pack(source, tmp_path / "s.zip", Draft(team, document), EDITION)


def test_a_draft_that_contradicts_the_scores(source: Path, document: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="own_anonymizers: 'A3' is none of the systems; known"):
        pack(source, tmp_path / "s.zip", Draft("t", document, own_anonymizers=("A3",)), EDITION)
    draft = Draft("t", document, own_anonymizers=("A1",), own_code_released="soon")
    with pytest.raises(ConfigError, match="own_code_released: 'soon' is no date"):
        pack(source, tmp_path / "s.zip", draft, EDITION)
    assert not (tmp_path / "s.zip").exists()


def test_declared_resources(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text("resources:\n- {name: x, kind: data, source: u, declared: 2024-10-01}\n")
    assert read_declared(path) == (Resource("x", "data", "u", "2024-10-01"),)
    path.write_text("resources:\n- {name: x, kind: data}\n")
    with pytest.raises(ConfigError, match=r"resources\[0\]: 'source' is missing"):
        read_declared(path)
