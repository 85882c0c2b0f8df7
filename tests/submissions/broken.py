"""One broken submission for each code: a clean one with one fault, and how it is to be verified.

The name of a code is all that a test needs: `EXAMPLES["pair-missing"](folder)`. An example states
the EER of the scores that it holds, so its verdict shows nothing but the fault.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np
import small
import speech_files
from making import (
    GENDER,
    SPLIT,
    SYSTEM,
    Broken,
    archive,
    clean,
    described,
    edited,
    exchanged,
    line_edited,
    member,
    rescored,
    scores_file,
    tarred,
    zipped,
)

Example = Callable[[Path], Broken]
EXAMPLES: dict[str, Example] = {}


def breaks(code: str) -> Callable[[Example], Example]:
    """Registers the example of a code."""

    def register(example: Example) -> Example:
        assert code not in EXAMPLES, f"two examples of {code}"
        EXAMPLES[code] = example
        return example

    return register


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
    return edited(folder, lambda text: text.encode().replace(b" ", b"\xff ", 1))


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


@breaks("list-unproven")
def list_without_a_hash(folder: Path) -> Broken:
    """Of an edition that does not know one of its lists, no lists are at hand either."""
    first, *others = small.edition().lists
    lists = (replace(first, sha256=None, nontarget=None), *others)
    return Broken((clean(folder),), {"trials": None}, replace(small.edition(), lists=lists))


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
    dataset = small.edition().lists[0].dataset
    (submission / "exp" / "results_A2.csv").write_text(
        ",dataset,split,gender,enrollment,trial,EER\n"
        f"0,{dataset},{SPLIT},{GENDER},anon,anon,21.333\n"
    )
    return Broken((submission,))


@breaks("measure-unchecked")
def word_error_rate(folder: Path) -> Broken:
    """Of an edition that ranks by such rates."""
    submission = clean(folder)
    (submission / "result_for_rank").write_text(
        "---- ASR results ----\n  dataset split asr WER\n0 libri test anon 4.352\n"
    )
    return Broken((submission,), edition=replace(small.edition(), name="vpc2024"))


# The anonymized speech.


def spoken(folder: Path, content: bytes) -> Broken:
    """With audio, of which one file is this."""
    submission = clean(folder)
    audio = speech_files.write_audio(submission)
    (audio / f"{speech_files.utterances()[7]}.wav").write_bytes(content)
    return Broken((submission,), edition=speech_files.edition())


FLOATS = np.array([0.5], "<f4").tobytes()
breaks("audio-unreadable")(partial(spoken, content=speech_files.SPEECH[:-1]))
breaks("audio-rate")(partial(spoken, content=speech_files.wav(b"\1\2", rate=8000)))
breaks("audio-silent")(partial(spoken, content=speech_files.wav(bytes(320))))
breaks("audio-converted")(partial(spoken, content=speech_files.wav(FLOATS, code=3, bits=32)))


@breaks("audio-names")
def speech_under_new_names(folder: Path) -> Broken:
    submission = clean(folder)
    audio = speech_files.write_audio(submission)
    for number, utterance in enumerate(speech_files.utterances()):
        (audio / f"{utterance}.wav").rename(audio / f"{number}.wav")
    return Broken((submission,), edition=speech_files.edition())


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


@breaks("system-unknown")
def system_of_no_edition(folder: Path) -> Broken:
    return Broken((small.clean(folder / "team", ("B0",)),))


@breaks("system-ignored")
def one_name_for_two_systems(folder: Path) -> Broken:
    return Broken((small.clean(folder / "team"),), {"system": "A1"})


@breaks("claim-elsewhere")
def claim_about_another_system(folder: Path) -> Broken:
    reported = folder / "reported.csv"
    reported.parent.mkdir(parents=True, exist_ok=True)
    eer = 100 * small.eer_of(SYSTEM, SPLIT, GENDER)
    name = small.list_name(SPLIT, GENDER)
    reported.write_text(f"system,list,EER\n{SYSTEM},{name},{eer:.3f}\nA2,{name},12.345\n")
    return Broken((clean(folder),), {"reported": reported})


@breaks("file-unknown")
def stray_file(folder: Path) -> Broken:
    submission = clean(folder)
    (submission / "exp" / "model.bin").write_bytes(b"\x00" * 64)
    return Broken((submission,))
