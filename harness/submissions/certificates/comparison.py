"""A certificate against what is at hand: the submission itself, or its scores verified again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, IntegrityError, SubmissionError
from harness.protocols.typed import build
from harness.runtime.files import CHUNK_BYTES, sha256_file
from harness.submissions.archives.archive import open_submission
from harness.submissions.certificates.certificate import certified, certified_lists
from harness.submissions.certificates.predicate import CertifiedList
from harness.submissions.limits import Limits
from harness.submissions.members import Submission
from harness.submissions.model import Verification

# EERs in percent are certified with six decimals.
SAME_EER = 1.5e-6


def submission_digest(path: Path, limits: Limits | None = None) -> dict[str, str]:
    """The hash of a submission as in-toto writes it: `sha256` of a file, `dirHash` of a folder."""
    if not path.is_dir():
        return {"sha256": sha256_file(path)}
    with open_submission(path, limits or Limits()) as submission:
        return {"dirHash": folder_digest(submission)}


def folder_digest(submission: Submission) -> str:
    """in-toto's `dirHash` of the members: SHA-256 of what `sha256sum` prints of them, in C order.

    The same as `find . -type f | cut -c3- | LC_ALL=C sort | xargs sha256sum | sha256sum`, where
    operating systems left nothing behind. Raises SubmissionError for a folder with faults.
    """
    if submission.checks:
        first = submission.checks[0]
        raise SubmissionError(
            f"a folder with faults has no hash: {first.message}",
            code=first.code,
            where=first.file or submission.name,
            fix="mend it, or pack it into an archive",
        )
    digests = []
    for member in submission.members:
        digest = hashlib.sha256()
        with member.open() as stream:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
        digests.append((digest.hexdigest(), member.path))
    return directory_hash(digests)


def directory_hash(digests: Iterable[tuple[str, str]]) -> str:
    """in-toto's `dirHash` of files: pairs of a file's SHA-256 and its path, in C order of paths.

    A path has no line end in it: such members are refused with the archive.
    """
    lines = "".join(f"{digest}  {path}\n" for digest, path in digests)
    return hashlib.sha256(lines.encode()).hexdigest()


def check_submission(content: dict[str, Any], path: Path, limits: Limits | None = None) -> None:
    """Raise IntegrityError unless a statement is about the submission at `path`."""
    expected = certified(content).subject[0]
    found = submission_digest(path, limits)
    if found != expected.digest:
        raise IntegrityError(
            f"not the submission of the certificate: {_digest(found)} here, "
            f"{_digest(expected.digest)} of {expected.name} there",
            where=path,
            fix="it was changed or packed again, or the certificate is of another one",
        )


def check_scores(content: dict[str, Any], verification: Verification) -> None:
    """Raise IntegrityError unless a verification finds the hashes and EERs that a statement has.

    Raises ConfigError where it does not know a list of the statement. Verdicts on claims are not
    compared: claims may have come from outside the submission.
    """
    expected = certified(content)
    known = {
        name: one
        for result in verification.submissions
        for name, one in verification.reference_of(result).lists.items()
    }
    for trials in expected.trials:
        if trials.list in known and known[trials.list].sha256 != trials.sha256:
            raise _other("trials", trials.list, trials.sha256, known[trials.list].sha256)
    here = {
        (one["file"], one["list"]): build(CertifiedList, one, "verification")
        for result in verification.submissions
        for one in certified_lists(result, verification.reference_of(result))
    }
    for there in expected.lists:
        if there.list not in known:
            raise ConfigError(
                "no such list here to rescore with", where=there.list, fix="give it with --trials"
            )
        _compare(there, here.get((there.file, there.list)))


def _compare(there: CertifiedList, here: CertifiedList | None) -> None:
    where = f"{there.file} ({there.list})"
    if here is None:
        raise _other("a score file", where, f"sha256:{there.sha256}", None)
    for name in ("sha256", "misses", "false_alarms", "threshold"):
        if getattr(there, name) != getattr(here, name):
            raise _other(name, where, getattr(there, name), getattr(here, name))
    stated, found = there.eer_percent or {}, here.eer_percent or {}
    # Estimators may be added; those that both know must agree.
    for name in sorted(stated.keys() & found.keys()):
        if abs(stated[name] - found[name]) > SAME_EER:
            raise _other(f"EER ({name})", where, stated[name], found[name])


def _digest(digest: dict[str, str]) -> str:
    return ", ".join(f"{name}:{value}" for name, value in digest.items())


def _other(what: str, where: str, expected: object, found: object) -> IntegrityError:
    return IntegrityError(
        f"{what}: the certificate has {expected}, verification finds {found}",
        where=where,
        fix="the certificate is of other scores, or of another version of the harness",
    )
