"""The Docker engine: short commands of its client."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from harness.errors import ContainerError
from harness.runtime.containers.fence import last_line

ENGINE_SECONDS = 60
CODE_LABEL = "anonymization-harness.code.sha256"


def docker(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run a short command of the engine. Its own session: Ctrl-C does not cut it short."""
    try:
        return subprocess.run(
            ["docker", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ENGINE_SECONDS,
            start_new_session=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise ContainerError("no command `docker`", fix="install Docker") from error
    except subprocess.TimeoutExpired as error:
        raise ContainerError("the Docker engine does not answer", fix="start it") from error


def require_engine() -> None:
    """Raises ContainerError unless a Docker engine answers."""
    done = docker("info", "--format", "{{.ServerVersion}}")
    if done.returncode or not done.stdout.strip():
        said = last_line(done.stderr) or last_line(done.stdout) or "no answer"
        raise ContainerError(f"no Docker engine ({said})", fix="start it, or join its group")


def image_digest(image: str) -> str:
    """The content hash (`sha256:…`) of an image on this machine.

    Raises ContainerError where there is none, and for an image that may not be run.
    """
    described = _described(image)
    if (described.get("Config") or {}).get("Volumes"):
        # Each would be a folder of the host's disk, writable, without a limit.
        raise ContainerError(
            "the image declares volumes", where=image, fix="build it without VOLUME"
        )
    return str(described["Id"])


def image_code(image: str) -> str | None:
    """The fingerprint of the harness's code in one of its own images, as the build stated it.

    Raises ContainerError where there is no such image.
    """
    labels = (_described(image).get("Config") or {}).get("Labels") or {}
    return labels.get(CODE_LABEL)


def _described(image: str) -> dict[str, Any]:
    done = docker("image", "inspect", "--format", "{{json .}}", "--", image)
    if b"No such image" in done.stderr:
        raise ContainerError("no such image here", where=repr(image), fix="see `docker images`")
    if done.returncode:
        said = last_line(done.stderr) or "no reason given"
        raise ContainerError(said, where=repr(image), fix="see `docker images`")
    described: dict[str, Any] = json.loads(done.stdout)
    return described


def exists(name: str) -> bool:
    """Whether there is a container of that name."""
    # An engine that fails has not said that it is gone.
    return b"No such container" not in docker("container", "inspect", name).stderr


def remove(name: str) -> None:
    """Remove a container, running or not. Raises ContainerError where it is there afterwards."""
    docker("rm", "--force", "--volumes", name)
    if exists(name):
        raise ContainerError(
            "the engine did not remove the container", where=name, fix=f"docker rm --force {name}"
        )
