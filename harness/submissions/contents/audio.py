"""The anonymized speech in a submission: WAV of 16 kHz under the original names.

`<set><suffix>/wav/<utterance>.wav` or `<set><suffix>/wav/<utterance>/<utterance>.wav`, below any
folders. Samples of other codings than PCM of 16 bits are converted, as organizers do, and what that
loses is told. Files are streams of strangers: a block is held at a time, and chunks are followed by
hand.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from harness.errors import SubmissionError
from harness.protocols.protocol import Protocol
from harness.submissions.contents.naming import MARKS
from harness.submissions.members import Member
from harness.submissions.model import Check
from harness.submissions.reference import Reference

RATE, CHANNELS = 16_000, 1
ENDING = ".wav"
PCM, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE
CHUNK = struct.Struct("<4sI")
FORMAT = struct.Struct("<HHIIHH")
# In an extensible header the coding stands here, as the first bytes of its identifier.
SUBFORMAT = 24
# By coding and bits: how samples are read. Those of 24 bits are put into the upper three bytes.
TYPES = {(PCM, 16): "<i2", (PCM, 24): "<i4", (PCM, 32): "<i4", (FLOAT, 32): "<f4"}
LARGEST_CHUNK = 1 << 16
# A file can be made of nothing but empty ones.
MOST_CHUNKS = 1000
BLOCK = 3 << 18  # a multiple of the bytes of every sample
FULL_SCALE = 1 << 15


@dataclass(frozen=True)
class Recording:
    """One file. set: the set of the edition that its folder names."""

    set: str
    utterance: str
    member: Member


def recording_of(member: Member, protocol: Protocol) -> Recording | None:
    """What a member's path promises; None for no audio of the edition's lists."""
    *folders, file = member.path.split("/")
    if not file.casefold().endswith(ENDING):
        return None
    names = {name for listed in protocol.lists for name in (listed.enrolments, listed.trials)}
    for folder in reversed(folders):
        # Longest first: the name of one set may begin that of another.
        for name in sorted(names, key=len, reverse=True):
            rest = folder[len(name) :]
            if folder.startswith(name) and (not rest or rest[0] in MARKS):
                return Recording(name, file[: -len(ENDING)], member)
    return None


@dataclass
class _Found:
    """Faults by code: the first file and what is wrong there, and how many files have it."""

    first: dict[str, tuple[str, str]] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, file: str, what: str, count: int = 1) -> None:
        self.first.setdefault(code, (file, what))
        self.count[code] = self.count.get(code, 0) + count

    def checks(self) -> list[Check]:
        return [
            Check(code, what, file, count=self.count[code])
            for code, (file, what) in self.first.items()
        ]


def examine_audio(
    recordings: Sequence[Recording], protocol: Protocol, reference: Reference
) -> list[Check]:
    """A check for each kind of fault; none where a submission has no audio."""
    found = _Found()
    for recording in recordings:
        path = recording.member.path
        try:
            with recording.member.open() as stream:
                _examine(stream, path, found)
        except SubmissionError as error:
            found.add("audio-unreadable", path, error.what)
    by_set: dict[str, list[Recording]] = {}
    for recording in recordings:
        by_set.setdefault(recording.set, []).append(recording)
    for name, members in by_set.items():
        what, count = _names(name, [one.utterance for one in members], protocol, reference)
        if count:
            found.add("audio-names", members[0].member.path.rpartition("/")[0], what, count)
    return found.checks()


def _names(
    name: str, utterances: Sequence[str], protocol: Protocol, reference: Reference
) -> tuple[str, int]:
    """How the names of a set differ from the original ones, and in how many; "", 0: not at all."""
    have, twice = set(utterances), len(utterances) - len(set(utterances))
    if twice:
        return f"{twice:,} names of {name} stand twice", twice
    if name in reference.lists:
        keys = reference.lists[name].keys
        want = {key.decode().partition(" ")[2] for key in keys}
        missing, more = sorted(want - have), sorted(have - want)
        differing = [*missing, *more]
        what = f"{len(missing):,} utterances of {name} are missing, {len(more):,} are none of it"
        return (f"{what}, such as {differing[0]!r}", len(differing)) if differing else ("", 0)
    dataset = next((one for one in protocol.sets if one.name == name), None)
    if dataset is not None and dataset.sha256 is not None:
        text = "".join(f"{one}\n" for one in sorted(have, key=str.encode))
        if hashlib.sha256(text.encode()).hexdigest() != dataset.sha256:
            expected = dataset.utterances
            return f"the names of the {len(have):,} files are not the {expected:,} of {name}", 1
    return "", 0


def _examine(stream: BinaryIO, path: str, found: _Found) -> None:
    """Read one file to its end. Raises SubmissionError where the archive refuses it."""
    header = stream.read(12)
    if header[:4] != b"RIFF" or header[8:12] != b"WAVE":
        found.add("audio-unreadable", path, "not a WAV file")
        return
    coding: tuple[int, int] | None = None
    for _ in range(MOST_CHUNKS):
        if len(start := stream.read(CHUNK.size)) < CHUNK.size:
            break
        name, length = CHUNK.unpack(start)
        if name == b"data":
            _samples(stream, length, coding, path, found)
            return
        # Chunks begin at even places.
        content = _take(stream, length + length % 2)
        if name == b"fmt ":
            coding = _coding(content, path, found)
            if coding is None:
                return
    found.add("audio-unreadable", path, "holds no samples")


def _take(stream: BinaryIO, length: int) -> bytes:
    """The beginning of a chunk, which is read to its end in blocks."""
    kept = stream.read(min(length, LARGEST_CHUNK))
    left = length - len(kept)
    while left > 0 and (block := stream.read(min(left, BLOCK))):
        left -= len(block)
    return kept


def _coding(content: bytes, path: str, found: _Found) -> tuple[int, int] | None:
    """Coding and bits; None where there are none, or the rate or channels are others."""
    if len(content) < FORMAT.size:
        found.add("audio-unreadable", path, "its header is cut short")
        return None
    code, channels, rate, _, _, bits = FORMAT.unpack_from(content)
    if code == EXTENSIBLE and len(content) >= SUBFORMAT + 2:
        (code,) = struct.unpack_from("<H", content, SUBFORMAT)
    if (rate, channels) != (RATE, CHANNELS):
        what = f"{rate:,} Hz and {channels} channels: it must be {RATE:,} Hz and one"
        found.add("audio-rate", path, what)
        return None
    if (code, bits) not in TYPES:
        found.add("audio-unreadable", path, f"coding {code} of {bits} bits: use PCM of 16 bits")
        return None
    return code, bits


def _samples(
    stream: BinaryIO, length: int, coding: tuple[int, int] | None, path: str, found: _Found
) -> None:
    if coding is None:
        found.add("audio-unreadable", path, "states no format before its samples")
        return
    bits = coding[1]
    taken, sounding, clipped = 0, False, 0
    for block in _blocks(stream, length):
        taken += len(block)
        whole = block[: len(block) - len(block) % (bits // 8)]
        values, lost = to_pcm16(whole, coding)
        sounding = sounding or bool(values.any())
        clipped += lost
    if taken < length:
        found.add("audio-unreadable", path, f"cut short: {taken:,} of {length:,} bytes are there")
    elif not sounding:
        found.add("audio-silent", path, "no sample that is not 0" if length else "no sample")
    if coding != (PCM, 16):
        kind = "floating point" if coding[0] == FLOAT else "PCM"
        lost_too = f"; {clipped:,} samples are beyond full scale or no number" if clipped else ""
        what = f"{kind} of {bits} bits, converted to PCM of 16{lost_too}"
        found.add("audio-converted", path, what)


def _blocks(stream: BinaryIO, length: int) -> Iterator[bytes]:
    """The content in blocks of whole samples, whatever portions the stream gives it in."""
    left = length
    while left:
        size, block = min(left, BLOCK), b""
        while len(block) < size and (more := stream.read(size - len(block))):
            block += more
        if not block:
            return
        left -= len(block)
        yield block


def to_pcm16(content: bytes, coding: tuple[int, int]) -> tuple[npt.NDArray[np.int16], int]:
    """Samples as int16, (samples,), rounded to nearest, and how many had to be clipped.

    content: whole samples. coding: one of TYPES. Floating point has a full scale of 1; what is no
    number becomes 0, and counts as clipped.
    """
    if coding == (PCM, 24):
        padded = np.zeros((len(content) // 3, 4), np.uint8)
        padded[:, 1:] = np.frombuffer(content, np.uint8).reshape(-1, 3)
        content = padded.tobytes()
    values = np.frombuffer(content, TYPES[coding]).astype(np.float64)
    if coding[0] == FLOAT:
        values *= FULL_SCALE
    elif coding[1] > 16:
        values /= 1 << 16
    lost = ~np.isfinite(values)
    values = np.rint(np.where(lost, 0, values))
    # Full scale itself has no int16: nobody hears that step.
    lost |= (values > FULL_SCALE) | (values < -FULL_SCALE)
    return np.clip(values, -FULL_SCALE, FULL_SCALE - 1).astype(np.int16), int(lost.sum())
