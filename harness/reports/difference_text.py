"""A comparison of two attackers for people, and as a document for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from harness import __version__
from harness.metrics.bootstrap import Interval
from harness.metrics.comparison import SeedSpread
from harness.metrics.resampling import Sampling
from harness.reports.difference import Row, Side
from harness.reports.difference_inputs import InputDifference
from harness.submissions.shown import printable
from harness.submissions.table import aligned

FORMAT = 1
NONE = "none"
HASH_DIGITS = 8
DIGEST_DIGITS = len("sha256:") + 12
# In words, what is drawn in each draw.
UNIT_WORDS = {"speakers": "trials, speakers", "trials": "trials"}
# Source: the baselines of VoicePrivacy 2024, trained two or three times by its organizers.
RETRAINED = "an attacker trained again moves by 1 to 2 points"


@dataclass(frozen=True)
class Difference:
    """All of it. rows: their `first` is A, their `second` B."""

    first: Side
    second: Side
    inputs: tuple[InputDifference, ...]
    remarks: tuple[str, ...]
    rows: tuple[Row, ...]
    sampling: Sampling


def to_text(difference: Difference) -> str:
    """What a person reads: the sides, what differs, and what to think of it; rates in percent."""
    lines = [
        f"{letter}  {side.name}, {_seeds(side)}"
        for letter, side in (("A", difference.first), ("B", difference.second))
    ]
    lines += ["", "what differs, A -> B", *(f"  {line}" for line in _inputs(difference))]
    sampling = difference.sampling
    lines += ["", "EER in percent, mean ± spread over seeds (their number)"]
    level = f"{100 * sampling.level:g} %"
    header = ("scenario", "split", "A", "B", "B - A", f"interval of {level}", "p")
    table = [header, *(_cells(row) for row in difference.rows)]
    heading, *body = aligned(table, range(2, len(header)))
    lines.append(f"  {heading}")
    for line, row in zip(body, difference.rows, strict=True):
        lines += [f"  {line}", f"    {sentence(row, sampling.unit)}"]
    lines += [
        "",
        f"intervals and p: {sampling.draws} draws of {sampling.unit}, seed {sampling.seed}, and",
        "the noise of training where a side has several",
        "interval: of each row alone; p and what is found: adjusted for all rows together (Holm)",
    ]
    return "".join(f"{printable(line)}\n" for line in lines)


def to_document(difference: Difference) -> dict[str, Any]:
    """The same, whole, as plain data. Rates, differences and ends of intervals are in percent; the
    intervals are of each row alone. `p` is a fraction, adjusted for all rows; `finding` goes by it.
    """
    return {
        "format": FORMAT,
        "harness": __version__,
        "first": _side(difference.first),
        "second": _side(difference.second),
        "inputs": [asdict(one) for one in difference.inputs],
        "remarks": list(difference.remarks),
        "rows": [
            {
                "scenario": row.scenario,
                "split": row.split,
                "first": _spread(row.first),
                "second": _spread(row.second),
                "difference": 100 * row.difference.estimate,
                "low": _percent(row.difference.low),
                "high": _percent(row.difference.high),
                "p": row.p_value,
                "finding": row.finding,
                "sentence": sentence(row, difference.sampling.unit),
            }
            for row in difference.rows
        ],
        "method": {
            "draws": difference.sampling.draws,
            "level": difference.sampling.level,
            "unit": difference.sampling.unit,
            "seed": difference.sampling.seed,
        },
    }


def sentence(row: Row, unit: str) -> str:
    """What a row says, as one clause. unit: what was drawn."""
    if row.finding == "identical":
        return "identical: the same scores, byte for byte"
    if row.finding == "cannot tell":
        return f"cannot tell: {row.reason}"
    chance, single = UNIT_WORDS[unit], row.single
    chance = f"{chance} and seeds" if single is None else chance.replace(", ", " and ")
    if row.finding == "more":
        return f"more than {chance} explain"
    if row.finding == "more, seeds aside":
        return (
            f"more than {chance} explain; the noise of training is not known, with {single} "
            f"({RETRAINED})"
        )
    alone = "" if single is None else " alone"
    together = ", once all rows are looked at together" if _leaves_zero_out(row.difference) else ""
    return f"not more than {chance}{alone} explain{together}"


def _seeds(side: Side) -> str:
    return f"seed{'s' * (len(side.scores) > 1)} {', '.join(map(str, side.scores))}"


def _inputs(difference: Difference) -> list[str]:
    rows = [(one.kind, _change(one)) for one in difference.inputs]
    lines = aligned(rows, ()) if rows else []
    if not rows and not difference.remarks:
        same = all(row.finding == "identical" for row in difference.rows)
        lines = ["nothing" if same else "nothing that is known: the scores differ all the same"]
    return [*lines, *difference.remarks]


def _change(one: InputDifference) -> str:
    values = [NONE if value is None else _short(one, value) for value in (one.first, one.second)]
    return f"{one.name}: {' -> '.join(values)}"


def _short(one: InputDifference, value: str) -> str:
    if one.kind == "image":
        return ", ".join(digest[:DIGEST_DIGITS] for digest in value.split(", "))
    if one.kind in ("data", "code") or (one.kind == "environment" and "/" in one.name):
        return ", ".join(md5[:HASH_DIGITS] for md5 in value.split(", "))
    return value


def _cells(row: Row) -> Sequence[str]:
    interval = row.difference
    return (
        row.scenario,
        row.split,
        _mean(row.first),
        _mean(row.second),
        f"{100 * interval.estimate:+.2f}",
        _ends(interval),
        NONE if row.p_value is None else f"{row.p_value:.3g}",
    )


def _mean(spread: SeedSpread) -> str:
    deviation = "" if spread.deviation is None else f" ± {100 * spread.deviation:.2f}"
    return f"{100 * spread.mean:.2f}{deviation} ({spread.trainings})"


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return NONE
    return f"{100 * interval.low:+.2f} to {100 * interval.high:+.2f}"


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "benchmark": side.benchmark,
        "system": side.system,
        "attacker": side.attacker,
        "seeds": list(side.scores),
    }


def _spread(spread: SeedSpread) -> dict[str, Any]:
    return {
        "mean": 100 * spread.mean,
        "deviation": _percent(spread.deviation),
        "trainings": spread.trainings,
    }


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _leaves_zero_out(interval: Interval) -> bool:
    low, high = interval.low, interval.high
    return low is not None and high is not None and not low <= 0 <= high
