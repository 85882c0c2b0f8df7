"""Pictures: the same bytes each time, whatever the scores, readable without colour."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from harness.metrics.distinctiveness import SimilarityMatrix
from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import Trial
from harness.protocols.protocol import TrialList
from harness.protocols.scenarios import SEMI_INFORMED
from harness.reports import drawing
from harness.reports.drawing_overview import Panel, heat_figure, speakers_figure
from harness.reports.drawing_similarity import similarity_figure
from harness.reports.evaluation import Scored
from harness.reports.figures import det_figure, histogram_figure

pytestmark = pytest.mark.heavy

PNG = b"\x89PNG\r\n\x1a\n"
# Draws the pictures of this module once more, in another process.
AGAIN = """
import sys
sys.path.insert(0, sys.argv[1])
from reports import test_figures as t
for figure in t.pictures():
    sys.stdout.buffer.write(t.drawing.png(figure) + t.drawing.svg(figure).encode())
"""


def scored(target: np.ndarray, nontarget: np.ndarray, gender: str = "f") -> Scored:
    labels = [True] * len(target) + [False] * len(nontarget)
    trials = [Trial("s", f"u{number}", label) for number, label in enumerate(labels)]
    listed = TrialList("t", "e", "libri", "test", gender, len(target), len(nontarget), "")  # type: ignore[arg-type]
    scores = np.concatenate([target, nontarget]).astype(np.float32)
    return Scored(SEMI_INFORMED, listed, trials, scores, equal_error_rate(target, nontarget))


def normal(seed: int, n_target: int = 60, n_nontarget: int = 600) -> Scored:
    generator = np.random.default_rng(seed)
    return scored(
        generator.normal(1, 1, n_target), generator.normal(0, 1, n_nontarget), "fm"[seed % 2]
    )


def panels(n_speakers: int = 3, n_lists: int = 2) -> list[Panel]:
    return [
        Panel(
            f"test/{place}: EER 20.00 %", 20.0, {f"s{i}": [i, i + 5.0] for i in range(n_speakers)}
        )
        for place in range(n_lists)
    ]


def similarities(seed: int, n_speakers: int = 3) -> SimilarityMatrix:
    values = np.random.default_rng(seed).uniform(size=(n_speakers, n_speakers))
    return SimilarityMatrix(tuple(f"s{i}" for i in range(n_speakers)), values)


def pictures() -> list[Figure]:
    return [
        det_figure([[normal(1)], [normal(2)]], "title"),
        histogram_figure([normal(1), normal(2)], "title"),
        speakers_figure(panels(), "title"),
        heat_figure(["orig", "b2"], ["a"], {("orig", "a"): 5.0, ("b2", "a"): 40.0}, "title"),
        similarity_figure(similarities(0), similarities(1), similarities(2), "title"),
    ]


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    assert png.endswith(b"IEND\xaeB`\x82")
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def texts(figure: Figure) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)", drawing.svg(figure))


def test_same_scores_give_the_same_bytes_in_any_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, Path(__file__).parents[1]],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    data = b"".join(drawing.png(one) + drawing.svg(one).encode() for one in pictures())
    assert done.stdout == data
    assert b"Software" not in data
    assert not re.search(rb"20[2-9]\d-\d\d", data)


def test_pictures_have_the_stated_size() -> None:
    # 5.4 inches at 150 dots.
    assert size(drawing.png(det_figure([[normal(1)]], "title"))) == (810, 750)
    # 1.3 inches a panel, and 0.7 around them.
    three = histogram_figure([normal(seed) for seed in range(3)], "title")
    assert size(drawing.png(three)) == (810, 690)


def test_other_scores_give_another_picture() -> None:
    for draw in (lambda one: det_figure([[one]], "t"), lambda one: histogram_figure([one], "t")):
        assert drawing.png(draw(normal(1))) != drawing.png(draw(normal(3)))


@pytest.mark.parametrize(
    ("target", "nontarget"),
    [
        ([1.0, 2.0], [-2.0, -1.0]),
        ([0.5, 0.5], [0.5, 0.5]),
        ([-1.0], [1.0]),
        ([1e30, 2e30], [-1e30, 0.0]),
    ],
    ids=["perfect", "constant", "reversed", "huge"],
)
def test_degenerate_scores_can_be_drawn(target: list[float], nontarget: list[float]) -> None:
    one = scored(np.array(target), np.array(nontarget))
    for figure in (det_figure([[one]], "title"), histogram_figure([one], "title")):
        assert size(drawing.png(figure))[0] == 810
        assert drawing.svg(figure).startswith("<svg ")


def test_text_is_text_and_names_are_no_formulas() -> None:
    found = texts(det_figure([[normal(2)]], "b$2$, <x>"))
    assert "b$2$, &lt;x&gt;" in found
    assert "false-alarm rate (%)" in found
    # The rates at 60 targets and 600 nontargets of this seed, by the official script.
    assert f"semi-informed/test/f: {normal(2).eer.percent:.2f} %" in found


def test_trainings_of_a_list_look_the_same_and_have_one_entry() -> None:
    three = det_figure([[normal(seed) for seed in (2, 4, 6)], [normal(1)]], "title")
    mean = np.mean([100 * normal(seed).eer.rate for seed in (2, 4, 6)])
    entries = [text for text in texts(three) if text.startswith("semi-informed")]
    assert entries == [
        f"semi-informed/test/f: {mean:.2f} %",
        f"semi-informed/test/m: {normal(1).eer.percent:.2f} %",
    ]
    lines = three.axes[0].lines[1:]
    looks = [(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines]
    assert len(lines) == 4
    assert len(set(looks[:3])) == 1
    assert looks[3] != looks[0]


def test_series_differ_without_colour() -> None:
    looks = {
        (drawing.series(number)["linestyle"], drawing.series(number)["marker"])
        for number in range(21)
    }
    assert len(looks) == 21


def test_a_curve_goes_through_its_equal_error_rate() -> None:
    # Targets 1, 3 and nontargets 0, 2: at any threshold between 1 and 2 half of each is wrong,
    # which lies at 0 on the probit scale.
    curve = det_figure([[scored(np.array([1.0, 3.0]), np.array([0.0, 2.0]))]], "t").axes[0].lines[1]
    points = list(zip(*curve.get_data(), strict=True))
    assert points == [(0.0, 0.0)]
    assert curve.get_markevery() == [0]


def test_speakers_are_sorted_and_those_without_eer_left_out() -> None:
    panel = Panel("f", 30.0, {"x": [40.0], "y": [], "z": [10.0, 20.0]})
    axes = speakers_figure([panel], "title").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["z", "x"]
    assert axes.lines[0].get_xdata().tolist() == [15.0, 40.0]
    ranges = [segment[:, 0].tolist() for segment in axes.collections[0].get_segments()]
    assert ranges == [[10.0, 20.0], [40.0, 40.0]]


def test_cells_hold_their_number_and_the_lower_is_stronger() -> None:
    percents = {("orig", "a"): 5.0, ("b2", "a"): 40.0, ("b2", "b"): 60.0}
    axes = heat_figure(["orig", "b2"], ["a", "b"], percents, "title").axes[0]
    assert [text.get_text() for text in axes.texts] == ["5.00", "40.00", "60.00"]
    strong, weak, none = (cell.get_alpha() for cell in axes.patches)
    assert strong > weak > none == 0


def inlined(figure: Figure, prefix: str) -> str:
    return drawing.inline(drawing.svg(figure), prefix)


@pytest.mark.parametrize("number", range(5))
def test_a_page_can_take_them(number: int) -> None:
    text = inlined(pictures()[number], "p")
    assert text.startswith("<svg viewBox=")
    for refused in ("<?xml", "<!DOCTYPE", "<script", "<style", "style=", "xmlns", "http"):
        assert refused not in text
    # Every colour is the page's.
    assert not re.search(r"#[0-9a-f]{6}", text)
    used = set(re.findall(r"var\((--\w+)\)", text))
    assert {"--ink", "--paper"} <= used <= set(drawing.PALETTE)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="#|url\(#)([^")]+)', text)) == set(ids)
    assert all(name.startswith("p-") for name in ids)


def test_ids_of_two_pictures_differ() -> None:
    first, second = (
        set(re.findall(r'\bid="([^"]+)"', inlined(pictures()[0], prefix))) for prefix in "pq"
    )
    assert first
    assert not first & second


def lists(n_trainings: int) -> Sequence[Sequence[Scored]]:
    return [
        [normal(10 * place + seed, 500, 9000) for seed in range(n_trainings)] for place in range(4)
    ]


def test_pictures_of_official_lists_are_small() -> None:
    for figure in (
        det_figure(lists(3), "title"),
        histogram_figure([one[0] for one in lists(1)], "title"),
        speakers_figure(panels(16, 4), "title"),
    ):
        assert len(drawing.svg(figure)) < 40_000


def test_no_colour_stands_twice() -> None:
    assert len(drawing.VARIABLES) == len(drawing.PALETTE) == 11
