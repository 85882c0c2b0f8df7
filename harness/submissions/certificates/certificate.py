"""Certificates: what a verification found, signed, to be believed without the harness at hand.

A certificate is an in-toto Statement v1 in a DSSE v1 envelope with one Ed25519 signature. Its
subjects are the submission (`sha256` of an archive, `dirHash` of a folder) and its score files.
Its predicate holds what `harness verify --json` writes, EERs by every estimator, and the source
of the harness; and, if the attacker's image was run again, how that ended. No time, host or
absolute path: the same input and key give the same bytes.

All bytes count. The signature covers payload and payload type. What it does not cover (spaces,
order of fields, other spellings of base64, the key's id) must be exactly as `sign` writes it, so a
certificate with any byte changed is refused.

Sources: in-toto attestation v1 (statement, digest_set), DSSE v1 (protocol, envelope).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from harness import __version__
from harness.errors import ConfigError, IntegrityError
from harness.metrics.estimators import ESTIMATORS
from harness.protocols.typed import build
from harness.runtime.files import code_fingerprint
from harness.submissions.certificates.keys import certificate_extra
from harness.submissions.certificates.predicate import (
    PREDICATE_TYPE,
    PREDICATE_TYPE_RERUN,
    STATEMENT_TYPE,
    Certified,
    CertifiedCheck,
    CertifiedClaim,
    CertifiedExplanation,
    CertifiedTrials,
)
from harness.submissions.document import to_document
from harness.submissions.limits import MIB
from harness.submissions.model import ListResult, SubmissionResult, Verification
from harness.submissions.reference import Reference

if TYPE_CHECKING:
    from securesystemslib.signer import Key, Signer

PAYLOAD_TYPE = "application/vnd.in-toto+json"
LARGEST = 16 * MIB
# Of an EER in percent: a thousandth of what official scripts print.
DECIMALS = 6


def statement(
    verification: Verification,
    submission: SubmissionResult,
    digest: dict[str, str] | None = None,
    reruns: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """What is certified of one submission of a verification.

    digest: of the submission, see `comparison.submission_digest`; needed where the verification has
    none (folders, archives that cannot be read). reruns: a `CertifiedRerun` each, as JSON. Raises
    ConfigError without a digest.
    """
    if submission.sha256 is not None:
        digest = {"sha256": submission.sha256}
    if digest is None:
        raise ConfigError(
            "a certificate needs the hash of its submission",
            where=submission.name,
            fix="give the archive, or the hash of the folder",
        )
    document = to_document(
        Verification(
            verification.protocol, verification.reference, [submission], submission.verdict
        )
    )
    subjects = [{"name": PurePath(submission.name).name, "digest": digest}]
    subjects += [{"name": one.file, "digest": {"sha256": one.sha256}} for one in submission.lists]
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects,
        "predicateType": PREDICATE_TYPE_RERUN if reruns else PREDICATE_TYPE,
        "predicate": {
            "harness": {"version": __version__, "source_sha256": code_fingerprint()},
            "benchmark": document["benchmark"],
            "verdict": submission.verdict,
            "trials": _entries(CertifiedTrials, document["trials"]),
            "lists": certified_lists(submission, verification.reference_of(submission)),
            "claims": _entries(CertifiedClaim, document["claims"]),
            "checks": _entries(CertifiedCheck, document["checks"]),
            "explanations": _entries(CertifiedExplanation, document["explanations"]),
            **({"reruns": list(reruns)} if reruns else {}),
        },
    }


def statement_bytes(content: dict[str, Any]) -> bytes:
    """A statement as it is signed."""
    return _to_bytes(content)


def sign(content: dict[str, Any], signer: Signer) -> bytes:
    """The certificate of a statement. Raises ConfigError above LARGEST, which nobody would read."""
    with certificate_extra():
        from securesystemslib.dsse import Envelope
    envelope = Envelope(statement_bytes(content), PAYLOAD_TYPE, {})
    envelope.sign(signer)
    data = _to_bytes(envelope.to_dict())
    if len(data) > LARGEST:
        raise ConfigError(
            f"the certificate would have {len(data):,} bytes, more than {LARGEST:,}",
            fix="have the faults of the submission mended first",
        )
    return data


def open_certificate(data: bytes, key: Key) -> dict[str, Any]:
    """The statement of a certificate that was signed with the private key of `key`.

    Raises ConfigError for what is no certificate of a verification, IntegrityError for one that was
    changed or signed with another key. Nothing of the statement is looked at before the signature.
    """
    with certificate_extra():
        from securesystemslib.dsse import Envelope
        from securesystemslib.exceptions import VerificationError
        from securesystemslib.signer import Signature
    if len(data) > LARGEST:
        raise ConfigError(f"a certificate of more than {LARGEST:,} bytes", fix="check the file")
    content = _from_bytes(data, "envelope")
    match content:
        case {
            "payload": str(payload),
            "payloadType": str(payload_type),
            "signatures": [{"keyid": str(keyid), "sig": str(signature)}],
        }:
            envelope = Envelope(
                _decode(payload),
                payload_type,
                {keyid: Signature(keyid, _decode(signature).hex())},
            )
        case _:
            raise _no_certificate("it is no DSSE envelope with one signature")
    if envelope.to_dict() != content:
        raise _changed("its envelope is not written as the harness writes it")
    if keyid != key.keyid:
        raise IntegrityError(
            f"signed with the key {keyid[:64]!r}, not with {key.keyid}",
            where="certificate",
            fix="ask for the public key of who signed it",
        )
    try:
        envelope.verify([key], threshold=1)
    except VerificationError as error:
        raise _changed("its signature does not fit its content") from error
    if payload_type != PAYLOAD_TYPE:
        raise _no_certificate(f"its payload is of the type {payload_type!r}")
    found = _from_bytes(envelope.payload, "payload")
    certified(found)
    return dict(found)


def certified(content: Any) -> Certified:
    """The content of a statement. Raises ConfigError where it is none of a verification."""
    match content:
        case {
            "_type": str(kind),
            "subject": [_, *_] as subject,
            "predicateType": str(predicate_type),
            "predicate": dict(predicate),
        } if kind == STATEMENT_TYPE and predicate_type == (
            PREDICATE_TYPE_RERUN if "reruns" in predicate else PREDICATE_TYPE
        ):
            return build(Certified, {**predicate, "subject": subject}, "certificate")
    raise _no_certificate(
        f"its statement is not of the type {PREDICATE_TYPE}, nor, with reruns, of "
        f"{PREDICATE_TYPE_RERUN}"
    )


def certified_lists(submission: SubmissionResult, reference: Reference) -> list[dict[str, Any]]:
    """The scored lists of a submission, as a statement has them."""
    return [
        {
            "system": one.system,
            "list": one.list,
            "file": one.file,
            "sha256": one.sha256,
            "eer_percent": _eers(one, reference),
            "threshold": None if one.eer is None else one.eer.threshold,
            "misses": None if one.eer is None else one.eer.misses,
            "false_alarms": None if one.eer is None else one.eer.false_alarms,
        }
        for one in submission.lists
    ]


def _eers(one: ListResult, reference: Reference) -> dict[str, float] | None:
    """EERs in percent by estimator; None where the scores cannot be scored."""
    if one.eer is None or one.scores is None:
        return None
    target = reference.lists[one.list].target
    scores = one.scores.first
    rates = {
        name: estimate(scores[target], scores[~target]) for name, estimate in ESTIMATORS.items()
    }
    return {name: round(100 * float(rate), DECIMALS) for name, rate in rates.items()}


def _entries(kind: type[Any], entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The fields that a certificate has, of entries of the document."""
    names = [field.name for field in fields(kind)]
    return [{name: _without_folder(name, entry[name]) for name in names} for entry in entries]


def _without_folder(name: str, value: Any) -> Any:
    """Where a file outside the submission lies is nobody's business."""
    if name == "file" and value is not None and PurePath(value).is_absolute():
        return PurePath(value).name
    return value


def _to_bytes(content: Any) -> bytes:
    """JSON in the one form that certificates have."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return f"{text}\n".encode("ascii")


def _from_bytes(data: bytes, what: str) -> Any:
    try:
        content = json.loads(data.decode("ascii"))
        again = _to_bytes(content)
    except (ValueError, RecursionError) as error:
        raise _no_certificate(f"its {what} is not valid JSON") from error
    # Names that stand twice, spaces, other spellings of numbers.
    if again != data:
        raise _changed(f"its {what} is not written as the harness writes it")
    return content


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise _no_certificate("its envelope is not in base64") from error


def _no_certificate(why: str) -> ConfigError:
    return ConfigError(
        f"no certificate of a verification: {why}",
        where="certificate",
        fix="give the file that `harness verify --certificate` wrote",
    )


def _changed(why: str) -> IntegrityError:
    return IntegrityError(
        f"changed after it was signed: {why}",
        where="certificate",
        fix="ask for the original file",
    )
