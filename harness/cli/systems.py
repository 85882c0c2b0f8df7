"""`harness systems`: the anonymization systems of the challenges, and which of them run here."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from harness.cli.output import show

if TYPE_CHECKING:
    from harness.pipeline.systems import Standing
    from harness.protocols.systems import Measured, System

UNKNOWN = "not known"
HEAD = ("system", "family", "editions", "level", "how it could run here", "status")
GAP = "  "


def register(commands: Any) -> None:
    """Add `systems`."""
    systems = commands.add_parser(
        "systems", help="the anonymization systems of the challenges, and which run here"
    )
    systems.add_argument("system", nargs="?", help="tell everything that is known of this one")
    systems.add_argument("--json", action="store_true", help="write JSON")
    systems.set_defaults(handler=run)


def run(parsed: argparse.Namespace) -> int:
    from harness.pipeline.systems import look, standings
    from harness.protocols.systems import everything, find
    from harness.submissions.shown import json_text

    here = look()
    chosen = everything() if parsed.system is None else (find(parsed.system),)
    found = [(system, standings(system, here)) for system in chosen]
    if parsed.json:
        documents = [_document(system, ways) for system, ways in found]
        show(json_text(documents if parsed.system is None else documents[0]))
    elif parsed.system is None:
        show(_table(found))
    else:
        show(_page(*found[0]))
    return 0


def _document(system: System, found: list[Standing]) -> dict[str, Any]:
    from harness.pipeline.systems import chief
    from harness.protocols.systems import sources

    titles = sources()
    best = chief(found)
    named = sorted({cited.partition(", ")[0] for cited in system.cited()})
    return {
        **dataclasses.asdict(system),
        "ways": [dataclasses.asdict(one) for one in found],
        "status": best.status,
        "runs": best.runs,
        "sources": {name: titles[name] for name in named},
    }


def _table(found: list[tuple[System, list[Standing]]]) -> str:
    from harness.pipeline.systems import chief

    rows = [HEAD]
    for system, ways in found:
        best = chief(ways)
        kinds = [one.status for one in ways if one.way.of == "its kind" and one is not best]
        rows.append(
            (
                system.name,
                system.family or UNKNOWN,
                ", ".join(system.editions),
                system.level.value if system.level else UNKNOWN,
                best.way.how,
                "; ".join([best.status, *kinds]),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", "`harness systems NAME` tells everything of one.", ""])


def _page(system: System, found: list[Standing]) -> str:
    from harness.protocols.systems import sources

    code, level, reference = system.code, system.level, system.reference
    lines = [
        system.name,
        f"  family     {system.family or UNKNOWN}",
        f"  editions   {', '.join(system.editions)}",
        f"  team       {system.team or UNKNOWN}",
        f"  level      {f'{level.value} [{level.source}]' if level else UNKNOWN}",
        f"  reference  {f'{reference.text} [{reference.source}]' if reference else UNKNOWN}",
    ]
    if code is None:
        lines.append(f"  code       {UNKNOWN}")
    else:
        lines += [
            f"  code       {code.repository} at {code.commit} [{code.source}]",
            f"             {code.entry}",
            f"             licence: {code.licence or UNKNOWN}",
        ]
    lines += ["", "what sources say"]
    lines += [f"  {one.text} [{one.source}]" for one in system.says]
    if system.disagreements:
        lines += ["", "where they disagree", *(f"  {text}" for text in system.disagreements)]
    if system.weights:
        lines += ["", "weights"]
    for one in system.weights:
        lines += [
            f"  {one.name}: {one.of} [{one.source}]",
            f"    sha256: {one.sha256 or UNKNOWN}; licence: {one.licence or UNKNOWN}",
        ]
    lines += ["", "how it could run here"]
    for way in found:
        lines += [f"  {way.way.how}, {way.way.of}: {way.status}", *(f"    {s}" for s in way.todo)]
    lines += ["", "published values, in percent", *(_published(system.published))]
    titles = sources()
    named = sorted({cited.partition(", ")[0] for cited in system.cited()})
    lines += ["", "sources", *(f"  {name}: {titles[name]}" for name in named), ""]
    return "\n".join(lines)


def _published(values: tuple[Measured, ...]) -> list[str]:
    if not values:
        return [f"  {UNKNOWN}"]
    lines = []
    for one in values:
        numbers = ", ".join(
            value if name == "whole" else f"{name} {value}" for name, value in one.values().items()
        )
        attacker = f" of {one.attacker}" if one.attacker else ""
        split = one.split or "split not told"
        lines.append(f"  {one.measure}{attacker}, {one.over}, {split}: {numbers} [{one.source}]")
    return lines
