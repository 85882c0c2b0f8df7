"""Sets of emotional speech: who says what with which emotion, and in which fold a speaker is.

A stored set has two further columns, `emotion` and `fold`. What is recognized of a fold's speakers
is recognized by what was learned from the others.

EmoDB: Burkhardt, Paeschke, Rolfes, Sendlmeier and Weiss, "A database of German emotional speech",
Interspeech 2005. A file's name says all: `03a01Fa` is speaker 03, sentence a01, emotion F
(Freude, happiness), version a.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.corpora.importing import Recording, import_utterances
from harness.corpora.kaldi import read_fields, read_kaldi, recordings
from harness.corpora.labels import EMOTION, FOLD
from harness.errors import DataError, ListError
from harness.protocols.protocol import EmotionSet
from harness.runtime.events import Events
from harness.runtime.pool import Pool

UTT2EMO, SPK2FOLD = "utt2emo", "spk2fold"

EMODB_NAME = re.compile(r"(?P<speaker>\d\d)[ab]\d\d(?P<emotion>[A-Z])[a-z]")
EMODB_EMOTIONS = {"W": "angry", "F": "happy", "N": "neutral", "T": "sad"}
EMODB_WOMEN = ("08", "09", "13", "14", "16")
SUFFIXES = (".wav", ".flac")


def emodb(root: Path, wanted: EmotionSet) -> list[Recording]:
    """The utterances of the wanted emotions, in `root` or its folder `wav`.

    Files with other names are left out. Raises DataError where an utterance lies there twice.
    """
    folds = {speaker: fold for fold, speakers in wanted.folds.items() for speaker in speakers}
    found: dict[str, Recording] = {}
    for path in sorted([*root.glob("*.*"), *root.glob("wav/*.*")]):
        name = EMODB_NAME.fullmatch(path.stem)
        if path.suffix.lower() not in SUFFIXES or name is None:
            continue
        emotion = EMODB_EMOTIONS.get(name["emotion"])
        if emotion not in wanted.emotions or name["speaker"] not in folds:
            continue
        if path.stem in found:
            raise DataError(
                f"lies there twice: {found[path.stem].path.name}", where=path, fix="keep one"
            )
        speaker = name["speaker"]
        gender = "f" if speaker in EMODB_WOMEN else "m"
        labels = {EMOTION: emotion, FOLD: folds[speaker]}
        found[path.stem] = Recording(path.stem, speaker, gender, "", path, labels)
    return list(found.values())


def labelled(folder: Path, wanted: EmotionSet) -> list[Recording]:
    """The utterances of the wanted emotions of a Kaldi data directory. Raises ListError."""
    kaldi = read_kaldi(folder)
    emotions = _pairs(folder / UTT2EMO, "utterance emotion")
    folds = _pairs(folder / SPK2FOLD, "speaker fold")
    for names, known, path in (
        (kaldi.utt2spk, emotions, folder / UTT2EMO),
        (kaldi.spk2gender, folds, folder / SPK2FOLD),
    ):
        lost = [name for name in names if name not in known]
        if lost:
            raise ListError(f"lacks {lost[0]!r}", where=path, fix="add it")
    return [
        replace(one, labels={EMOTION: emotions[one.utterance], FOLD: folds[one.speaker]})
        for one in recordings(kaldi)
        if emotions[one.utterance] in wanted.emotions
    ]


def _pairs(path: Path, form: str) -> dict[str, str]:
    if not path.is_file():
        raise ListError("no such list", where=path, fix="it must be there")
    found: dict[str, str] = {}
    for where, (key, value) in read_fields(path, form):
        if key in found:
            raise ListError(f"{key!r} stands twice", where=where, fix="remove one of the lines")
        found[key] = value
    return found


def require_emotions(wanted: EmotionSet, found: Sequence[Recording], root: Path) -> None:
    """Raises DataError with all numbers that differ from the protocol, side by side."""
    genders = Counter({one.speaker: one.gender for one in found}.values())
    emotions = Counter(one.labels[EMOTION] for one in found)
    numbers = {
        "female speakers": (genders["f"], wanted.female),
        "male speakers": (genders["m"], wanted.male),
        **{name: (emotions[name], count) for name, count in wanted.emotions.items()},
    }
    differing = [
        f"{what} {number} (expected {expected})"
        for what, (number, expected) in numbers.items()
        if number != expected
    ]
    if differing:
        raise DataError(
            f"{wanted.name}: {'; '.join(differing)}", where=root, fix="give the whole corpus"
        )


def build_emotional(
    wanted: EmotionSet, root: Path, target: Path, *, pool: Pool, events: Events
) -> int:
    """Store a set at `target`.

    root: the corpus of `emodb`; of `lists`, the folder that holds the Kaldi data directories.
    Returns the number of utterances. Raises DataError or ListError before any audio is read.
    """
    if wanted.corpus == "emodb":
        found = emodb(root, wanted)
    else:
        root = root / wanted.name
        found = labelled(root, wanted)
    require_emotions(wanted, found, root)
    import_utterances(
        target,
        found,
        pool=pool,
        on_progress=lambda done, total: events.progress(wanted.name, done, total),
    )
    return len(found)
