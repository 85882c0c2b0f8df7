from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import DataError
from harness.tracking.fields import (
    PARAMETER_CHARACTERS,
    field_name,
    flattened,
    run_tags,
    shortened,
    source_tags,
)
from harness.tracking.quiet import quietly


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Someone", "-c", "user.email=someone@example.org"]
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("eer/lazy-informed/test/f", "eer/lazy-informed/test/f"),
        ("train loss: mean", "train loss: mean"),
        ("α=0.9%", "α_0.9_"),
        ("/a//b/./c/", "a/b/c"),
        ("../../etc", "__/__/etc"),
        ("..a", "__a"),
        ("", "_"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert field_name(text) == name


@pytest.mark.heavy
@settings(deadline=None)
@given(st.text(st.sampled_from("a./- é\n%"), max_size=300))
def test_mlflow_takes_every_name(text: str) -> None:
    with quietly({}):
        from mlflow.utils.validation import _validate_metric_name

    name = field_name(text)
    assert len(name) <= 250
    _validate_metric_name(name)


def test_parameters_are_flattened() -> None:
    nested = {
        "train": {"epochs": 6, "channels": [64, 192], "rate": {"max": 0.003}},
        "level": "utterance",
        "device": None,
        "strict": True,
        "extra": {},
    }
    assert flattened(nested) == {
        "train.epochs": "6",
        "train.channels": "[64, 192]",
        "train.rate.max": "0.003",
        "level": "utterance",
        "device": "null",
        "strict": "true",
        "extra": "{}",
    }


def test_long_values_are_cut_to_the_limit_and_stay_different() -> None:
    one, other = ("x" * PARAMETER_CHARACTERS + end for end in "ab")
    assert shortened(one[:-1], PARAMETER_CHARACTERS) == one[:-1]
    assert len(shortened(one, PARAMETER_CHARACTERS)) == PARAMETER_CHARACTERS
    assert shortened(one, PARAMETER_CHARACTERS) != shortened(other, PARAMETER_CHARACTERS)


def test_run_event_without_a_key_is_refused() -> None:
    with pytest.raises(DataError, match="run event without 'key'"):
        run_tags({"event": "run", "stage": "train", "benchmark": "demo"})


def test_source_is_the_commit_and_whether_it_was_changed(tmp_path: Path) -> None:
    unknown = {"mlflow.source.git.commit": "unknown", "harness.dirty": "unknown"}
    assert source_tags(tmp_path) == unknown
    git(tmp_path, "init", "-q")
    assert source_tags(tmp_path) == unknown
    for name in ("code.py", "dvc.lock"):
        (tmp_path / name).write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    commit = git(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "dvc.lock").write_text("2")
    assert source_tags(tmp_path) == {"mlflow.source.git.commit": commit, "harness.dirty": "false"}
    (tmp_path / "notes.txt").write_text("1")
    assert source_tags(tmp_path)["harness.dirty"] == "false"
    for name in ("harness/new/module.py", "params.yaml", "dvc.yaml"):
        new = tmp_path / name
        new.parent.mkdir(parents=True, exist_ok=True)
        new.write_text("1")
        assert source_tags(tmp_path)["harness.dirty"] == "true", f"{name} is new"
        new.unlink()
    (tmp_path / "code.py").write_text("2")
    assert source_tags(tmp_path) == {"mlflow.source.git.commit": commit, "harness.dirty": "true"}
