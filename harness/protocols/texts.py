"""Files of text that a person gives: tables and lists of names."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ConfigError

# Thousands of times what such a file holds.
MOST_BYTES = 16 << 20


def read_text(path: Path, kind: str) -> str:
    """What a file holds, without a byte order mark. kind: what it should be, such as `a CSV file`.

    Raises ConfigError for a file that cannot be read, is larger than MOST_BYTES, or not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ConfigError(f"more than {MOST_BYTES:,} bytes", where=path, fix=f"name {kind}")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror})", where=path, fix=f"name {kind}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError("not UTF-8", where=path, fix="save it as UTF-8") from error
