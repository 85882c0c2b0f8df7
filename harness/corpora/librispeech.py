"""An official LibriSpeech tree: `<root>/<subset>/<speaker>/<chapter>/<utterance>.flac`.

Beside the audio lie `<speaker>-<chapter>.trans.txt` (may be absent) and, at the root,
`SPEAKERS.TXT` with each speaker's gender. Layout: Panayotov et al., ICASSP 2015, and the README of
the corpus (openslr.org/12).
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from harness.corpora.importing import Recording
from harness.errors import DataError, ListError

SPEAKERS = "SPEAKERS.TXT"
FOLDER = "LibriSpeech"
COLUMNS = ("utterance", "speaker", "gender", "path", "text")
GENDERS = {"F": "f", "M": "m"}


def find_root(root: Path) -> Path:
    """The folder that holds SPEAKERS.TXT: `root` or `root/LibriSpeech`. Raises DataError."""
    for folder in (root, root / FOLDER):
        if (folder / SPEAKERS).is_file():
            return folder
    if not root.is_dir():
        raise DataError("no such folder", where=root, fix="give the folder that was unpacked")
    raise DataError(
        f"no {SPEAKERS}, neither here nor in {FOLDER}/",
        where=root,
        fix=f"give the folder that holds {SPEAKERS} and the subsets",
    )


def subsets(root: Path) -> list[str]:
    """Names of the subsets that are there, sorted. Raises DataError."""
    return sorted(folder.name for folder in find_root(root).iterdir() if folder.is_dir())


def read_genders(path: Path) -> dict[str, str]:
    """Gender (f | m) of each speaker of SPEAKERS.TXT. Raises ListError for a malformed line."""
    genders: dict[str, str] = {}
    for number, line in _lines(path):
        if line.startswith(";") or not line.strip():
            continue
        # The reader's name comes last and may itself hold a `|`, so there may be more fields.
        fields = [field.strip() for field in line.split("|")]
        if len(fields) < 5 or not fields[0] or fields[1] not in GENDERS:
            raise ListError(
                "not `id | F or M | subset | minutes | name`",
                where=f"{path}:{number}",
                fix="fetch the file again",
            )
        if fields[0] in genders:
            raise ListError(
                f"speaker {fields[0]} stands twice",
                where=f"{path}:{number}",
                fix="fetch the file again",
            )
        genders[fields[0]] = GENDERS[fields[1]]
    return genders


def index_subset(root: Path, subset: str) -> pd.DataFrame:
    """Utterances of a subset: utterance, speaker, gender, path, text; in C order of the utterance.

    root: the folder LibriSpeech, or the one that holds it. text: empty where the chapter has no
    transcript file. Raises DataError, ListError.
    """
    root = find_root(root)
    folder = root / subset
    found = subsets(root)
    if subset not in found:
        raise DataError(
            f"no subset {subset!r}", where=root, fix=f"choose one of: {', '.join(found)}"
        )
    genders = read_genders(root / SPEAKERS)
    rows = []
    for path in sorted(folder.rglob("*.flac")):
        speaker, chapter = _place(path, folder)
        if speaker not in genders:
            raise ListError(
                f"speaker {speaker} is not in {SPEAKERS}",
                where=path,
                fix="fetch the file that belongs to this release",
            )
        rows.append((path.stem, speaker, genders[speaker], str(path), chapter))
    if not rows:
        raise DataError("no FLAC file", where=folder, fix="unpack the subset again")
    index = pd.DataFrame(rows, columns=["utterance", "speaker", "gender", "path", "chapter"])
    texts: dict[str, str] = {}
    for speaker, chapter in dict.fromkeys(zip(index["speaker"], index["chapter"], strict=True)):
        texts |= _transcripts(folder / speaker / chapter)
    index["text"] = index["utterance"].map(lambda utterance: texts.get(utterance, ""))
    order = index["utterance"].map(lambda name: name.encode("utf-8")).argsort(kind="stable")
    return index.iloc[order].reset_index(drop=True)[list(COLUMNS)]


def recordings(root: Path, subset: str) -> list[Recording]:
    """The subset's utterances, ready to be imported. Raises DataError, ListError."""
    index = index_subset(root, subset)
    return [
        Recording(utterance, speaker, gender, text, Path(path))
        for utterance, speaker, gender, path, text in index.itertuples(index=False, name=None)
    ]


def find_audio(root: Path, utterance: str) -> Path | None:
    """Where an utterance (`<speaker>-<chapter>-<number>`) lies in whichever subset, if at all."""
    fields = utterance.split("-")
    if len(fields) != 3:
        return None
    speaker, chapter, _ = fields
    root = find_root(root)
    for subset in subsets(root):
        path = root / subset / speaker / chapter / f"{utterance}.flac"
        if path.is_file():
            return path
    return None


def _place(path: Path, folder: Path) -> tuple[str, str]:
    """Speaker and chapter of a file, which its folders and its name must agree on."""
    if not path.stem.isprintable():
        # Bytes that are not UTF-8 come as such characters, and can be printed nowhere.
        raise DataError(
            "the file's name is not printable UTF-8", where=ascii(str(path)), fix="rename it"
        )
    parts = path.relative_to(folder).parts
    if len(parts) != 3 or path.stem.split("-")[:-1] != list(parts[:2]):
        raise DataError(
            "the file's name does not match its folder",
            where=path,
            fix="the layout is <subset>/<speaker>/<chapter>/<speaker>-<chapter>-<number>.flac",
        )
    return parts[0], parts[1]


def _transcripts(chapter: Path) -> dict[str, str]:
    """Text of a chapter's utterances; none where there is no transcript file."""
    path = chapter / f"{chapter.parent.name}-{chapter.name}.trans.txt"
    if not path.is_file():
        return {}
    texts: dict[str, str] = {}
    for number, line in _lines(path):
        utterance, _, text = line.partition(" ")
        if not text.strip():
            raise ListError(
                "not `utterance TEXT`", where=f"{path}:{number}", fix="fetch the file again"
            )
        texts[utterance] = text.strip()
    for audio in chapter.glob("*.flac"):
        if audio.stem not in texts:
            raise ListError(f"no line for {audio.stem}", where=path, fix="fetch the file again")
    return texts


def _lines(path: Path) -> list[tuple[int, str]]:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ListError("not UTF-8", where=path, fix="fetch the file again") from error
    return list(enumerate(text.splitlines(), start=1))
