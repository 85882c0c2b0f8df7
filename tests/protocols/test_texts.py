from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import ConfigError
from harness.protocols.texts import read_text


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_bytes("\ufeffÉquipe\n".encode())
    assert read_text(path, "a list") == "Équipe\n"


def test_what_is_no_text_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    with pytest.raises(ConfigError, match=r"names\.txt: cannot be read .*; name a list"):
        read_text(path, "a list")
    path.write_bytes(b"caf\xe9")
    with pytest.raises(ConfigError, match=r"not UTF-8; save it as UTF-8"):
        read_text(path, "a list")
