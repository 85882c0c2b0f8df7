"""The stage `evaluate`: EERs of one run from its score files alone."""

from __future__ import annotations

from harness.pipeline.context import Context
from harness.pipeline.scored import figures, means, read_scored, run_columns, scenario_models
from harness.reports import evaluation as ev
from harness.runtime.files import write_text


def run(context: Context, system: str, attacker: str, seed: int) -> str:
    """Evaluate; returns the line that tells a person what came out."""
    scenarios = scenario_models(context, system, attacker, seed)
    scored = read_scored(context, scenarios, context.layout.scores(system, attacker, seed))
    columns = run_columns(context, system, attacker, seed)
    table = means(context, system, attacker, seed, scored)
    target = context.layout.evaluation(system, attacker, seed)
    write_text(target / ev.EER_FILE, ev.to_csv(ev.eer_rows(columns, scored)))
    write_text(target / ev.AVERAGES_FILE, ev.to_csv(table))
    write_text(target / ev.DET_FILE, ev.to_csv(ev.det_rows(columns, scored)))
    return f"evaluate {context.benchmark.name} {system} {attacker} {seed}: {figures(table)}"
