"""A Kaldi data directory, as the challenges distribute and their participants keep it.

    utt2spk     utterance speaker
    spk2gender  speaker f|m
    spk2utt     speaker utterance...               optional
    text        utterance WORDS                    optional
    utt2dur     utterance seconds                  optional
    wav.scp     utterance audio (see wav_scp.py)   optional
    enrolls     utterance                          optional
    trials      enrolment utterance target|nontarget   optional

Lists are UTF-8 with LF line ends; what they say must agree. Audio comes from `wav.scp`, else from a
LibriSpeech tree by utterance id, else from `wav/<utterance>/<utterance>.wav` or
`wav/<utterance>.wav` (official data have both). A malformed line is named by file and number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.corpora.importing import Recording
from harness.corpora.librispeech import find_audio
from harness.corpora.manifest import is_file_name
from harness.corpora.wav_scp import audio_path
from harness.errors import DataError, ListError

LABELS = ("target", "nontarget")
# What a manifest cannot hold.
UNFIT_FOR_TEXT = re.compile(r"[\x00-\x1f\x7f\"]")


class Trial(NamedTuple):
    """One line of `trials`."""

    enrolment: str
    trial: str
    label: str


@dataclass(frozen=True)
class KaldiDirectory:
    """Lists that agree with one another.

    utt2spk, text, utt2dur (s), wav_scp (paths as written) by utterance; spk2gender by speaker.
    text and utt2dur are empty, and wav_scp, enrolls and trials None, where the file is absent.
    """

    path: Path
    utt2spk: Mapping[str, str]
    spk2gender: Mapping[str, str]
    text: Mapping[str, str]
    utt2dur: Mapping[str, float]
    wav_scp: Mapping[str, Path] | None
    enrolls: tuple[str, ...] | None
    trials: tuple[Trial, ...] | None


def read_kaldi(directory: Path) -> KaldiDirectory:
    """Read and check all lists of a directory; no audio is touched. Raises DataError, ListError."""
    if not directory.is_dir():
        raise DataError("no such Kaldi directory", where=directory, fix="check the path")
    if (directory / "segments").exists():
        raise ListError(
            "segments of longer recordings are not read",
            where=directory / "segments",
            fix="cut them first (extract-segments) and remove this file",
        )
    utt2spk = _read_utt2spk(directory / "utt2spk")
    kaldi = KaldiDirectory(
        path=directory,
        utt2spk=utt2spk,
        spk2gender=_read_spk2gender(directory / "spk2gender"),
        text=_read_text(directory / "text", utt2spk),
        utt2dur=_read_utt2dur(directory / "utt2dur", utt2spk),
        wav_scp=_read_wav_scp(directory / "wav.scp", utt2spk),
        enrolls=_read_enrolls(directory / "enrolls", utt2spk),
        trials=_read_trials(directory / "trials", utt2spk),
    )
    _check_spk2utt(directory / "spk2utt", utt2spk)
    for utterance, speaker in utt2spk.items():
        if speaker not in kaldi.spk2gender:
            raise ListError(
                f"no gender for speaker {speaker!r} of {utterance!r}",
                where=directory / "spk2gender",
                fix=f"add `{speaker} f` or `{speaker} m`",
            )
    return kaldi


def recordings(
    kaldi: KaldiDirectory, *, base: Path | None = None, librispeech: Path | None = None
) -> list[Recording]:
    """The directory's utterances with their audio, ready to be imported.

    base: what relative paths of `wav.scp` are relative to; the directory itself where None.
    librispeech: a LibriSpeech tree, used where there is no `wav.scp`.
    Raises ListError when an utterance has no audio.
    """
    places = {
        utterance: _find(kaldi, utterance, base or kaldi.path, librispeech)
        for utterance in kaldi.utt2spk
    }
    lost = [utterance for utterance, path in places.items() if path is None]
    if lost:
        if kaldi.wav_scp is not None:
            fix = "name the folder that relative paths of wav.scp start from (--base)"
        else:
            fix = "add wav.scp or wav/, or name a LibriSpeech tree (--librispeech)"
        raise ListError(
            f"no audio for {len(lost)} of {len(places)} utterances, the first {lost[0]!r}",
            where=kaldi.path,
            fix=fix,
        )
    return [
        Recording(
            utterance,
            kaldi.utt2spk[utterance],
            kaldi.spk2gender[kaldi.utt2spk[utterance]],
            kaldi.text.get(utterance, ""),
            path,
        )
        for utterance, path in places.items()
        if path is not None
    ]


def _find(
    kaldi: KaldiDirectory, utterance: str, base: Path, librispeech: Path | None
) -> Path | None:
    if kaldi.wav_scp is not None:
        candidates = [base / kaldi.wav_scp[utterance]]
    elif librispeech is not None:
        return find_audio(librispeech, utterance)
    else:
        folder, name = kaldi.path / "wav", f"{utterance}.wav"
        candidates = [folder / utterance / name, folder / name]
    return next((path for path in candidates if path.is_file()), None)


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Place (`file:line`) and content of each line, without its end and outer white space."""
    content = path.read_bytes()
    if content.startswith(b"\xef\xbb\xbf"):
        raise ListError("begins with a byte order mark", where=f"{path}:1", fix="remove it")
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        where = f"{path}:{number}"
        if b"\r" in line:
            raise ListError("Windows line ends", where=where, fix="convert it with dos2unix")
        try:
            text = line.decode("utf-8").strip(" \t")
        except UnicodeDecodeError as error:
            raise ListError("not UTF-8", where=where, fix="convert it with iconv") from error
        if not text:
            raise ListError("an empty line", where=where, fix="remove it")
        yield where, text


