"""Every code has a submission that shows it, and a submission without fault shows none."""

from __future__ import annotations

from pathlib import Path

import making
import pytest
import small
from broken import EXAMPLES

from harness.cli.main import main
from harness.submissions.codes import CODES, SEVERITY, Code
from harness.submissions.model import Check, Verification, primary
from harness.submissions.verification import Options, verify

IDS = [code.name for code in CODES]


@pytest.fixture(params=["from a folder", "generated"])
def trials(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    """The edition's lists, or nothing: then they are made from the names in the scores."""
    return small.write_lists(tmp_path / "lists") if request.param == "from a folder" else None


def checks(verification: Verification) -> list[Check]:
    return [check for submission in verification.submissions for check in submission.checks]


def test_every_code_has_an_example() -> None:
    assert sorted(EXAMPLES) == sorted(IDS)


@pytest.mark.parametrize("code", CODES, ids=IDS)
def test_a_fault_is_named_and_decides_the_verdict(
    code: Code, tmp_path: Path, trials: Path | None
) -> None:
    assert code.name in EXAMPLES, f"write an example of {code.name} in broken.py"
    example = EXAMPLES[code.name](tmp_path)
    done = verify(example.paths, example.edition, Options(**{"trials": trials, **example.options}))
    assert primary(checks(done)) == code.name, checks(done)
    worst = {SEVERITY[check.code] for check in checks(done)}
    assert done.verdict == ("not checkable" if "unscorable" in worst else "verified")
    assert (code.severity == "unscorable") == ("unscorable" in worst)
    named = next(check for check in checks(done) if check.code == code.name)
    assert named.message
    assert "\n" not in named.message
    assert named.count >= 1
    assert str(tmp_path) not in f"{named.file} {named.message}"


@pytest.mark.parametrize("suffix", making.ARCHIVES)
@pytest.mark.parametrize("systems", [("A1",), small.SYSTEMS], ids=["one", "two"])
def test_a_clean_submission_has_no_checks(
    suffix: str, systems: tuple[str, ...], tmp_path: Path, trials: Path | None
) -> None:
    path = making.archive(small.clean(tmp_path / "team", systems), suffix)
    done = verify([path], small.edition(), Options(trials=trials))
    assert checks(done) == []
    assert done.verdict == "verified"
    (submission,) = done.submissions
    assert submission.verdict == "verified"
    assert (submission.sha256 is None) == (suffix == "")
    assert {(c.system, c.list, c.verdict) for c in submission.claims} == {
        (system, small.list_name(split, gender), "verified")
        for system in systems
        for split in small.SPLITS
        for gender in small.GENDERS
    }


def test_a_description_without_fault_has_no_checks(tmp_path: Path) -> None:
    example = making.described(tmp_path)
    done = verify(example.paths, small.edition(), Options())
    assert (done.verdict, checks(done)) == ("verified", [])


@pytest.mark.parametrize("code", ["pair-missing", "scores-rounded"])
def test_a_changed_claim_is_refuted_whatever_the_checks(code: str, tmp_path: Path) -> None:
    """One claim that differs refutes the whole, beside a list that cannot be checked, too."""
    example = EXAMPLES[code](tmp_path)
    claim = making.scores_file(example.paths[0], "test", "m").with_name("EER")
    claim.write_text(f"{float(claim.read_text()) - 0.02!r}\n")
    done = verify(example.paths, small.edition(), Options())
    assert done.verdict == "refuted"
    verdicts = {claim.list: claim.verdict for claim in done.submissions[0].claims}
    assert verdicts == {
        "tiny_dev_trials_f": "not checkable" if code == "pair-missing" else "verified",
        "tiny_dev_trials_m": "verified",
        "tiny_test_trials_f": "verified",
        "tiny_test_trials_m": "refuted",
    }
    assert "tiny_test_trials_m" in {one.list for one in done.submissions[0].explanations}


@pytest.mark.parametrize(
    ("code", "status"), [(None, 0), ("order", 0), ("sign-reversed", 0), ("number", 2)]
)
def test_the_exit_status_is_the_verdict(
    code: str | None, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.protocols.protocol.load", lambda name: small.edition())
    path = making.clean(tmp_path) if code is None else EXAMPLES[code](tmp_path).paths[0]
    assert main(["verify", str(path)]) == status
    (path.parent / "reported.csv").write_text("system,split,gender,EER\nA1,test,m,12.345\n")
    assert main(["verify", str(path), "--reported", str(path.parent / "reported.csv")]) == 1
