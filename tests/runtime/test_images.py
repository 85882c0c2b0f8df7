"""docker/images.lock: which image runs, and the one line where it is not the one that is here."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.errors import ConfigError
from harness.runtime import images
from harness.runtime.files import code_fingerprint
from harness.runtime.images import Image, locked, usable

DIGEST, OTHER = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
PACKAGES = b"numpy==2.4.6\n"
ENTRY = {
    "digest": DIGEST,
    "lock_sha256": hashlib.sha256(PACKAGES).hexdigest(),
    "code_sha256": code_fingerprint(),
}
LOCK: dict[str, Any] = {
    "process": {"anonymizer": "none", "attacker": "none"},
    "docker": {"base": OTHER, "attacker": {"attacker": ENTRY}, "verifier": {"verifier": ENTRY}},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one image of an attacker."""
    write(tmp_path, LOCK)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/attacker.lock").write_bytes(PACKAGES)
    return tmp_path


def write(root: Path, content: object) -> None:
    (root / "docker").mkdir(exist_ok=True)
    (root / "docker/images.lock").write_text(yaml.safe_dump(content), encoding="utf-8")


def engine(monkeypatch: pytest.MonkeyPatch, **digests: str) -> None:
    """Stands for the Docker engine: digests by tag, with `_` for `-`."""
    monkeypatch.setattr(images, "image_digest", lambda tag: digests[tag.replace("-", "_")])


def test_an_image_as_it_is_recorded(root: Path) -> None:
    image = locked("attacker", "attacker", root)
    assert image == Image("attacker", DIGEST, ENTRY["lock_sha256"], ENTRY["code_sha256"])
    assert image.tag == "harness-attacker"
    assert image.packages == Path("requirements/attacker.lock")


@pytest.mark.parametrize(
    "content",
    [
        {"process": LOCK["process"]},
        {"docker": None},
        {"docker": [ENTRY]},
        {"docker": {"anonymizer": {"attacker": ENTRY}}},
        {"docker": {"attacker": {"attacker": DIGEST}}},
        {"docker": {"attacker": {"attacker": {"digest": DIGEST}}}},
        {"docker": {"attacker": {"attacker": {**ENTRY, "digest": 7}}}},
    ],
)
def test_an_image_that_is_not_recorded(root: Path, content: object) -> None:
    write(root, content)
    with pytest.raises(
        ConfigError,
        match=r"^docker/images\.lock: no image of the attacker attacker; make images OFFLINE=1",
    ):
        locked("attacker", "attacker", root)


def test_no_lock(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^docker/images\.lock: no such file; make images"):
        locked("attacker", "attacker", tmp_path)


def test_the_recorded_image_is_the_one_here(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine(monkeypatch, harness_attacker=DIGEST)
    assert usable("attacker", "attacker", root).digest == DIGEST
    engine(monkeypatch, harness_attacker=OTHER)
    with pytest.raises(
        ConfigError,
        match=rf"^harness-attacker: is {OTHER} here, and {DIGEST} in docker/images\.lock; make im",
    ):
        usable("attacker", "attacker", root)


def test_an_image_of_other_packages(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine(monkeypatch, harness_attacker=DIGEST)
    (root / "requirements/attacker.lock").write_bytes(PACKAGES + b"scipy==1.17.1\n")
    with pytest.raises(
        ConfigError,
        match=r"^harness-attacker: was built from another requirements/attacker\.lock; make images",
    ):
        usable("attacker", "attacker", root)


def test_an_image_of_other_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine(monkeypatch, harness_attacker=DIGEST)
    monkeypatch.setattr(images, "code_fingerprint", lambda: "f" * 64)
    with pytest.raises(
        ConfigError,
        match=r"^harness-attacker: was built from other code of the harness; make images",
    ):
        usable("attacker", "attacker", root)
