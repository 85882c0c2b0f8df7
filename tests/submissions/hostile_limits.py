"""More than a limit allows, and archives in archives."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from packed import COMPRESS, FILES, hostile, save, tarred, unpack, zipped

from harness.submissions.limits import Limits

# Limits.

ZEROS = 64 << 20
MANY = 300_000


@hostile(
    "archive-limit", "more than 2 members; if that is meant, raise --max-members", Limits(members=2)
)
def zip_of_three(folder: Path) -> Path:
    return save(folder, zipped())


@hostile("archive-limit", "--max-members", Limits(members=2))
def tar_of_three(folder: Path) -> Path:
    return save(folder, tarred())


@hostile("archive-limit", "--max-members", Limits(members=2))
def folder_of_three(folder: Path) -> Path:
    return unpack(folder)


@hostile("archive-limit", "more than 10,000 members")
def zip_of_hundred_thousands(folder: Path) -> Path:
    """A directory of 20 MB; one that is held as objects takes some hundred."""
    content = zipped({"x" * 20: b""})
    start = content.index(b"PK\x01\x02")
    record, end = content[start:-22], content[-22:]
    end = struct.pack(
        "<4s4H2IH", b"PK\5\6", 0, 0, MANY & 0xFFFF, MANY & 0xFFFF, MANY * len(record), start, 0
    )
    return save(folder, content[:start] + record * MANY + end)


@hostile(
    "archive-limit",
    "more than 1 MiB in all; if that is meant, raise --max-total",
    Limits(total_mib=1),
)
def archive_beyond_the_total(folder: Path) -> Path:
    return save(folder, zipped({"team/a": os.urandom(2 << 20)}, zipfile.ZIP_STORED))


@hostile("archive-limit", "--max-total", Limits(total_mib=1, file_mib=1))
def members_beyond_the_total(folder: Path) -> Path:
    return save(folder, zipped({f"team/{i}": b"f1 f1-1 1.5\n" * 60_000 for i in "abc"}))


@hostile("archive-limit", "--max-file", Limits(file_mib=1))
def zip_of_a_large_file(folder: Path) -> Path:
    return save(folder, zipped({"team/a": b"f1 f1-1 1.5\n" * 100_000}))


@hostile("archive-limit", "--max-file")
def folder_with_10_gb(folder: Path) -> Path:
    root = unpack(folder)
    with (root / "team" / "scores").open("wb") as file:
        file.truncate(10_000_000_000)
    return root


@hostile("archive-limit", "--max-ratio")
def zip_bomb(folder: Path) -> Path:
    return save(folder, zipped({"team/a": bytes(ZEROS)}))


@hostile("archive-limit", "--max-ratio")
def zip_bomb_beside_a_large_file(folder: Path) -> Path:
    return save(folder, zipped({"team/a": bytes(8 << 20), "team/b": os.urandom(1 << 20)}))


for _name, _compress in COMPRESS.items():

    def _bomb(folder: Path, compress: Callable[[bytes], bytes] = _compress) -> Path:
        return save(folder, compress(tarred({"team/a": bytes(ZEROS)})))

    _bomb.__name__ = f"tar_bomb_{_name}"
    hostile("archive-limit", "--max-ratio")(_bomb)


@hostile("archive-limit", "--max-ratio")
def bomb_within_a_bomb(folder: Path) -> Path:
    """Each layer grows by less than the limit, both together by more."""
    inner = gzip.compress(tarred({"a": os.urandom(16 << 10) + bytes(2 << 20)}), mtime=0)
    return save(folder, gzip.compress(tarred({f"team/{i}": inner for i in range(20)}), mtime=0))


@hostile("archive-limit", "--max-ratio")
def folder_with_a_bomb(folder: Path) -> Path:
    return unpack(folder, {**FILES, "team/more": gzip.compress(tarred({"a": bytes(ZEROS)}))})


@hostile("archive-limit", "archives in archives, more than 1 deep")
def archives_three_deep(folder: Path) -> Path:
    return save(folder, zipped({"a.zip": zipped({"b.tar": tarred()})}))


@hostile("archive-limit", "--max-nesting", Limits(nesting=0))
def archive_in_an_archive(folder: Path) -> Path:
    return save(folder, zipped({"a.zip": zipped()}))


@hostile("archive-limit", "compressed 3 times")
def compressed_three_times(folder: Path) -> Path:
    content = tarred()
    for compress in (gzip.compress, bz2.compress, lzma.compress):
        content = compress(content)
    return save(folder, content)


@hostile("archive-limit", "MiB of memory")
def xz_of_a_large_dictionary(folder: Path) -> Path:
    """One of 4 GB, said in one byte, with the header's checksum."""
    content = bytearray(lzma.compress(tarred(), preset=0))
    start, nbytes = 12, (content[12] + 1) * 4
    place = content.index(b"\x21\x01", start) + 2
    content[place] = 40
    end = start + nbytes - 4
    content[end : end + 4] = struct.pack("<I", zlib.crc32(content[start:end]))
    return save(folder, bytes(content))


@hostile("archive-limit", "MiB of memory")
def zstd_of_a_large_window(folder: Path) -> Path:
    """A window of 2 GB: a frame header, and one block as it is."""
    content = tarred()
    frame = b"\x28\xb5\x2f\xfd\0" + bytes([21 << 3])
    return save(folder, frame + struct.pack("<I", len(content) << 3 | 1)[:3] + content)


@hostile("archive-unreadable", "compressed streams")
def gzip_of_too_many_streams(folder: Path) -> Path:
    return save(folder, gzip.compress(b"", mtime=0) * 100_001)


# What is in an archive in an archive.


@hostile("archive-unreadable", "team/inner.zip: truncated")
def nested_and_cut(folder: Path) -> Path:
    return unpack(folder, {"team/inner.zip": zipped()[:-5]})


@hostile("archive-path", "leaves the archive")
def nested_name_that_leaves(folder: Path) -> Path:
    return save(folder, tarred({"team/inner.zip": zipped({"../x": b"1\n"})}))
