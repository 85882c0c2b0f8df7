"""A ranking of attackers as the JSON document that `harness rank --json` writes, and back.

Its schema is `ranking.schema.json` beside this module (JSON Schema 2020-12); its names are the
fields of `harness.ranking.model`. Fields may be added; none is renamed or removed without another
`format`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields, is_dataclass
from importlib import resources
from typing import Any

from harness.errors import ConfigError
from harness.protocols.typed import SHOWN_CHARACTERS, build, shown
from harness.ranking.model import FORMAT, Ranking, TwoSided
from harness.submissions.limits import MIB
from harness.submissions.shown import json_text

Range = tuple[float, float]

KIND = "attackers"
SCHEMA_FILE = "ranking.schema.json"
DECIMALS = 6
# Of 100 teams and 7 systems it has some 15 MiB.
LARGEST = 128 * MIB
LONGEST_WHOLE_NUMBER = 18
PERCENT: Range = (0, 100)
FRACTION: Range = (0, 1)
COUNT: Range = (0, math.inf)
FROM_ONE: Range = (1, math.inf)
# By the name of the field, whatever holds it; of all numbers in it. As in the schema.
RANGES: dict[str, Range] = {
    **dict.fromkeys(("percent", "low", "high", "speakers", "deviations", "recomputed"), PERCENT),
    **dict.fromkeys(("det", "level"), FRACTION),
    **dict.fromkeys(("misses", "false_alarms", "n_target", "n_nontarget", "seed"), COUNT),
    **dict.fromkeys(
        ("rank", "ranks", "tier", "would_rank", "place", "places", "score", "top", "draws"),
        FROM_ONE,
    ),
}


def to_json(ranking: Ranking) -> str:
    """The document as text: the same for the same ranking. Numbers have DECIMALS decimals."""
    return json_text({"kind": KIND, **_rounded(asdict(ranking))})


def from_json(data: bytes, where: object) -> Ranking:
    """The ranking in a document that may come from anybody; `where` names it in errors.

    Raises ConfigError, naming the field, for whatever is not as `harness.ranking.model` says.
    """
    try:
        if len(data) > LARGEST:
            raise ValueError(f"more than {LARGEST:,} bytes")
        content = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_once,
            parse_float=_finite,
            parse_int=_whole,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ConfigError(
            f"no JSON document ({what})", where=where, fix="give what `harness rank --json` wrote"
        ) from error
    if not isinstance(content, dict) or content.pop("kind", None) != KIND:
        raise ConfigError(
            f"no ranking of {KIND}",
            where=where,
            fix=f"give what `harness rank --json` wrote of {KIND}: others have no page",
        )
    if content.get("format") != FORMAT:
        raise ConfigError(
            f"a ranking of the format {shown(content.get('format'))}, not {FORMAT}",
            where=where,
            fix="use the version of the harness that wrote it",
        )
    ranking = build(Ranking, content, str(where))
    _require_ranges(ranking, str(where), None)
    if ranking.two_sided is not None:
        _require_systems(ranking.two_sided, f"{where}.two_sided")
    return ranking


def schema() -> str:
    """The text of the document's JSON schema."""
    return (resources.files("harness.ranking") / SCHEMA_FILE).read_text(encoding="utf-8")


def _require_ranges(value: Any, where: str, allowed: Range | None) -> None:
    """Raises ConfigError, with the place, for a number that is not in the range of its field."""
    if is_dataclass(value):
        for field in fields(value):
            inside = RANGES.get(field.name)
            _require_ranges(getattr(value, field.name), f"{where}.{field.name}", inside)
    elif isinstance(value, dict):
        for name, one in value.items():
            _require_ranges(one, f"{where}.{name[:SHOWN_CHARACTERS]}", allowed)
    elif isinstance(value, tuple):
        for number, one in enumerate(value):
            _require_ranges(one, f"{where}[{number}]", allowed)
    elif allowed is not None and value is not None and not allowed[0] <= value <= allowed[1]:
        low, high = allowed
        fix = f"give {low} or more" if math.isinf(high) else f"give a number from {low} to {high}"
        raise ConfigError(f"{value} is out of range", where=where, fix=fix)


def _require_systems(two_sided: TwoSided, where: str) -> None:
    for name in ("places", "privacy", "strongest"):
        for system in two_sided.systems:
            if system not in getattr(two_sided, name):
                raise ConfigError(
                    f"nothing of the system {shown(system)}",
                    where=f"{where}.{name}",
                    fix="name each of `systems`",
                )


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a name stands twice")
    return content


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number beyond all bounds")
    return number


def _whole(text: str) -> int:
    if len(text) > LONGEST_WHOLE_NUMBER:
        raise ValueError("a number of too many digits")
    return int(text)


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no number in JSON")
