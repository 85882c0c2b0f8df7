"""The page to listen to: numbers, pictures and sound of a version, and text that stays text."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import math
import re

import matplotlib.image
import numpy as np
import pytest
import soundfile

from harness.reports.html.listen import (
    HEIGHT,
    WIDTH,
    height_of,
    line_of,
    png,
    render,
    row_of,
    ticks_of,
    wav,
)
from harness.reports.listening import (
    FLOOR_DBFS,
    Heard,
    Listening,
    Samples,
    Source,
    Version,
    level_dbfs,
    mean_f0,
    spectrogram,
)
from reports.test_html import HOSTILE, Reader, everywhere

pytestmark = pytest.mark.heavy

FRAME_MS = 5.0


def sine(hertz: float, seconds: float, amplitude: float = 0.5) -> Samples:
    """A sine; amplitude: 1 for full scale."""
    time = np.arange(round(16_000 * seconds)) / 16_000
    return np.rint(amplitude * 32_767 * np.sin(2 * np.pi * hertz * time)).astype(np.int16)


def version(name: str, samples: Samples, f0: float = 200.0, note: str = "") -> Version:
    track = np.full(len(samples) // 80 + 1, f0)
    return Version(name, samples, track, len(samples) / 16_000, note)


def heard(*versions: Version, name: str = "84-1-0001") -> Heard:
    return Heard(name, "84", "f", "some_trials_f", "GO DO YOU HEAR", versions)


def page(*utterances: Heard) -> Listening:
    """A page of two utterances, unless others are given: one and a half seconds of two versions."""
    rows = utterances or tuple(
        heard(
            version("original", sine(400, 1.5)),
            version("b2", sine(400, 1.2, amplitude=0.05), note="clipped"),
            name=name,
        )
        for name in ("84-1-0001", "84-1-0002")
    )
    return Listening(
        "demo",
        "Demo: original and anonymized speech",
        "a reference",
        ("b2",),
        rows,
        (
            Source("original", "some_trials_f", "0" * 64, "{type: original}"),
            Source("b2", "some_trials_f", "1" * 64, "{type: mcadams}"),
        ),
        8.0,
        FRAME_MS,
        "a method",
    )


def decoded(uri: str, kind: str) -> io.BytesIO:
    head = f"data:{kind};base64,"
    assert uri.startswith(head)
    return io.BytesIO(base64.b64decode(uri.removeprefix(head), validate=True))


def covered(uri: str) -> np.ndarray:
    """The opacity of a picture, 0 to 255."""
    pixels = matplotlib.image.imread(decoded(uri, "image/png"), format="png")
    assert not pixels[..., :3].any()
    return np.rint(255 * pixels[..., 3])


@pytest.mark.parametrize(
    ("samples", "level"),
    [
        (np.full(100, -32_768, dtype=np.int16), 0.0),
        # The RMS of a sine is its amplitude over the root of 2.
        (sine(1_000, 1.0, amplitude=0.5), 20 * math.log10(0.5 / math.sqrt(2))),
        (np.full(10, 1, dtype=np.int16), -20 * math.log10(32_768)),
    ],
)
def test_level(samples: Samples, level: float) -> None:
    assert level_dbfs(samples) == pytest.approx(level, abs=0.001)


def test_what_has_no_level_and_no_f0() -> None:
    assert level_dbfs(np.zeros(100, dtype=np.int16)) is None
    assert level_dbfs(np.zeros(0, dtype=np.int16)) is None
    assert mean_f0(np.zeros(10)) is None
    assert mean_f0(np.zeros(0)) is None


def test_mean_f0_is_of_voiced_frames() -> None:
    assert mean_f0(np.array([0.0, 100.0, 0.0, 200.0])) == 150.0


def test_a_sine_in_a_spectrogram() -> None:
    levels = spectrogram(sine(1_000, 0.5, amplitude=0.5))
    assert levels.shape == (257, 50)
    # Half of full scale; 8,000 Hz are 256 steps.
    middle = levels[:, 25]
    assert int(middle.argmax()) == 32
    assert middle.max() == pytest.approx(-6.02, abs=0.02)
    # The highest side lobe of a Hann window is 31 dB down; further off it falls by 18 dB an octave.
    assert middle[np.abs(np.arange(257) - 32) > 6].max() < -6 - 31
    assert middle[np.abs(np.arange(257) - 32) > 60].max() < -80


def test_a_click_lies_where_it_is() -> None:
    samples = np.zeros(16_000, dtype=np.int16)
    samples[7_280] = 30_000
    # In the middle of the frame from 7,200 on, which is 10 ms long.
    assert int(spectrogram(samples).max(axis=0).argmax()) == 45


@pytest.mark.parametrize(
    ("length", "frames"), [(0, 1), (1, 1), (160, 1), (161, 2), (1_600, 10), (960_000, 6_000)]
)
def test_every_length_has_a_spectrogram(length: int, frames: int) -> None:
    levels = spectrogram(np.zeros(length, dtype=np.int16))
    assert levels.shape == (257, frames)
    assert (levels == FLOOR_DBFS).all()


@pytest.mark.parametrize(
    ("longest", "labels"),
    [
        (8.0, "0 2 4 6 8"),
        (3.51, "0 1 2 3"),
        (60.0, "0 20 40 60"),
        (0.01, "0 0.002 0.004 0.006 0.008 0.01"),
    ],
)
def test_ticks_of_time(longest: float, labels: str) -> None:
    ticks = ticks_of(longest)
    assert [label for label, _ in ticks] == labels.split()
    for label, place in ticks:
        assert place == pytest.approx(WIDTH * float(label) / longest, abs=0.01)


def test_f0_has_octaves_of_one_height() -> None:
    places = [height_of(hertz) for hertz in (800, 400, 200, 100, 50)]
    assert places == pytest.approx([0, HEIGHT / 4, HEIGHT / 2, 3 * HEIGHT / 4, HEIGHT])
    assert [height_of(hertz) for hertz in (10, 2_000)] == [HEIGHT, 0]


def test_f0_is_a_stroke_for_each_voiced_run() -> None:
    f0 = np.array([0.0, 100.0, 200.0, 0.0, 50.0])
    high, low = HEIGHT / 2, 3 * HEIGHT / 4
    assert line_of(f0, 1.5) == f"M1.5 {low}h0L3.0 {high}M6.0 {float(HEIGHT)}h0"
    assert line_of(np.zeros(5), 1.5) == ""


def test_all_versions_have_one_scale_of_levels_and_of_time() -> None:
    loud, quiet = sine(1_000, 2.0, amplitude=0.5), sine(1_000, 1.0, amplitude=0.05)
    row = row_of(heard(version("original", loud), version("b2", quiet)), FRAME_MS)
    first, second = (covered(cell.picture) for cell in row.cells)
    # 1 kHz of 8, the highest above: row 224 of 257.
    assert first.max() == first[224, 100] == 255
    # 20 of 70 dB below, of 255.
    assert second.max() == pytest.approx(255 * 50 / 70, abs=1)
    assert [cell.end for cell in row.cells] == [WIDTH, WIDTH / 2]
    assert [cell.level for cell in row.cells] == ["−9.0 dBFS", "−29.0 dBFS"]
    # 200 Hz lie in the middle; 401 frames of 5 ms, the last at 2 s.
    assert row.cells[0].line.endswith(f"L{WIDTH}.0 {HEIGHT / 2}")
    assert row.cells[1].line.endswith(f"L{WIDTH / 2} {HEIGHT / 2}")


def test_what_is_70_db_below_is_not_there() -> None:
    levels = covered(
        row_of(heard(version("original", sine(1_000, 1.0))), FRAME_MS).cells[0].picture
    )
    # The Hann window's side lobes, see above.
    assert not levels[:150, 10:-10].any()


@pytest.mark.parametrize("seconds", [0.01, 1.0, 60.0])
def test_silence_is_blank_and_says_so(seconds: float) -> None:
    silent = version("original", sine(100, seconds, amplitude=0.0), f0=0.0)
    (cell,) = row_of(heard(silent), FRAME_MS).cells
    assert not covered(cell.picture).any()
    assert (cell.level, cell.f0, cell.line) == ("silence", "nothing voiced", "")
    assert cell.duration == f"{seconds:.2f} s"
    html = render(page(heard(silent)))
    assert "silence" in html


def test_faint_noise_does_not_look_like_speech() -> None:
    one_bit = np.random.default_rng(1).integers(-1, 2, 16_000).astype(np.int16)
    (cell,) = row_of(heard(version("original", one_bit)), FRAME_MS).cells
    assert covered(cell.picture).mean() < 5


def test_what_is_cut_says_so() -> None:
    cut = dataclasses.replace(version("original", sine(400, 1.0)), seconds=61.234)
    (cell,) = row_of(heard(cut), FRAME_MS).cells
    assert cell.duration == "1.00 s of 61.23 s"


def test_the_sound_is_that_of_the_samples() -> None:
    read = Reader(render(page()))
    sounds = [attributes["src"] or "" for tag, attributes in read.elements if tag == "audio"]
    for uri, samples in zip(
        sounds, [sine(400, 1.5), sine(400, 1.2, amplitude=0.05)] * 2, strict=True
    ):
        found, rate = soundfile.read(decoded(uri, "audio/wav"), dtype="int16")
        assert rate == 16_000
        assert np.array_equal(found, samples)


def test_pictures_and_sound_are_the_same_each_time() -> None:
    assert render(page()) == render(page())
    # Nothing of the day or of versions: a WAV has 44 bytes before its samples, a PNG few chunks.
    assert len(wav(sine(400, 1.0))) == 44 + 32_000
    chunks = re.findall(rb"IHDR|pHYs|IDAT|IEND|tEXt|tIME", png(np.zeros((4, 4), dtype=np.uint8)))
    assert set(chunks) <= {b"IHDR", b"pHYs", b"IDAT", b"IEND"}


def test_nothing_is_fetched_and_nothing_runs() -> None:
    html = render(page())
    read = Reader(html)
    assert read.open == []
    for attribute in ("src", "href"):
        assert all(value.startswith(("data:", "#")) for value in read.values(attribute))
    ids = read.values("id")
    assert len(ids) == len(set(ids))
    assert {value[1:] for value in read.values("href") if value.startswith("#")} <= set(ids)
    assert not [tag for tag, _ in read.elements if tag in ("script", "iframe", "object", "base")]
    assert "url(" not in html.replace("url(#scale)", "")
    (style,) = read.inside["style"]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = next(a["content"] for t, a in read.elements if t == "meta" and "http-equiv" in a)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; media-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    # What the policy would not apply.
    assert read.values("style") == []


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_changes_no_element(text: str) -> None:
    read = Reader(html := render(everywhere(page(), lambda one: one and one + text)))
    assert read.structure() == Reader(render(page())).structure()
    assert all(c.isprintable() or c == "\n" for c in html)
    if text.isprintable():
        assert f"GO DO YOU HEAR{text}" in "".join(read.texts)
    html.encode()


def test_long_text_is_cut() -> None:
    read = Reader(render(everywhere(page(), lambda one: one + "y" * 10_000)))
    assert max(map(len, read.texts)) < 20_000
    assert not [label for label in read.values("aria-label") if "y" * 601 in label]


def test_a_picture_fills_its_axes() -> None:
    images = [a for tag, a in Reader(render(page())).elements if tag == "image"]
    assert [a["width"] for a in images] == [f"{WIDTH}.0", f"{WIDTH * 1.2 / 1.5}"] * 2
    for attributes in images:
        assert attributes["height"] == str(HEIGHT)
        # Or a browser would keep the form of its pixels.
        assert attributes["preserveaspectratio"] == "none"


def test_all_is_told_in_words() -> None:
    read = Reader(render(page()))
    labels = read.values("aria-label")
    assert "84-1-0001, b2" in labels
    assert "Spectrogram and F0 of 84-1-0001, b2: 1.20 s, mean F0 200 Hz, level −29.0 dBFS" in labels
    seen = " ".join(" ".join(read.texts).split())
    for text in ("speaker 84 (f), set some_trials_f", "GO DO YOU HEAR", "Note clipped", "1" * 64):
        assert text in seen


def test_an_utterance_without_text_has_no_quotation() -> None:
    one = dataclasses.replace(heard(version("original", sine(400, 0.5))), text="")
    assert "blockquote" not in [tag for tag, _ in Reader(render(page(one))).elements]
