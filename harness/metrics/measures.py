"""The measures of privacy in one table, for reports that list them all.

Goal: name, unit, direction and needs of each measure that is one number of two arrays of scores.
The definitions are in the modules that the table refers to, with their ranges and edge cases.

Measures that are not one number of two arrays stay outside: `harness.metrics.speakers` needs the
enrolled speakers, `harness.metrics.det` gives a curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial

import numpy.typing as npt

from harness.metrics import linkability, operating, zebra
from harness.metrics.cllr import cllr, min_cllr
from harness.metrics.dcf import Application, actual_dcf, min_dcf
from harness.metrics.estimators import ESTIMATORS, PHRASES

# The first operating point of NIST's evaluation of 2016.
P_TARGET = 0.01


class Direction(Enum):
    """Which end of a measure's range means more privacy, that is, a weaker attacker."""

    HIGHER = "higher is more private"
    LOWER = "lower is more private"


class Needs(Enum):
    """What the scores have to be for the number to mean anything."""

    ORDER = "scores of any scale: only their order matters"
    SCALE = "scores on one scale: bending it changes the number"
    RATIOS = "natural log-likelihood ratios"


def _no_caution(n_target: int, n_nontarget: int) -> None:
    return None


@dataclass(frozen=True)
class Measure:
    """One number of (target, nontarget), shapes (n_target,) and (n_nontarget,).

    unit: "fraction" (from 0 to 1), "bit", "log10" (of a likelihood ratio), or "cost" (1 for
    decisions made without scores). fewest_targets: with fewer the function raises ScoreError, as it
    does for whatever the EER refuses. caution: what to print beside the number, by the numbers of
    targets and nontargets; None where there is nothing to say.
    """

    title: str
    function: Callable[[npt.ArrayLike, npt.ArrayLike], float]
    unit: str
    direction: Direction
    needs: Needs
    fewest_targets: int = 1
    caution: Callable[[int, int], str | None] = _no_caution


def _miss_rate(rate: float, target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    return operating.miss_rate_at(target, nontarget, rate).miss_rate


def _of_false_alarms(rate: float, n_target: int, n_nontarget: int) -> str | None:
    return operating.caution("false alarm", rate, n_nontarget)


def _false_alarm_rate(rate: float, target: npt.ArrayLike, nontarget: npt.ArrayLike) -> float:
    return operating.false_alarm_rate_at(target, nontarget, rate).false_alarm_rate


def _of_misses(rate: float, n_target: int, n_nontarget: int) -> str | None:
    return operating.caution("miss", rate, n_target)


_HIGHER, _LOWER = Direction.HIGHER, Direction.LOWER
_APPLICATION = Application(P_TARGET)

MEASURES: dict[str, Measure] = {
    "eer": Measure(PHRASES["official"], ESTIMATORS["official"], "fraction", _HIGHER, Needs.ORDER),
    "eer-kaldi": Measure(PHRASES["kaldi"], ESTIMATORS["kaldi"], "fraction", _HIGHER, Needs.ORDER),
    "eer-rocch": Measure(PHRASES["rocch"], ESTIMATORS["rocch"], "fraction", _HIGHER, Needs.ORDER),
    "miss-at-1": Measure(
        "miss rate at 1 % false alarms",
        partial(_miss_rate, 0.01),
        "fraction",
        _HIGHER,
        Needs.ORDER,
        caution=partial(_of_false_alarms, 0.01),
    ),
    "miss-at-0.1": Measure(
        "miss rate at 0.1 % false alarms",
        partial(_miss_rate, 0.001),
        "fraction",
        _HIGHER,
        Needs.ORDER,
        caution=partial(_of_false_alarms, 0.001),
    ),
    "false-alarm-at-1": Measure(
        "false-alarm rate at 1 % misses",
        partial(_false_alarm_rate, 0.01),
        "fraction",
        _HIGHER,
        Needs.ORDER,
        caution=partial(_of_misses, 0.01),
    ),
    "min-dcf": Measure(
        f"minimum detection cost at a prior of {P_TARGET:g}",
        partial(min_dcf, application=_APPLICATION),
        "cost",
        _HIGHER,
        Needs.ORDER,
    ),
    "dcf": Measure(
        f"actual detection cost at a prior of {P_TARGET:g}",
        partial(actual_dcf, application=_APPLICATION),
        "cost",
        _HIGHER,
        Needs.RATIOS,
    ),
    "min-cllr": Measure("min Cllr", min_cllr, "bit", _HIGHER, Needs.ORDER),
    "cllr": Measure("actual Cllr", cllr, "bit", _HIGHER, Needs.RATIOS),
    "linkability": Measure(
        "linkability D_sys",
        linkability.linkability,
        "fraction",
        _LOWER,
        Needs.SCALE,
        linkability.FEWEST_TARGETS,
        linkability.caution,
    ),
    "zebra-population": Measure(
        "ZEBRA, expected disclosure", zebra.population, "bit", _LOWER, Needs.ORDER
    ),
    "zebra-individual": Measure(
        "ZEBRA, worst-case disclosure",
        zebra.individual,
        "log10",
        _LOWER,
        Needs.ORDER,
        caution=zebra.caution,
    ),
}
