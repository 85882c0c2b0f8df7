"""Variables that numeric libraries read once, when they are loaded."""

from __future__ import annotations

import os

VARIABLES = {
    # Without it cuBLAS may sum in another order from run to run.
    "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    # Waiting threads sleep instead of spinning: on shared cores spinning costs several times the
    # work itself. The order of sums, and so every result, stays the same.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def settle() -> None:
    """Set what is not set; call before torch is imported."""
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
