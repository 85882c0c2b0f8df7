from __future__ import annotations

import json
import stat
from pathlib import Path
from zipfile import ZipFile

import pytest
import small

from harness.cli.main import main
from harness.submissions.certificates.certificate import sign, statement
from harness.submissions.certificates.keys import load_signer
from harness.submissions.verification import verify

LIST = "tiny_dev_trials_f"


@pytest.fixture(autouse=True)
def _small_edition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.protocols.protocol.load", lambda name: small.edition())


@pytest.fixture
def organizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The public key; the private one is beside it."""
    assert main(["cert", "keygen", str(tmp_path / "organizer")]) == 0
    capsys.readouterr()
    return tmp_path / "organizer.pub"


def pack(folder: Path) -> Path:
    archive = folder.with_suffix(".zip")
    with ZipFile(archive, "w") as writing:
        for path in sorted(folder.rglob("*")):
            writing.write(path, path.relative_to(folder))
    return archive


def certify(archive: Path, organizer: Path) -> Path:
    verification = verify([archive], small.edition())
    content = statement(verification, verification.submissions[0])
    path = archive.with_suffix(".cert.json")
    path.write_bytes(sign(content, load_signer(organizer.with_suffix(".key"))))
    return path


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return pack(small.clean(tmp_path / "team", ("A1",)))


def test_keygen_says_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cert", "keygen", str(tmp_path / "me")]) == 0
    private, public, key = capsys.readouterr().out.splitlines()
    assert private.startswith(f"{tmp_path}/me.key: private")
    assert public.startswith(f"{tmp_path}/me.pub: public")
    assert len(key) == len("key ") + 64
    assert stat.S_IMODE((tmp_path / "me.key").stat().st_mode) == 0o600
    assert main(["cert", "keygen", str(tmp_path / "me")]) == 1
    assert "there is such a file already" in capsys.readouterr().err


def test_a_genuine_certificate(
    archive: Path, organizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = certify(archive, organizer)
    key = load_signer(organizer.with_suffix(".key")).public_key.keyid
    assert main(["cert", "check", str(certificate), "--key", str(organizer)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("team.zip: VERIFIED (tiny)\n")
    assert f"  signed with  key {key}\n" in said
    assert "  claims       4 verified\n" in said
    assert "not compared" in said
    assert "not computed again" in said
    row = next(line.split() for line in said.splitlines() if LIST in line)
    assert row[4] == f"{100 * small.eer_of('A1', 'dev', 'f'):.3f}"
    table = said.partition("by estimator\n")[2].splitlines()
    assert table[0].split()[4:7] == ["official", "kaldi", "rocch"]
    assert max(map(len, table)) <= 100


def test_a_genuine_certificate_of_a_refuted_submission(
    tmp_path: Path, organizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = small.clean(tmp_path / "team", ("A1",))
    next(folder.rglob("EER")).write_text("0.5\n")
    certificate = certify(pack(folder), organizer)
    assert main(["cert", "check", str(certificate), "--key", str(organizer)]) == 0
    assert "team.zip: REFUTED (tiny)\n" in capsys.readouterr().out


def test_with_the_submission_at_hand(
    archive: Path, organizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["cert", "check", str(certify(archive, organizer)), "--key", str(organizer)]
    command += ["--submission", str(archive)]
    assert main(command) == 0
    assert f"same as {archive}" in capsys.readouterr().out
    assert main([*command, "--rescore"]) == 0
    assert "computed again, the same" in capsys.readouterr().out
    lists = small.write_lists(tmp_path / "lists")
    assert main([*command, "--rescore", "--trials", str(lists)]) == 0
    capsys.readouterr()

    archive.write_bytes(archive.read_bytes()[:-1] + b"\x01")
    assert main(command) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"harness cert check: REFUSED: {archive}: not the submission of")


def test_other_eers_are_refused(
    archive: Path, organizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verification = verify([archive], small.edition())
    content = statement(verification, verification.submissions[0])
    content["predicate"]["lists"][0]["eer_percent"]["official"] -= 0.001
    certificate = archive.with_suffix(".cert.json")
    certificate.write_bytes(sign(content, load_signer(organizer.with_suffix(".key"))))
    command = ["cert", "check", str(certificate), "--key", str(organizer)]
    command += ["--submission", str(archive)]
    assert main(command) == 0
    assert main([*command, "--rescore"]) == 1
    assert f"({LIST}): EER (official): the certificate has" in capsys.readouterr().err


def test_another_key_is_refused(
    archive: Path, organizer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = certify(archive, organizer)
    assert main(["cert", "keygen", str(tmp_path / "other")]) == 0
    assert main(["cert", "check", str(certificate), "--key", str(tmp_path / "other.pub")]) == 1
    assert "REFUSED: certificate: signed with the key" in capsys.readouterr().err


def test_names_of_strangers_do_not_steer_the_terminal(
    archive: Path, organizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verification = verify([archive], small.edition())
    verification.submissions[0].name = "\x1b[31mteam.zip"
    content = statement(verification, verification.submissions[0])
    certificate = archive.with_suffix(".cert.json")
    certificate.write_bytes(sign(content, load_signer(organizer.with_suffix(".key"))))
    assert main(["cert", "check", str(certificate), "--key", str(organizer)]) == 0
    assert capsys.readouterr().out.startswith("\\x1b[31mteam.zip: VERIFIED")


def test_what_cannot_be_read_is_status_2(
    archive: Path, organizer: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    certificate = certify(archive, organizer)
    cases = {
        "is not valid JSON": (archive, organizer, None),
        "No such file": (archive.with_name("absent"), organizer, None),
        "no public key in PEM": (certificate, organizer.with_suffix(".key"), None),
        "No such file or directory": (certificate, organizer, archive.with_name("absent")),
    }
    for message, (file, key, submission) in cases.items():
        more = [] if submission is None else ["--submission", str(submission)]
        assert main(["cert", "check", str(file), "--key", str(key), *more]) == 2
        said = capsys.readouterr().err
        assert message in said
        assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--rescore"], "--rescore needs --submission"),
        (["--trials", "x"], "--trials needs --rescore"),
    ],
)
def test_options_that_need_others(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cert", "check", "x", "--key", "y", *more]) == 64
    assert capsys.readouterr().err.startswith(f"harness cert check: {message}; see `harness")


def test_the_public_key_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="64"):
        main(["cert", "check", "x"])
    assert "required: --key" in capsys.readouterr().err


def test_the_certificate_is_json_for_other_tools(archive: Path, organizer: Path) -> None:
    envelope = json.loads(certify(archive, organizer).read_bytes())
    assert set(envelope) == {"payload", "payloadType", "signatures"}
