"""Privacy against what is kept: each system's EER beside its utility.

Changes are on a scale of ours, for the one behind the normalized changes of the overview of
VoicePrivacy 2024 is not published: 0 is as original speech, 1 is as if nothing were left: for
privacy an attacker who guesses, for words none right, for emotions a guess, for intonation none.
Beyond 1 is worse than nothing, below 0 better than original speech. A system's `balance` is the
change of its EER less the mean of those of words, emotions and intonation: 1 would be ideal, 0 is
as good a bargain as to do nothing.

A system is on the Pareto front of a split if no other is as private and as useful in everything
that was measured of both, and better in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import pandas as pd

from harness.protocols.scenarios import ORIGINAL, SEMI_INFORMED
from harness.protocols.values import Value

UTILITY_FILE, TRADEOFF_FILE = "utility.csv", "tradeoff.csv"
EER, BALANCE = "EER", "balance"
VOICED = "pitch-correlation-voiced"
DECIMALS = 3


@dataclass(frozen=True)
class Scale:
    """A measure. kind: what it is of. all, nothing: its values where all is left, and where nothing
    is; for privacy, where an attacker never errs, and where one guesses."""

    measure: str
    kind: str
    title: str
    unit: str
    all: float
    nothing: float


PRIVACY = Scale(EER, "privacy", "equal error rate of the strongest attacker", "%", 0, 50)
SCALES = (
    PRIVACY,
    Scale("WER", "words", "word error rate", "%", 0, 100),
    # Of the four emotions of the challenge.
    Scale("UAR", "emotions", "unweighted average recall of emotions", "%", 100, 25),
    Scale("pitch-correlation", "intonation", "pitch correlation, official of 2022", "", 1, 0),
    Scale(VOICED, "intonation", "pitch correlation, voiced frames only", "", 1, 0),
)


@dataclass(frozen=True)
class Kept:
    """A value of a system on a split, beside original speech.

    by: the attacker, or the evaluator. dataset: empty of EERs, which are of all lists of a split.
    change: on the scale, see above; None where original speech itself has nothing left.
    """

    measure: str
    by: str
    dataset: str
    value: float
    low: float | None
    high: float | None
    original: float
    change: float | None

    @property
    def key(self) -> tuple[str, str, str]:
        """What of two systems is to be compared: the same measure, by the same, of the same."""
        return self.measure, self.by, self.dataset


@dataclass(frozen=True)
class Tradeoff:
    """A system on a split. kept: its EER first. front: whether it is on the Pareto front; balance:
    see above; both None where not everything is there."""

    system: str
    split: str
    kept: tuple[Kept, ...]
    balance: float | None
    front: bool | None


def strongest(averages: pd.DataFrame, system: str, split: str) -> tuple[str, float] | None:
    """The attacker with the lowest EER, mean over seeds, and that EER in percent.

    averages: the table of that name. Of original speech in the scenario `original`, of others in
    `semi-informed`. None where no attacker was tried.
    """
    rows = averages[
        (averages["system"] == system)
        & (averages["split"] == split)
        & averages["scenario"].isin([ORIGINAL.name, SEMI_INFORMED.name])
    ]
    means = {
        str(name): float(of_one["eer_percent"].mean()) for name, of_one in rows.groupby("attacker")
    }
    return min(means.items(), key=lambda one: (one[1], one[0])) if means else None


def tradeoffs(averages: pd.DataFrame, values: Sequence[Value], original: str) -> list[Tradeoff]:
    """Of each split and system what is left, systems in the order of the averages.

    values: of all systems; those of one gender, and of measures without a scale, are left out.
    original: name of original speech, which every value needs beside it.
    """
    found = []
    for split in dict.fromkeys(averages["split"]):
        systems = list(dict.fromkeys(averages["system"]))
        before = dict(_values(averages, values, original, split))
        rows = {name: _kept(averages, values, name, split, before) for name in systems}
        gains = {
            name: gain
            for name, kept in rows.items()
            if len(kept) == len(before) and (gain := _gains(kept)) is not None
        }
        fronts = _front({name: gain for name, gain in gains.items() if name != original})
        for name in systems:
            balance = _balance(rows[name], gains[name]) if name in gains else None
            found.append(Tradeoff(name, split, rows[name], balance, fronts.get(name)))
    return found


def to_table(found: Sequence[Tradeoff]) -> pd.DataFrame:
    """One row per system, split and measure; values and changes with three decimals."""
    rows = []
    for one in found:
        for kept in one.kept:
            rows.append(
                {
                    "split": one.split,
                    "system": one.system,
                    "measure": kept.measure,
                    "by": kept.by,
                    "dataset": kept.dataset,
                    "value": _rounded(kept.value),
                    "low": kept.low,
                    "high": kept.high,
                    "change": None if kept.change is None else _rounded(kept.change),
                    "front": "" if one.front is None else "yes" if one.front else "no",
                }
            )
        if one.balance is not None:
            rows.append(
                {
                    "split": one.split,
                    "system": one.system,
                    "measure": BALANCE,
                    "value": _rounded(one.balance),
                }
            )
    return pd.DataFrame(rows)


def _rounded(value: float) -> float:
    # Never -0.
    return round(value, DECIMALS) + 0.0


def _values(
    averages: pd.DataFrame, values: Sequence[Value], system: str, split: str
) -> Iterator[tuple[tuple[str, str, str], Value]]:
    """Of a system, by measure, evaluator and data set."""
    attacked = strongest(averages, system, split)
    if attacked is not None:
        attacker, percent = attacked
        # Of another system another attacker may be the strongest.
        yield (EER, "", ""), Value(system, attacker, "", EER, "", split, "", 0, percent)
    scaled = [scale.measure for scale in SCALES]
    for one in values:
        if (one.system, one.split, one.gender) == (system, split, "") and one.measure in scaled:
            yield (one.measure, one.evaluator, one.dataset), one


def _kept(
    averages: pd.DataFrame,
    values: Sequence[Value],
    system: str,
    split: str,
    before: dict[tuple[str, str, str], Value],
) -> tuple[Kept, ...]:
    found = dict(_values(averages, values, system, split))
    return tuple(
        Kept(
            measure=one.measure,
            by=one.evaluator,
            dataset=one.dataset,
            value=one.value,
            low=one.low,
            high=one.high,
            original=original.value,
            change=_change(one, original.value),
        )
        for key, original in before.items()
        if (one := found.get(key)) is not None
    )


def _change(one: Value, original: float) -> float | None:
    """On the scale of the measure; None where original speech has nothing left."""
    scale = next(scale for scale in SCALES if scale.measure == one.measure)
    room = scale.nothing - original
    if room * (scale.nothing - scale.all) <= 0:
        return None
    # What has not changed is 0, not -0.
    return (one.value - original) / room + 0.0


def _gains(kept: Sequence[Kept]) -> tuple[float, ...] | None:
    """The change of privacy, and the negative ones of utility; None where one of them is missing,
    or there is none of either."""
    changes = [one.change for one in kept]
    known = [one for one in changes if one is not None]
    if len(known) < max(len(changes), 2) or kept[0].measure != EER:
        return None
    return (known[0], *(-one for one in known[1:]))


def _balance(kept: Sequence[Kept], gains: tuple[float, ...]) -> float:
    """Privacy's gain less the mean loss of utility: of words, emotions and intonation alike,
    however many values there are of each."""
    kinds = {scale.measure: scale.kind for scale in SCALES}
    of_kind: dict[str, list[float]] = {}
    for one, gain in zip(kept, gains, strict=True):
        of_kind.setdefault(kinds[one.measure], []).append(gain)
    privacy = of_kind.pop(PRIVACY.kind)
    return privacy[0] + fmean(map(fmean, of_kind.values()))


def _front(gains: Mapping[str, tuple[float, ...]]) -> dict[str, bool]:
    return {
        name: not any(
            other != gain and all(a >= b for a, b in zip(other, gain, strict=True))
            for other in gains.values()
        )
        for name, gain in gains.items()
    }
