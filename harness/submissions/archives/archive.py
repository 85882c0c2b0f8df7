"""Open a submission: zip, tar, compressed tar, or folder, whatever its name says.

Nothing is extracted under a stranger's name. Members of zip and tar files are read in place; what
must be unpacked before that goes, within the limits, to one temporary file without a name.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from harness.errors import DataError, SubmissionError
from harness.submissions.archives import folders, tars, zips
from harness.submissions.archives.budget import Budget, Spool, beyond
from harness.submissions.archives.decoders import Decompressed, compression
from harness.submissions.archives.entries import Entry
from harness.submissions.archives.paths import Name, fault, left_over, normal, printable, same
from harness.submissions.archives.recognition import Packing, description, identify
from harness.submissions.archives.streams import FileSource, Read, unreadable, window
from harness.submissions.limits import Limits
from harness.submissions.members import Member, Submission
from harness.submissions.model import Check

BUFFER_BYTES = 256 << 10
# Whatever the option says: archives in archives are opened by recursion.
MOST_NESTING = 16
ENTRIES = {"zip": zips.entries, "tar": tars.entries}
OFFER = "send a zip or tar.gz of the folder with the score files"


@dataclass
class Collection:
    """What was found so far. faults: by code, the first of its kind, counted."""

    budget: Budget
    spool: Spool
    members: list[Member] = field(default_factory=list)
    faults: dict[str, Check] = field(default_factory=dict)

    def blame(self, code: str, path: str, what: str) -> None:
        """Note a fault of a name or kind."""
        first = self.faults.get(code)
        count, message, file = (
            (1, what, printable(path))
            if first is None
            else (first.count + 1, first.message, first.file)
        )
        self.faults[code] = Check(code, message, file, count=count)


@contextmanager
def open_submission(path: Path, limits: Limits) -> Iterator[Submission]:
    """A submission, readable as long as the context lasts.

    Faults of names and kinds of members are its checks, and it then has no members. Raises
    DataError when there is nothing at the path, SubmissionError where it cannot be read or is
    larger than the limits; so does reading a member.
    """
    nesting = min(limits.nesting, MOST_NESTING)
    with ExitStack() as stack:
        descriptor, found = _opened(path)
        name = printable(path.resolve().name)
        if stat.S_ISDIR(found.st_mode):
            stack.callback(os.close, descriptor)
            budget = Budget(limits, name, None)
            collection = Collection(budget, Spool(stack, budget))
            sha256 = None
            _collect(collection, folders.entries(descriptor, name), "", nesting)
        else:
            file = stack.enter_context(open(descriptor, "rb", buffering=0))
            budget = Budget(limits, name, found.st_size)
            budget.check_total(found.st_size)
            collection = Collection(budget, Spool(stack, budget))
            source = FileSource(file, name)
            sha256 = _sha256(source)
            _collect(collection, _top(collection, source, name, nesting), "", nesting)
        if not collection.members and not collection.faults:
            collection.blame("archive-empty", name, "no file in it")
        members = () if collection.faults else tuple(collection.members)
        yield Submission(
            name,
            sha256,
            tuple(sorted(members, key=lambda member: member.path)),
            tuple(collection.faults.values()),
        )


def _opened(path: Path) -> tuple[int, os.stat_result]:
    """Descriptor of a file or folder. A pipe in its place must not make anybody wait."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(
            f"no submission can be read here ({reason})", where=path, fix="check the path"
        ) from error
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        os.close(descriptor)
        raise DataError(
            "a submission is a file or a folder, and this is neither",
            where=path,
            fix="check the path",
        )
    return descriptor, found


def _sha256(source: FileSource) -> str:
    digest = hashlib.sha256()
    place = 0
    while data := source.read_at(place, BUFFER_BYTES):
        digest.update(data)
        place += len(data)
    return digest.hexdigest()


def _top(collection: Collection, source: FileSource, name: str, nesting: int) -> Iterator[Entry]:
    """The members of the archive that was sent."""
    if not source.size:
        raise SubmissionError(
            "an empty file", code="archive-empty", where=name, fix="send it again"
        )
    packing = identify(window(source, 0, source.size), name)
    if compression(packing.head):
        raise beyond(f"compressed more than {len(packing.layers)} times", "--max-nesting", name)
    if packing.format is None:
        raise unreadable(f"no archive but {description(packing)}", name, OFFER)
    if len(packing.layers) > 1 + nesting:
        raise beyond(f"compressed {len(packing.layers)} times", "--max-nesting", name)
    if not packing.layers:
        return ENTRIES[packing.format](source, name)
    read = window(source, 0, source.size)
    return _spooled(collection, packing, read, source.size, name)


def _spooled(
    collection: Collection, packing: Packing, read: Read, packed: int, where: str
) -> Iterator[Entry]:
    """The members of an archive that is a stream of `packed` bytes."""
    assert packing.format is not None
    for kind in packing.layers:
        read = collection.budget.bounded(Decompressed(kind, read, where).read, packed, where)
    source = collection.spool.source(read)
    yield from ENTRIES[packing.format](source, where)
    # Checksums stand behind the last member.
    source.fill()


def _collect(collection: Collection, entries: Iterable[Entry], prefix: str, nesting: int) -> None:
    """Add the members of an archive or folder, or its faults. prefix: before all their paths."""
    names: list[Name] = []
    files: list[tuple[str, Entry]] = []
    for entry in entries:
        collection.budget.take(prefix + entry.name, entry.nbytes, entry.packed)
        path = normal(entry.name)
        wrong = fault(entry.name)
        if wrong is None and not path and entry.kind != "folder":
            wrong = "a file without a name"
        if wrong is not None:
            collection.blame("archive-path", prefix + entry.name, wrong)
        elif entry.kind == "link":
            collection.blame("archive-link", prefix + path, "a link")
        elif entry.kind == "device":
            collection.blame("archive-device", prefix + path, "a device, pipe or socket")
        elif path and not left_over(path):
            names.append(Name(path, entry.kind == "folder"))
            if entry.kind == "file":
                files.append((prefix + path, entry))
    for code, path, what in same(names):
        collection.blame(code, prefix + path, what)
    if not collection.faults:
        for path, entry in files:
            _add(collection, path, entry, nesting)


def _add(collection: Collection, path: str, entry: Entry, nesting: int) -> None:
    """Add a member, or what is in it where it is an archive."""
    packing = _identify_member(path, entry)
    if packing is None:
        collection.members.append(Member(path, entry.nbytes, partial(_buffered, entry, path)))
        return
    if not nesting:
        most = min(collection.budget.limits.nesting, MOST_NESTING)
        raise beyond(f"archives in archives, more than {most} deep", "--max-nesting", path)
    with entry.content(path) as content:
        entries = _spooled(collection, packing, cast("Read", content.read), entry.nbytes, path)
        _collect(collection, entries, f"{path}/", nesting - 1)


def _buffered(entry: Entry, path: str) -> BinaryIO:
    return cast("BinaryIO", io.BufferedReader(entry.content(path), BUFFER_BYTES))


def _identify_member(path: str, entry: Entry) -> Packing | None:
    """How a member is packed, if it is an archive. What cannot be unpacked is left as it is."""
    with entry.content(path) as content:
        try:
            packing = identify(cast("Read", content.read), path)
        except SubmissionError:
            return None
    # Zeros are an empty tar file where one was sent, and a file of zeros elsewhere.
    return None if packing.format is None or packing.head == tars.END else packing
