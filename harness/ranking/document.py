"""A ranking of attackers as the JSON document that `harness rank --json` writes, and back.

Its schema is `ranking.schema.json` beside this module (JSON Schema 2020-12); its names are the
fields of `harness.ranking.model`. Fields may be added; none is renamed or removed without another
`format`.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from importlib import resources
from typing import Any

from harness.errors import ConfigError
from harness.protocols.typed import build, shown
from harness.ranking.model import FORMAT, Ranking
from harness.submissions.limits import MIB
from harness.submissions.shown import json_text

KIND = "attackers"
SCHEMA_FILE = "ranking.schema.json"
DECIMALS = 6
# Of 100 teams and 7 systems it has some 15 MiB.
LARGEST = 128 * MIB
LONGEST_WHOLE_NUMBER = 18


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
            f"no ranking of {KIND}", where=where, fix="give what `harness rank --json` wrote"
        )
    if content.get("format") != FORMAT:
        raise ConfigError(
            f"a ranking of the format {shown(content.get('format'))}, not {FORMAT}",
            where=where,
            fix="use the version of the harness that wrote it",
        )
    return build(Ranking, content, str(where))


def schema() -> str:
    """The text of the document's JSON schema."""
    return (resources.files("harness.ranking") / SCHEMA_FILE).read_text(encoding="utf-8")


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
