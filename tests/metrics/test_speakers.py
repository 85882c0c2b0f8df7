"""Error rates of single speakers: by hand, and as the EER of the speaker's trials."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ScoreError
from harness.metrics.eer import equal_error_rate
from harness.metrics.speakers import SpeakerErrorRate, speaker_error_rates

trials = st.lists(
    st.tuples(
        st.sampled_from(["1272", "1462", "84"]), st.booleans(), st.integers(-3, 3).map(float)
    ),
    min_size=2,
    max_size=40,
)


def test_by_hand() -> None:
    # 1089 is found every time, 121 never; 237 has no target and 260 no nontarget trial.
    enrolled = ["121", "1089", "1089", "121", "237", "260", "1089"]
    is_target = [True, True, False, False, False, True, False]
    scores = [0.0, 5.0, 1.0, 1.0, 9.0, -9.0, 2.0]
    first, second, third, fourth = speaker_error_rates(enrolled, is_target, scores)
    assert first == SpeakerErrorRate("1089", 1, 2, equal_error_rate([5.0], [1.0, 2.0]))
    assert first.eer is not None
    assert first.eer.rate == 0
    assert (second.speaker, second.n_target, second.n_nontarget) == ("121", 1, 1)
    assert second.eer is not None
    assert second.eer.rate == 1
    assert third == SpeakerErrorRate("237", 0, 1, None)
    assert fourth == SpeakerErrorRate("260", 1, 0, None)


def test_each_speaker_has_a_threshold_of_its_own() -> None:
    # Both are told apart perfectly, at 1 and at 11; pooled, half of the trials are wrong.
    enrolled = ["a", "a", "b", "b"]
    is_target = [True, False, True, False]
    scores = [2.0, 1.0, 12.0, 11.0]
    rates = speaker_error_rates(enrolled, is_target, scores)
    assert [one.eer.rate for one in rates if one.eer] == [0, 0]
    assert equal_error_rate([2.0, 12.0], [1.0, 11.0]).rate == 0.5


@settings(deadline=None)
@given(trials, st.randoms(use_true_random=False))
def test_equals_the_eer_of_the_speakers_trials(
    given_trials: list[tuple[str, bool, float]], random: object
) -> None:
    given_trials = [*given_trials, ("84", True, 0.5), ("84", False, -0.5)]
    found = speaker_error_rates(*zip(*given_trials, strict=True))
    assert [one.speaker for one in found] == sorted({trial[0] for trial in given_trials})
    for one in found:
        target = [score for name, label, score in given_trials if name == one.speaker and label]
        nontarget = [
            score for name, label, score in given_trials if name == one.speaker and not label
        ]
        assert (one.n_target, one.n_nontarget) == (len(target), len(nontarget))
        expected = equal_error_rate(target, nontarget) if target and nontarget else None
        assert one.eer == expected
    random.shuffle(given_trials)  # type: ignore[attr-defined]
    assert speaker_error_rates(*zip(*given_trials, strict=True)) == found


@pytest.mark.parametrize(
    ("enrolled", "is_target", "scores", "message"),
    [
        (["a"], [True, False], [1.0, 0.0], r"shapes \(1,\), \(2,\) and \(2,\)"),
        ([["a"]], [[True]], [[1.0]], r"shapes \(1, 1\)"),
        (["a", "a"], [1, 0], [1.0, 0.0], "labels of type int64; give True for target"),
        (["a", "b"], [True, True], [1.0, 0.0], "there is no nontarget score"),
        (["a", "b"], [False, False], [1.0, 0.0], "there is no target score"),
        # Of a speaker without target trials, and refused all the same.
        (["a", "a", "b"], [True, False, False], [1.0, 0.0, np.nan], "1 nontarget scores are NaN"),
        ([], np.array([], np.bool_), [], "there is no target score"),
    ],
)
def test_refused(enrolled: object, is_target: object, scores: object, message: str) -> None:
    with pytest.raises(ScoreError, match=message):
        speaker_error_rates(enrolled, is_target, scores)  # type: ignore[arg-type]
