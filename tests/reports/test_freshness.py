"""Hashes of the workspace, held against those that DVC itself wrote."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.errors import ConfigError, IntegrityError
from harness.reports.freshness import path_md5, require_fresh
from harness.reports.lockfile import Stage


def test_hashes_are_those_of_dvc(tmp_path: Path) -> None:
    # `dvc add` of DVC 3.67 on this folder. "sub-a" sorts before "sub/a.txt", as text.
    for name, text in {
        "b.txt": "one\n",
        "sub/a.txt": "two\n",
        "ä.txt": "drei\n",
        "a-b": "x",
        "sub-a": "y",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text.encode())
    (tmp_path / "empty").mkdir()
    assert path_md5(tmp_path) == "91abfd379f0703f9a2896632f9e91646.dir"
    assert path_md5(tmp_path / "b.txt") == "5bbf5a52328e7439ae6e719dfe712200"


def test_numbers_that_are_equal_to_dvc(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"")
    stage = Stage(
        "c",
        {},
        {"attackers.a.crop": "2.0"},
        {"out": hashlib.md5(b"").hexdigest()},
        {"params.yaml": {"attackers.a": {"crop": 2.0}}},
    )
    (tmp_path / "params.yaml").write_text("attackers: {a: {crop: 2}}\n")
    require_fresh({"train": stage}, "demo", tmp_path)
    (tmp_path / "params.yaml").write_text("attackers: {a: {crop: 3}}\n")
    with pytest.raises(IntegrityError, match=r"stale: train: params attackers\.a\.crop 2\.0 -> 3;"):
        require_fresh({"train": stage}, "demo", tmp_path)


def test_no_parameters(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"params\.yaml: no such file; run from the repository"):
        require_fresh({}, "demo", tmp_path)
