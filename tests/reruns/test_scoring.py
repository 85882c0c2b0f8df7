"""What an image is told, and how its scores find back to their trials."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from harness.contracts.inputs import Held
from harness.errors import ListError
from harness.reruns.scoring import Bench, Image, Nudged
from reruns import spoken
from reruns.standin import StandIn, bench, scores_of

OPAQUE = {"sounds": re.compile(r"[et]\d{4}"), "speakers": re.compile(r"s\d{4}")}


def test_scores_come_back_in_the_order_of_the_trials(
    standin: StandIn, image: Image, speech: Path
) -> None:
    made = bench(image, speech)
    expected = scores_of(speech, "A1", made.trials).astype(np.float32)
    names = made.names()
    assert made.score(made.trials, names).tolist() == expected.tolist()
    part = made.trials[7:90:3]
    assert made.score(part, names).tolist() == expected[7:90:3].tolist()


def test_an_image_is_told_nothing_official(standin: StandIn, image: Image, speech: Path) -> None:
    made = bench(image, speech)
    made.score(made.trials, made.names())
    (seen,) = standin.seen
    assert all(OPAQUE["sounds"].fullmatch(name) for name in seen["sounds"])
    assert all(OPAQUE["speakers"].fullmatch(name) for name in seen["enrolments"])
    # Five enrolled speakers with three utterances, and 36 trial utterances.
    assert [len(names) for names in seen["enrolments"].values()] == [3] * 5
    assert len(seen["sounds"]) == 5 * 3 + 36
    assert len(seen["pairs"]) == len(made.trials)


def test_only_what_is_asked_for_is_given(standin: StandIn, image: Image, speech: Path) -> None:
    made = bench(image, speech)
    made.score(made.trials[:1], made.names())
    (seen,) = standin.seen
    assert (len(seen["enrolments"]), len(seen["pairs"]), len(seen["sounds"])) == (1, 1, 3 + 1)


def test_names_and_order_are_others_each_time(standin: StandIn, image: Image, speech: Path) -> None:
    """36 factorial orders: that two are the same by chance does not happen."""
    made = bench(image, speech)
    first, second = made.names(), made.names()
    assert first.utterances != second.utterances
    assert first.enrolments != second.enrolments
    assert first.places != second.places
    for names in (first, second, first):
        made.score(made.trials, names)
    pairs = [seen["pairs"] for seen in standin.seen]
    assert pairs[0] == pairs[2] != pairs[1]
    # Neither the order of the list nor one that follows from it.
    official = [(t.enrolment, t.utterance) for t in made.trials]
    places = [first.places[trial] for trial in made.trials]
    assert len(set(places)) == len(official)
    assert abs(np.corrcoef(places, range(len(places)))[0, 1]) < 0.5


def test_names_do_not_follow_from_anything_that_is_kept(image: Image, speech: Path) -> None:
    made, again = bench(image, speech), bench(image, speech)
    assert made.names().utterances != again.names().utterances


def test_only_the_last_bit_of_loud_samples_is_another(
    standin: StandIn, image: Image, speech: Path
) -> None:
    made = bench(image, speech)
    names = made.names()
    for nudged in (None, 1, 2):
        made.score(made.trials[:5], names, nudged=nudged)
    before, after, again = (
        {name: sound.read().astype(int) for name, sound in seen["audio"].items()}
        for seen in standin.seen
    )
    assert set(before) == set(after)
    for name, samples in before.items():
        loud = abs(samples) > abs(samples).max() / 8
        changed = samples != after[name]
        assert not changed[~loud].any()
        # Each or not, by a coin: of some thousand samples half.
        assert 0.4 < changed[loud].mean() < 0.6
        assert (samples // 2 == after[name] // 2).all()
        # Another seed is another sound: who does not know it can keep no table.
        assert (after[name] != again[name]).any()


@pytest.mark.parametrize("sample", [0, 32767, -32768])
def test_silence_and_full_scale_stay_in_range(sample: int) -> None:
    heard = Nudged(Held(np.full(1000, sample, np.int16)), 7).read()
    assert heard.dtype == np.int16
    found = set(heard.tolist())
    assert found == ({0} if sample == 0 else {sample, sample - 1 if sample > 0 else sample + 1})


def test_missing_speech_is_named(image: Image, speech: Path) -> None:
    enrolment = spoken.corpus(speech, "A1", spoken.ENROLMENTS)
    other = spoken.corpus(speech, "A1", spoken.list_name("m"))
    with pytest.raises(ListError, match=r"^no speech of 36 trial utterances, such as f0-2-0000; "):
        Bench(image, enrolment, other, spoken.trials_of("f"))
    with pytest.raises(ListError, match=r"no speech of 5 enrolled speakers, such as f0; "):
        Bench(image, other, other, spoken.trials_of("f"))
