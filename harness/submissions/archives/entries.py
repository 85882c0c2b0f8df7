"""What an archive or a folder says it holds, before any of it is believed."""

from __future__ import annotations

import io
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["file", "folder", "link", "device"]


@dataclass(frozen=True)
class Entry:
    """One member as stated. name: as it stands, undecodable bytes as lone surrogates.

    content: its bytes from the start, given what to call it in messages. packed: its compressed
    bytes, where it has its own compression.
    """

    name: str
    kind: Kind
    nbytes: int
    content: Callable[[str], io.RawIOBase]
    packed: int | None = None


def kind_of_mode(mode: int) -> Kind:
    """What a Unix file mode says; a mode without a type is a regular file's."""
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "device"
