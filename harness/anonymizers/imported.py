"""`imported`: speech that others anonymized, stored here by `harness corpus import anonymized`.

An entry of params.yaml such as `{type: imported, folder: data/vpac2025/imported/T10-2, sha256: …}`
makes a system of it like any other. The hash covers every sample, so the entry alone determines
what comes out. Errors name the folder in what they say: their place is the utterance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from harness.anonymizers.base import Job, Level, Source
from harness.corpora.anonymized_hearing import hash_of
from harness.corpora.anonymized_store import IMPORT, ORIGINAL, digest
from harness.corpora.manifest import FILE_NAME
from harness.corpora.opaque import Recording
from harness.corpora.store import Corpus, Samples
from harness.errors import ConfigError, DataError, IntegrityError


@dataclass(frozen=True, kw_only=True)
class Imported:
    """Gives the speech that was imported for the original it gets.

    folder: where it is stored, a corpus a set. sha256: of its content, 64 hexadecimal digits.
    Raises ConfigError for what is no hash.
    """

    name: ClassVar[str] = "imported"
    # Nothing of a stranger's runs: it works in this process under either runner.
    image: ClassVar[str | None] = None
    level: ClassVar[Level] = "utterance"
    folder: str
    sha256: str

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ConfigError(f"{self.sha256!r} is no SHA-256", where="imported", fix=IMPORT)

    def alphas(self, sources: Sequence[Source], seeds: Sequence[int]) -> list[float | None]:
        """No coefficients."""
        return [None] * len(sources)

    def anonymize(self, samples: Samples, job: Job) -> Samples:
        """The imported speech of these samples.

        Raises DataError where there is none, IntegrityError where it is not what was imported.
        """
        recording = _index(self.folder, self.sha256).get(hash_of(samples))
        if recording is None:
            raise DataError(f"nothing in {self.folder} is of this utterance", fix=IMPORT)
        try:
            return recording.read()
        except (DataError, IntegrityError) as error:
            what = f"{recording.shard}: {error.what}"
            raise type(error)(what, fix=f"restore it, or {IMPORT}") from error


# Once a process: an anonymizer is sent to the workers again with every few utterances.
@lru_cache(maxsize=4)
def _index(folder: str, sha256: str) -> dict[str, Recording]:
    """Imported recordings by the hash of their original's samples."""
    path = Path(folder)
    sets = sorted(manifest.parent.name for manifest in path.glob(f"*/{FILE_NAME}"))
    if not sets:
        raise DataError(f"no imported speech in {folder}", fix=IMPORT)
    found = digest(path, sets)
    if found != sha256:
        what = f"the sha256 of {folder} is {found}, not {sha256}"
        raise IntegrityError(what, fix=f"restore it, or {IMPORT}")
    index = {}
    for corpus in (Corpus(path / name) for name in sets):
        columns = ("shard", "offset", "nbytes", "sha256", "samples", ORIGINAL)
        for shard, offset, nbytes, sha, samples, original in zip(
            *(corpus.manifest[column] for column in columns), strict=True
        ):
            index[original] = Recording(corpus.path / shard, offset, nbytes, sha, samples)
    return index
