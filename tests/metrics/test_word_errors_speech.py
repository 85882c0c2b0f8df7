"""Word errors against SpeechBrain's count, and of what a recognizer hears in real speech."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transcripts import real_speech

from harness.anonymizers.recognizers import recognizer, transcribe
from harness.metrics.word_errors import rate, word_errors
from harness.protocols.normalizations import load, normalized

pytestmark = pytest.mark.heavy


def test_as_many_as_speechbrain_counts() -> None:
    from speechbrain.utils.edit_distance import wer_details_for_batch

    rng = np.random.default_rng(3)
    said, heard = (
        [[str(word) for word in rng.integers(6, size=rng.integers(1, 15))] for _ in range(300)]
        for _ in range(2)
    )
    found = word_errors([" ".join(one) for one in said], [" ".join(one) for one in heard])
    details = wer_details_for_batch([str(n) for n in range(300)], said, heard)
    assert found.words.tolist() == [one["num_ref_tokens"] for one in details]
    assert found.errors.tolist() == [one["num_edits"] for one in details]
    # Of equally good alignments the two may take different ones; insertions less deletions are
    # the same in all.
    assert (found.insertions - found.deletions).tolist() == [
        one["insertions"] - one["deletions"] for one in details
    ]


def test_whisper_tiny_on_real_speech(test_data: Path) -> None:
    model = recognizer("whisper-tiny", None, "cpu")
    said, heard = zip(
        *((text, transcribe(samples, model)) for text, samples in real_speech(test_data, 20)),
        strict=True,
    )
    rates = {}
    for name in ("english", "vpc2022"):
        steps = load(name)
        found = word_errors(
            [normalized(text, steps.reference) for text in said],
            [normalized(text, steps.hypothesis) for text in heard],
        )
        rates[name] = rate(found.errors, found.words)
    assert found.words.sum() > 300
    # 6.2 % on all of the excerpt of test-clean. As they stand, hardly a word is the same.
    assert 0.02 < rates["english"] < 0.11
    assert rates["vpc2022"] > 0.9
