"""Speech from espeak-ng, as the package `espeakng_loader` brings it (library and data).

A call is pure: the same phrase gives the same samples, whatever was said before, in which process,
or beside which other. For this every utterance is said by a process of its own, in a private data
folder that links the package's files and holds one voice variant; the package is never written to.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.errors import AudioError, ConfigError
from harness.runtime.files import disk_errors

SAMPLE_RATE = 22_050
# `en-gb` is no voice of espeak-ng 1.52.
LANGUAGES = ("en", "en-us", "en-029", "en-gb-scotland", "en-gb-x-rp")
# A phrase takes some milliseconds; this only ends a process that hangs.
TIMEOUT_SECONDS = 60

_SCRIPT = Path(__file__).resolve().with_name("espeak_process.py")
_DATA_FOLDER = "espeak-ng-data"
_DATA_FILES = ("phontab", "phondata", "phonindex", "intonations", "en_dict", "lang")
# Where espeak-ng looks for the variant of a voice `<language>+<variant>`.
_VARIANT_FOLDER = Path("voices") / "!v"
_VARIANT = "voice"


@dataclass(frozen=True)
class Phrase:
    """What is said and how.

    text: an English sentence.
    language: one of LANGUAGES.
    variant: content of an espeak-ng voice variant file.
    pitch, pitch_range: 0-100, 50 being the variant's own.
    rate: words a minute, 80-450.
    """

    text: str
    language: str
    variant: str
    pitch: int = 50
    pitch_range: int = 50
    rate: int = 175


def installed() -> tuple[Path, Path]:
    """The espeak-ng library and its data folder. Raises ConfigError when they are not there."""
    fix = "pip install 'anonymization-harness[demo]'"
    try:
        import espeakng_loader
    except ImportError as error:
        raise ConfigError(
            "synthetic voices need the package espeakng_loader, which is not installed", fix=fix
        ) from error
    library = Path(espeakng_loader.get_library_path())
    data = library.with_name(_DATA_FOLDER)
    if not library.is_file() or not data.is_dir():
        raise ConfigError(
            "the package espeakng_loader lacks its library or data",
            where=library.parent,
            fix=f"{fix} --force-reinstall",
        )
    return library, data


@contextmanager
def _private_data(data: Path, variant: str) -> Iterator[Path]:
    """A temporary folder with espeak-ng's data and one variant."""
    with ExitStack() as stack:
        with disk_errors(Path(tempfile.gettempdir())):
            name = stack.enter_context(tempfile.TemporaryDirectory(prefix="espeak-"))
            folder = Path(name) / _DATA_FOLDER
            (folder / _VARIANT_FOLDER).mkdir(parents=True)
            for file in _DATA_FILES:
                (folder / file).symlink_to(data / file)
            (folder / _VARIANT_FOLDER / _VARIANT).write_text(variant, encoding="utf-8")
        yield Path(name)


def synthesize(phrase: Phrase, *, where: str) -> npt.NDArray[np.int16]:
    """Mono samples at SAMPLE_RATE of a phrase; `where` names it in errors.

    Raises AudioError when espeak-ng refuses, crashes, hangs or says nothing; ConfigError when it is
    not installed.
    """
    library, data = installed()
    request = {
        "library": str(library),
        "voice": f"{phrase.language}+{_VARIANT}",
        "text": phrase.text,
        "pitch": phrase.pitch,
        "pitch_range": phrase.pitch_range,
        "rate": phrase.rate,
        "sample_rate": SAMPLE_RATE,
    }
    with _private_data(data, phrase.variant) as folder:
        try:
            # The folder is given as `.`: espeak-ng cuts paths of more than 160 bytes.
            answer = subprocess.run(
                [sys.executable, "-I", "-S", str(_SCRIPT)],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=folder,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise AudioError(
                f"espeak-ng said nothing for {TIMEOUT_SECONDS} s", where=where, fix="run again"
            ) from error
    if answer.returncode < 0:
        name = signal.strsignal(-answer.returncode) or f"signal {-answer.returncode}"
        raise AudioError(
            f"espeak-ng crashed ({name})", where=where, fix="run again, or change the voice"
        )
    if answer.returncode > 0:
        lines = answer.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        raise AudioError(
            f"espeak-ng failed: {lines[-1]}",
            where=where,
            fix=f"check the language (one of {', '.join(LANGUAGES)}) and the variant",
        )
    samples = np.frombuffer(answer.stdout, dtype=np.int16)
    if not samples.any():
        raise AudioError("espeak-ng gave silence", where=where, fix="check the text")
    return samples
