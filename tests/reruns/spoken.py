"""A small edition with speech, and submissions to it: two lists, two systems, no real data.

Each list is the cross product of 5 enrolled speakers (3 enrolment utterances each) with 36 trial
utterances of 6 speakers: 30 target and 150 nontarget trials. A voice is harmonics of a pitch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from harness.corpora.store import SAMPLE_RATE, Corpus, Made, Utterance, build, partition
from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import Trial, cross_product, sha256_text, to_text
from harness.protocols.protocol import Average, DataSet, Protocol, Source, TrialList
from harness.runtime.pool import Pool
from harness.runtime.seeds import derived_seed

SYSTEMS = ("A1", "A2")
GENDERS = ("f", "m")
ENROLMENTS = "tiny_test_enrolls"
# Scores of a list's trials, (n,), given the folder of the system's speech.
Scorer = Callable[[str, Sequence[Trial]], np.ndarray]


def list_name(gender: str) -> str:
    return f"tiny_test_trials_{gender}"


def speakers(gender: str) -> list[str]:
    return [f"{gender}{number}" for number in range(6)]


def enrolled(gender: str) -> dict[str, str]:
    """Speaker of each enrolment utterance."""
    return {f"{s}-1-{i:04d}": s for s in speakers(gender)[:5] for i in range(3)}


def tried(gender: str) -> dict[str, str]:
    """Speaker of each trial utterance."""
    return {f"{s}-2-{i:04d}": s for s in speakers(gender) for i in range(6)}


def trials_of(gender: str) -> list[Trial]:
    return cross_product(speakers(gender)[:5], tried(gender))


def edition() -> Protocol:
    lists = []
    for gender in GENDERS:
        trials = trials_of(gender)
        target = sum(trial.target for trial in trials)
        lists.append(
            TrialList(
                trials=list_name(gender),
                enrolments=ENROLMENTS,
                dataset="tiny",
                split="test",
                gender=gender,  # type: ignore[arg-type]
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
        averages=(Average("test", "Average eval"),),
        systems={name: f"system {name}" for name in SYSTEMS},
    )


def voice(utterance: Utterance) -> Made:
    """Harmonics of the speaker's pitch, as strong as the speaker has them, and some noise."""
    system = utterance.recipe
    own = np.random.default_rng(derived_seed(system, utterance.speaker))
    strengths = own.uniform(0.1, 1, 12)
    pitch = own.uniform(100, 250)
    here = np.random.default_rng(derived_seed(system, utterance.utterance))
    pitch *= here.uniform(0.9, 1.1)
    strengths = strengths * here.uniform(0.5, 1.5, 12)
    time = np.arange(utterance.samples) / SAMPLE_RATE
    signal = sum(
        strength * np.sin(2 * np.pi * pitch * number * time)
        for number, strength in enumerate(strengths, start=1)
    )
    signal = signal * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * time)) + here.normal(0, 0.3, len(time))
    return Made((signal / np.abs(signal).max() * 20000).astype(np.int16))


def write_speech(folder: Path, systems: Sequence[str] = SYSTEMS) -> Path:
    """A corpus `<system>/<set>` for each system and set."""
    for system in systems:
        sets = {ENROLMENTS: {u: s for gender in GENDERS for u, s in enrolled(gender).items()}}
        sets |= {list_name(gender): tried(gender) for gender in GENDERS}
        for name, members in sets.items():
            made = [
                Utterance(u, s, s[0], "", int((0.5 + place % 5 / 10) * SAMPLE_RATE), system)
                for place, (u, s) in enumerate(members.items())
            ]
            with Pool(1) as pool:
                build(
                    folder / system / name,
                    partition(made),
                    voice,
                    work=folder / ".work" / system / name,
                    pool=pool,
                )
    return folder


def corpus(folder: Path, system: str, name: str) -> Corpus:
    return Corpus(folder / system / name)


def write_submission(folder: Path, scorer: Scorer, systems: Sequence[str] = SYSTEMS) -> Path:
    """A submission with scores by `scorer(system, trials)`, each with its EER."""
    for system in systems:
        for gender in GENDERS:
            trials = trials_of(gender)
            scores = scorer(system, trials)
            write_list(folder / system / f"{ENROLMENTS}-{list_name(gender)}", trials, scores)
    return folder


def write_list(folder: Path, trials: Sequence[Trial], scores: np.ndarray) -> None:
    """A score file, and an EER file beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    scores = np.asarray(scores, np.float32)
    (folder / "scores").write_text(
        "".join(
            f"{t.enrolment} {t.utterance} {float(score)!r}\n"
            for t, score in zip(trials, scores, strict=True)
        )
    )
    target = np.array([trial.target for trial in trials])
    eer = equal_error_rate(scores[target], scores[~target]).rate
    (folder / "EER").write_text(f"{eer!r}\n")
