"""Whatever the bytes are: a submission, or one clear refusal."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packed import COMPRESS, SOUND, outcome, save, tarred, unpack, zipped

from harness.submissions.codes import SEVERITY

ARCHIVES = [content() for content in SOUND.values()]
ARCHIVES.append(zipped({"inner.zip": zipped(), "inner.tgz": COMPRESS["gzip"](tarred())}))
PARTS = st.text("ab.é_ X", min_size=1, max_size=6).filter(lambda name: name.strip("."))
# Text before the rest, so that none begins as an archive does: such a member would be opened too.
CONTENTS = st.just(b"") | st.binary(max_size=2000).map(lambda data: b"s " + data)
# Beneath folders of their own, so that no name takes another's place.
FILES = st.lists(st.tuples(st.lists(PARTS, max_size=3), CONTENTS), max_size=4).map(
    lambda files: {
        "/".join([f"{i}", *path, "scores"]): content for i, (path, content) in enumerate(files)
    }
)
SYSTEM = st.sampled_from(list(COMPRESS.values()))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(content=st.binary(max_size=2000))
def test_any_bytes(content: bytes, folder: Path) -> None:
    assert outcome(save(folder, content)) in SEVERITY


@settings(max_examples=300)
@given(
    content=st.sampled_from(ARCHIVES),
    cut=st.none() | st.floats(0, 1),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(max_size=4))),
)
def test_changed_archives(
    content: bytes, cut: float | None, changes: list[tuple[float, bytes]], folder: Path
) -> None:
    if cut is not None:
        content = content[: int(cut * len(content))]
    for place, data in changes:
        start = int(place * len(content))
        content = content[:start] + data + content[start + len(data) :]
    found = outcome(save(folder, content))
    assert found in SEVERITY if isinstance(found, str) else found


@given(files=FILES, compress=SYSTEM)
def test_all_kinds_agree(files: dict[str, bytes], compress: object, folder: Path) -> None:
    expected = files or "archive-empty"
    assert outcome(save(folder, zipped(files))) == expected
    assert outcome(save(folder, tarred(files))) == expected
    assert callable(compress)
    assert outcome(save(folder, compress(tarred(files)))) == expected
    with tempfile.TemporaryDirectory() as name:
        root = unpack(Path(name), files)
        root.mkdir(exist_ok=True)
        assert outcome(root) == expected
