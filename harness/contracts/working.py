"""On the host: an image at one verb of its contract."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from harness.contracts.events import Hearing
from harness.runtime.containers.fence import Fence
from harness.runtime.containers.running import run
from harness.runtime.events import Events


def run_image(
    image: str,
    verb: str,
    inputs: Mapping[str, Path],
    output: Path,
    *,
    fence: Fence,
    device: str,
    events: Events | None,
) -> None:
    """Run an image to its end; its events are passed on as they come. See `running.run`.

    device: `cpu` or `cuda`. Raises ContainerError, one line, unless it ended well.
    """
    hearing = Hearing(image, events)
    outcome = run(
        image,
        [verb],
        inputs=inputs,
        output=output,
        fence=fence,
        gpus=device == "cuda",
        hear=hearing,
    )
    hearing.require(outcome)
