"""Anonymizers ranked within minimums of privacy, as the JSON that `harness rank --json` writes.

Its schema is `conditions.schema.json` in `harness/ranking` (JSON Schema 2020-12). Fields may be
added; none is renamed or removed without another `format`. Numbers are not rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import resources
from typing import Any

from harness import __version__
from harness.ranking.conditions.model import FORMAT, ConditionRanking, Entry
from harness.submissions.shown import json_text

SCHEMA_FILE = "conditions.schema.json"


def to_json(ranking: ConditionRanking) -> str:
    """The document as text."""
    edition = ranking.edition
    document = {
        "format": FORMAT,
        "kind": edition.kind,
        "harness": __version__,
        "benchmark": edition.name,
        "title": edition.title,
        "reference": edition.reference,
        "rules": list(edition.rules),
        "split": edition.split,
        "original": None if ranking.original is None else _means(ranking.original),
        "systems": [_system(entry) for entry in ranking.entries],
        "rankings": [
            {
                "privacy": edition.privacy,
                "minimum": board.minimum,
                "track": board.track,
                "rows": [{**_name(row.entry), "rank": row.rank} for row in board.rows],
            }
            for board in ranking.boards
        ],
        "pareto_fronts": [
            {"measures": list(front.measures), "systems": [_name(one) for one in front.entries]}
            for front in ranking.fronts
        ],
    }
    return json_text(document)


def schema() -> str:
    """The text of the document's JSON schema."""
    return (resources.files("harness.ranking") / SCHEMA_FILE).read_text(encoding="utf-8")


def _system(entry: Entry) -> dict[str, Any]:
    changes = entry.changes
    return {
        **_name(entry),
        "means": _means(entry.means),
        "reached": list(entry.reached),
        "next": entry.next,
        "short": None if entry.short is None else float(entry.short),
        "changes_percent": None if changes is None else {k: float(v) for k, v in changes.items()},
        "unranked": list(entry.unranked),
        "submission": entry.submission or None,
        "claimed": list(entry.claimed),
        "remarks": list(entry.remarks),
    }


def _name(entry: Entry) -> dict[str, str]:
    return {"team": entry.team, "system": entry.system}


def _means(means: Mapping[str, Mapping[str, Fraction]]) -> dict[str, dict[str, float]]:
    return {
        name: {split: float(mean) for split, mean in of_splits.items()}
        for name, of_splits in means.items()
    }
