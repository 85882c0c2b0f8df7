"""What lies in `/in` and `/out` of an attacker: written and read by both sides of the contract.

`train`  /in/train/manifest.tsv   one row per utterance: utterance, path, speaker
         /in/train/audio/*.wav    mono 16 kHz 16-bit PCM
         /out/model/              whatever the image needs to score

`score`  /in/model/               what `train` left; absent where the image carries its own
         /in/enrolments/          manifest.tsv (utterance, path, speaker) and audio
         /in/trials/              manifest.tsv (utterance, path) and audio
         /in/pairs.tsv            what to score: enrolment (a speaker of the enrolments), trial (an
                                  utterance of the trials)
         /out/scores.tsv          enrolment, trial, score
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Pair
from harness.contracts.inputs import (
    FIX,
    MANIFEST,
    Circumstances,
    Sound,
    audio_path,
    read_table,
    require_once,
    settle,
    to_table,
    write_settings,
    write_speech,
)
from harness.errors import DataError, ListError, ScoreError
from harness.runtime.containers.fence import shown
from harness.runtime.events import FILE_NAME
from harness.runtime.files import disk_errors, write_text

TRAIN, SCORE = "train", "score"
TRAINING, MODEL, ENROLMENTS, TRIALS = "train", "model", "enrolments", "trials"
PAIRS, SCORES = "pairs.tsv", "scores.tsv"
SPOKEN, LABELLED = ("utterance", "path"), ("utterance", "path", "speaker")
PAIR_COLUMNS, SCORE_COLUMNS = ("enrolment", "trial"), ("enrolment", "trial", "score")
# Of a line of scores: two opaque names and any decimal that a float64 needs, with room to spare.
LINE_BYTES = 256


@dataclass(frozen=True)
class Place:
    """An utterance of a manifest. path: of its audio. speaker: opaque, empty where not told."""

    utterance: str
    path: Path
    speaker: str = ""


@dataclass(frozen=True)
class Task:
    """What is to be scored. enrolments: utterances of each enrolled speaker, in the order given.

    places: of all utterances. pairs: in the order of the scores.
    """

    enrolments: dict[str, list[str]]
    places: dict[str, Place]
    pairs: list[Pair]


def write_training(
    folder: Path,
    sounds: Mapping[str, Sound],
    speakers: Mapping[str, str],
    parameters: Mapping[str, Any],
    circumstances: Circumstances,
) -> dict[str, Path]:
    """Fill `folder` with the inputs of `train`; what `containers.run` takes as `inputs`.

    sounds: by opaque utterance. speakers: the opaque speaker of each.
    """
    rows = [(name, audio_path(name), speakers[name]) for name in sorted(sounds)]
    write_speech(folder / TRAINING, sounds, to_table(LABELLED, rows))
    return {TRAINING: folder / TRAINING, **write_settings(folder, parameters, circumstances)}


def write_scoring(
    folder: Path,
    model: Path | None,
    sounds: Mapping[str, Sound],
    enrolments: Mapping[str, Sequence[str]],
    pairs: Sequence[Pair],
    parameters: Mapping[str, Any],
    circumstances: Circumstances,
) -> dict[str, Path]:
    """Fill `folder` with the inputs of `score`; what `containers.run` takes as `inputs`.

    sounds: enrolment and trial utterances by opaque name. enrolments: utterances of each enrolled
    speaker. model: folder that `train` left. Where it lies says nothing: it is copied. Raises
    DataError for a model with links or devices in it.
    """
    spoken = {name: speaker for speaker, names in enrolments.items() for name in names}
    heard = sorted({pair.trial for pair in pairs})
    write_speech(
        folder / ENROLMENTS,
        {name: sounds[name] for name in spoken},
        to_table(LABELLED, ((name, audio_path(name), spoken[name]) for name in sorted(spoken))),
    )
    write_speech(
        folder / TRIALS,
        {name: sounds[name] for name in heard},
        to_table(SPOKEN, ((name, audio_path(name)) for name in heard)),
    )
    write_text(
        folder / PAIRS, to_table(PAIR_COLUMNS, ((one.enrolment, one.trial) for one in pairs))
    )
    settle(folder / PAIRS)
    given = {place: folder / place for place in (ENROLMENTS, TRIALS, PAIRS)}
    if model is not None:
        given[MODEL] = _copy(model, folder / MODEL)
    return {**given, **write_settings(folder, parameters, circumstances)}


def _copy(model: Path, target: Path) -> Path:
    """A copy of a model whose modes, times and place are those of every other input."""
    target.mkdir(parents=True)
    for path in sorted(model.rglob("*")):
        place = target / path.relative_to(model)
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise DataError("neither a file nor a folder", where=path, fix="copy what it points to")
        if path.is_dir():
            place.mkdir()
        else:
            with disk_errors(place):
                shutil.copyfile(path, place)
    # Afterwards: what is made in a folder changes its time.
    for place in (*target.rglob("*"), target):
        settle(place)
    return target


def read_training(folder: Path) -> list[Place]:
    """Utterances to train on, in the order of their names. Raises ListError, see `read_table`."""
    return _places(folder / TRAINING, LABELLED)


def read_task(folder: Path) -> Task:
    """What is to be scored. Raises ListError as `read_table` does, and for unknown names."""
    enrolled = _places(folder / ENROLMENTS, LABELLED)
    heard = _places(folder / TRIALS, SPOKEN)
    enrolments: dict[str, list[str]] = {}
    for place in enrolled:
        enrolments.setdefault(place.speaker, []).append(place.utterance)
    known = {place.utterance for place in heard}
    pairs = []
    for row in read_table(folder / PAIRS, PAIR_COLUMNS):
        pair = Pair(row.opaque("enrolment"), row.opaque("trial"))
        if pair.enrolment not in enrolments or pair.trial not in known:
            raise ListError(
                f"no speech of {pair.enrolment} or {pair.trial}", where=row.where, fix=FIX
            )
        pairs.append(pair)
    places = {place.utterance: place for place in (*enrolled, *heard)}
    return Task(dict(sorted(enrolments.items())), dict(sorted(places.items())), pairs)


def _places(folder: Path, columns: Sequence[str]) -> list[Place]:
    rows = read_table(folder / MANIFEST, columns)
    require_once((row.opaque("utterance"), row) for row in rows)
    places = [
        Place(
            row.opaque("utterance"),
            folder / row.path("path"),
            row.opaque("speaker") if "speaker" in columns else "",
        )
        for row in rows
    ]
    return sorted(places, key=lambda place: place.utterance)


def write_scores(path: Path, pairs: Sequence[Pair], scores: npt.NDArray[np.float32]) -> None:
    """Write scores, (len(pairs),) float32, each as the shortest decimal that gives it back."""
    rows = (
        (pair.enrolment, pair.trial, str(score)) for pair, score in zip(pairs, scores, strict=True)
    )
    write_text(path, to_table(SCORE_COLUMNS, rows))


def read_scores(path: Path, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
    """The score of each pair, in the order of `pairs`, (len(pairs),) float32.

    Raises ScoreError for a file that is missing, too large, or malformed, for a score that is no
    finite number, and for pairs that are missing, stand twice, or were not asked for.
    """
    if not path.is_file():
        raise ScoreError("there is no such file", where=path.name, fix=FIX)
    if path.stat().st_size > LINE_BYTES * (len(pairs) + 1):
        raise ScoreError(f"too large for {len(pairs)} pairs", where=path.name, fix=FIX)
    try:
        rows = read_table(path, SCORE_COLUMNS)
    except ListError as error:
        raise ScoreError(error.what, where=_line(error.where, path), fix=FIX) from error
    wanted = {pair: place for place, pair in enumerate(pairs)}
    scores = np.full(len(pairs), np.nan, np.float32)
    for row in rows:
        pair = Pair(row.fields["enrolment"], row.fields["trial"])
        where = _line(row.where, path)
        place = wanted.get(pair)
        if place is None:
            raise ScoreError("a pair that was not asked for", where=where, fix=FIX)
        if not math.isnan(scores[place]):
            raise ScoreError(f"{pair.enrolment} {pair.trial} stands twice", where=where, fix=FIX)
        scores[place] = _score(row.fields["score"], where)
    missing = int(np.isnan(scores).sum())
    if missing:
        raise ScoreError(f"{missing} of {len(pairs)} pairs have no score", where=path.name, fix=FIX)
    return scores


def read_output(output: Path, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]:
    """The scores in the folder that `score` left, see `read_scores`.

    Raises ScoreError as it does, and for anything beside the scores.
    """
    fault = _beside(output, SCORES)
    if fault is not None:
        raise ScoreError(fault, where=SCORES, fix=FIX)
    return read_scores(output / SCORES, pairs)


def model_fault(output: Path) -> str | None:
    """What is wrong with the folder that `train` left, None if nothing is (clause T2)."""
    names = {path.name for path in (output / MODEL).rglob("*") if path.is_file()}
    if not names:
        return f"nothing is in /out/{MODEL}"
    if FILE_NAME in names:
        # Runs of the MLflow store are made from such files.
        return f"/out/{MODEL} holds a file {FILE_NAME}, a name that is the host's"
    return _beside(output, MODEL)


def _beside(output: Path, wanted: str) -> str | None:
    further = sorted(path.name for path in output.iterdir() if path.name != wanted)
    return f"/out/{shown(further[0])} stands beside /out/{wanted}" if further else None


def _score(text: str, where: str) -> np.float32:
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    with np.errstate(over="ignore"):  # what overflows becomes infinite
        score = np.float32(value)
    if not np.isfinite(score):
        raise ScoreError("a score is no finite number of 32 bits", where=where, fix=FIX)
    return score


def _line(where: str | None, path: Path) -> str:
    """A place in a container's file, without the host's folder."""
    return f"{path.name}{(where or '').removeprefix(str(path))}"
