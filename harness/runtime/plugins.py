"""Anonymizers, attackers and evaluators by name: classes that packages register as entry points."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from typing import Any

from harness.errors import ConfigError
from harness.protocols.typed import build, did_you_mean


@dataclasses.dataclass(frozen=True)
class Kind:
    """What can be plugged in. interface: a runtime-checkable protocol; needs: what it asks for."""

    noun: str
    group: str
    interface: type
    needs: str


def registered(group: str, type_name: str) -> Any:
    """What is registered under a name, not looked at further; None where nothing can be loaded."""
    with suppress(ImportError, AttributeError):
        for point in entry_points(group=group, name=type_name):
            return point.load()
    return None


def load(kind: Kind, name: str, entry: Mapping[str, Any]) -> Any:
    """The object that params.yaml calls `name`, from its entry (`type` and parameters).

    Raises ConfigError for an unknown type or parameter, a value out of range, or a registered class
    that cannot be imported or has not the interface.
    """
    found = {point.name: point for point in entry_points(group=kind.group)}
    where = f"params.yaml: {kind.noun}s.{name}"
    parameters = dict(entry)
    type_name = str(parameters.pop("type", ""))
    if type_name not in found:
        raise ConfigError(
            f"unknown {kind.noun} type {type_name!r}",
            where=where,
            fix=did_you_mean(type_name, found),
        )
    point = found[type_name]
    try:
        registered = point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"{point.value} cannot be imported ({error})", where=where, fix="install what it needs"
        ) from error
    fits = isinstance(registered, type) and dataclasses.is_dataclass(registered)
    try:
        made = build(registered, parameters, where) if fits else None
    except ConfigError as error:
        # What checks its values does not know the entry's name.
        place = str(error.where)
        if not place.startswith("params.yaml"):
            place = f"{where} ({place})"
        raise ConfigError(error.what, where=place, fix=error.fix) from error
    if not isinstance(made, kind.interface):
        raise ConfigError(
            f"{point.value} is no {kind.noun}",
            where=where,
            fix=f"make it a frozen dataclass with {kind.needs}",
        )
    return made
