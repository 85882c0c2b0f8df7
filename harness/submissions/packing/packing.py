"""A submission from a folder of scores: checked, described, hashed, the same bytes twice.

    <team>/submission.yaml
    <team>/description.pdf
    <team>/<system>/<enrolments>-<trials>/scores      the bytes of the original file

Claims stand in `submission.yaml` only: what stands in one place cannot contradict itself.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.errors import ConfigError
from harness.protocols.protocol import Protocol
from harness.protocols.scores import FILE_NAME as SCORES
from harness.protocols.typed import build, read_yaml
from harness.runtime.files import disk_errors, sha256_bytes, sha256_file, whole_file
from harness.submissions.archives.archive import open_submission
from harness.submissions.contents.claims import read_claims, read_reported
from harness.submissions.contents.description import FILE_NAME as DESCRIPTION
from harness.submissions.contents.description import (
    NAME,
    Description,
    Resource,
    check,
    folder_name,
    to_text,
)
from harness.submissions.contents.layout import find
from harness.submissions.contents.naming import ORIGINAL
from harness.submissions.contents.places import SCENARIO_NAMES
from harness.submissions.judging import recompute
from harness.submissions.limits import MIB, Limits
from harness.submissions.model import (
    Check,
    Claim,
    SubmissionResult,
    Verification,
)
from harness.submissions.packing.canonical import writer
from harness.submissions.verdict import judge
from harness.submissions.verification import Options, verify

DOCUMENT = "description.pdf"
PDF_MAGIC = b"%PDF-"
# A team may break these and still submit, as long as it says so: they decide what is official.
DECLARED = {"own-anonymizer", "resource-undeclared", "resource-unlisted"}
# Claims that are not given are computed.
MADE_HERE = {"claim-missing"}


@dataclass(frozen=True)
class Draft:
    """What a team says. team: any text. description: the system description, a PDF.

    system: the one system, where the folder's names do not tell it. claims: a file of EERs to be
    checked and stated as they are; those that it does not hold are computed. The rest: see
    `Description`.
    """

    team: str
    description: Path
    system: str | None = None
    claims: Path | None = None
    resources: tuple[Resource, ...] = ()
    own_anonymizers: tuple[str, ...] = ()
    own_code_released: str | None = None


@dataclass(frozen=True)
class Packing:
    """What came of it. faults: one line each; with any of them nothing was written.

    warnings: what makes the submission not official. sha256: of the archive.
    """

    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    description: Description | None = None
    sha256: str | None = None


@dataclass
class Collected:
    """The scores of a folder. files: content by path in the archive; origins: where it was.

    claims: what files beside the scores say.
    """

    systems: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ResourceFile:
    """The file of `--resources`."""

    resources: tuple[Resource, ...]


def read_declared(path: Path) -> tuple[Resource, ...]:
    """Resources from YAML: `resources:` with name, kind (data, model), source, declared (a day).

    Raises ConfigError, naming the field.
    """
    return build(ResourceFile, read_yaml(path), str(path)).resources


def pack(
    source: Path,
    target: Path,
    draft: Draft,
    protocol: Protocol,
    options: Options | None = None,
    *,
    replace_existing: bool = False,
) -> Packing:
    """Write the submission `target` (.zip, .tar.gz, .tgz) from the scores in `source`.

    source: a folder, or an archive, in any layout that `harness verify` reads; scores of original
    speech in it are left out. The archive is verified before it gets its name.
    Raises ConfigError for a draft that cannot be; what is wrong with the scores is a fault of the
    result instead.
    """
    options = options or Options()
    write = writer(target)
    if target.exists() and not replace_existing:
        raise ConfigError("is there already", where=target, fix="name another, or give --force")
    team = _folder(draft.team)
    document = _read_document(draft.description, options.limits)

    collected = collect(source, protocol, draft.system, options.limits)
    if collected.faults:
        return Packing(tuple(collected.faults))
    with tempfile.TemporaryDirectory() as scratch:
        bare = Path(scratch, "scores.zip")
        with disk_errors(bare):
            write(bare, {f"{team}/{name}": data for name, data in collected.files.items()})
        judged = verify([bare], protocol, replace(options, reported=draft.claims, received=None))
        origins = {f"{team}/{name}": origin for name, origin in collected.origins.items()}
        faults = _faults(judged, origins) + _contradictions(collected, judged)
        faults += _unscored(draft, collected, protocol)
        if faults:
            return Packing(tuple(faults))

        description = _describe(draft, collected, judged, document)
        check(description, "the description")
        files = collected.files | {
            DOCUMENT: document,
            DESCRIPTION: to_text(description).encode(),
        }
        whole = Path(scratch, "submission")
        with disk_errors(whole):
            write(whole, {f"{team}/{name}": data for name, data in files.items()})
        proof = verify([whole], protocol, replace(options, reported=None, received=None))
        faults = _faults(proof, {})
        if not faults and proof.verdict != "verified":
            faults = [f"{target}: the archive is {proof.verdict}"]
        if faults:
            return Packing(tuple(faults))
        with whole_file(target) as temporary:
            shutil.copyfile(whole, temporary)
        warnings = [one for one in proof.submissions[0].checks if one.code in DECLARED]
        return Packing((), tuple(map(_line, warnings)), description, sha256_file(whole))


def collect(source: Path, protocol: Protocol, system: str | None, limits: Limits) -> Collected:
    """The score files of all systems in a folder or archive, as they are."""
    collected = Collected()
    with open_submission(source, limits) as submission:
        found = None
        if not submission.checks:
            found = find(submission, protocol, system)
        checks = [*submission.checks, *(found.checks if found else ())]
        collected.faults += [_line(one) for one in checks if one.severity != "note"]
        if found is None or collected.faults:
            return collected
        for one in found.score_files:
            if one.system == ORIGINAL:
                continue
            if not NAME.fullmatch(one.system):
                collected.faults.append(
                    f"{one.member.path}: {one.system!r} cannot be a folder; name it with --system"
                )
                continue
            name = f"{one.system}/{one.listed.enrolments}-{one.listed.trials}/{SCORES}"
            collected.files[name] = one.member.read(limits.file_mib * MIB)
            collected.origins[name] = one.member.path
        names = {name.split("/")[0] for name in collected.files}
        order = list(protocol.systems)
        collected.systems = [name for name in order if name in names]
        collected.systems += sorted(names - set(order))
        collected.claims = list(read_claims(found, protocol)[0])
    if not collected.files and not collected.faults:
        collected.faults.append(f"{source}: no scores of anonymized speech; name their folder")
    return collected


def _folder(team: str) -> str:
    """The top folder. Scenarios are told by folders of their names, so a team has none of these."""
    folder = folder_name(team)
    if not NAME.fullmatch(folder) or folder.casefold() in SCENARIO_NAMES:
        raise ConfigError(
            f"{team!r} cannot be a folder",
            where="team",
            fix="use letters and digits, and not the name of a scenario",
        )
    return folder


def _read_document(path: Path, limits: Limits) -> bytes:
    if not path.is_file():
        raise ConfigError("no such file", where=path, fix="give the system description as PDF")
    if path.stat().st_size > limits.file_mib * MIB:
        raise ConfigError(
            f"more than {limits.file_mib} MiB", where=path, fix="make the pictures in it smaller"
        )
    with disk_errors(path):
        data = path.read_bytes()
    if not data.startswith(PDF_MAGIC):
        raise ConfigError("not a PDF", where=path, fix="give the system description as PDF")
    return data


def _describe(
    draft: Draft, collected: Collected, judged: Verification, document: bytes
) -> Description:
    hashes = {name: sha256_bytes(data) for name, data in collected.files.items()}
    hashes[DOCUMENT] = sha256_bytes(document)
    result = judged.submissions[0]
    return Description(
        format=1,
        benchmark=judged.protocol.name,
        team=draft.team,
        description=DOCUMENT,
        systems=tuple(collected.systems),
        claims={name: _claims(name, result, judged.protocol) for name in collected.systems},
        files={name: hashes[name] for name in sorted(hashes)},
        resources=draft.resources,
        own_anonymizers=draft.own_anonymizers,
        own_code_released=draft.own_code_released,
    )


def _claims(system: str, result: SubmissionResult, protocol: Protocol) -> dict[str, str]:
    """EERs of a system in percent: as given, else as the official scripts print them."""
    rates = {
        one.list: one.eer for one in result.lists if one.system == system and one.eer is not None
    }
    claims = {name: f"{eer.percent:.3f}" for name, eer in rates.items()}
    for (of, name), mean in result.averages(protocol).items():
        if of == system:
            claims[name] = f"{mean:.3f}"
    for claim in result.claims:
        if claim.system == system and claim.estimator == "official":
            claims[claim.list] = f"{claim.claimed:f}"
    return claims


def _faults(verification: Verification, origins: Mapping[str, str]) -> list[str]:
    """What hinders, one line each. origins: where the files of the archive come from."""
    result = verification.submissions[0]
    checks = [
        replace(one, file=origins.get(one.file or "", one.file))
        for one in result.checks
        if one.severity != "note" and one.code not in DECLARED | MADE_HERE
    ]
    sentences = {(one.system, one.list): one.sentence for one in result.explanations}
    refuted = [
        f"{one.file}: {one.system} {one.list}: {one.claimed} is claimed, the scores give "
        f"{one.recomputed:.3f}; {sentences.get((one.system, one.list), 'mend either')}"
        for one in result.claims
        if one.verdict == "refuted"
    ]
    return [_line(one) for one in checks] + refuted


def _unscored(draft: Draft, collected: Collected, protocol: Protocol) -> list[str]:
    """Claims that were given of systems that are not packed: a misspelt name, or one left out."""
    if draft.claims is None:
        return []
    claims, _ = read_reported(draft.claims, protocol, draft.system)
    return [
        f"{draft.claims}: {claim.system} {claim.list} is claimed, and there are no scores of "
        f"{claim.system}: name the system as its folder does, or remove the claim"
        for claim in claims
        if claim.system is not None and claim.system not in collected.systems
    ]


def _contradictions(collected: Collected, judged: Verification) -> list[str]:
    """Files beside the scores that state other EERs: they are not packed, yet one is wrong."""
    result = judged.submissions[0]
    lists = {(one.system, one.list): one for one in result.lists}
    reference = judged.reference_of(result)
    faults = []
    for claim in collected.claims:
        system = claim.system or _only(collected.systems)
        recomputed = recompute(claim, system, lists, judged.protocol, reference)
        if judge(claim, recomputed)[0] == "refuted":
            faults.append(
                f"{claim.file}: {system} {claim.list}: it says {claim.percent}, the scores give "
                f"{recomputed:.3f}; remove the file, or the scores are not those it is about"
            )
    return faults


def _only(systems: Sequence[str]) -> str:
    return systems[0] if len(systems) == 1 else "unnamed"


def _line(one: Check) -> str:
    place: Iterable[object] = (part for part in (one.file, one.line) if part is not None)
    where = ":".join(map(str, place))
    return " ".join(f"{where + ': ' if where else ''}{one.message} [{one.code}]".split())
