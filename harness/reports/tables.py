"""Tables for people: our EER beside the published one, in Markdown."""

from __future__ import annotations

from typing import Any

import pandas as pd

from harness.protocols.protocol import Protocol
from harness.reports.published import published_beside

# Below the table: the columns are short, since they have to fit on a phone.
LEGEND = (
    "spread: the standard deviation of the mean over seeds, in points; one seed shows none. The "
    "values of each seed: `averages.csv`."
)
SCENARIO_ORDER = ("original", "ignorant", "lazy-informed", "semi-informed")


def markdown(protocol: Protocol, averages_table: pd.DataFrame, eer_table: pd.DataFrame) -> str:
    """One row per system, attacker, scenario and split: f, m and mean over seeds, the spread of the
    mean, the number of seeds, published.

    The published value is shown where it means the same: original and semi-informed scenarios.
    Beside a published value that was cut instead of rounded stands ours made the same way.
    """
    header = [
        *("system", "attacker", "scenario", "split"),
        *("f", "m", "mean", "spread", "seeds", "published"),
    ]
    lines = [
        f"# {protocol.title}: EER in percent",
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---|" * 4 + "---:|" * 6,
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
        beside = published_beside(protocol, system, scenario, split, by_list.to_list())
        cells = [
            system,
            attacker,
            scenario,
            split,
            *(f"{by_gender[g]:.2f}" if g in by_gender else "" for g in ("f", "m")),
            f"{values.mean():.2f}",
            f"{values.std():.2f}" if len(values) > 1 else "none",
            str(len(values)),
            beside.text if beside else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", LEGEND]) + "\n"
