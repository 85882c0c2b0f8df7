"""What of a list is scored again: all of it, or a sample that takes minutes.

Scoring costs one embedding per utterance, so a sample is few utterances and all pairs of them. An
enrolled speaker is all of its enrolment utterances: those are not sampled.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from harness.protocols.lists import Trial

# On the lists of vpac2025: some 80 utterances and 110 pairs, half a minute with the ECAPA of the
# baseline on one core.
SPEAKERS = 4
TARGETS_A_SPEAKER = 5
# Trial utterances of speakers other than these.
OTHERS = 8


def sample(trials: Sequence[Trial], seed: int) -> list[Trial]:
    """All trials of a few enrolled speakers with a few utterances, in the order of the list."""
    draw = random.Random(seed)
    own: dict[str, list[str]] = {}
    for trial in trials:
        own.setdefault(trial.enrolment, [])
        if trial.target:
            own[trial.enrolment].append(trial.utterance)
    enrolled = draw.sample(sorted(own), min(SPEAKERS, len(own)))
    heard: set[str] = set()
    for speaker in enrolled:
        heard.update(draw.sample(own[speaker], min(TARGETS_A_SPEAKER, len(own[speaker]))))
    theirs = {utterance for speaker in enrolled for utterance in own[speaker]}
    others = sorted({trial.utterance for trial in trials} - theirs)
    heard.update(draw.sample(others, min(OTHERS, len(others))))
    return [one for one in trials if one.enrolment in enrolled and one.utterance in heard]
