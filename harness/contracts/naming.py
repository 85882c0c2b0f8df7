"""How params.yaml names an image: by content, since it determines a result."""

from __future__ import annotations

import re

from harness.errors import ConfigError, ContainerError
from harness.runtime.containers.engine import image_digest

DIGEST = re.compile(r"([^@\s]+@)?sha256:[0-9a-f]{64}")


def require_digest(image: str) -> None:
    """Raises ConfigError for an image that is named by a tag, with the digest that it has here."""
    if DIGEST.fullmatch(image):
        return
    try:
        fix = f"write image: {image_digest(image)}"
    except ContainerError:
        fix = "write image: sha256:…, as `docker images --no-trunc` shows it"
    raise ConfigError("a tag may mean another image tomorrow", where=f"image {image!r}", fix=fix)
