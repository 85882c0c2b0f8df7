"""Score files in the official format, and the one table they become.

A file `<enrolments>-<trials>/scores` has a line `<enrolled speaker> <trial utterance> <score>` for
each trial, single spaces, LF, no header, in the order of the trial list, with the full precision of
the number (VoicePrivacy 2024, Attacker Challenge 2025).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.errors import ScoreError
from harness.protocols.lists import Trial
from harness.protocols.protocol import TrialList

FILE_NAME = "scores"


def to_text(trials: Sequence[Trial], scores: npt.NDArray[np.float32]) -> str:
    """The official text; each number is the shortest that reads back as the same float32."""
    return "".join(
        f"{trial.enrolment} {trial.utterance} {score!s}\n"
        for trial, score in zip(trials, np.asarray(scores, dtype=np.float32), strict=True)
    )


def read_scores(path: Path, trials: Sequence[Trial]) -> npt.NDArray[np.float32]:
    """Scores of a list's trials, in the list's order, shape (len(trials),).

    Raises ScoreError, naming the line, unless the file holds exactly one finite number per trial.
    """
    found: dict[tuple[str, str], np.float32] = {}
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise ScoreError(
            "no such score file", where=path, fix="name another, or run the score stage"
        ) from error
    except UnicodeDecodeError as error:
        raise ScoreError("not UTF-8", where=path, fix="write the scores as text") from error
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        try:
            enrolment, utterance, value = fields
            with np.errstate(over="ignore"):  # what overflows becomes infinite, refused below
                score = np.float32(value)
        except ValueError as error:
            raise ScoreError(
                f"expected `speaker utterance score`, found {line[:60]!r}",
                where=f"{path}:{number}",
                fix="write one line per trial",
            ) from error
        if not np.isfinite(score):
            # One NaN makes the official function return an EER of 0, in the attacker's favour.
            raise ScoreError(
                f"the score {value[:60]!r} is not a finite number in single precision",
                where=f"{path}:{number}",
                fix="the attacker must give a finite number for every trial",
            )
        if (enrolment, utterance) in found:
            raise ScoreError(
                f"the pair {enrolment} {utterance} stands twice",
                where=f"{path}:{number}",
                fix="write each trial once",
            )
        found[enrolment, utterance] = score
    missing = [t for t in trials if (t.enrolment, t.utterance) not in found]
    if missing or len(found) != len(trials):
        example = f", e.g. {missing[0].enrolment} {missing[0].utterance}" if missing else ""
        raise ScoreError(
            f"{len(found)} scores for {len(trials)} trials, {len(missing)} missing{example}",
            where=path,
            fix="score exactly the pairs of the trial list",
        )
    return np.array([found[t.enrolment, t.utterance] for t in trials], dtype=np.float32)


def score_path(folder: Path, scenario: str, listed: TrialList) -> Path:
    """The score file of a list in a scenario, in the official layout."""
    return folder / scenario / f"{listed.enrolments}-{listed.trials}" / FILE_NAME
