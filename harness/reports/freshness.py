"""Whether the workspace is what its `dvc.lock` says: every input and output hashed again.

A lock alone proves nothing about the files beside it: it stays behind when code, parameters or
outputs change and `dvc repro` is not run. Inputs that only `dvc.yaml` names are not seen here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import DataError, IntegrityError
from harness.protocols.typed import read_yaml
from harness.reports.lockfile import Stage, differing_inputs, flat_params

PARAMETERS_FILE = "params.yaml"
FOLDER_SUFFIX = ".dir"


def path_md5(path: Path) -> str:
    """The hash under which DVC 3 locks a file (MD5 of its bytes) or a folder.

    A folder's is the MD5 of the JSON list of its files by relative path, with `.dir` behind it.
    Raises FileNotFoundError.
    """
    if not path.is_dir():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, _md5).hexdigest()
    files = {p.relative_to(path).as_posix(): p for p in path.rglob("*") if p.is_file()}
    listing = [{"md5": path_md5(files[name]), "relpath": name} for name in sorted(files)]
    digest = _md5(json.dumps(listing, sort_keys=True).encode())
    return f"{digest.hexdigest()}{FOLDER_SUFFIX}"


def _md5(data: bytes = b"") -> Any:
    return hashlib.md5(data, usedforsecurity=False)


def require_fresh(stages: Mapping[str, Stage], benchmark: str, root: Path) -> None:
    """Hold a lock against the workspace `root`; stages: in pipeline order, as in its lock.

    Raises DataError when an output is not there, and IntegrityError with the first stage whose
    parameters, dependencies or outputs are not the locked ones. Reads every byte of the benchmark.
    """
    for stage in stages.values():
        for out in stage.outs:
            # A fresh clone has the tables and the lock, but has rebuilt nothing.
            if not (root / out).exists():
                raise DataError("nothing rebuilt here", where=out, fix="run `dvc repro`")
    hashes: dict[str, str] = {}

    def found(paths: Mapping[str, str]) -> dict[str, str]:
        for path in paths.keys() - hashes.keys():
            if (root / path).exists():
                hashes[path] = path_md5(root / path)
        return {path: hashes[path] for path in paths if path in hashes}

    files = {file for stage in stages.values() for file in stage.settings}
    contents = {file: _content(root / file) for file in files}
    contents[PARAMETERS_FILE] = _parameters(benchmark, root)
    for name, stage in stages.items():
        actual = replace(stage, deps=found(stage.deps), params=_params(stage, contents))
        if (actual.deps, actual.params) != (stage.deps, stage.params):
            raise _stale(name, differing_inputs(stage, actual))
        for out, md5 in found(stage.outs).items():
            if md5 != stage.outs[out]:
                raise _stale(name, f"{out} has md5 {md5} (expected {stage.outs[out]})")


def _stale(stage: str, what: str) -> IntegrityError:
    return IntegrityError(f"rebuilt results are stale: {stage}: {what}", fix="run `dvc repro`")


def _content(path: Path) -> dict[str, Any]:
    """The content of a file of parameters; nothing where it is not there."""
    return read_yaml(path) if path.exists() else {}


def _parameters(benchmark: str, root: Path) -> dict[str, Any]:
    """params.yaml as it is for `benchmark`, which need not be the one chosen there."""
    content = read_yaml(root / PARAMETERS_FILE)
    blocks = content.get("benchmarks")
    chosen = content.get("benchmark")
    if isinstance(chosen, dict) and chosen.get("name") == benchmark:
        return content
    block = blocks.get(benchmark) if isinstance(blocks, dict) else None
    return {**content, "benchmark": block}


def _params(stage: Stage, contents: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The parameters of `stage`, with the values that they have in `contents`, by file."""
    params: dict[str, str] = {}
    for file, settings in stage.settings.items():
        for name, locked in settings.items():
            value: Any = contents[file]
            for key in name.split("."):
                if not isinstance(value, dict) or key not in value:
                    break
                value = value[key]
            else:
                # 2 and 2.0 are the same to DVC, which then runs nothing.
                params |= flat_params(name, locked if value == locked else value)
    return params
