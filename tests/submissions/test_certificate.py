from __future__ import annotations

import base64
import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import given, settings
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

import results
from harness import __version__
from harness.errors import ConfigError, HarnessError, IntegrityError, SubmissionError
from harness.metrics.eer import EqualErrorRate
from harness.runtime.files import code_fingerprint
from harness.submissions.certificates import certificate, comparison
from harness.submissions.certificates.certificate import (
    certified,
    open_certificate,
    sign,
    statement,
)
from harness.submissions.certificates.comparison import (
    check_scores,
    check_submission,
    directory_hash,
    folder_digest,
    submission_digest,
)
from harness.submissions.members import Submission
from harness.submissions.model import Check, Verification


def signer_of(number: int) -> CryptoSigner:
    return CryptoSigner(ed25519.Ed25519PrivateKey.from_private_bytes(bytes([number] * 32)))


SIGNER = signer_of(1)
KEY = SIGNER.public_key


def certificate_of(verification: Verification) -> bytes:
    return sign(statement(verification, verification.submissions[0]), SIGNER)


CERTIFICATE = certificate_of(results.verification())


def pae(payload_type: str, payload: bytes) -> bytes:
    """DSSE's pre-authentication encoding, by the words of its protocol."""
    parts = [payload_type.encode(), payload]
    return b" ".join([b"DSSEv1", *(b"%d %b" % (len(part), part) for part in parts)])


def resigned(payload: bytes, payload_type: str = certificate.PAYLOAD_TYPE) -> bytes:
    """A certificate with a genuine signature of any payload."""
    envelope = Envelope(payload, payload_type, {})
    envelope.sign(SIGNER)
    return canonical(envelope.to_dict())


def canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def test_round_trip_says_what_was_verified() -> None:
    verification = results.verification()
    made = statement(verification, verification.submissions[0])
    found = open_certificate(CERTIFICATE, KEY)
    assert found == made
    assert found["_type"] == "https://in-toto.io/Statement/v1"
    assert found["subject"] == [
        {"name": "team.zip", "digest": {"sha256": results.DIGEST}},
        {"name": "x/scores", "digest": {"sha256": results.DIGEST}},
        {"name": "y/scores", "digest": {"sha256": results.DIGEST}},
    ]
    predicate = found["predicate"]
    assert predicate["harness"] == {"version": __version__, "source_sha256": code_fingerprint()}
    assert (predicate["benchmark"], predicate["verdict"]) == ("tiny", "refuted")
    assert [one["n_nontarget"] for one in predicate["trials"]] == [375] * 4
    assert predicate["trials"][0]["sha256"] == small.edition().lists[0].sha256
    scored, unscored = predicate["lists"]
    # 17/75 and 86/375: see `results`.
    assert (scored["misses"], scored["false_alarms"], scored["threshold"]) == (17, 86, 0.9)
    assert (unscored["eer_percent"], unscored["misses"]) == (None, None)
    assert [one["verdict"] for one in predicate["claims"]] == [
        "verified",
        "verified",
        "refuted",
        "not checkable",
        "verified",
    ]
    assert predicate["claims"][4]["claimed_text"] == "22.0"
    assert predicate["checks"][1] == {
        "code": "pair-missing",
        "severity": "unscorable",
        "file": "y/scores",
        "line": None,
        "count": 2,
        "message": "2 pairs have no score",
    }
    assert predicate["explanations"][0]["changes"] == ["estimator"]
    assert certified(found).verdict == "refuted"


def test_eers_are_those_of_the_estimators() -> None:
    eers = open_certificate(CERTIFICATE, KEY)["predicate"]["lists"][0]["eer_percent"]
    assert eers["official"] == pytest.approx(100 * small.eer_of("A1", "dev", "f"), abs=1e-6)
    assert len(eers) > 3


def test_the_same_input_gives_the_same_bytes() -> None:
    code = (
        "import sys; sys.path[:0] = ['tests/submissions']\n"
        "import test_certificate\nsys.stdout.buffer.write(test_certificate.CERTIFICATE)"
    )
    again = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert again.stdout == CERTIFICATE
    assert CERTIFICATE.endswith(b"}\n")


def test_no_absolute_path_gets_in() -> None:
    verification = results.verification()
    result = verification.submissions[0]
    result.name = "/home/someone/team.zip"
    result.claims = [results.claim("average dev", "1.0", None, "refuted", "/home/someone/r.csv")]
    result.checks = [Check("claim-unreadable", "no", "/home/someone/r.csv")]
    made = statement(verification, result)
    assert "someone" not in json.dumps(made)
    assert made["subject"][0]["name"] == "team.zip"
    assert made["predicate"]["claims"][0]["file"] == "r.csv"


