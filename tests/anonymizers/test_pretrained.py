"""Files of the user's: what is told of them, in the order in which a person can mend it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from harness.anonymizers import pretrained
from harness.anonymizers.pretrained import require_pinned
from harness.errors import ConfigError, IntegrityError
from harness.runtime.files import sha256_file

FILES = ("wavlm/config.json", "g.pt")


def require(folder: Path, sha256: str | None, files: tuple[str, ...] = FILES) -> None:
    require_pinned(str(folder), files, sha256, "weights_sha256", "knn")


def model(folder: Path) -> Path:
    (folder / "wavlm").mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(f"of {name}", encoding="utf-8")
    return folder


def test_the_folder_comes_before_its_files_and_these_before_the_hash(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    with pytest.raises(ConfigError, match=f"^knn: no folder {folder}; put a model there"):
        require(folder, None)
    folder.mkdir()
    with pytest.raises(ConfigError, match=f"^knn: {folder} lacks wavlm/config.json, g.pt; put"):
        require(folder, None)
    folder.rmdir()
    model(folder)
    with pytest.raises(ConfigError, match="^knn: weights_sha256 is missing; give the first word"):
        require(folder, None)
    with pytest.raises(ConfigError, match="^knn: weights_sha256 is 'ab'; give the first word that"):
        require(folder, "ab")
    with pytest.raises(IntegrityError, match=f"^knn: the sha256 of {folder} is .*, not 0000"):
        require(folder, "0" * 64)


def test_the_command_that_is_told_prints_the_hash(tmp_path: Path) -> None:
    folder = model(tmp_path / "my weights")
    with pytest.raises(ConfigError, match="the first word that `cd .*` prints") as told:
        require(folder, None)
    (command,) = re.findall("`(.*)`", str(told.value))
    # From anywhere, as a person would type it.
    said = subprocess.run(
        command, shell=True, cwd="/", capture_output=True, text=True, check=True
    ).stdout
    require(folder, said.split()[0])


def test_files_are_hashed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[str] = []

    def counted(path: Path) -> str:
        hashed.append(path.name)
        return sha256_file(path)

    monkeypatch.setattr(pretrained, "sha256_file", counted)
    folder = model(tmp_path)
    # Whatever comes of it: two entries may name the same files, with a wrong hash in either.
    for sha256 in ("0" * 64, "1" * 64):
        with pytest.raises(IntegrityError, match=f"not {sha256}"):
            require(folder, sha256)
    assert hashed == ["config.json", "g.pt"]
    # What is gone is told all the same.
    (folder / "g.pt").unlink()
    with pytest.raises(ConfigError, match="lacks g.pt"):
        require(folder, "0" * 64)
