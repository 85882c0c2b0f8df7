"""Signed certificates of the submissions that are ranked, and what they say of reruns.

A certificate is believed where its signature is good, it is of this edition and the archive's
SHA-256 is that of a submission at hand. Where an attacker that was run again gave other scores, or
scores that depend on more than the pair, that system's entry is refuted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import ConfigError, IntegrityError
from harness.ranking.model import CertificateLine
from harness.submissions.certificates.certificate import LARGEST, certified, open_certificate
from harness.submissions.certificates.keys import load_public_key
from harness.submissions.certificates.predicate import Certified, Outcome, RerunSystem
from harness.submissions.model import SubmissionResult

# The worst first.
OUTCOMES: tuple[Outcome | None, ...] = ("not reproduced", "not checkable", "reproduced", None)


@dataclass
class Certificates:
    """By the name of a submission: the certificate to show, that of the worst rerun, and by system
    why a rerun refutes. remarks: on certificates that are of no submission here, and on reruns that
    refute no entry though they should."""

    lines: dict[str, CertificateLine] = field(default_factory=dict)
    refuted: dict[str, dict[str, str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def read_certificates(
    folder: Path, public_key: Path, submissions: Iterable[SubmissionResult], benchmark: str
) -> Certificates:
    """All certificates in a folder; names that begin with `.` are passed over.

    Raises ConfigError or IntegrityError, naming the file, for one that is none, was changed, or is
    signed with another key, and for a folder within: whoever ranks by certificates must not lose
    one unseen.
    """
    by_hash: dict[str, list[SubmissionResult]] = {}
    for one in submissions:
        if one.sha256 is not None:
            by_hash.setdefault(one.sha256, []).append(one)
    key = load_public_key(public_key)
    found = Certificates()
    for path in _files(folder):
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
        try:
            content = certified(open_certificate(data, key))
        except (ConfigError, IntegrityError) as error:
            raise type(error)(error.what, where=path, fix=error.fix) from error
        results = by_hash.get(content.subject[0].digest.get("sha256", ""), [])
        if content.benchmark != benchmark:
            found.remarks.append(f"{path.name}: a certificate of {content.benchmark}, left out")
        elif not results:
            subject = content.subject[0].name
            found.remarks.append(f"{path.name}: of {subject}, none of these archives, left out")
        else:
            _add(found, results, content, _line(path.name, data, key.keyid, content))
    return found


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ConfigError("no such folder", where=folder, fix="name one with certificates")
    paths = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    for path in paths:
        if not path.is_file():
            raise ConfigError(
                "no file, but what else is in it would be passed over",
                where=path,
                fix="put certificates side by side, without folders",
            )
    return paths


def _add(
    found: Certificates,
    results: Iterable[SubmissionResult],
    content: Certified,
    line: CertificateLine,
) -> None:
    for result in results:
        name = result.name
        other = found.lines.setdefault(name, line)
        found.lines[name] = min(other, line, key=lambda one: OUTCOMES.index(one.rerun))
        own = {*result.score_files.values(), *(one.system for one in result.claims)}
        for rerun in content.reruns:
            failed = [one for one in rerun.systems if one.outcome == "not reproduced"]
            for system in failed:
                if system.system in own:
                    found.refuted.setdefault(name, {}).setdefault(system.system, _reason(system))
                else:
                    found.remarks.append(
                        f"{line.file}: {system.system} was not reproduced, and {name} has no such "
                        "system: no entry is refuted by that"
                    )
            if rerun.outcome == "not reproduced" and not failed:
                found.remarks.append(
                    f"{line.file}: {name} was not reproduced, and no system is named that was not: "
                    "no entry is refuted by that"
                )


def _line(file: str, data: bytes, keyid: str, content: Certified) -> CertificateLine:
    outcomes = {rerun.outcome for rerun in content.reruns}
    return CertificateLine(
        file=file,
        sha256=hashlib.sha256(data).hexdigest(),
        keyid=keyid,
        verdict=content.verdict,
        rerun=next((one for one in OUTCOMES if one in outcomes), None),
    )


def _reason(system: RerunSystem) -> str:
    other = [one.list for one in system.lists if not one.same]
    if other:
        return f"the attacker, run again, gave other scores of {', '.join(other)}"
    return "the attacker, run again, gave scores that depend on more than the pair"