def test_pae_is_that_of_the_specification() -> None:
    # DSSE v1, protocol.md.
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert pae("http://example.com/HelloWorld", b"hello world") == expected
    assert Envelope(b"hello world", "http://example.com/HelloWorld", {}).pae() == expected


def test_another_implementation_accepts_the_signature() -> None:
    envelope = json.loads(CERTIFICATE)
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    payload = base64.b64decode(envelope["payload"])
    (signature,) = envelope["signatures"]
    public = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(KEY.keyval["public"]))
    signed = pae(envelope["payloadType"], payload)
    public.verify(base64.b64decode(signature["sig"]), signed)
    with pytest.raises(InvalidSignature, match="^$"):
        public.verify(base64.b64decode(signature["sig"]), signed + b" ")
    assert json.loads(payload) == open_certificate(CERTIFICATE, KEY)


def test_any_changed_byte_is_refused() -> None:
    for place in range(len(CERTIFICATE)):
        changed = bytearray(CERTIFICATE)
        changed[place] ^= 1
        with pytest.raises((IntegrityError, ConfigError), match="changed|signed with|no certif"):
            open_certificate(bytes(changed), KEY)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, len(CERTIFICATE) - 1), st.binary(max_size=3), st.integers(0, 3))
def test_any_edit_is_refused(place: int, put: bytes, cut: int) -> None:
    changed = CERTIFICATE[:place] + put + CERTIFICATE[place + cut :]
    if changed == CERTIFICATE:
        assert open_certificate(changed, KEY)
        return
    with pytest.raises(HarnessError, match="certificate: "):
        open_certificate(changed, KEY)


def _padding_bits(envelope: dict[str, Any]) -> None:
    # 64 bytes end in `x==`, where four bits of x say nothing.
    sig = envelope["signatures"][0]["sig"]
    other = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    number = other.index(sig[-3])
    envelope["signatures"][0]["sig"] = sig[:-3] + other[number ^ 1] + "=="
    assert base64.b64decode(envelope["signatures"][0]["sig"]) == base64.b64decode(sig)


def _more_in_signature(envelope: dict[str, Any]) -> None:
    envelope["signatures"][0]["more"] = 1


def _more_in_envelope(envelope: dict[str, Any]) -> None:
    envelope["more"] = 1


@pytest.mark.parametrize("change", [_padding_bits, _more_in_signature, _more_in_envelope])
def test_what_no_signature_covers_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    envelope = json.loads(CERTIFICATE)
    change(envelope)
    with pytest.raises(IntegrityError, match="changed after it was signed: its envelope is not wr"):
        open_certificate(canonical(envelope), KEY)


def test_spaces_are_refused() -> None:
    spaced = json.dumps(json.loads(CERTIFICATE), sort_keys=True).encode() + b"\n"
    with pytest.raises(IntegrityError, match="its envelope is not written as"):
        open_certificate(spaced, KEY)


def test_another_order_of_fields_is_refused() -> None:
    envelope = json.loads(CERTIFICATE)
    turned = json.dumps(dict(reversed(envelope.items())), separators=(",", ":")).encode() + b"\n"
    with pytest.raises(IntegrityError, match="its envelope is not written as"):
        open_certificate(turned, KEY)


def test_another_key_is_refused() -> None:
    other = signer_of(2).public_key
    message = f"signed with the key '{KEY.keyid}', not with {other.keyid}; ask for the public key"
    with pytest.raises(IntegrityError, match=re.escape(message)):
        open_certificate(CERTIFICATE, other)


def test_another_key_under_the_same_id_is_refused() -> None:
    other = signer_of(2).public_key
    other.keyid = KEY.keyid
    with pytest.raises(IntegrityError, match="its signature does not fit its content"):
        open_certificate(CERTIFICATE, other)


