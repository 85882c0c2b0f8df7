"""Pictures in words: what those read who do not see them."""

from __future__ import annotations

import numpy as np
import pytest

from harness.protocols.lists import Trial
from harness.reports.drawing_set import pictures
from harness.reports.measured import Measured
from harness.reports.page import Figure, Utility
from harness.reports.results import result_rows

from .pages import utility
from .trained import SAMPLING, by_hand, measured, protocol, training

pytestmark = pytest.mark.heavy


def figures(one: Measured, kept: Utility | None = None) -> dict[str, Figure]:
    """By file, without its ending."""
    rows = result_rows(protocol(), [one], SAMPLING, "averages.csv")
    drawn = pictures([one], rows, "test", kept, folder="report", curves="det.csv")
    return {
        each.figure.files[0].removesuffix(".svg").rpartition("/")[2]: each.figure for each in drawn
    }


def test_what_pictures_show() -> None:
    found = figures(measured([by_hand(1, "f", 1)], [by_hand(1, "m", 2)]))
    assert found["det"].text == "EER by list: test/f 25.00 %, test/m 50.00 %."
    # Of four targets one is missed, the first speaker's, who has a false alarm too.
    first, _, _ = found["speakers"].text.partition(" test/m")
    assert first == "test/f: EER 25.00 %; speakers from 0.00 % (b) to 50.00 % (a)."
    # Means of 25 and 50 %.
    assert found["heat-map"].text == "B4 against ecapa: 37.50."


def test_privacy_beside_utility_in_words() -> None:
    one = measured([by_hand(1, "f", 1)], [by_hand(1, "m", 2)])
    assert "tradeoff" not in figures(one)
    found = figures(one, utility())["tradeoff"]
    # Of the split that ranks, once.
    assert found.text == (
        "orig: EER 10.00 (ecapa), WER 8.00 (libri, wer), UAR 70.00 (emodb, emodb-emotion). "
        "B2, on the Pareto front: EER 30.00 (ecapa), WER 31.00 (libri, wer), "
        "UAR 18.25 (emodb, emodb-emotion). "
        "B3: EER 10.00 (ecapa), WER 8.00 (libri, wer)."
    )
    assert found.source == "results/libri-mini/tradeoff.csv"
    assert found.files == ("report/plots/tradeoff.svg", "report/plots/tradeoff.png")
    other = Utility(utility().tradeoffs[:3], "orig", utility().files)
    assert "tradeoff" not in figures(one, other)


def test_speakers_of_one_class_have_no_eer() -> None:
    # The one has target trials alone, the other nontarget trials alone.
    trials = [Trial("a", f"a-1-{n}", True) for n in range(4)]
    trials += [Trial("b", f"a-1-{n}", False) for n in range(4)]
    scores = np.arange(8.0)[::-1]
    found = figures(
        measured([training(1, "f", trials, scores)], [training(1, "m", trials, scores)])
    )
    assert found["speakers"].text == (
        "test/f: EER 0.00 %; no speaker has an EER. test/m: EER 0.00 %; no speaker has an EER."
    )
