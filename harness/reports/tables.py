"""Tables for people: our EER beside the published one, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from harness.protocols.protocol import Protocol
from harness.reports.evaluation import published_average

SCENARIO_ORDER = ("original", "ignorant", "lazy-informed", "semi-informed")


def markdown(protocol: Protocol, averages_table: pd.DataFrame, eer_table: pd.DataFrame) -> str:
    """One row per system, attacker, scenario and split: f, m, mean, spread over seeds, published.

    The published value is shown where it means the same: original and semi-informed scenarios.
    Beside a published value that was cut instead of rounded stands ours made the same way.
    """
    header = ["system", "attacker", "scenario", "split", "f", "m", "mean", "seeds", "published"]
    lines = [
        f"# {protocol.title}: EER in percent",
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---|" * 4 + "---:|" * 5,
    ]
    order = {name: place for place, name in enumerate(SCENARIO_ORDER)}
    groups = averages_table.groupby(["system", "attacker", "scenario", "split"])["eer_percent"]
    systems = list(dict.fromkeys(averages_table["system"]))
    keys: Any = groups.groups
    for key in sorted(keys, key=lambda k: (systems.index(k[0]), k[1], order[k[2]], k[3])):
        system, attacker, scenario, split = key
        values = groups.get_group(key)
        rows = eer_table[
            (eer_table["system"] == system)
            & (eer_table["attacker"] == attacker)
            & (eer_table["scenario"] == scenario)
            & (eer_table["split"] == split)
        ]
        by_gender = rows.groupby("gender")["eer_percent"].mean()
        by_list = rows.groupby(["dataset", "gender"])["eer_percent"].mean()
        seeds = " / ".join(f"{value:.2f}" for value in values) if len(values) > 1 else "1 seed"
        cells = [
            system,
            attacker,
            scenario,
            split,
            *(f"{by_gender[g]:.2f}" if g in by_gender else "" for g in ("f", "m")),
            f"{values.mean():.2f}",
            seeds,
            _published(protocol, system, scenario, split, by_list.to_list()),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _published(
    protocol: Protocol, system: str, scenario: str, split: str, eers: Sequence[float]
) -> str:
    """The published average; with ours made the same way, where only that gives the same number."""
    if scenario not in ("original", "semi-informed"):
        return ""
    for published in protocol.published:
        if (published.system, published.split, published.gender) == (system, split, "mean"):
            cell = f"{published.eer_percent:.2f}"
            printed_from = next(a.printed_from for a in protocol.averages if a.split == split)
            if printed_from is None or f"{sum(eers) / len(eers):.2f}" == cell:
                return cell
            # Some published averages are cut, others rounded: a cut one is no disagreement.
            ours = f"{published_average(eers, printed_from):.2f}"
            return f"{cell} (ours the published way: {ours})" if ours == cell else cell
    return ""