def test_a_signature_of_another_payload_type_is_refused() -> None:
    payload = base64.b64decode(json.loads(CERTIFICATE)["payload"])
    with pytest.raises(ConfigError, match="its payload is of the type 'text/plain'"):
        open_certificate(resigned(payload, "text/plain"), KEY)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "its envelope is not valid JSON"),
        (b"\xff\xfe", "its envelope is not valid JSON"),
        (b"[" * 100_000, "its envelope is not valid JSON"),
        (b"9" * 10_000, "its envelope is not valid JSON"),
        (b'{"payload":NaN}\n', "its envelope is not valid JSON"),
        (b"[]\n", "it is no DSSE envelope with one signature"),
        (b"{}\n", "it is no DSSE envelope with one signature"),
        (b'{"payload":1,"payloadType":"","signatures":[]}\n', "it is no DSSE envelope"),
        (b'{"payload":"","payloadType":"","signatures":[]}\n', "it is no DSSE envelope"),
        (
            b'{"payload":"\\u00e9","payloadType":"","signatures":[{"keyid":"","sig":""}]}\n',
            "its envelope is not in base64",
        ),
        (b" " * (certificate.LARGEST + 1), "a certificate of more than 16,777,216 bytes"),
    ],
    ids=lambda value: str(value[:30]),
)
def test_what_is_no_certificate_is_one_line(data: bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        open_certificate(data, KEY)
    assert len(str(caught.value)) < 200


def test_two_signatures_are_none() -> None:
    envelope = json.loads(CERTIFICATE)
    envelope["signatures"] *= 2
    with pytest.raises(ConfigError, match="no DSSE envelope with one signature"):
        open_certificate(canonical(envelope), KEY)


def changed_statement(**changes: Any) -> dict[str, Any]:
    return {**open_certificate(CERTIFICATE, KEY), **changes}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "its statement is not of the type urn:"),
        (changed_statement(_type="https://in-toto.io/Statement/v0.1"), "not of the type urn:"),
        (changed_statement(predicateType="https://slsa.dev/provenance/v1"), "not of the type urn:"),
        (changed_statement(subject=[]), "not of the type urn:"),
        (changed_statement(predicate={}), "'harness' is missing"),
        (changed_statement(subject=[{"name": 1, "digest": {}}]), "subject[0].name: expected str"),
    ],
)
def test_a_signed_payload_must_be_a_statement(content: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        open_certificate(resigned(canonical(content)), KEY)


@pytest.mark.parametrize(
    ("payload", "error", "message"),
    [
        (b"words\n", ConfigError, "its payload is not valid JSON"),
        (b'{"a":1,"a":1}\n', IntegrityError, "its payload is not written as"),
        (b'{"a":1e999}\n', ConfigError, "its payload is not valid JSON"),
    ],
)
def test_a_signed_payload_must_be_plain_json(
    payload: bytes, error: type[HarnessError], message: str
) -> None:
    with pytest.raises(error, match=message):
        open_certificate(resigned(payload), KEY)


def test_a_certificate_too_large_to_be_read_is_not_written() -> None:
    verification = results.verification()
    result = verification.submissions[0]
    result.checks = [Check("order", "x" * certificate.LARGEST)]
    with pytest.raises(ConfigError, match="the certificate would have 22,.* bytes, more than 16,"):
        sign(statement(verification, result), SIGNER)


def test_names_that_are_no_unicode_are_kept() -> None:
    verification = results.verification()
    result = verification.submissions[0]
    result.checks = [Check("file-unknown", "what is it", "\udce9.txt")]
    found = open_certificate(certificate_of(verification), KEY)
    assert found["predicate"]["checks"][0]["file"] == "\udce9.txt"


def test_the_archive_is_compared(tmp_path: Path) -> None:
    archive = tmp_path / "team.zip"
    archive.write_bytes(b"hello world")
    verification = results.verification()
    result = verification.submissions[0]
    # SHA-256 of `hello world`.
    result.sha256 = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
    found = open_certificate(certificate_of(verification), KEY)
    check_submission(found, archive)
    archive.write_bytes(b"hello World")
    with pytest.raises(IntegrityError, match="team.zip: not the submission of the certificate: sh"):
        check_submission(found, archive)
    archive.unlink()
    archive.mkdir()
    (archive / "x").write_bytes(b"hello world")
    with pytest.raises(IntegrityError, match="not the submission of the certificate: dirHash:"):
        check_submission(found, archive)


def test_directory_hash_is_that_of_the_specification() -> None:
    # in-toto attestation v1, digest_set.md: the Go module go-hello-world@v0.0.1.
    module = "github.com/marklodato/go-hello-world@v0.0.1"
    lines = [
        ("3a137eef6458bfb76bb2c63fc29ffc7166604d2d2e09ed9d8250a534122a8364", "README.md"),
        ("28e7c942a036902d981759d0bf5704d2bfc7cb500caf68b84711b234af01c6a5", "go.mod"),
        ("ddc4da627d9a9f45fb29641a1b185d6f53287ecfd921aacbf4fe54b7a86fe8d1", "main.go"),
    ]
    found = directory_hash((digest, f"{module}/{name}") for digest, name in lines)
    assert found == "2a1bb6127fb481c60f67692e22285fb306f3c6ffe62075e0ccf674d7c3adcb8f"


def test_a_folder_has_the_hash_that_sha256sum_gives(tmp_path: Path) -> None:
    folder = small.clean(tmp_path / "team", ("A1",))
    shell = "find . -type f | cut -c3- | LC_ALL=C sort | xargs -r sha256sum | sha256sum"
    done = subprocess.run(["sh", "-c", shell], cwd=folder, capture_output=True, check=True)
    expected = done.stdout.split()[0].decode()
    digest = submission_digest(folder)
    assert digest == {"dirHash": expected}

    verification = results.verification()
    result = verification.submissions[0]
    result.sha256 = None
    made = statement(verification, result, digest)
    found = open_certificate(sign(made, SIGNER), KEY)
    check_submission(found, folder)
    (folder / "more").touch()
    with pytest.raises(IntegrityError, match="not the submission of the certificate"):
        check_submission(found, folder)


def test_a_folder_without_its_hash_is_an_error() -> None:
    verification = results.verification()
    verification.submissions[0].sha256 = None
    with pytest.raises(ConfigError, match="team.zip: a certificate needs the hash of its submissi"):
        statement(verification, verification.submissions[0])


def test_a_folder_with_faults_has_no_hash() -> None:
    faulty = Submission("team", None, (), (Check("archive-link", "a link", "x/y"),))
    with pytest.raises(SubmissionError, match="x/y: a folder with faults has no hash: a link") as e:
        folder_digest(faulty)
    assert e.value.code == "archive-link"


def test_the_same_scores_pass() -> None:
    check_scores(open_certificate(CERTIFICATE, KEY), results.verification())


def _other_file(verification: Verification) -> None:
    result = verification.submissions[0]
    result.lists[0] = copy.copy(result.lists[0])
    object.__setattr__(result.lists[0], "sha256", "0" * 64)


def _other_counts(verification: Verification) -> None:
    eer = EqualErrorRate((18 / 75 + 86 / 375) / 2, 0.9, 18, 86, 75, 375)
    object.__setattr__(verification.submissions[0].lists[0], "eer", eer)


def _other_scores(verification: Verification) -> None:
    scores = verification.submissions[0].lists[0].scores
    assert scores is not None
    scores.first[:] = np.roll(scores.first, 1)


def _no_score_file(verification: Verification) -> None:
    del verification.submissions[0].lists[0]


def _other_list(verification: Verification) -> None:
    object.__setattr__(verification.reference.lists["tiny_dev_trials_f"], "sha256", "0" * 64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_other_file, "x/scores (tiny_dev_trials_f): sha256: the certificate has 0123456789"),
        (_other_counts, "misses: the certificate has 17, verification finds 18"),
        (_other_scores, "x/scores (tiny_dev_trials_f): EER ("),
        (_no_score_file, "x/scores (tiny_dev_trials_f): a score file: the certificate has sha256"),
        (_other_list, "tiny_dev_trials_f: trials: the certificate has"),
    ],
)
def test_other_scores_are_refused(change: Callable[[Verification], None], message: str) -> None:
    found = open_certificate(CERTIFICATE, KEY)
    verification = results.verification()
    change(verification)
    with pytest.raises(IntegrityError, match=re.escape(message)):
        check_scores(found, verification)


def test_estimators_that_only_one_side_knows_are_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = open_certificate(CERTIFICATE, KEY)
    kept = {name: certificate.ESTIMATORS[name] for name in list(certificate.ESTIMATORS)[:2]}
    monkeypatch.setattr(certificate, "ESTIMATORS", {**kept, "new": lambda target, nontarget: 0.0})
    check_scores(found, results.verification())


def test_an_unknown_list_is_not_compared() -> None:
    found = open_certificate(CERTIFICATE, KEY)
    verification = results.verification()
    lists = dict(verification.reference.lists)
    del lists["tiny_dev_trials_f"]
    object.__setattr__(verification.reference, "lists", lists)
    del verification.submissions[0].lists[0]
    with pytest.raises(ConfigError, match="no such list here to rescore with; give it with --tri"):
        comparison.check_scores(found, verification)
