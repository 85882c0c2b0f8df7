from __future__ import annotations

import pytest

from harness.protocols.lists import cross_product
from harness.reruns.sampling import OTHERS, SPEAKERS, TARGETS_A_SPEAKER, sample

# As libri_dev_trials_f: 20 trial speakers, 15 of them enrolled, about 50 utterances each.
SPOKEN = {f"{s}-1-{i:04d}": f"{s}" for s in range(20) for i in range(50)}
TRIALS = cross_product([str(s) for s in range(15)], SPOKEN)


@pytest.mark.parametrize("seed", range(5))
def test_a_sample_is_all_pairs_of_a_few_speakers_and_utterances(seed: int) -> None:
    found = sample(TRIALS, seed)
    speakers = {trial.enrolment for trial in found}
    utterances = {trial.utterance for trial in found}
    assert len(speakers) == SPEAKERS
    assert len(utterances) == SPEAKERS * TARGETS_A_SPEAKER + OTHERS
    # A part of the list, in its order, labels included.
    assert found == [t for t in TRIALS if t.enrolment in speakers and t.utterance in utterances]
    for speaker in speakers:
        own = [t for t in found if t.enrolment == speaker and t.target]
        assert len(own) == TARGETS_A_SPEAKER
    others = {one for one in utterances if SPOKEN[one] not in speakers}
    assert len(others) == OTHERS


def test_the_seed_determines_it() -> None:
    assert sample(TRIALS, 1) == sample(TRIALS, 1)
    assert sample(TRIALS, 1) != sample(TRIALS, 2)


def test_a_list_smaller_than_a_sample_is_taken_whole() -> None:
    trials = cross_product(["a", "b"], {"a-1": "a", "b-1": "b", "c-1": "c"})
    assert sample(trials, 1) == trials
