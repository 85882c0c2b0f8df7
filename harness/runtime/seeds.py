"""Seeds: every random draw belongs to a name, never to an order of work."""

from __future__ import annotations

import hashlib


def derived_seed(*parts: object) -> int:
    """A 63-bit seed from the SHA-256 of the parts joined by `/`, e.g. (1986, "train")."""
    text = "/".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big") >> 1
