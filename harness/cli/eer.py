"""`harness eer`: the equal error rate of one score file, by every estimator.

`--json` prints one object: `trials` and `scores` (`file`, `sha256` each), `n_target`,
`n_nontarget`; `threshold`, `misses` and `false_alarms` of the official operating point; and
`eer_percent`, the rate in percent by estimator, unrounded (`official` is the edition's; the others
are those of `harness.metrics.estimators`); with `--measures` also `measures`, each of
`harness.metrics.measures` with `title`, `value` (None with too few targets), `unit`, `direction`,
`needs` and `caution`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from harness.errors import ConfigError
from harness.submissions.shown import json_text


def register(commands: Any) -> None:
    command = commands.add_parser(
        "eer",
        help="the equal error rate of a score file, by every estimator",
        description="The official EER of a score file, its threshold and error counts, and beside "
        "it the EER by the other estimators in use. Scores are read strictly: one line for each "
        "pair of the list, in any order.",
    )
    command.add_argument(
        "--trials", type=Path, required=True, metavar="FILE", help="list of trials with labels"
    )
    command.add_argument(
        "--scores", type=Path, required=True, metavar="FILE", help="`speaker utterance score`"
    )
    command.add_argument(
        "--measures",
        action="store_true",
        help="further measures too: Cllr, detection cost, linkability, ZEBRA, operating points",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    command.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    document = measure(parsed.trials, parsed.scores, parsed.measures)
    sys.stdout.write(json_text(document) if parsed.json else table(document))
    return 0


def measure(trials_file: Path, scores_file: Path, further: bool = False) -> dict[str, Any]:
    """The document that `--json` prints. Raises ConfigError, ListError, ScoreError or OSError."""
    import numpy as np

    from harness.metrics.eer import equal_error_rate
    from harness.metrics.estimators import ESTIMATORS
    from harness.protocols.lists import read_trials
    from harness.protocols.scores import read_scores
    from harness.runtime.files import sha256_file

    for path, name in ((trials_file, "trials"), (scores_file, "scores")):
        if path.is_dir():
            raise ConfigError("a folder", where=path, fix=f"give the file in it: {path / name}")
    trials = read_trials(trials_file)
    scores = read_scores(scores_file, trials)
    target = np.fromiter((trial.target for trial in trials), np.bool_, len(trials))
    of_targets, of_nontargets = scores[target], scores[~target]
    official = equal_error_rate(of_targets, of_nontargets)
    document = {
        "trials": {"file": str(trials_file), "sha256": sha256_file(trials_file)},
        "scores": {"file": str(scores_file), "sha256": sha256_file(scores_file)},
        "n_target": official.n_target,
        "n_nontarget": official.n_nontarget,
        "threshold": official.threshold,
        "misses": official.misses,
        "false_alarms": official.false_alarms,
        "eer_percent": {
            name: 100 * float(estimate(of_targets, of_nontargets))
            for name, estimate in ESTIMATORS.items()
        },
    }
    if further:
        document["measures"] = _measures(of_targets, of_nontargets)
    return document


def _measures(of_targets: Any, of_nontargets: Any) -> dict[str, Any]:
    """All measures but those that stand among the estimators."""
    from harness.metrics.estimators import ESTIMATORS
    from harness.metrics.measures import MEASURES

    found = {}
    for name, one in MEASURES.items():
        if one.function in ESTIMATORS.values():
            continue
        enough = len(of_targets) >= one.fewest_targets
        found[name] = {
            "title": one.title,
            "value": one.function(of_targets, of_nontargets) if enough else None,
            "unit": one.unit,
            "direction": one.direction.value,
            "needs": one.needs.value,
            "caution": (
                one.caution(len(of_targets), len(of_nontargets))
                if enough
                else f"fewer than {one.fewest_targets} targets"
            ),
        }
    return found


def table(document: dict[str, Any]) -> str:
    """The document for people: rates in percent with three decimals, the official one first."""
    from harness.metrics.estimators import PHRASES

    n_target, n_nontarget = document["n_target"], document["n_nontarget"]
    rates = document["eer_percent"]
    width = max(map(len, rates))
    lines = [
        f"list       {n_target:,} targets, {n_nontarget:,} nontargets, "
        f"sha256 {document['trials']['sha256']}",
        f"threshold  {document['threshold']:.6g}: {document['misses']:,} targets missed, "
        f"{document['false_alarms']:,} nontargets accepted",
        "",
        f"{'estimator':{width}}  EER in %",
        *(f"{name:{width}}  {rates[name]:8.3f}  {PHRASES[name]}" for name in rates),
        *_further(document.get("measures", {})),
    ]
    return "".join(f"{line}\n" for line in lines)


def _further(measures: dict[str, Any]) -> list[str]:
    """Lines of further measures, each with what it needs and what to know of it."""
    if not measures:
        return []
    width = max(map(len, measures))
    lines = ["", f"{'measure':{width}}     value  unit"]
    for name, one in measures.items():
        value = "none" if one["value"] is None else f"{one['value']:.4f}"
        said = "; ".join((one["title"], one["direction"], one["needs"]))
        lines.append(f"{name:{width}}  {value:>8}  {one['unit']:8}  {said}")
        if one["caution"]:
            lines.append(f"{'':{width}}  {one['caution']}")
    return lines
