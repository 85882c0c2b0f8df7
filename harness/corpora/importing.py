"""What all importers share: recordings in, a stored corpus out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from harness.corpora.audio import duration_16k, read_audio
from harness.corpora.manifest import is_file_name
from harness.corpora.segments import segment_names, segments
from harness.corpora.store import Made, Utterance, build, partition
from harness.errors import DataError
from harness.runtime.files import work_folder
from harness.runtime.pool import Pool

# Reading a header takes a fraction of a millisecond: hand them out by the hundred.
HEADERS_A_CHUNK = 256


@dataclass(frozen=True)
class Recording:
    """One audio file with one utterance. gender: f | m; text: empty where it is not known.

    labels: further columns of the manifest; all utterances of a corpus have the same.
    """

    utterance: str
    speaker: str
    gender: str
    text: str
    path: Path
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Place:
    """Where an utterance's audio is: samples `start` to `stop` at 16 kHz, or the whole file."""

    path: Path
    start: int | None = None
    stop: int | None = None


class ReadAudio:
    """Maker for utterances whose recipe is a `Place`."""

    def __call__(self, utterance: Utterance) -> Made:
        """Samples and note. Raises AudioError."""
        place: Place = utterance.recipe
        return read_audio(place.path, place.start, place.stop)


def refuse_filled(target: Path) -> None:
    """Raise DataError when `target` is there and holds anything: it would be replaced."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise DataError(
            "is there already and not empty", where=target, fix="name a new or an empty folder"
        )


def import_utterances(
    target: Path,
    recordings: Sequence[Recording],
    *,
    pool: Pool,
    segment_seconds: float | None = None,
    work_root: Path = Path(".work"),
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Store recordings as a corpus at `target`, whole or cut into segments of about some seconds.

    What is at `target` is replaced. The segments of an utterance have no text: which words fall
    into which is not known. All headers are read before any audio, so a missing file shows in
    seconds. A run that was killed goes on where it was, as long as the same files are imported.

    on_progress: called with the number of utterances done and their total.
    Raises DataError for a bad or repeated id, AudioError for a file that cannot be used.
    """
    if not recordings:
        raise DataError("nothing to import", where=target, fix="check the source")
    for recording in recordings:
        if not is_file_name(recording.utterance):
            raise DataError(
                "white space, a `/`, a leading `.` or `-`, or too long",
                where=f"utterance {recording.utterance!r}",
                fix="rename it",
            )
    paths = [recording.path for recording in recordings]
    durations = pool.map(duration_16k, paths, chunk=HEADERS_A_CHUNK)
    utterances = [
        utterance
        for recording, samples in zip(recordings, durations, strict=True)
        for utterance in _utterances(recording, samples, segment_seconds)
    ]
    utterances.sort(key=lambda utterance: utterance.utterance.encode("utf-8"))
    for one, other in pairwise(utterances):
        if one.utterance == other.utterance:
            raise DataError(
                "two utterances have this id", where=one.utterance, fix="rename one of them"
            )
    build(
        target,
        partition(utterances),
        ReadAudio(),
        work=work_folder("import", _identity(target, utterances), work_root),
        pool=pool,
        on_progress=lambda done: on_progress(done, len(utterances)),
    )


def _utterances(
    recording: Recording, samples: int, segment_seconds: float | None
) -> Iterator[Utterance]:
    speaker, gender = recording.speaker, recording.gender
    if segment_seconds is None:
        place = Place(recording.path)
        named = (recording.utterance, speaker, gender, recording.text)
        yield Utterance(*named, samples, place, dict(recording.labels))
        return
    parts = segments(samples, segment_seconds)
    names = segment_names(recording.utterance, len(parts))
    text = recording.text if len(parts) == 1 else ""
    for name, (start, stop) in zip(names, parts, strict=True):
        place = Place(recording.path, start, stop)
        labels = dict(recording.labels)
        yield Utterance(name, speaker, gender, text, stop - start, place, labels)


def _identity(target: Path, utterances: Sequence[Utterance]) -> list[list[object]]:
    """What determines the corpus; a file that was touched since makes the earlier work void."""
    rows: list[list[object]] = [[target.name]]
    for utterance in utterances:
        place: Place = utterance.recipe
        status = place.path.stat()
        row: list[object] = [utterance.utterance, utterance.speaker, utterance.gender]
        row += [utterance.text, utterance.extra]
        file = [str(place.path.absolute()), status.st_size, status.st_mtime_ns]
        rows.append([*row, *file, place.start, place.stop])
    return rows
