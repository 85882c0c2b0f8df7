"""An edition with speakers enough for intervals, and attackers whose order is known.

Lists are cross products of 12 enrolled speakers with 112 utterances of 14 speakers: 96 target and
1248 nontarget trials each. Scores of an attacker are noise that all share, and its strength more
for each target: so the stronger of two attackers has the lower EER on every list, by construction.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import Trial, cross_product, sha256_text, to_text
from harness.protocols.protocol import Average, DataSet, Protocol, Published, Source, TrialList
from harness.submissions.packing.packing import Draft, pack

SYSTEMS = ("A1", "A2", "A3")
LISTS = [(split, gender) for split in ("dev", "test") for gender in "fm"]
Change = Callable[[np.ndarray], np.ndarray]


def list_name(split: str, gender: str) -> str:
    return f"field_{split}_trials_{gender}"


@cache
def trials_of(split: str, gender: str) -> list[Trial]:
    speakers = [f"{split[0]}{gender}{number:02d}" for number in range(14)]
    utterances = {f"{s}-{i % 2}-{i:04d}": s for s in speakers for i in range(8)}
    return cross_product(speakers[:12], utterances)


def labels_of(split: str, gender: str) -> np.ndarray:
    return np.array([trial.target for trial in trials_of(split, gender)])


@cache
def edition() -> Protocol:
    lists = [
        TrialList(
            trials=list_name(split, gender),
            enrolments=f"field_{split}_enrolls",
            dataset="field",
            split=split,
            gender=gender,  # type: ignore[arg-type]
            target=int(labels_of(split, gender).sum()),
            nontarget=int((~labels_of(split, gender)).sum()),
            sha256=sha256_text(to_text(trials_of(split, gender))),
        )
        for split, gender in LISTS
    ]
    return Protocol(
        name="field",
        title="A field of attackers",
        source=Source(kind="lists"),
        sets=(DataSet("train", "train", 1, 1, 1),),
        lists=tuple(lists),
        averages=(Average("dev", "Average dev"), Average("test", "Average eval")),
        systems={name: f"system {name}" for name in SYSTEMS},
        published=(Published("A1", "test", "mean", 25.5, "plan, Table 3"),),
        dates={"declaration": "2024-10-13", "submission": "2024-12-05"},
        rules=("A rule of the plan.",),
    )


def same(scores: np.ndarray) -> np.ndarray:
    return scores


def scores_of(strength: float, split: str, gender: str) -> np.ndarray:
    """Noise of trials and of pairs of speakers, the same for all attackers."""
    trials = trials_of(split, gender)
    rng = np.random.default_rng([ord(c) for c in f"{split}{gender}"])
    noise = rng.normal(size=len(trials)) + 0.3 * np.repeat(rng.normal(size=12 * 14), 8)
    return (noise + strength * labels_of(split, gender)).astype(np.float32)


def eer_of(scores: np.ndarray, split: str, gender: str) -> float:
    """The official EER as a fraction."""
    labels = labels_of(split, gender)
    return equal_error_rate(scores[labels], scores[~labels]).rate


def mean_of(strength: float, split: str = "test", change: Change = same) -> float:
    """The mean EER of a split in percent."""
    rates = [eer_of(change(scores_of(strength, split, g)), split, g) for g in "fm"]
    return 100 * sum(rates) / 2


def loose(folder: Path, strengths: dict[str, float], change: Change = same) -> Path:
    """A submission as a folder: scores in the layout of 2024, and an EER file beside each."""
    for system, strength in strengths.items():
        for split, gender in LISTS:
            pair = f"field_{split}_enrolls_{system}-{list_name(split, gender)}_{system}"
            place = folder / "exp" / f"asv_anon_{system}" / pair
            place.mkdir(parents=True)
            scores = change(scores_of(strength, split, gender))
            lines = zip(trials_of(split, gender), scores, strict=True)
            (place / "scores").write_text(
                "".join(f"{t.enrolment} {t.utterance} {float(s)!r}\n" for t, s in lines)
            )
            (place / "EER").write_text(f"{eer_of(scores, split, gender)!r}\n")
    return folder


def place_of(folder: Path, system: str, split: str = "test", gender: str = "f") -> Path:
    """Where a loose submission has the scores and the EER of a list."""
    (found,) = folder.glob(f"exp/asv_anon_{system}/*{list_name(split, gender)}*")
    return found


def packed(
    folder: Path,
    name: str,
    team: str,
    strengths: dict[str, float],
    change: Change = same,
    **said: object,
) -> Path:
    """A submission as `harness pack` makes it. said: more that the team says, see `Draft`."""
    document = folder / f"{name}.pdf"
    document.write_bytes(b"%PDF-1.7\n")
    source = loose(folder / f"{name}-source", strengths, change)
    target = folder / f"{name}.zip"
    packing = pack(source, target, Draft(team, document, **said), edition())  # type: ignore[arg-type]
    assert packing.faults == ()
    return target
