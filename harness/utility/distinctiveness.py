"""Voice distinctiveness of a system's speech, as an attacker hears it.

Of each set and gender the utterances are compared with one another: original with original,
anonymized with anonymized, original with anonymized. The attacker was trained on original speech,
as in VoicePrivacy 2022, and gets opaque names in an order that is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.attackers.base import Attacker, Embedding, Machine
from harness.attackers.base import Pair as Trial
from harness.corpora.opaque import Speech, opaque_ids
from harness.metrics.distinctiveness import (
    SimilarityMatrix,
    cosines,
    cross_similarity,
    deidentification,
    diagonal_dominance,
    gain_interval,
    similarity,
)
from harness.runtime.events import Events
from harness.runtime.seeds import derived_seed
from harness.utility.base import Measured, Pair

GAIN, DEIDENTIFICATION = "G_VD", "DeID"
ORIGINAL, ANONYMIZED = "original", "anonymized"
# Which speech the rows of a matrix are of, and which its columns.
KINDS = {
    "oo": (ORIGINAL, ORIGINAL),
    "oa": (ORIGINAL, ANONYMIZED),
    "aa": (ANONYMIZED, ANONYMIZED),
}

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Voices:
    """Of some utterances the similarity of their speakers, by kind, and values of it.

    warnings: why there are not both values.
    """

    gender: str
    matrices: Mapping[str, SimilarityMatrix]
    values: tuple[Measured, ...]
    warnings: tuple[str, ...] = ()


def voices(
    attacker: Attacker,
    model: Path,
    pairs: Sequence[Pair],
    gender: str,
    *,
    seed: int,
    machine: Machine,
    events: Events,
) -> Voices:
    """Compare all utterances of one gender.

    model: trained on original speech. There is no G_VD where anonymized speakers are all alike, as
    in silence: it is minus infinity. Where the attacker cannot tell even original speakers apart,
    there is no value at all. Raises ScoreError for fewer than two speakers, and for a speaker with
    one utterance.
    """
    speakers = [pair.speaker for pair in pairs]
    scores = dict(_scores(attacker, model, pairs, seed=seed, machine=machine, events=events))
    matrices = {
        "oo": similarity(scores["oo"], speakers),
        "oa": cross_similarity(scores["oa"], speakers),
        "aa": similarity(scores["aa"], speakers),
    }
    if not diagonal_dominance(matrices["oo"]):
        warning = "the attacker tells no original speakers apart: no G_VD and no DeID"
        return Voices(gender, matrices, (), (warning,))
    lost = deidentification(matrices["oa"], matrices["oo"])
    deidentified = Measured(DEIDENTIFICATION, gender, len(pairs), 100 * lost)
    if not diagonal_dominance(matrices["aa"]):
        warning = "anonymized speakers are all alike: G_VD is minus infinity, and left out"
        return Voices(gender, matrices, (deidentified,), (warning,))
    gain = gain_interval(scores["aa"], scores["oo"], speakers)
    gained = Measured(GAIN, gender, len(pairs), gain.estimate, gain.low, gain.high)
    return Voices(gender, matrices, (gained, deidentified))


def _scores(
    attacker: Attacker,
    model: Path,
    pairs: Sequence[Pair],
    *,
    seed: int,
    machine: Machine,
    events: Events,
) -> Iterator[tuple[str, Scores]]:
    """Each utterance against each, by kind: shape (n, n), in the order of the pairs."""
    places = {
        **{(ORIGINAL, pair.utterance): pair.original for pair in pairs},
        **{(ANONYMIZED, pair.utterance): pair.anonymized for pair in pairs},
    }
    ids = opaque_ids((f"{kind} {name}" for kind, name in places), "u", derived_seed(seed, "voices"))
    of_kind = {
        kind: [ids[f"{kind} {pair.utterance}"] for pair in pairs] for kind in (ORIGINAL, ANONYMIZED)
    }
    recordings = {ids[f"{kind} {name}"]: place for (kind, name), place in places.items()}
    speech = Speech(dict(sorted(recordings.items())))
    if isinstance(attacker, Embedding):
        found = attacker.embed(model, speech, machine=machine, events=events)
        stacked = {kind: np.stack([found[one] for one in names]) for kind, names in of_kind.items()}
        for kind, (rows, columns) in KINDS.items():
            yield kind, cosines(stacked[rows], stacked[columns])
        return
    # Any attacker can score an utterance against a speaker who is enrolled by another.
    enrolments = {name: [name] for name in speech.recordings}
    for kind, (rows, columns) in KINDS.items():
        trials = [Trial(one, other) for one in of_kind[rows] for other in of_kind[columns]]
        scores = attacker.score(model, speech, enrolments, trials, machine=machine, events=events)
        yield kind, scores.reshape(len(pairs), len(pairs))
