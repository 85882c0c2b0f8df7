"""The page of `harness listen` as one file of HTML: sound and pictures are inside, no script.

What manifests and parameters say is text and stays text, as in `harness.reports.html.render`. Sound
and pictures are made here, of numbers alone.
"""

from __future__ import annotations

import io
import math
from base64 import b64encode
from dataclasses import dataclass

import matplotlib.image
import numpy as np
import numpy.typing as npt
import soundfile

from harness.reports.html.render import HERE, hash_of, templates
from harness.reports.listening import (
    HOP,
    SAMPLE_RATE,
    Floats,
    Heard,
    Listening,
    Samples,
    Version,
    level_dbfs,
    mean_f0,
    spectrogram,
)

Ink = npt.NDArray[np.uint8]

STYLES = ("page.css", "listen.css")
# Of the picture, in its own units; the axes stand outside.
WIDTH, HEIGHT = 330, 160
KILOHERTZ = (0, 2, 4, 6, 8)
# F0 has octaves of one height.
HERTZ = (50, 100, 200, 400, 800)
MOST_TICKS = 5
# From full ink down to none, in steps that make files small and that no eye sees.
RANGE_DB = 70
STEP_DB = 2
# Full ink stands for no less, or the noise of 16 bits would look like speech.
FAINTEST_DBFS = -40.0


@dataclass(frozen=True)
class Cell:
    """A version of an utterance as a template needs it.

    sound, picture: URIs. end: right edge of the picture, 0 to WIDTH. line: an SVG path of F0.
    """

    name: str
    sound: str
    picture: str
    end: float
    line: str
    duration: str
    f0: str
    level: str
    note: str


@dataclass(frozen=True)
class Row:
    """An utterance. ticks: labels in seconds and their places, 0 to WIDTH, of all its cells."""

    heard: Heard
    cells: tuple[Cell, ...]
    ticks: tuple[tuple[str, float], ...]


def render(page: Listening) -> str:
    """The whole page. The same page gives the same text."""
    style = "".join((HERE / name).read_text(encoding="utf-8") for name in STYLES)
    text: str = (
        templates()
        .get_template("listen.html.j2")
        .render(
            page=page,
            rows=[row_of(heard, page.frame_ms) for heard in page.utterances],
            style=style,
            style_hash=hash_of(style),
            width=WIDTH,
            height=HEIGHT,
            kilohertz=[(tick, HEIGHT * (1 - tick / KILOHERTZ[-1])) for tick in KILOHERTZ],
            hertz=[(tick, round(height_of(tick), 1)) for tick in HERTZ],
            range_db=RANGE_DB,
        )
    )
    return text


def row_of(heard: Heard, frame_ms: float) -> Row:
    """An utterance with one scale of time and one of levels for all its versions."""
    levels = [spectrogram(version.samples) for version in heard.versions]
    loudest = max(FAINTEST_DBFS, *(float(one.max()) for one in levels))
    longest = max(one.shape[1] for one in levels) * HOP / SAMPLE_RATE
    return Row(
        heard,
        tuple(
            _cell(version, ink(one, loudest), longest, frame_ms)
            for version, one in zip(heard.versions, levels, strict=True)
        ),
        ticks_of(longest),
    )


def _cell(version: Version, picture: Ink, longest: float, frame_ms: float) -> Cell:
    heard = len(version.samples) / SAMPLE_RATE
    whole = f"{version.seconds:.2f} s"
    f0, level = mean_f0(version.f0), level_dbfs(version.samples)
    per_frame = WIDTH * frame_ms / 1000 / longest
    return Cell(
        version.name,
        sound=_uri("audio/wav", wav(version.samples)),
        picture=_uri("image/png", png(picture)),
        end=round(WIDTH * picture.shape[1] * HOP / SAMPLE_RATE / longest, 2),
        line=line_of(version.f0, per_frame),
        duration=whole if heard >= version.seconds else f"{heard:.2f} s of {whole}",
        f0="nothing voiced" if f0 is None else f"{f0:.0f} Hz",
        level="silence" if level is None else f"{level:.1f} dBFS".replace("-", "−"),
        note=version.note,
    )


def ticks_of(longest: float) -> tuple[tuple[str, float], ...]:
    """At most six labels from 0 on, in seconds, with their places.

    longest: seconds that WIDTH stands for, above 0.
    """
    steps = (m * 10.0**e for e in range(-3, 5) for m in (1, 2, 5))
    step = next(one for one in steps if longest / one <= MOST_TICKS)
    numbers = range(math.floor(longest / step) + 1)
    return tuple((f"{n * step:g}", round(WIDTH * n * step / longest, 2)) for n in numbers)


def height_of(hertz: float) -> float:
    """Where a frequency lies on the axis of F0, from the top; what is beyond lies at its end."""
    octaves = math.log2(HERTZ[-1] / min(max(hertz, HERTZ[0]), HERTZ[-1]))
    return HEIGHT * octaves / math.log2(HERTZ[-1] / HERTZ[0])


def line_of(f0: Floats, per_frame: float) -> str:
    """The path of F0, (frames,) in Hz: a stroke for each run of voiced frames, a dot for one."""
    pieces = []
    before = False
    for number, value in enumerate(f0.tolist()):
        if value > 0:
            point = f"{number * per_frame:.1f} {height_of(value):.1f}"
            # A line of no length is drawn as a dot, by its round ends.
            pieces.append(f"L{point}" if before else f"M{point}h0")
        before = value > 0
    return "".join(pieces)


def ink(levels: Floats, loudest: float) -> Ink:
    """How much of each point is covered, 0 to 255, the highest frequency first.

    levels: (frequencies, frames) in dBFS, of which `loudest` is covered wholly.
    """
    steps = np.rint((levels[::-1] - loudest + RANGE_DB) / STEP_DB).clip(0, RANGE_DB // STEP_DB)
    covered: Ink = np.rint(steps * (255 * STEP_DB / RANGE_DB)).astype(np.uint8)
    return covered


def png(covered: Ink) -> bytes:
    """Black of that opacity, (height, width) of 0 to 255, as a file."""
    pixels = np.zeros((*covered.shape, 4), dtype=np.uint8)
    pixels[..., 3] = covered
    stream = io.BytesIO()
    # The creator's version would change the bytes without changing the picture.
    matplotlib.image.imsave(stream, pixels, format="png", metadata={"Software": None})
    return stream.getvalue()


def wav(samples: Samples) -> bytes:
    """Samples as a file that every browser plays."""
    stream = io.BytesIO()
    soundfile.write(stream, samples, SAMPLE_RATE, format="WAV", subtype="PCM_16")
    return stream.getvalue()


def _uri(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{b64encode(data).decode()}"
