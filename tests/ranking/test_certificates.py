"""Certificates beside a ranking: a rerun that fails refutes, and none is lost unseen."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.signer import Signer

from harness.errors import ConfigError, IntegrityError
from harness.protocols.ranking import AttackerRanking
from harness.ranking.model import Ranking
from harness.ranking.ranking import Options, rank
from harness.runtime.files import sha256_file
from harness.submissions.certificates.certificate import sign, statement
from harness.submissions.certificates.keys import generate_keys, load_signer
from harness.submissions.certificates.predicate import (
    CertifiedRerun,
    Outcome,
    RerunList,
    RerunSystem,
)
from harness.submissions.verification import verify

from .contests import edition, packed

RULES = AttackerRanking("attackers", "test")
AGAIN = RerunList(
    list="field_test_trials_f",
    enrolments_sha256="0" * 64,
    trials_sha256="0" * 64,
    same=True,
    pairs=100,
    agreed="reproduced",
    share=0.0,
    rank_share=0.0,
    beyond=0,
    worst="tf00 tf00-0-0000",
    submitted=1.0,
    again=1.0,
    eer_submitted=None,
    eer_again=None,
)


def rerun(*systems: tuple[str, Outcome, bool], outcome: Outcome) -> dict[str, Any]:
    """A rerun as a statement has it. systems: name, outcome, whether the scores came again."""
    return asdict(
        CertifiedRerun(
            image="sha256:" + "0" * 64,
            parameters_sha256="0" * 64,
            level="sample",
            seed=1,
            outcome=outcome,
            tolerances={},
            systems=tuple(
                RerunSystem(
                    system=name,
                    model_sha256=None,
                    outcome=of_system,
                    reason="",
                    repeatable=True,
                    lists=(replace(AGAIN, same=same),),
                    experiments=(),
                )
                for name, of_system, same in systems
            ),
        )
    )


class Office:
    """Submissions, a key, and a folder of certificates."""

    def __init__(self, folder: Path) -> None:
        self.one = packed(folder, "one", "One", {"A1": 3.0, "A2": 2.0})
        self.other = packed(folder, "other", "Other", {"A1": 1.0})
        private, self.key = generate_keys(folder / "office")
        self.signer: Signer = load_signer(private)
        self.certificates = folder / "certificates"
        self.certificates.mkdir()

    def certify(self, file: str, path: Path, *reruns: dict[str, Any], name: str = "field") -> None:
        verification = verify([path], replace(edition(), name=name))
        content = statement(verification, verification.submissions[0], reruns=reruns)
        (self.certificates / file).write_bytes(sign(content, self.signer))

    def rank(self) -> Ranking:
        options = Options(certificates=self.certificates, key=self.key)
        return rank([self.one, self.other], edition(), RULES, options)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(tmp_path)


def statuses(ranking: Ranking) -> dict[tuple[str, str], tuple[str, tuple[str, ...]]]:
    return {
        (board.system, row.attacker): (row.status, row.reasons)
        for board in ranking.boards
        for row in board.rows
    }


def test_a_rerun_that_gave_other_scores_refutes_this_system(office: Office) -> None:
    done = rerun(
        ("A1", "not reproduced", False), ("A2", "reproduced", True), outcome="not reproduced"
    )
    office.certify("one.json", office.one, done)
    ranking = office.rank()
    assert statuses(ranking) == {
        ("A1", "One"): (
            "refuted",
            ("the attacker, run again, gave other scores of field_test_trials_f",),
        ),
        ("A2", "One"): ("official", ()),
        ("A1", "Other"): ("official", ()),
    }
    line, nothing = (one.certificate for one in ranking.evidence)
    assert nothing is None
    assert line is not None
    assert (line.file, line.verdict, line.rerun) == ("one.json", "verified", "not reproduced")
    assert line.keyid == office.signer.public_key.keyid
    assert line.sha256 == sha256_file(office.certificates / "one.json")


def test_a_broken_pair_rule_refutes(office: Office) -> None:
    office.certify(
        "one.json",
        office.one,
        rerun(("A2", "not reproduced", True), outcome="not reproduced"),
    )
    status, (reason,) = statuses(office.rank())["A2", "One"]
    assert status == "refuted"
    assert reason == "the attacker, run again, gave scores that depend on more than the pair"


def test_what_could_not_be_run_again_changes_nothing(office: Office) -> None:
    office.certify(
        "one.json", office.one, rerun(("A1", "not checkable", True), outcome="not checkable")
    )
    office.certify("other.json", office.other)
    ranking = office.rank()
    assert {status for status, _ in statuses(ranking).values()} == {"official"}
    assert [one.certificate and one.certificate.rerun for one in ranking.evidence] == [
        "not checkable",
        None,
    ]


def test_of_several_certificates_the_worst_is_shown_and_all_count(office: Office) -> None:
    office.certify("1.json", office.one, rerun(("A1", "reproduced", True), outcome="reproduced"))
    office.certify(
        "2.json", office.one, rerun(("A1", "not reproduced", False), outcome="not reproduced")
    )
    office.certify("3.json", office.one)
    ranking = office.rank()
    assert statuses(ranking)["A1", "One"][0] == "refuted"
    assert ranking.evidence[0].certificate is not None
    assert ranking.evidence[0].certificate.file == "2.json"


def test_certificates_of_others_are_told_and_left_out(office: Office, tmp_path: Path) -> None:
    failed = rerun(("A1", "not reproduced", False), outcome="not reproduced")
    office.certify("absent.json", packed(tmp_path, "absent", "Absent", {"A1": 2.0}), failed)
    office.certify("foreign.json", office.one, failed, name="another")
    ranking = office.rank()
    assert ranking.remarks == (
        "absent.json: of absent.zip, none of these archives, left out",
        "foreign.json: a certificate of another, left out",
    )
    assert {status for status, _ in statuses(ranking).values()} == {"official"}


def test_what_is_not_signed_with_the_key_ends_it(office: Office, tmp_path: Path) -> None:
    office.certify("one.json", office.one)
    good = (office.certificates / "one.json").read_bytes()
    _, another = generate_keys(tmp_path / "another")
    path = office.certificates / "one.json"
    office.key, own = another, office.key
    with pytest.raises(IntegrityError, match=r"one\.json: signed with the key .*, not with"):
        office.rank()
    office.key = own
    path.write_bytes(good.replace(b'"sig":"', b'"sig":"A'))
    with pytest.raises((IntegrityError, ConfigError), match=r"one\.json: ") as caught:
        office.rank()
    assert "\n" not in str(caught.value)
    path.write_text("{}\n")
    with pytest.raises(ConfigError, match=r"one\.json: no certificate of a verification"):
        office.rank()


def test_a_rerun_that_refutes_no_entry_is_told(office: Office) -> None:
    misspelt = rerun(
        ("a1", "not reproduced", False), ("A2", "not reproduced", False), outcome="not reproduced"
    )
    office.certify("1.json", office.one, misspelt)
    unnamed = rerun(("A1", "not checkable", True), outcome="not reproduced")
    office.certify("2.json", office.other, unnamed)
    ranking = office.rank()
    refuted = {at for at, (status, _) in statuses(ranking).items() if status == "refuted"}
    assert refuted == {("A2", "One")}
    assert ranking.remarks == (
        "1.json: a1 was not reproduced, and one.zip has no such system: no entry is refuted by "
        "that",
        "2.json: other.zip was not reproduced, and no system is named that was not: no entry is "
        "refuted by that",
    )


def test_no_certificate_is_passed_over_but_hidden_files_are(office: Office) -> None:
    (office.certificates / ".DS_Store").write_bytes(b"x")
    (office.certificates / ".git").mkdir()
    assert office.rank().remarks == ()
    (office.certificates / "July").mkdir()
    with pytest.raises(ConfigError, match=r"July: no file, .*; put certificates side by side"):
        office.rank()


def test_no_folder_of_certificates(office: Office, tmp_path: Path) -> None:
    office.certificates = tmp_path / "absent"
    with pytest.raises(ConfigError, match="absent: no such folder"):
        office.rank()
