"""What broken submissions are made with (see `broken`): a clean one, and ways to change it."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import small
import zstandard

from harness.metrics.eer import equal_error_rate
from harness.protocols.protocol import Protocol

SYSTEM = "A1"
SPLIT, GENDER = "dev", "f"
# Of an archive, by their suffix; "" is a folder.
ARCHIVES = ("", ".zip", ".tar", ".tar.gz", ".tar.xz", ".tar.zst")


@dataclass(frozen=True)
class Broken:
    """paths: to verify together. options: what `Options` needs, beside lists if not among them.
    edition: what they are submitted to."""

    paths: tuple[Path, ...]
    options: dict[str, Any] = field(default_factory=dict)
    edition: Protocol = field(default_factory=lambda: small.edition())


def clean(folder: Path, name: str = "team") -> Path:
    """A submission of one system without fault."""
    return small.clean(folder / name, (SYSTEM,))


def scores_file(submission: Path, split: str = SPLIT, gender: str = GENDER) -> Path:
    """Its score file of a list; the EER stands beside it."""
    (path,) = submission.glob(f"exp/*/*{small.list_name(split, gender)}*/scores")
    return path


def edited(folder: Path, edit: Callable[[str], str | bytes]) -> Broken:
    """One score file, its text changed by `edit`."""
    submission = clean(folder)
    path = scores_file(submission)
    text = edit(path.read_text())
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Broken((submission,))


def line_edited(folder: Path, edit: Callable[[list[str]], str], number: int = 200) -> Broken:
    """One line in the middle of a score file, its fields changed by `edit`."""

    def change(text: str) -> str:
        lines = text.splitlines()
        lines[number] = edit(lines[number].split(" "))
        return "".join(f"{line}\n" for line in lines)

    return edited(folder, change)


def rescored(
    folder: Path,
    change: Callable[[np.ndarray, np.ndarray], np.ndarray],
    write: Callable[[float, bool], str] = lambda score, target: repr(score),
) -> Broken:
    """Other scores in one file, made of the clean ones and the labels, with their own EER."""
    submission = clean(folder)
    trials = small.trials_of(SPLIT, GENDER)
    target = np.array([trial.target for trial in trials])
    scores = change(small.scores_of(SYSTEM, SPLIT, GENDER), target)
    printed = [write(float(s), bool(t)) for s, t in zip(scores, target, strict=True)]
    path = scores_file(submission)
    path.write_text(
        "".join(f"{t.enrolment} {t.utterance} {p}\n" for t, p in zip(trials, printed, strict=True))
    )
    read = np.array([float(p) for p in printed])
    path.with_name("EER").write_text(f"{equal_error_rate(read[target], read[~target]).rate!r}\n")
    return Broken((submission,))


def exchanged(folder: Path, other: tuple[str, str]) -> Broken:
    """The score files of two lists, one in the place of the other."""
    submission = clean(folder)
    here, there = scores_file(submission), scores_file(submission, *other)
    text = here.read_bytes()
    here.write_bytes(there.read_bytes())
    there.write_bytes(text)
    return Broken((submission,))


def described(
    folder: Path,
    extra: str = "",
    options: dict[str, Any] | None = None,
    systems: str = SYSTEM,
) -> Broken:
    """With a `submission.yaml`, to which `extra` is added."""
    submission = clean(folder)
    (submission / "description.pdf").write_bytes(b"%PDF-1.4\n")
    files = "".join(
        f"  {path.relative_to(submission)}: {hashlib.sha256(path.read_bytes()).hexdigest()}\n"
        for path in sorted(submission.rglob("*"))
        if path.is_file()
    )
    (submission / "submission.yaml").write_text(
        f"format: 1\nbenchmark: {small.edition().name}\nteam: team\n"
        f"description: description.pdf\nsystems: [{systems}]\nclaims: {{}}\nfiles:\n{files}{extra}"
    )
    return Broken((submission,), options or {})


def archive(folder: Path, suffix: str) -> Path:
    """The folder as an archive beside it, of the kind that `suffix` names."""
    if not suffix:
        return folder
    path = folder.with_name(f"{folder.name}{suffix}")
    members = [(file, str(file.relative_to(folder.parent))) for file in sorted(folder.rglob("*"))]
    if suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for file, name in members:
                packed.write(file, name)
        return path
    buffer = io.BytesIO()
    mode = {".tar.gz": "w:gz", ".tar.xz": "w:xz"}.get(suffix, "w")
    preset = {"preset": 0} if suffix == ".tar.xz" else {}
    with tarfile.open(fileobj=buffer, mode=mode, **preset) as packed:  # type: ignore[call-overload]
        for file, name in members:
            packed.add(file, name, recursive=False)
    content = buffer.getvalue()
    path.write_bytes(zstandard.compress(content) if suffix == ".tar.zst" else content)
    return path


def zipped(folder: Path, *extra: tuple[str, bytes]) -> Broken:
    """A zip of a clean submission with more members."""
    path = archive(clean(folder), ".zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        for name, content in extra:
            packed.writestr(name, content)
    return Broken((path,))


def tarred(folder: Path, *extra: tarfile.TarInfo) -> Broken:
    """A tar of a clean submission with more members, all without content."""
    path = archive(clean(folder), ".tar")
    with tarfile.open(path, "a") as packed:
        for member in extra:
            packed.addfile(member)
    return Broken((path,))


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info
