"""When two names are one: teams and systems as people spell them."""

from __future__ import annotations

import unicodedata


def folded(name: str) -> str:
    """What all spellings of a name share: case, white space, and forms that Unicode holds to be the
    same (NFKC: `ﬁ` and `fi`, full-width letters) make no difference."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
