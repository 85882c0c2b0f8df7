"""What a person reads of a run in the MLflow UI: its name, and its description in Markdown.

The UI makes links, pictures and tables of Markdown, and names of systems and submissions may be a
stranger's. So every word that is not ours stands in a code span, where Markdown does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.runtime.containers.fence import shown
from harness.runtime.events import Event
from harness.tracking.fields import NAME_CHARACTERS, TAG_CHARACTERS, shortened

# In the order in which they tell runs apart.
NAMED_BY = ("submission", "system", "attacker", "evaluator", "seed")
FACTS = ("benchmark", *NAMED_BY, "verdict", "device")
MEANINGS = {
    "train": "An attacker trained on the speech of one system.",
    "score": "One attacker's scores of every list in every scenario of one system.",
    "utility": "What anonymized speech of one system still is good for, by one evaluator.",
    "verify": "A submission: the EERs that its scores give, beside those that it claims.",
    "leaderboard": "The benchmark's EERs side by side, each the mean over seeds.",
}
EER_PREFIX = "eer/"
MOST_COLUMNS = 8
# The UI leaves no space between the columns of a table.
GAP = "&ensp;"
ELSEWHERE = "*The rest is in the metrics and files of this run.*"


@dataclass
class Told:
    """What a run's description is made of.

    run: its `run` event. metrics: the last value of each. dvc_stage: its name in dvc.yaml.
    place: folder of its files, relative to the repository; None where they are elsewhere.
    notes: warnings and errors, one line each.
    """

    run: Event
    dvc_stage: str
    metrics: dict[str, float] = field(default_factory=dict)
    place: str | None = None
    notes: list[str] = field(default_factory=list)


def run_name(event: Event) -> str:
    """`score b2 · ecapa · seed 1986`: stage and what tells its runs apart, else the benchmark."""
    parts = [
        f"seed {event[name]}" if name == "seed" else str(event[name])
        for name in NAMED_BY
        if name in event
    ]
    name = shown(f"{event['stage']} {' · '.join(parts) or event['benchmark']}")
    return shortened(name, NAME_CHARACTERS)


def literal(text: object) -> str:
    """A stranger's word in Markdown, also in a table: a code span, on one line, at most 200 long.

    What would end the span or the table's cell is escaped, as are control characters.
    """
    safe = shown(str(text)).replace("`", "\\x60").replace("|", "\\x7c")
    return f"`{safe or ' '}`"


def description(told: Told) -> str:
    """What the run is, its EERs, where its files are, and what went wrong: Markdown.

    At most TAG_CHARACTERS long, which is what MLflow takes: whole lines are left out at the end.
    """
    stage = told.run["stage"]
    facts = [f"{name} {literal(told.run[name])}" for name in FACTS if name in told.run]
    files = [] if told.place is None else [f"files {literal(told.place)}"]
    blocks = [
        *([MEANINGS[stage]] if stage in MEANINGS else []),
        " · ".join(facts),
        *(f"- {literal(note)}" for note in told.notes),
        *_table(told.metrics),
        " · ".join([*files, f"DVC stage {literal(told.dvc_stage)}"]),
    ]
    return _fitting(blocks, TAG_CHARACTERS)


def _table(metrics: Mapping[str, float]) -> list[str]:
    """EERs: the last part of a metric's name is its column, what stands before it its row."""
    cells: dict[str, dict[str, float]] = {}
    for name, value in metrics.items():
        if name.startswith(EER_PREFIX):
            row, _, column = name.removeprefix(EER_PREFIX).rpartition("/")
            cells.setdefault(row, {})[column] = value
    columns = list(dict.fromkeys(column for row in cells.values() for column in row))
    if not columns:
        return []
    kept = columns[:MOST_COLUMNS]
    lines = [
        "| EER in percent | " + " | ".join(f"{GAP}{literal(name)}" for name in kept) + " |",
        "|---|" + "---:|" * len(kept),
    ]
    for row, values in cells.items():
        numbers = (f"{GAP}{values[column]:.2f}" if column in values else "" for column in kept)
        lines.append(f"| {literal(row)} | " + " | ".join(numbers) + " |")
    return ["\n".join(lines), *([ELSEWHERE] if columns != kept else [])]


def _fitting(blocks: Sequence[str], limit: int) -> str:
    """Blocks as paragraphs; a cut is between lines, so that no code span is left open."""
    text = "\n\n".join(blocks)
    if len(text) <= limit:
        return text
    end = text.rindex("\n", 0, limit - len(ELSEWHERE) - 2)
    return f"{text[:end]}\n\n{ELSEWHERE}"
