"""The fence of the pipeline's own containers: whatever the work needs, and most of the machine.

A system that takes part in a benchmark may work as long as it has to, on all cores. What it may
write follows from what it is given; a model alone is as large as an attacker likes, within half of
the disk's free space.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile

from harness.runtime.containers.fence import MIB, Fence
from harness.runtime.pool import usable_cores

# In practice none.
SECONDS = 30 * 24 * 3600.0
# Of the host's memory; the rest is for the host, and for the copies that it makes meanwhile.
MEMORY_SHARE = 0.9
# Of the container's memory, for `/tmp` and `/dev/shm` each: batches wait there for a network.
TEMPORARY_SHARE = 0.25
DISK_SHARE = 0.5
# Of the disk: a file takes whole blocks, and is written under another name first.
FILE_BYTES = 8192
# What an image may say of an utterance: some lines of progress, or a warning.
LOG_BYTES = 2048
# Folders, and files that are being written.
FURTHER_FILES = 1000
PROCESSES, PROCESSES_A_CORE = 512, 32
OPEN_FILES = 8192


def allowance(*, utterances: int, output: int, files: int, cpus: int | None = None) -> Fence:
    """The fence around a work of so many utterances, which leaves `files` files of `output` bytes.

    cpus: None for all cores.
    """
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * MEMORY_SHARE / MIB
    temporary = int(memory * TEMPORARY_SHARE)
    mebibytes = math.ceil((output + FILE_BYTES * (files + FURTHER_FILES)) / MIB)
    cores = usable_cores()
    return Fence(
        memory=int(memory),
        cpus=cpus or cores,
        processes=PROCESSES + PROCESSES_A_CORE * cores,
        open_files=OPEN_FILES,
        # One file may be all of the output, or fill `/tmp`.
        file=max(mebibytes, temporary),
        output=mebibytes,
        files=files + FURTHER_FILES,
        temporary=temporary,
        log=math.ceil(LOG_BYTES * utterances / MIB) + Fence.log,
        seconds=SECONDS,
    )


def spare_disk() -> int:
    """Bytes that a container may leave where nothing says how many it needs."""
    # Where the folder behind `/out` is made.
    return int(shutil.disk_usage(tempfile.gettempdir()).free * DISK_SHARE)
