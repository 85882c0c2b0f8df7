"""A verification as the JSON document that `harness verify --json` writes.

Its schema is `verification.schema.json` beside this module (JSON Schema 2020-12). Fields may be
added; none is renamed or removed without another `format`.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from harness import __version__
from harness.submissions.model import (
    Check,
    ClaimResult,
    Explanation,
    ListResult,
    MeasureClaim,
    SubmissionResult,
    Verification,
)
from harness.submissions.shown import json_text

FORMAT = 1
SCHEMA_FILE = "verification.schema.json"
# Official scripts print three decimals; one more tells how near a value is to the next.
DECIMALS = 4


def to_document(verification: Verification) -> dict[str, Any]:
    """The document: all submissions in one, each entry naming its own."""
    results = verification.submissions
    lists = {
        (name, one.sha256): one
        for reference in (
            verification.reference,
            *map(verification.reference_of, results),
        )
        for name, one in reference.lists.items()
    }
    order = [listed.trials for listed in verification.protocol.lists]
    return {
        "format": FORMAT,
        "harness": __version__,
        "benchmark": verification.protocol.name,
        "verdict": verification.verdict,
        "submissions": [
            {"name": one.name, "sha256": one.sha256, "verdict": one.verdict} for one in results
        ],
        "trials": [
            {
                "list": one.name,
                "sha256": one.sha256,
                "n_target": one.n_target,
                "n_nontarget": one.n_nontarget,
                "origin": one.origin,
            }
            for one in sorted(lists.values(), key=lambda one: order.index(one.name))
        ],
        "lists": [_list(one, result) for result in results for one in result.lists],
        "averages": [
            {
                "submission": result.name,
                "system": system,
                "list": name,
                "eer_percent": round(percent, DECIMALS),
            }
            for result in results
            for (system, name), percent in result.averages(verification.protocol).items()
        ],
        "claims": [_claim(one) for result in results for one in result.claims],
        "measures": [_measure(one) for result in results for one in result.measures],
        "checks": [_check(one) for result in results for one in result.checks],
        "explanations": [_explanation(one) for result in results for one in result.explanations],
    }


def to_json(verification: Verification) -> str:
    """The document as text."""
    return json_text(to_document(verification))


def schema() -> str:
    """The text of the document's JSON schema."""
    return (resources.files("harness.submissions") / SCHEMA_FILE).read_text(encoding="utf-8")


def _list(one: ListResult, result: SubmissionResult) -> dict[str, Any]:
    eer = one.eer
    return {
        "submission": result.name,
        "system": one.system,
        "list": one.list,
        "file": one.file,
        "sha256": one.sha256,
        "eer_percent": None if eer is None else round(100 * eer.rate, DECIMALS),
        "threshold": None if eer is None else eer.threshold,
        "misses": None if eer is None else eer.misses,
        "false_alarms": None if eer is None else eer.false_alarms,
    }


def _claim(one: ClaimResult) -> dict[str, Any]:
    return {
        "submission": one.submission,
        "system": one.system,
        "list": one.list,
        "claimed": float(one.claimed),
        "claimed_text": format(one.claimed, "f"),
        "recomputed": None if one.recomputed is None else round(one.recomputed, DECIMALS),
        "verdict": one.verdict,
        "remark": one.remark,
        "estimator": one.estimator,
        "file": one.file,
        "line": one.line,
    }


def _measure(one: MeasureClaim) -> dict[str, Any]:
    return {
        "submission": one.submission,
        "system": one.system,
        "measure": one.measure,
        "dataset": one.dataset,
        "split": one.split,
        "gender": one.gender,
        "claimed": float(one.value),
        "claimed_text": format(one.value, "f"),
        "verdict": "not checkable",
        "needs": one.needs,
        "file": one.file,
        "line": one.line,
    }


def _check(one: Check) -> dict[str, Any]:
    return {
        "submission": one.submission,
        "code": one.code,
        "severity": one.severity,
        "file": one.file,
        "line": one.line,
        "count": one.count,
        "message": one.message,
    }


def _explanation(one: Explanation) -> dict[str, Any]:
    return {
        "submission": one.submission,
        "system": one.system,
        "list": one.list,
        "kind": one.kind,
        "sentence": one.sentence,
        "changes": list(one.changes),
    }
