"""How an edition ranks, as data: `rankings/<edition>.yaml`.

The plans of the challenges say what is ranked and what is not. What a plan leaves open is decided
in the same file, and told with the ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError
from harness.protocols import protocol
from harness.protocols.conditions import AnonymizerRanking
from harness.protocols.protocol import Protocol
from harness.protocols.typed import build, did_you_mean, read_yaml

FOLDER = Path(str(resources.files("harness.protocols") / "rankings"))


@dataclass(frozen=True)
class OverallRule:
    """How the ranks of all systems become one. top: how many are invited."""

    rule: Literal["mean-rank"]
    top: int


@dataclass(frozen=True)
class AttackerRanking:
    """Attackers ranked for each system: the lower mean EER of the lists of a split, the better.

    rank_by: that split. team_entry: which one of several entries of a team counts; `best` has the
    lowest EER.
    """

    kind: Literal["attackers"]
    rank_by: str
    team_entry: Literal["best"] = "best"
    overall: OverallRule | None = None


# By the `kind` of a file.
KINDS: dict[str, type[AttackerRanking] | type[AnonymizerRanking]] = {
    "attackers": AttackerRanking,
    "anonymizers": AnonymizerRanking,
}


def load(name: str) -> AttackerRanking | AnonymizerRanking:
    """How the edition of that name ranks; one without a file ranks attackers by its last average.

    Raises ConfigError for an unknown name or a malformed file.
    """
    if name in names():
        path = FOLDER / f"{name}.yaml"
        content: dict[str, Any] = read_yaml(path)
        kind = KINDS.get(str(content.get("kind")))
        if kind is None:
            raise ConfigError(
                f"no ranking of the kind {content.get('kind')!r}",
                where=path.name,
                fix=did_you_mean(str(content.get("kind")), KINDS),
            )
        return build(kind, content, path.name)
    known = {*names(), *protocol.names()}
    if name not in known:
        raise ConfigError(
            f"unknown benchmark {name!r}", where="--benchmark", fix=did_you_mean(name, known)
        )
    return usual(protocol.load(name))


def usual(edition: Protocol) -> AttackerRanking:
    """The ranking of an edition that says nothing of it."""
    return AttackerRanking("attackers", edition.averages[-1].split)


def names() -> list[str]:
    """Names of all editions with a ranking of their own, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))