def read_fields(path: Path, form: str) -> Iterator[tuple[str, list[str]]]:
    """Lines of exactly as many fields as `form` has, with their places."""
    count = len(form.split())
    for where, line in _lines(path):
        fields = line.split()
        if len(fields) != count:
            raise ListError(f"{len(fields)} fields", where=where, fix=f"expected `{form}`")
        yield where, fields


def _put(values: dict[str, str], key: str, value: str, where: str) -> None:
    if key in values:
        raise ListError(f"{key!r} stands twice", where=where, fix="remove one of the lines")
    values[key] = value


def _known(utterance: str, utt2spk: Mapping[str, str], where: str) -> str:
    if utterance not in utt2spk:
        raise ListError(
            f"utterance {utterance!r} is not in utt2spk", where=where, fix="mend one of the two"
        )
    return utterance


def _required(path: Path) -> None:
    if not path.is_file():
        raise ListError("no such list", where=path, fix="it must be there")


def _read_utt2spk(path: Path) -> dict[str, str]:
    _required(path)
    utt2spk: dict[str, str] = {}
    for where, (utterance, speaker) in read_fields(path, "utterance speaker"):
        if not is_file_name(utterance):
            raise ListError(
                f"utterance {utterance!r} cannot be a file's name",
                where=where,
                fix="use no `/`, no leading `.` or `-`, and at most 200 bytes",
            )
        _put(utt2spk, utterance, speaker, where)
    if not utt2spk:
        raise ListError("is empty", where=path, fix="list the utterances")
    return utt2spk


def _read_spk2gender(path: Path) -> dict[str, str]:
    _required(path)
    spk2gender: dict[str, str] = {}
    for where, (speaker, gender) in read_fields(path, "speaker f|m"):
        if gender not in ("f", "m"):
            raise ListError(f"gender {gender!r}", where=where, fix="write f or m")
        _put(spk2gender, speaker, gender, where)
    return spk2gender


def _check_spk2utt(path: Path, utt2spk: Mapping[str, str]) -> None:
    if not path.is_file():
        return
    found: dict[str, str] = {}
    for where, line in _lines(path):
        speaker, *utterances = line.split()
        for utterance in utterances:
            if utt2spk.get(utterance) != speaker:
                raise ListError(
                    f"{utterance!r} belongs to {utt2spk.get(utterance)!r} in utt2spk, not to "
                    f"{speaker!r}",
                    where=where,
                    fix="make spk2utt from utt2spk again",
                )
            _put(found, utterance, speaker, where)
    for utterance in utt2spk:
        if utterance not in found:
            raise ListError(
                f"lacks {utterance!r}", where=path, fix="make spk2utt from utt2spk again"
            )


def _read_text(path: Path, utt2spk: Mapping[str, str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    if not path.is_file():
        return texts
    for where, line in _lines(path):
        utterance, *words = line.split(maxsplit=1)
        text = words[0] if words else ""
        if UNFIT_FOR_TEXT.search(text):
            raise ListError(
                "the text holds a tab, a double quote or a control character",
                where=where,
                fix="remove it",
            )
        _put(texts, _known(utterance, utt2spk, where), text, where)
    return texts


def _read_utt2dur(path: Path, utt2spk: Mapping[str, str]) -> dict[str, float]:
    durations: dict[str, str] = {}
    if not path.is_file():
        return {}
    for where, (utterance, seconds) in read_fields(path, "utterance seconds"):
        try:
            usable = 0 < float(seconds) < math.inf
        except ValueError:
            usable = False
        if not usable:
            raise ListError(f"duration {seconds!r}", where=where, fix="write seconds, as in 4.715")
        _put(durations, _known(utterance, utt2spk, where), seconds, where)
    return {utterance: float(seconds) for utterance, seconds in durations.items()}


def _read_wav_scp(path: Path, utt2spk: Mapping[str, str]) -> dict[str, Path] | None:
    if not path.is_file():
        return None
    entries: dict[str, str] = {}
    places: dict[str, Path] = {}
    for where, line in _lines(path):
        utterance, *entry = line.split(maxsplit=1)
        if not entry:
            raise ListError("no path", where=where, fix="expected `utterance path`")
        _put(entries, _known(utterance, utt2spk, where), entry[0], where)
        places[utterance] = audio_path(entry[0], where)
    for utterance in utt2spk:
        if utterance not in places:
            raise ListError(
                f"no audio for {utterance!r}", where=path, fix="add it, or remove the utterance"
            )
    return places


def _read_enrolls(path: Path, utt2spk: Mapping[str, str]) -> tuple[str, ...] | None:
    if not path.is_file():
        return None
    found: dict[str, str] = {}
    for where, (utterance,) in read_fields(path, "utterance"):
        _put(found, _known(utterance, utt2spk, where), "", where)
    return tuple(found)


def _read_trials(path: Path, utt2spk: Mapping[str, str]) -> tuple[Trial, ...] | None:
    if not path.is_file():
        return None
    found: dict[tuple[str, str], Trial] = {}
    for where, (enrolment, trial, label) in read_fields(path, "enrolment trial target|nontarget"):
        if label not in LABELS:
            raise ListError(f"label {label!r}", where=where, fix="write target or nontarget")
        _known(trial, utt2spk, where)
        if (enrolment, trial) in found:
            raise ListError(
                f"trial {enrolment} {trial} stands twice",
                where=where,
                fix="remove one of the lines",
            )
        found[enrolment, trial] = Trial(enrolment, trial, label)
    return tuple(found.values())
