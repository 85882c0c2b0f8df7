"""Files of a repository as they were committed."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from harness.errors import ConfigError, DataError, ResourceError


@dataclass(frozen=True)
class Commit:
    """revision: as it was asked for. sha: the commit's name. root: a folder of the repository."""

    revision: str
    sha: str
    root: Path

    def read(self, path: PurePosixPath) -> bytes:
        """The bytes of a path relative to `root`. Raises DataError where it is not committed."""
        blob = _git(self.root, "cat-file", "blob", f"{self.sha}:./{path}")
        if blob.returncode != 0:
            raise DataError(
                f"not committed at {self.revision}", where=path, fix="name another revision"
            )
        return blob.stdout


def find_commit(revision: str, root: Path = Path()) -> Commit:
    """The commit that a revision names. Raises ConfigError; ResourceError without git."""
    name = f"{revision}^{{commit}}"
    found = _git(root, "rev-parse", "--verify", "--end-of-options", name)
    if found.returncode != 0:
        raise ConfigError(
            f"git finds no such commit ({found.stderr.decode(errors='replace').strip()})",
            where=f"revision {revision!r}",
            fix="run it in a clone of the repository, or name another revision",
        )
    return Commit(revision, found.stdout.decode().strip(), root)


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise ResourceError("git is not installed", fix="install it") from error
