"""One broken submission for each code: a clean one with one fault, and how it is to be verified.

The name of a code is all that a test needs: `EXAMPLES["pair-missing"](folder)`. An example states
the EER of the scores that it holds, so its verdict shows nothing but the fault.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import small
import zstandard

from harness.metrics.eer import equal_error_rate

SYSTEM = "A1"
SPLIT, GENDER = "dev", "f"
# Of an archive, by their suffix; "" is a folder.
ARCHIVES = ("", ".zip", ".tar", ".tar.gz", ".tar.xz", ".tar.zst")


@dataclass(frozen=True)
class Broken:
    """paths: to verify together. options: what `Options` needs, beside lists if not among them."""

    paths: tuple[Path, ...]
    options: dict[str, Any] = field(default_factory=dict)


Example = Callable[[Path], Broken]
EXAMPLES: dict[str, Example] = {}


def breaks(code: str) -> Callable[[Example], Example]:
    """Registers the example of a code."""

    def register(example: Example) -> Example:
        assert code not in EXAMPLES, f"two examples of {code}"
        EXAMPLES[code] = example
        return example

    return register


# What the examples are made with.


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


# The archive.


@breaks("archive-unreadable")
def cut_in_the_middle(folder: Path) -> Broken:
    path = archive(clean(folder), ".zip")
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    return Broken((path,))


@breaks("archive-path")
def name_that_leaves(folder: Path) -> Broken:
    return zipped(folder, ("team/../../notes.txt", b"hello\n"))


@breaks("archive-link")
def symbolic_link(folder: Path) -> Broken:
    return tarred(folder, member("team/notes.txt", tarfile.SYMTYPE, "/etc/passwd"))


@breaks("archive-device")
def character_device(folder: Path) -> Broken:
    return tarred(folder, member("team/null", tarfile.CHRTYPE))


@breaks("archive-duplicate")
def member_twice(folder: Path) -> Broken:
    return tarred(folder, member("team/notes.txt"), member("team/notes.txt"))


@breaks("archive-name-clash")
def names_that_differ_in_case(folder: Path) -> Broken:
    return zipped(folder, ("team/README.md", b"one\n"), ("team/readme.md", b"two\n"))


@breaks("archive-limit")
def bomb(folder: Path) -> Broken:
    return zipped(folder, ("team/notes.txt", bytes(16 << 20)))


@breaks("archive-empty")
def nothing(folder: Path) -> Broken:
    path = folder / "team.zip"
    with zipfile.ZipFile(path, "w"):
        pass
    return Broken((path,))


# The layout.


@breaks("no-scores")
def words_only(folder: Path) -> Broken:
    (folder / "team").mkdir()
    (folder / "team" / "README.md").write_text("The scores are in another mail.\n")
    return Broken((folder / "team",))


@breaks("scores-ambiguous")
def two_of_each(folder: Path) -> Broken:
    small.clean(folder / "team" / "first", (SYSTEM,))
    small.clean(folder / "team" / "second", (SYSTEM,))
    return Broken((folder / "team",))


@breaks("description-unreadable")
def half_a_description(folder: Path) -> Broken:
    submission = clean(folder)
    (submission / "submission.yaml").write_text("format: 1\nteam: [\n")
    return Broken((submission,))


@breaks("hash-mismatch")
def other_description(folder: Path) -> Broken:
    broken = described(folder)
    (broken.paths[0] / "description.pdf").write_bytes(b"%PDF-1.4 changed\n")
    return broken


# The form of a score file.


@breaks("file-empty")
def empty(folder: Path) -> Broken:
    return edited(folder, lambda text: "")


@breaks("file-limit")
def long_line(folder: Path) -> Broken:
    return edited(folder, lambda text: text + "x" * 1_000_000 + "\n")


@breaks("encoding-invalid")
def no_text(folder: Path) -> Broken:
    return edited(folder, lambda text: text.encode().replace(b"df1", b"d\xff1", 1))


@breaks("encoding-utf16")
def utf16(folder: Path) -> Broken:
    return edited(folder, lambda text: text.encode("utf-16"))


@breaks("encoding-bom")
def byte_order_mark(folder: Path) -> Broken:
    return edited(folder, lambda text: text.encode("utf-8-sig"))


@breaks("line-ends")
def windows(folder: Path) -> Broken:
    return edited(folder, lambda text: text.replace("\n", "\r\n"))


@breaks("header")
def names_of_columns(folder: Path) -> Broken:
    return edited(folder, lambda text: "speaker utterance score\n" + text)


@breaks("decimal-comma")
def comma(folder: Path) -> Broken:
    return edited(folder, lambda text: text.replace(".", ","))


@breaks("separators")
def tabs(folder: Path) -> Broken:
    return edited(folder, lambda text: text.replace(" ", "\t"))


@breaks("blank-lines")
def gap(folder: Path) -> Broken:
    return line_edited(folder, lambda fields: f"{' '.join(fields)}\n")


@breaks("columns-swapped")
def utterance_first(folder: Path) -> Broken:
    def swap(text: str) -> str:
        fields = [line.split(" ") for line in text.splitlines()]
        return "".join(f"{utterance} {speaker} {score}\n" for speaker, utterance, score in fields)

    return edited(folder, swap)


@breaks("columns")
def fourth_column(folder: Path) -> Broken:
    return line_edited(folder, lambda fields: f"{' '.join(fields)} target")


@breaks("number")
def word(folder: Path) -> Broken:
    return line_edited(folder, lambda fields: f"{fields[0]} {fields[1]} high")


@breaks("non-finite")
def not_a_number(folder: Path) -> Broken:
    return line_edited(folder, lambda fields: f"{fields[0]} {fields[1]} nan")


@breaks("gender-swapped")
def other_gender(folder: Path) -> Broken:
    return exchanged(folder, ("dev", "m"))


@breaks("split-swapped")
def other_split(folder: Path) -> Broken:
    return exchanged(folder, ("test", "f"))


@breaks("pair-conflict")
def two_scores(folder: Path) -> Broken:
    return line_edited(folder, lambda f: f"{' '.join(f)}\n{f[0]} {f[1]} {float(f[2]) + 1}")


@breaks("pair-missing")
def one_less(folder: Path) -> Broken:
    def drop(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(lines[:200] + lines[201:])

    return edited(folder, drop)


@breaks("pair-unknown")
def one_more(folder: Path) -> Broken:
    return edited(folder, lambda text: f"{text}df0 nobody-1-0000 0.25\n")


@breaks("pair-duplicate")
def line_twice(folder: Path) -> Broken:
    return line_edited(folder, lambda fields: f"{' '.join(fields)}\n{' '.join(fields)}")


@breaks("list-missing")
def three_lists(folder: Path) -> Broken:
    submission = clean(folder)
    place = scores_file(submission).parent
    for path in list(place.iterdir()):
        path.unlink()
    place.rmdir()
    return Broken((submission,))


@breaks("trials-unknown")
def names_of_no_list(folder: Path) -> Broken:
    """Lists are to be generated, and a cut file has not all names."""
    broken = edited(folder, lambda text: text[: text.index("\n") + 1])
    return Broken(broken.paths, {"trials": None})


# What is claimed.


@breaks("claim-unreadable")
def claim_in_words(folder: Path) -> Broken:
    submission = clean(folder)
    scores_file(submission).with_name("EER").write_text("about a fifth\n")
    return Broken((submission,))


@breaks("claim-missing")
def no_claim(folder: Path) -> Broken:
    submission = clean(folder)
    scores_file(submission).with_name("EER").unlink()
    return Broken((submission,))


@breaks("claim-without-scores")
def claim_of_another_system(folder: Path) -> Broken:
    submission = clean(folder)
    (submission / "exp" / "results_A2.csv").write_text(
        f",dataset,split,gender,enrollment,trial,EER\n0,tiny,{SPLIT},{GENDER},anon,anon,21.333\n"
    )
    return Broken((submission,))


# The scores themselves.


@breaks("scores-constant")
def one_score(folder: Path) -> Broken:
    return rescored(folder, lambda scores, target: np.full_like(scores, 0.5))


@breaks("sign-reversed")
def distances(folder: Path) -> Broken:
    return rescored(folder, lambda scores, target: -scores)


@breaks("enrolment-ignored")
def score_of_the_utterance(folder: Path) -> Broken:
    trials = small.trials_of(SPLIT, GENDER)
    enrolled = {trial.enrolment for trial in trials}
    utterances = sorted({trial.utterance for trial in trials})
    noise = np.random.default_rng(1).normal(size=len(utterances))
    # Impostors who are never enrolled score lowest, so that the EER is below 50 %.
    score = {
        u: n - 3 * (u.partition("-")[0] not in enrolled)
        for u, n in zip(utterances, noise, strict=True)
    }
    ignorant = np.array([score[trial.utterance] for trial in trials])
    return rescored(folder, lambda scores, target: ignorant)


@breaks("scores-shared")
def copied(folder: Path) -> Broken:
    return Broken((clean(folder, "first"), clean(folder, "second")))


@breaks("scores-rounded")
def one_decimal(folder: Path) -> Broken:
    return rescored(folder, lambda scores, target: scores, lambda score, target: f"{score:.1f}")


@breaks("scores-tied")
def sevenths(folder: Path) -> Broken:
    return rescored(folder, lambda scores, target: np.round(scores * 7) / 7)


@breaks("perfect-separation")
def separated(folder: Path) -> Broken:
    return rescored(folder, lambda scores, target: scores + 20 * target)


@breaks("label-precision")
def digits_by_label(folder: Path) -> Broken:
    return rescored(
        folder,
        lambda scores, target: scores,
        lambda score, target: f"{score:.5f}" if target else repr(score),
    )


@breaks("label-order")
def targets_first(folder: Path) -> Broken:
    target = [trial.target for trial in small.trials_of(SPLIT, GENDER)]

    def sort(text: str) -> str:
        labelled = zip(target, text.splitlines(keepends=True), strict=True)
        return "".join(line for _, line in sorted(labelled, key=lambda pair: not pair[0]))

    return edited(folder, sort)


@breaks("order")
def shuffled(folder: Path) -> Broken:
    def shuffle(text: str) -> str:
        lines = np.array(text.splitlines(keepends=True))
        return "".join(np.random.default_rng(1).permutation(lines))

    return edited(folder, shuffle)


@breaks("final-newline")
def last_line_open(folder: Path) -> Broken:
    return edited(folder, lambda text: text.removesuffix("\n"))


@breaks("claim-coarse")
def whole_percent(folder: Path) -> Broken:
    submission = clean(folder)
    eer = small.eer_of(SYSTEM, SPLIT, GENDER)
    scores_file(submission).with_name("EER").write_text(f"{eer:.2f}\n")
    return Broken((submission,))


# The rules of the edition.


@breaks("description-differs")
def system_without_scores(folder: Path) -> Broken:
    return described(folder, systems=f"{SYSTEM}, A2")


@breaks("late")
def in_the_new_year(folder: Path) -> Broken:
    return Broken((clean(folder),), {"received": datetime(2025, 1, 1, tzinfo=UTC)})


@breaks("own-anonymizer")
def own_system(folder: Path) -> Broken:
    return described(folder, f"own_anonymizers: [{SYSTEM}]\n")


@breaks("resource-undeclared")
def silent_about_data(folder: Path) -> Broken:
    return described(
        folder, "resources:\n  - {name: VoxCeleb, kind: data, source: https://example.org/vox}\n"
    )


@breaks("resource-unlisted")
def not_on_the_list(folder: Path) -> Broken:
    resource = "{name: VoxCeleb, kind: data, source: https://example.org, declared: 2024-10-01}"
    return described(
        folder, f"resources:\n  - {resource}\n", {"listed_resources": frozenset({"WavLM"})}
    )


@breaks("folder-misspelt")
def two_letters_exchanged(folder: Path) -> Broken:
    submission = clean(folder)
    place = scores_file(submission).parent
    place.rename(place.with_name(place.name.replace("trials", "trails")))
    return Broken((submission,))


@breaks("scenario-other")
def lazy_informed_too(folder: Path) -> Broken:
    submission = clean(folder)
    place = scores_file(submission).parent
    copy = submission / "exp" / "asv_orig" / place.name
    copy.mkdir(parents=True)
    text = small.score_text("A2", SPLIT, GENDER)
    (copy / "scores").write_text(text)
    return Broken((submission,))


@breaks("file-unknown")
def stray_file(folder: Path) -> Broken:
    submission = clean(folder)
    (submission / "exp" / "model.bin").write_bytes(b"\x00" * 64)
    return Broken((submission,))
