"""Text of strangers as it is shown: what a terminal would obey is made visible."""

from __future__ import annotations

import json
from typing import Any


def printable(text: str) -> str:
    """One line of text; control and invisible characters, line ends among them, are escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def json_text(document: Any) -> str:
    """A document as JSON for people and programs. Raises ValueError for a number JSON lacks."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return printable_json(f"{text}\n")


def printable_json(text: str) -> str:
    """The same JSON; in its strings, the only place of such characters, they are escaped."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    # Beyond 16 bits JSON writes two halves.
    return f"\\u{code:04x}" if code <= 0xFFFF else json.dumps(character)[1:-1]
