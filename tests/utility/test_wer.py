"""Word errors of made-up hypotheses, counted by hand, and of Whisper's on real speech."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from transcripts import real_speech

from harness.errors import DataError
from harness.metrics.resampling import SAMPLING
from harness.metrics.speaker_interval import ratio_interval
from harness.runtime.events import Events
from harness.runtime.pool import Pool
from harness.utility.base import Measured
from harness.utility.stage import Part, evaluate
from harness.utility.wer import WordErrorRate
from utility.sets import Said, group, stored

pytestmark = pytest.mark.heavy

WER = WordErrorRate()


def heard(text: str) -> dict[str, str]:
    return {"heard": text}


SPOKEN = group(
    (heard("the cat sat"), "s1", "f", "THE CAT SAT"),
    # One word is another, one was not said.
    (heard("Good mourning, too!"), "s1", "f", "GOOD MORNING"),
    # No error: 2 is two, and Mr. is mister.
    (heard(" Mr. Smith has 2 dogs."), "s2", "m", "MISTER SMITH HAS TWO DOGS"),
    (heard(""), "s3", "m", "YES"),
)


def test_errors_of_each_utterance_by_hand() -> None:
    rows = WER.evaluate(SPOKEN, SAMPLING).rows
    counts = ("words", "substitutions", "deletions", "insertions")
    assert [tuple(row[name] for name in counts) for row in rows] == [
        (3, 0, 0, 0),
        (2, 1, 0, 1),
        (5, 0, 0, 0),
        (1, 0, 1, 0),
    ]
    # As it was heard, before any normalization.
    assert rows[1]["heard"] == "Good mourning, too!"
    assert list(rows[0]) == [*counts, "heard"]


def test_rates_are_pooled_over_utterances_and_genders() -> None:
    # 3 errors in 11 words; 2 in 5 of women; 1 in 6 of men. Three speakers have no interval.
    assert WER.evaluate(SPOKEN, SAMPLING).values == [
        Measured("WER", "", 4, pytest.approx(300 / 11)),
        Measured("WER", "f", 2, pytest.approx(40)),
        Measured("WER", "m", 2, pytest.approx(100 / 6)),
    ]


def test_of_one_gender_there_is_one_rate() -> None:
    women = group(*((heard("no"), f"s{n}", "f", "NO NO") for n in range(3)))
    assert WER.evaluate(women, SAMPLING).values == [Measured("WER", "", 3, pytest.approx(50))]


def test_a_rate_can_be_above_all_words() -> None:
    one = group((heard("oh dear me"), "s1", "f", "NO"))
    assert WER.evaluate(one, SAMPLING).values == [Measured("WER", "", 1, pytest.approx(300))]


def test_intervals_of_ten_speakers_or_more() -> None:
    generator = np.random.default_rng(5)
    missed = generator.integers(0, 4, 60)
    speakers = [f"s{n % 20}" for n in range(60)]
    whole = group(
        *(
            (heard("yes " * (4 - n)), speaker, "fm"[int(speaker[1:]) % 2], "YES YES YES YES")
            for n, speaker in zip(missed, speakers, strict=True)
        )
    )
    values = {one.gender: one for one in WER.evaluate(whole, SAMPLING).values}
    expected = ratio_interval(missed, np.full(60, 4), speakers)
    assert values[""].value == pytest.approx(100 * missed.sum() / 240)
    assert (values[""].low, values[""].high) == pytest.approx(
        (100 * (expected.low or 0), 100 * (expected.high or 0))
    )
    for one in values.values():
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.value < one.high
    # Of half as many speakers less is known.
    assert values["f"].n == values["m"].n == 30
    assert values["f"].high - values["f"].low > values[""].high - values[""].low  # type: ignore[operator]


def test_the_normalization_is_that_of_the_parameters() -> None:
    one = group((heard("The cat."), "s1", "f", "THE CAT"))
    # In 2022 words counted as they stand.
    for name, rate in (("english", 0), ("vpc2022", 100)):
        (found,) = WordErrorRate(normalization=name).evaluate(one, SAMPLING).values
        assert found.value == pytest.approx(rate), name


def test_words_cannot_be_wrong_without_a_transcript() -> None:
    lacking = group(
        (heard("yes"), "s1", "f", "YES"),
        (heard("no"), "s1", "f", ""),
        (heard("no"), "s1", "f", " "),
    )
    match = r"^utterance u1: 2 of 3 utterances have no transcript; give the corpus with its transc"
    with pytest.raises(DataError, match=match):
        WER.check(lacking.pairs)
    WER.check(lacking.pairs[:1])


def test_whisper_hears_what_anonymization_left(
    test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spoken = real_speech(test_data, 80)
    said = {f"u{n}": Said(samples, f"s{n}", "f", text) for n, (text, samples) in enumerate(spoken)}
    assert len(said) == 5
    stored(Path("original"), said)
    silence = np.zeros(16_000, dtype=np.int16)
    stored(Path("silent"), {name: replace(one, samples=silence) for name, one in said.items()})
    rates = {}
    for name in ("original", "silent"):
        part = Part("libri", "test", Path("original"), Path(name))
        table, (whole,) = evaluate(
            WER, [part], system=name, name="wer", pool=Pool(1), events=Events()
        )
        assert table["words"].tolist() == [len(one.text.split()) for one in said.values()]
        rates[name] = whole.value
    # On all of the excerpt of test-clean it is 6 %.
    assert 0 <= rates["original"] < 25
    assert rates["silent"] == 100
