"""Images of the harness's own systems: which ones docker/images.lock records, and are here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol, runtime_checkable

from harness.errors import ConfigError
from harness.protocols.typed import read_yaml
from harness.runtime.containers.engine import image_digest
from harness.runtime.files import code_fingerprint, sha256_file

Kind = Literal["anonymizer", "attacker"]

LOCK = Path("docker/images.lock")
# The part of the lock that speaks of images.
PART = "docker"
FIX = "make images OFFLINE=1, or BASE=IMAGE@sha256:…"


@runtime_checkable
class Imaged(Protocol):
    """A type of anonymizers or attackers that may have an image.

    image: name in docker/images.lock; None where nothing needs to be isolated.
    """

    image: ClassVar[str | None]


@dataclass(frozen=True)
class Image:
    """An image as docker/images.lock records it.

    digest: `sha256:…`. lock_sha256: of the lock of its packages when it was built. code_sha256:
    `code_fingerprint` of the harness in it.
    """

    name: str
    digest: str
    lock_sha256: str
    code_sha256: str

    @property
    def tag(self) -> str:
        """Its name on this machine."""
        return f"harness-{self.name}"

    @property
    def packages(self) -> Path:
        """The lock of the packages in it, relative to the repository."""
        return Path("requirements", f"{self.name}.lock")


def locked(kind: Kind, name: str, root: Path = Path()) -> Image:
    """What the lock says of an image. Raises ConfigError where it says nothing of it."""
    if not (root / LOCK).is_file():
        raise ConfigError("no such file", where=LOCK, fix=FIX)
    found: object = read_yaml(root / LOCK)
    for key in (PART, kind, name):
        found = found.get(key) if isinstance(found, dict) else None
    entry = found if isinstance(found, dict) else {}
    fields = [entry.get(key) for key in ("digest", "lock_sha256", "code_sha256")]
    if not all(isinstance(field, str) for field in fields):
        raise ConfigError(f"no image of the {kind} {name}", where=LOCK, fix=FIX)
    return Image(name, *map(str, fields))


def usable(kind: Kind, name: str, root: Path = Path()) -> Image:
    """The image to run, as `locked` has it.

    Raises ConfigError unless it is the one of its tag here, built from today's packages and code,
    and ContainerError where the engine has none.
    """
    image = locked(kind, name, root)
    found = image_digest(image.tag)
    if found != image.digest:
        raise ConfigError(
            f"is {found} here, and {image.digest} in {LOCK}", where=image.tag, fix=FIX
        )
    if sha256_file(root / image.packages) != image.lock_sha256:
        raise ConfigError(f"was built from another {image.packages}", where=image.tag, fix=FIX)
    if code_fingerprint() != image.code_sha256:
        # Else an old image's results would be taken for those of today's code.
        raise ConfigError("was built from other code of the harness", where=image.tag, fix=FIX)
    return image
