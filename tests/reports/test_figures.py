"""Pictures: PNG files, the same bytes each time, whatever the scores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from harness.metrics.eer import equal_error_rate
from harness.protocols.lists import Trial
from harness.protocols.protocol import TrialList
from harness.protocols.scenarios import SEMI_INFORMED
from harness.reports.evaluation import Scored
from harness.reports.figures import draw_det, draw_histograms

pytestmark = pytest.mark.heavy

DRAW: tuple[Callable[[Sequence[Scored], str, Path], None], ...] = (draw_det, draw_histograms)
PNG = b"\x89PNG\r\n\x1a\n"
# Draws the scores of `scored` once more, in another process.
AGAIN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_figures as t
for draw in t.DRAW:
    draw([t.scored(*t.normal("f")), t.scored(*t.normal("m"))], "title", Path(draw.__name__))
"""


def scored(target: np.ndarray, nontarget: np.ndarray) -> Scored:
    labels = [True] * len(target) + [False] * len(nontarget)
    trials = [Trial("s", f"u{number}", label) for number, label in enumerate(labels)]
    listed = TrialList("t", "e", "libri", "test", "f", len(target), len(nontarget), "")
    scores = np.concatenate([target, nontarget]).astype(np.float32)
    return Scored(SEMI_INFORMED, listed, trials, scores, equal_error_rate(target, nontarget))


def normal(name: str) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(ord(name))
    return generator.normal(1, 1, 60), generator.normal(0, 1, 600)


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    assert png.endswith(b"IEND\xaeB`\x82")
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def test_same_scores_give_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    lists = [scored(*normal("f")), scored(*normal("m"))]
    done = subprocess.run(
        [sys.executable, "-c", AGAIN, Path(__file__).parent],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for draw in DRAW:
        draw(lists, "title", tmp_path / "here.png")
        data = (tmp_path / "here.png").read_bytes()
        assert data == (tmp_path / draw.__name__).read_bytes()
        assert b"Software" not in data
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "draw_det",
        "draw_histograms",
        "here.png",
    ]


def test_pictures_have_the_stated_size(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    draw_det([scored(*normal("f"))], "title", path)
    assert size(path.read_bytes()) == (700, 600)
    draw_histograms([scored(*normal(name)) for name in "abc"], "title", path)
    # 2.2 inches a panel and 0.6 for the title, at 100 dots an inch.
    assert size(path.read_bytes()) == (700, 720)


def test_other_scores_give_another_picture(tmp_path: Path) -> None:
    for draw in DRAW:
        pictures = []
        for name in "fm":
            draw([scored(*normal(name))], "title", tmp_path / name)
            pictures.append((tmp_path / name).read_bytes())
        assert pictures[0] != pictures[1]


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
def test_degenerate_scores_can_be_drawn(
    tmp_path: Path, target: list[float], nontarget: list[float]
) -> None:
    for draw in DRAW:
        draw([scored(np.array(target), np.array(nontarget))], "title", tmp_path / "p.png")
        assert size((tmp_path / "p.png").read_bytes())[0] == 700
