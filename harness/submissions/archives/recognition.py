"""What a file is, by its first bytes and never by its name."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

from harness.submissions.archives import tars, zips
from harness.submissions.archives.decoders import Decompressed, compression
from harness.submissions.archives.streams import Read

HEAD_BYTES = 512
# A compressed file compressed again happens by mistake, more often only by intent.
MOST_LAYERS = 8
TEXT = bytes(range(32, 127)) + b"\t\r\n"

Format = Literal["zip", "tar"]

# What people send instead of an archive.
STRANGERS = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"MSCF": "a cabinet archive",
    b"\x1f\x9d": "a file compressed by compress",
    b"LZIP": "a file compressed by lzip",
    b"\x04\x22\x4d\x18": "a file compressed by LZ4",
    b"PK\x07\x08": "one part of a divided zip archive",
    b"PK\x03\x04": "a document or an array in the form of a zip archive",
    b"%PDF": "a PDF document",
    b"<": "a web page or XML file: perhaps the download failed",
}


@dataclass(frozen=True)
class Packing:
    """How a file is packed. layers: compressions, the outermost first; format: None if unknown."""

    layers: tuple[str, ...]
    format: Format | None
    head: bytes


def identify(read: Read, where: str) -> Packing:
    """How a file is packed, by its first bytes."""
    layers: list[str] = []
    head = _head(read)
    while len(layers) < MOST_LAYERS and (kind := compression(head)):
        read = Decompressed(kind, _chained(head, read), where).read
        layers.append(kind)
        head = _head(read)
    if zips.is_archive(head):
        return Packing(tuple(layers), "zip", head)
    tar = tars.is_header(head) or head == tars.END
    return Packing(tuple(layers), "tar" if tar else None, head)


def _head(read: Read) -> bytes:
    """The first bytes of a stream."""
    head = b""
    while len(head) < HEAD_BYTES and (data := read(HEAD_BYTES - len(head))):
        head += data
    return head


def _chained(head: bytes, read: Read) -> Read:
    """Reads the head again, and on from there."""
    rest = io.BytesIO(head)
    return lambda most: rest.read(most) or read(most)


def description(packing: Packing) -> str:
    """What a file is that is no archive."""
    if packing.layers:
        return "one compressed file"
    for magic, what in STRANGERS.items():
        if packing.head.startswith(magic):
            return what
    if not packing.head.translate(None, TEXT):
        return "a text file, perhaps the scores of one list"
    return "a file of unknown kind"
