"""Reruns as JSON: what `harness rerun --json` writes, and the part of it that is certified.

The schema is `rerun.schema.json` beside this module (JSON Schema 2020-12). Fields may be added;
none is renamed or removed without another `format`. What an image or the system said in an error
may name a path of this machine: it is in the document, and not in a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import resources
from typing import Any

from harness import __version__
from harness.reruns.experiments import sentence
from harness.reruns.model import TOLERANCES, Compared, Finding, Rerun, SystemRerun
from harness.submissions.shown import json_text

FORMAT = 1
SCHEMA_FILE = "rerun.schema.json"
DECIMALS = 6


def certified_part(done: Rerun) -> dict[str, Any]:
    """A rerun as a certificate has it, see `CertifiedRerun`."""
    return {
        "image": done.digest,
        "parameters_sha256": done.parameters,
        "level": done.level,
        "seed": done.seed,
        "outcome": done.outcome,
        "tolerances": dict(TOLERANCES),
        "systems": [_system(one) for one in done.systems],
    }


def entry(done: Rerun) -> dict[str, Any]:
    """A rerun as the document has it."""
    (submission,) = done.verification.submissions
    part = certified_part(done)
    for one, system in zip(part["systems"], done.systems, strict=True):
        one["message"] = system.message
        for experiment, finding in zip(one["experiments"], system.findings, strict=True):
            experiment["message"] = finding.said
    told = {"name": done.name, "sha256": submission.sha256, "verdict": done.verdict}
    return {"submission": told, **part, "message": ""}


def failed_entry(name: str, image: str, message: str) -> dict[str, Any]:
    """What the document has of a submission whose rerun ended with an error. message: the error."""
    return {
        "submission": {"name": name, "sha256": None, "verdict": "not checkable"},
        "image": image,
        "parameters_sha256": None,
        "level": None,
        "seed": None,
        "outcome": "not checkable",
        "tolerances": dict(TOLERANCES),
        "systems": [],
        "message": message,
    }


def to_json(benchmark: str, outcome: str, entries: Sequence[dict[str, Any]]) -> str:
    """The document as text. outcome: of all together."""
    document = {
        "format": FORMAT,
        "harness": __version__,
        "benchmark": benchmark,
        "outcome": outcome,
        "reruns": list(entries),
    }
    return json_text(document)


def schema() -> str:
    """The text of the document's JSON schema."""
    return (resources.files("harness.reruns") / SCHEMA_FILE).read_text(encoding="utf-8")


def _system(one: SystemRerun) -> dict[str, Any]:
    return {
        "system": one.system,
        "model_sha256": one.model,
        "outcome": one.outcome,
        "reason": one.reason,
        "repeatable": one.repeatable,
        "lists": [_list(compared) for compared in one.lists],
        "experiments": [_experiment(finding) for finding in one.findings],
    }


def _list(one: Compared) -> dict[str, Any]:
    submitted, again = (None, None) if one.eers is None else one.eers
    return {
        "list": one.list,
        "enrolments_sha256": one.enrolments,
        "trials_sha256": one.trials,
        "same": one.same,
        "pairs": one.agreement.pairs,
        "agreed": one.agreement.agreed,
        "share": _share(one.agreement.share),
        "rank_share": round(one.agreement.rank_share, DECIMALS),
        "beyond": one.agreement.beyond,
        "worst": f"{one.worst.enrolment} {one.worst.utterance}",
        "submitted": one.submitted,
        "again": one.again,
        "eer_submitted": submitted and round(submitted, DECIMALS),
        "eer_again": again and round(again, DECIMALS),
    }


def _experiment(one: Finding) -> dict[str, Any]:
    return {
        "list": one.list,
        "experiment": one.experiment,
        "state": one.state,
        "small": one.small,
        "pairs": one.pairs,
        "share": _share(one.share),
        "rank_share": round(one.rank_share, DECIMALS),
        "beyond": one.beyond,
        "sentence": sentence(one),
    }


def _share(value: float) -> float | None:
    """JSON has no infinity."""
    return None if math.isinf(value) else round(value, DECIMALS)
