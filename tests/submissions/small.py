"""A small edition for tests, and submissions to it: four lists, two systems, no real data.

Lists are cross products of 5 enrolled speakers with 90 utterances of 6 speakers (one is never
enrolled): 75 target and 375 nontarget trials each, so an EER has a step of 0.13 points.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import Trial, cross_product, sha256_text, to_text
from harness.protocols.protocol import Average, DataSet, Protocol, Source, TrialList

SYSTEMS = ("A1", "A2")
SPLITS = ("dev", "test")
GENDERS = ("f", "m")


def list_name(split: str, gender: str) -> str:
    return f"tiny_{split}_trials_{gender}"


def enrolments_name(split: str) -> str:
    return f"tiny_{split}_enrolls"


def trials_of(split: str, gender: str) -> list[Trial]:
    speakers = [f"{split[0]}{gender}{number}" for number in range(6)]
    utterances = {
        f"{s}-{chapter}-{i:04d}": s for s in speakers for chapter in "123" for i in range(5)
    }
    return cross_product(speakers[:5], utterances)


def edition() -> Protocol:
    lists = []
    for split in SPLITS:
        for gender in GENDERS:
            trials = trials_of(split, gender)
            target = sum(trial.target for trial in trials)
            lists.append(
                TrialList(
                    trials=list_name(split, gender),
                    enrolments=enrolments_name(split),
                    dataset="tiny",
                    split=split,
                    gender=gender,
                    target=target,
                    nontarget=len(trials) - target,
                    sha256=sha256_text(to_text(trials)),
                )
            )
    return Protocol(
        name="tiny",
        title="A small edition",
        source=Source(kind="lists"),
        sets=(DataSet("train", "train", 1, 1, 1),),
        lists=tuple(lists),
        averages=(Average("dev", "Average dev"), Average("test", "Average eval")),
        systems={name: f"system {name}" for name in SYSTEMS},
        dates={"declaration": "2024-10-13", "submission": "2024-12-05"},
    )


def scores_of(system: str, split: str, gender: str) -> np.ndarray:
    """Float32 scores in list order: all different, targets 1.6 standard deviations higher."""
    trials = trials_of(split, gender)
    seed = [ord(c) for c in f"{system}{split}{gender}"]
    noise = np.random.default_rng(seed).normal(size=len(trials))
    return (noise + 1.6 * np.array([t.target for t in trials])).astype(np.float32)


def eer_of(system: str, split: str, gender: str) -> float:
    """The official EER as a fraction."""
    scores = scores_of(system, split, gender)
    labels = np.array([t.target for t in trials_of(split, gender)])
    return equal_error_rate(scores[labels], scores[~labels]).rate


def write_lists(folder: Path) -> Path:
    """The trial lists as `<folder>/<list>/trials`."""
    for split in SPLITS:
        for gender in GENDERS:
            path = folder / list_name(split, gender) / "trials"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(to_text(trials_of(split, gender)))
    return folder


def score_text(system: str, split: str, gender: str) -> str:
    """The official text of a score file."""
    lines = zip(trials_of(split, gender), scores_of(system, split, gender), strict=True)
    return "".join(f"{t.enrolment} {t.utterance} {float(score)!r}\n" for t, score in lines)


def clean(folder: Path, systems: tuple[str, ...] = SYSTEMS) -> Path:
    """A submission without fault, in the layout of 2024: scores, and an EER file beside each."""
    for system in systems:
        for split in SPLITS:
            for gender in GENDERS:
                pair = f"{enrolments_name(split)}_{system}-{list_name(split, gender)}_{system}"
                place = folder / "exp" / f"asv_anon_{system}" / pair
                place.mkdir(parents=True, exist_ok=True)
                (place / "scores").write_text(score_text(system, split, gender))
                (place / "EER").write_text(f"{eer_of(system, split, gender)!r}\n")
    return folder
