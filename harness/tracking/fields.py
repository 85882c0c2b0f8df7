"""What of an event becomes which field of an MLflow run; within MLflow's limits, without MLflow."""

from __future__ import annotations

import json
import posixpath
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.errors import DataError
from harness.runtime.events import FILE_NAME, Event
from harness.runtime.files import sha256_bytes

# MLflow's limits (mlflow.utils.validation).
NAME_CHARACTERS = 250
PARAMETER_CHARACTERS = 6000
TAG_CHARACTERS = 8000
DIGEST_CHARACTERS = 36

UNKNOWN = "unknown"
GIT_SECONDS = 20
# A pipeline that runs rewrites it after each stage: that is no change of the code.
LOCK_FILE = "dvc.lock"
# What determines results: here a file that git does not know yet is a change too.
CODE = ("harness", "params.yaml", "dvc.yaml")
TAGS_OF_RUN_EVENT = (
    *("stage", "key", "benchmark", "submission", "verdict"),
    *("system", "attacker", "evaluator", "seed", "device"),
)


def field_name(text: str) -> str:
    """A name of a metric, parameter or tag that MLflow accepts: others' characters become `_`."""
    name = posixpath.normpath(re.sub(r"[^\w.\-/: ]", "_", text)).strip("/")
    # MLflow takes a name for a path, and every name that begins so for one that leads outside.
    name = re.sub(r"^\.\.|(?<=/)\.\.(?=/|$)", "__", name)
    return shortened(name if name not in ("", ".") else "_", NAME_CHARACTERS)


def shortened(text: str, limit: int) -> str:
    """A text of at most `limit` characters; a cut leaves a hash, so no two get equal.

    What no database takes becomes `?`: the lone surrogates of a file's name that is not UTF-8.
    """
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= limit:
        return text
    mark = f"...{sha256_bytes(text.encode())[:16]}"
    return text[: limit - len(mark)] + mark


def flattened(parameters: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested parameters as `outer.inner: text`; lists, and empty mappings, as JSON."""
    flat: dict[str, str] = {}
    for key, value in parameters.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            flat |= flattened(value, f"{name}.")
        else:
            text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            flat[field_name(name)] = shortened(text, PARAMETER_CHARACTERS)
    return flat


def run_tags(event: Event) -> dict[str, str]:
    """Tags that a `run` event gives; raises DataError when it lacks what every run has."""
    for name in ("stage", "key", "benchmark"):
        if not isinstance(event.get(name), str):
            raise DataError(
                f"a run event without {name!r}", where=FILE_NAME, fix="run the stage again"
            )
    tags = {f"harness.{name}": str(event[name]) for name in TAGS_OF_RUN_EVENT if name in event}
    for package, version in event.get("versions", {}).items():
        tags[field_name(f"harness.version.{package}")] = str(version)
    return tags


def source_tags(root: Path) -> dict[str, str]:
    """Commit of the code and whether it was changed since; `unknown` outside a git repository."""
    commit = _git(root, "rev-parse", "HEAD")
    changes = _git(
        root, "status", "--porcelain", "--untracked-files=no", "--", ".", f":(exclude){LOCK_FILE}"
    )
    added = _git(root, "ls-files", "--others", "--exclude-standard", "--", *CODE)
    if commit is None or changes is None or added is None:
        return unknown_source_tags()
    dirty = bool(changes or added)
    return {"mlflow.source.git.commit": commit, "harness.dirty": str(dirty).lower()}


def unknown_source_tags() -> dict[str, str]:
    """For runs made from files: nothing says which code wrote them."""
    return {"mlflow.source.git.commit": UNKNOWN, "harness.dirty": UNKNOWN}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        finished = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=GIT_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return finished.stdout.strip() if finished.returncode == 0 else None
