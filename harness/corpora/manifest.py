"""The manifest: one line per utterance, tab-separated, in C order of the utterances.

Columns: utterance, speaker, gender (f | m), shard (file name), offset and nbytes (of the
utterance's FLAC bytes inside the shard), samples, sample_rate (Hz), sha256 (of those FLAC bytes),
text (may be empty); further columns are kept. Tabs, quotes and line ends in a value are refused.
"""

from __future__ import annotations

import csv
import os
import warnings
from collections import defaultdict
from pathlib import Path

import pandas as pd

from harness.errors import DataError
from harness.runtime.files import write_text

FILE_NAME = "manifest.tsv"
COLUMNS = (
    "utterance",
    "speaker",
    "gender",
    "shard",
    "offset",
    "nbytes",
    "samples",
    "sample_rate",
    "sha256",
    "text",
)
INTEGERS = ("offset", "nbytes", "samples", "sample_rate")
# Read in pieces: pandas needs far more memory for a column of text than it takes in the end.
ROWS_AT_ONCE = 10_000
# With `.flac` or `.wav` behind it, a longer id would pass no file system.
LONGEST_NAME_BYTES = 200


def is_file_name(name: str) -> bool:
    """Whether an utterance's id can be the stem of a file.

    It stands in tar shards, Kaldi lists and exported folders, so it holds no white space, control
    character or `/`, begins with neither `.` nor `-`, and has 1 to 200 bytes of UTF-8.
    """
    return (
        name.isprintable()
        and not any(character.isspace() or character == "/" for character in name)
        and not name.startswith((".", "-"))
        and 0 < len(name.encode("utf-8")) <= LONGEST_NAME_BYTES
    )


def to_text(manifest: pd.DataFrame) -> str:
    """The manifest as the text of its file."""
    for column in manifest.columns:
        if column in INTEGERS:
            continue
        bad = manifest[column].str.contains(r"[\t\r\n\"]", regex=True)
        if bad.any():
            utterance = manifest.loc[bad, "utterance"].iloc[0]
            raise DataError(
                f"the {column} holds a tab, a quote or a line end",
                where=f"utterance {utterance!r}",
                fix="remove it from the source",
            )
    return str(manifest.to_csv(sep="\t", index=False, lineterminator="\n", quoting=csv.QUOTE_NONE))


def write_manifest(manifest: pd.DataFrame, path: Path) -> None:
    """Write a manifest whole, in C order of its utterances (UTF-8 bytes)."""
    order = manifest["utterance"].map(lambda name: name.encode("utf-8")).argsort(kind="stable")
    write_text(path, to_text(manifest.iloc[order]))


def read_manifest(path: Path) -> pd.DataFrame:
    """Read and check a manifest. Raises DataError when it is missing or malformed."""
    if not path.is_file():
        raise DataError("no such manifest", where=path, fix="run the stage that makes it")
    types = defaultdict(lambda: "str", dict.fromkeys(INTEGERS, "int64"))
    try:
        with warnings.catch_warnings():
            # Pandas would drop surplus fields with no more than a warning.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            with pd.read_csv(
                path,
                sep="\t",
                # Every other column is text: a speaker `03` is not the number 3.
                dtype=types,
                index_col=False,
                keep_default_na=False,
                quoting=csv.QUOTE_NONE,
                encoding="utf-8",
                chunksize=ROWS_AT_ONCE,
            ) as chunks:
                manifest = pd.concat(list(chunks), ignore_index=True)
    except (
        ValueError,
        OverflowError,
        pd.errors.ParserError,
        pd.errors.ParserWarning,
    ) as error:
        raise DataError(f"not a manifest: {error}", where=path, fix="make it again") from error
    if not _ends_with_line(path):
        raise DataError("the last line is cut off", where=path, fix="make it again")
    missing = [column for column in COLUMNS if column not in manifest.columns]
    if missing:
        raise DataError(
            f"columns missing: {', '.join(missing)}", where=path, fix="make the corpus again"
        )
    for shard in manifest["shard"].unique():
        # Of a stranger's corpus it may name any file of this machine.
        if not is_file_name(shard):
            raise DataError(
                f"{shard!r} is no shard beside it", where=path, fix="make the corpus again"
            )
    if manifest["utterance"].duplicated().any():
        twice = manifest.loc[manifest["utterance"].duplicated(), "utterance"].iloc[0]
        raise DataError(f"utterance {twice!r} stands twice", where=path, fix="make it again")
    return manifest


def _ends_with_line(path: Path) -> bool:
    with path.open("rb") as stream:
        stream.seek(-1, os.SEEK_END)
        return stream.read(1) == b"\n"
