"""Where speech from outside lies, or one line that says how to name the place."""

from __future__ import annotations

import os
from pathlib import Path

from harness.errors import ConfigError


def need(folder: Path | None, variable: str, setting: str, what: str) -> Path:
    """The folder itself. Raises ConfigError where it was not named, or is not there.

    variable, setting: what names it, in the environment and in params.yaml. what: it holds.
    """
    if folder is None:
        raise ConfigError(
            f"where is {what}?",
            where=f"params.yaml: {setting}",
            fix=f"set it, or the environment variable {variable}",
        )
    if not folder.is_dir():
        # The variable wins over the file.
        named = f"environment variable {variable}" if os.environ.get(variable) else None
        raise ConfigError(
            f"no such folder: {folder}",
            where=named or f"params.yaml: {setting}",
            fix="mend it" if named else f"mend it or {variable}",
        )
    return folder
