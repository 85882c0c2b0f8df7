"""Anonymizers that are made of others.

A part is an entry as params.yaml has it (`{type: knn-vc, k: 8}`; an anchor of YAML saves writing it
twice). It works at the level of the whole, on the jobs of the whole: so what a part makes of an
utterance is what it would make of it alone.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from harness.anonymizers.base import KIND, Anonymizer, Level, aimed, load
from harness.errors import ConfigError
from harness.protocols.typed import shown
from harness.runtime import plugins

# What params.yaml gives for a part: a mapping, or `Composite` says what it has to be.
Entry = Any


@dataclass(frozen=True, kw_only=True)
class Composite(ABC):
    """What composed systems share. Raises ConfigError as `load` does, and for another level."""

    name: ClassVar[str]
    # It works in this process; a part that is an image does so in its container.
    image: ClassVar[str | None] = None
    level: Level = "utterance"

    @abstractmethod
    def entries(self) -> Mapping[str, Entry]:
        """The entries of its parts, by parameter."""

    def __post_init__(self) -> None:
        self._set_parts([self._loaded(*one) for one in self.entries().items()])

    @property
    def parts(self) -> Sequence[Anonymizer]:
        """The systems it is made of, in the order of the entries."""
        parts: Sequence[Anonymizer] = self.__dict__["_parts"]
        return parts

    def aimed(self, targets: Path) -> Self:
        """The same system, its parts with their target speakers."""
        other = copy.copy(self)
        other._set_parts([aimed(part, targets) for part in self.parts])
        return other

    def _set_parts(self, parts: Sequence[Anonymizer]) -> None:
        # No field: it is no parameter, and follows from them.
        self.__dict__["_parts"] = tuple(parts)

    def _loaded(self, parameter: str, entry: Entry) -> Anonymizer:
        if not isinstance(entry, Mapping):
            raise ConfigError(
                f"expected the entry of a system, found {shown(entry)}",
                where=parameter,
                fix="write `{type: …}` itself, or YAML's anchor of an entry: `&NAME` there, "
                "`*NAME` here",
            )
        if entry.get("level", self.level) != self.level:
            raise ConfigError(
                f"the level of a part is {entry['level']!r}, that of the whole {self.level!r}",
                where=parameter,
                fix="leave it out there",
            )
        if _has_level(entry):
            entry = {**entry, "level": self.level}
        try:
            return load(parameter, entry)
        except ConfigError as error:
            # Its place is in the whole, which has a name of its own.
            where = str(error.where).removeprefix("params.yaml: anonymizers.")
            raise ConfigError(error.what, where=where, fix=error.fix) from error


def _has_level(entry: Mapping[str, Any]) -> bool:
    """Whether the type of an entry has that parameter; False for what cannot be loaded."""
    kind = plugins.registered(KIND.group, str(entry.get("type")))
    return is_dataclass(kind) and any(field.name == "level" for field in fields(kind))
