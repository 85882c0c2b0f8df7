"""Archives that nobody means well by, or that came to harm on their way, each with its code.

A generator writes into an empty folder and gives the path of the submission. Most begin with a
sound archive and change it as little as needed.
"""

from __future__ import annotations

# Each registers its own.
import hostile_bytes  # noqa: F401
import hostile_limits  # noqa: F401
import hostile_names  # noqa: F401
from packed import HOSTILE

__all__ = ["HOSTILE"]
