"""What a person and a program read of a comparison."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from harness.cli import compare
from harness.metrics.bootstrap import Interval
from harness.metrics.comparison import SeedSpread
from harness.metrics.resampling import Sampling
from harness.reports.difference import Row, Side
from harness.reports.difference_inputs import InputDifference
from harness.reports.difference_text import Difference, to_document, to_text

ONE = SeedSpread(0.1928, None, 1)
THREE = SeedSpread(0.17433, 0.0081, 3)


def side(name: str, *seeds: int) -> Side:
    folder = PurePosixPath("results/demo/scores/b2/ecapa")
    scores = {seed: Path(folder, f"seed-{seed}") for seed in seeds}
    return Side(name, "demo", "b2", "ecapa", folder, scores, Path("corpus"), {}, {})


LOST = Row(
    "ignorant",
    "test",
    ONE,
    THREE,
    Interval(-0.01847, 0.95, None, None, "too few"),
    None,
    "cannot tell",
    "too few",
)
FOUND = Row(
    "semi-informed",
    "test",
    THREE,
    THREE,
    Interval(-0.0185, 0.95, -0.0301, -0.004),
    0.0123,
    "more",
)
WHOLE = Difference(
    side("HEAD~1:b2/ecapa", 1986),
    side("b2/ecapa", 1986, 1987, 1988),
    (
        InputDifference("parameter", "attacker.epochs", "6", "12"),
        InputDifference("code", "harness/new.py", None, "0123456789abcdef"),
        InputDifference("image", "attacker", "none", f"sha256:{64 * '7'}"),
        InputDifference("environment", "torch", "2.14.1", "2.15.0"),
    ),
    (),
    (LOST, FOUND),
    Sampling(draws=999),
)


def test_text() -> None:
    assert (
        to_text(WHOLE)
        == """\
A  HEAD~1:b2/ecapa, seed 1986
B  b2/ecapa, seeds 1986, 1987, 1988

what differs, A -> B
  parameter    attacker.epochs: 6 -> 12
  code         harness/new.py: none -> 01234567
  image        attacker: none -> sha256:777777777777
  environment  torch: 2.14.1 -> 2.15.0

EER in percent, mean ± spread over seeds (their number)
  scenario       split                 A                 B  B - A  interval of 95 %       p
  ignorant       test          19.28 (1)  17.43 ± 0.81 (3)  -1.85              none    none
    cannot tell: too few
  semi-informed  test   17.43 ± 0.81 (3)  17.43 ± 0.81 (3)  -1.85    -3.01 to -0.40  0.0123
    more than trials, speakers and seeds explain

intervals and p: 999 draws of speakers, seed 1986, and
the noise of training where a side has several
interval: of each row alone; p and what is found: adjusted for all rows together (Holm)
"""
    )


def differing(*rows: Row, remarks: tuple[str, ...] = ()) -> list[str]:
    """The lines under the heading of what differs."""
    nothing = Difference(WHOLE.first, WHOLE.second, (), remarks, rows, Sampling())
    lines = to_text(nothing).splitlines()
    return lines[lines.index("what differs, A -> B") + 1 : lines.index("", 3)]


def test_nothing_differs() -> None:
    same = Row(*("ignorant", "test"), ONE, ONE, Interval(0, 0.95, None, None), None, "identical")
    assert differing(same) == ["  nothing"]
    assert differing(FOUND) == ["  nothing that is known: the scores differ all the same"]
    assert differing(same, remarks=("not known",)) == ["  not known"]


def test_what_a_terminal_would_obey_is_escaped() -> None:
    change = InputDifference("parameter", "attacker.name", "a\x1b[31m", "b\nc")
    hostile = Difference(WHOLE.first, WHOLE.second, (change,), (), (FOUND,), Sampling())
    assert "  parameter  attacker.name: a\\x1b[31m -> b\\nc\n" in to_text(hostile)


def keys(document: object) -> set[str]:
    """Of all objects in a document."""
    if isinstance(document, dict):
        return set(document).union(*map(keys, document.values()))
    return set().union(*map(keys, document)) if isinstance(document, list) else set()


def test_every_key_is_described() -> None:
    described = set(re.findall(r"`([a-z]+)`", compare.__doc__ or ""))
    assert keys(to_document(WHOLE)) <= described


def test_document() -> None:
    document = to_document(WHOLE)
    assert document["first"] == {
        "name": "HEAD~1:b2/ecapa",
        "benchmark": "demo",
        "system": "b2",
        "attacker": "ecapa",
        "seeds": [1986],
    }
    assert document["inputs"][1] == {
        "kind": "code",
        "name": "harness/new.py",
        "first": None,
        "second": "0123456789abcdef",
    }
    lost, found = document["rows"]
    assert (lost["low"], lost["high"], lost["p"], lost["finding"]) == (
        *(None, None, None),
        "cannot tell",
    )
    assert lost["first"] == {"mean": 100 * 0.1928, "deviation": None, "trainings": 1}
    assert found["second"] == {"mean": 100 * 0.17433, "deviation": 100 * 0.0081, "trainings": 3}
    assert (found["difference"], found["low"], found["high"]) == (
        *(100 * -0.0185, 100 * -0.0301, 100 * -0.004),
    )
    assert (found["p"], found["sentence"]) == (
        0.0123,
        "more than trials, speakers and seeds explain",
    )
    assert document["method"] == {"draws": 999, "level": 0.95, "unit": "speakers", "seed": 1986}
