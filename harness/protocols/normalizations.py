"""What becomes of a text before its words are counted, as data: `normalizations/<name>.yaml`.

Word error rates compare only under one normalization: each file is one, with steps for transcripts
(`reference`) and steps for what a recognizer heard (`hypothesis`), taken in order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Literal

from harness.errors import ConfigError
from harness.protocols.numerals import spelled
from harness.protocols.typed import build, did_you_mean, read_yaml

FOLDER = Path(str(resources.files("harness.protocols") / "normalizations"))


@dataclass(frozen=True)
class Step:
    """One change of a text: one of these fields is given, the others are None.

    unicode: a normal form. case: of all letters. numerals: `english` writes digits as words.
    replace: regular expressions with what takes the place of each match (`\\1` is its first group),
    one after the other. words: whole words, parted by white space, with what takes their place.
    """

    unicode: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None
    case: Literal["lower", "upper"] | None = None
    numerals: Literal["english"] | None = None
    replace: dict[str, str] | None = None
    words: dict[str, str] | None = None

    def apply(self, text: str) -> str:
        """The text after this step."""
        if self.unicode is not None:
            return unicodedata.normalize(self.unicode, text)
        if self.case is not None:
            return text.upper() if self.case == "upper" else text.lower()
        if self.numerals is not None:
            return spelled(text)
        if self.words is not None:
            return " ".join(self.words.get(word, word) for word in text.split())
        for pattern, replacement in (self.replace or {}).items():
            text = re.sub(pattern, replacement, text)
        return text


@dataclass(frozen=True)
class Normalization:
    """Steps for transcripts, and for what a recognizer heard. title: for whom they are."""

    title: str
    reference: tuple[Step, ...]
    hypothesis: tuple[Step, ...]


def normalized(text: str, steps: Iterable[Step]) -> str:
    """The text after all steps, its words parted by single spaces; empty where none is left."""
    for step in steps:
        text = step.apply(text)
    return " ".join(text.split())


def load(name: str) -> Normalization:
    """The normalization of that name. Raises ConfigError for an unknown one, a malformed file."""
    if name not in names():
        raise ConfigError(
            f"unknown normalization {name!r}",
            where="normalization",
            fix=did_you_mean(name, names()),
        )
    path = FOLDER / f"{name}.yaml"
    normalization = build(Normalization, read_yaml(path), path.name)
    for text in ("reference", "hypothesis"):
        for number, step in enumerate(getattr(normalization, text)):
            _check(step, f"{path.name}.{text}[{number}]")
    return normalization


def names() -> list[str]:
    """Names of all normalizations that come with the package, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def _check(step: Step, where: str) -> None:
    """What the types cannot say. Raises ConfigError."""
    known = [one.name for one in fields(Step)]
    given = [name for name in known if getattr(step, name) is not None]
    if len(given) != 1:
        raise ConfigError(
            f"a step says {' and '.join(given) or 'nothing'}",
            where=where,
            fix=f"say one of {', '.join(known)}",
        )
    for pattern, text in (step.replace or {}).items():
        try:
            re.sub(pattern, text, "")
        except re.error as error:
            raise ConfigError(
                f"{pattern!r} cannot be replaced by {text!r} ({error})",
                where=f"{where}.replace",
                fix="mend the regular expression",
            ) from error
