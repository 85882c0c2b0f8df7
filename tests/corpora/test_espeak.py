"""espeak-ng gives the same samples for the same phrase, and leaves the package alone."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
import types
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.corpora import espeak
from harness.corpora.espeak import Phrase, installed, synthesize
from harness.errors import AudioError, ConfigError

VARIANT = "language variant\nname test\ngender male\npitch 80 110\nformant 1 96 100 100\n"
PHRASE = Phrase("The old boat was tied to the pier.", "en-us", VARIANT)
OTHER = Phrase("Nobody asked for the soup.", "en-029", VARIANT.replace("96", "104"), pitch=60)


@pytest.fixture(scope="module")
def package() -> Path:
    """The folder of the installed package."""
    pytest.importorskip("espeakng_loader", reason="the extra `demo` is not installed")
    return installed()[0].parent


def fundamental(samples: np.ndarray) -> float:
    """F0 in Hz at the loudest place, by autocorrelation."""
    window = 2048
    loudest = int(np.argmax(np.convolve(samples.astype(float) ** 2, np.ones(window), "valid")))
    frame = samples[loudest : loudest + window].astype(float)
    correlation = np.correlate(frame, frame, "full")[window - 1 :]
    lags = np.arange(espeak.SAMPLE_RATE // 400, espeak.SAMPLE_RATE // 50)
    return float(espeak.SAMPLE_RATE / lags[np.argmax(correlation[lags])])


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """Every file's modification time and hash."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def test_the_same_phrase_gives_the_same_samples_whatever_was_said_before(package: Path) -> None:
    first = synthesize(PHRASE, where="u1")
    other = synthesize(OTHER, where="u2")
    np.testing.assert_array_equal(synthesize(PHRASE, where="u1"), first)
    assert other.shape != first.shape or (other != first).any()


def test_another_process_with_another_environment_gives_the_same_samples(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = hashlib.sha256(synthesize(PHRASE, where="u1").tobytes()).hexdigest()
    monkeypatch.setenv("ESPEAK_DATA_PATH", "/nonexistent")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    code = (
        "import hashlib; from harness.corpora.espeak import Phrase, synthesize; "
        f"phrase = {PHRASE!r}; "
        "print(hashlib.sha256(synthesize(phrase, where='u1').tobytes()).hexdigest())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == expected


def test_even_aspiration_noise_repeats(package: Path) -> None:
    # espeak-ng seeds this noise from the clock, so a second must pass to see it change.
    phrase = replace(PHRASE, variant=VARIANT + "breath 0 3 3 3 3 3 3 2\n")
    first = synthesize(phrase, where="u1")
    assert (first[: len(first) // 2] != synthesize(PHRASE, where="u1")[: len(first) // 2]).any()
    time.sleep(1.1)
    np.testing.assert_array_equal(synthesize(phrase, where="u1"), first)


def test_every_language_has_its_own_pronunciation(package: Path) -> None:
    said = {
        synthesize(replace(PHRASE, language=language), where=language).tobytes()
        for language in espeak.LANGUAGES
    }
    assert len(said) == len(espeak.LANGUAGES) == 5


def test_variant_pitch_and_rate_have_their_effect(package: Path) -> None:
    low = synthesize(PHRASE, where="u1")
    high = synthesize(replace(PHRASE, variant=VARIANT.replace("80 110", "200 275")), where="u1")
    assert 70 < fundamental(low) < 120
    assert 170 < fundamental(high) < 300
    raised = synthesize(replace(PHRASE, pitch=80), where="u1")
    assert fundamental(raised) > 1.1 * fundamental(low)
    slow = synthesize(replace(PHRASE, rate=100), where="u1")
    assert len(slow) > 1.3 * len(low)


def test_the_package_is_not_written_to_and_no_temporary_folder_stays(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A path this long is cut by espeak-ng, where it is given one.
    temporary = tmp_path / ("long" * 50)
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = contents(package)
    synthesize(PHRASE, where="u1")
    with pytest.raises(AudioError, match="u2"):
        synthesize(replace(PHRASE, language="en-gb"), where="u2")
    assert contents(package) == before
    assert len(before) > 100
    assert list(temporary.iterdir()) == []


def test_an_unknown_language_is_refused_by_name(package: Path) -> None:
    with pytest.raises(AudioError, match=r"^u7: espeak-ng failed: .*\(en-gb\+voice\).*en-gb-x-rp"):
        synthesize(replace(PHRASE, language="en-gb"), where="u7")


def test_an_empty_text_is_refused(package: Path) -> None:
    with pytest.raises(AudioError, match=r"^u7: espeak-ng gave silence"):
        synthesize(replace(PHRASE, text=""), where="u7")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("import os; os.kill(os.getpid(), 9)", r"^u7: espeak-ng crashed \(Killed\)"),
        ("import time; time.sleep(30)", r"^u7: espeak-ng said nothing for 0\.5 s"),
        ("raise SystemExit(3)", "^u7: espeak-ng failed: no message"),
    ],
)
def test_a_process_that_dies_or_hangs_names_the_utterance(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    path = tmp_path / "broken.py"
    path.write_text(script)
    monkeypatch.setattr(espeak, "_SCRIPT", path)
    monkeypatch.setattr(espeak, "TIMEOUT_SECONDS", 0.5)
    with pytest.raises(AudioError, match=message):
        synthesize(PHRASE, where="u7")


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    with pytest.raises(ConfigError, match=r"pip install 'anonymization-harness\[demo\]'"):
        synthesize(PHRASE, where="u1")


def test_a_package_without_its_data_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = types.ModuleType("espeakng_loader")
    library = tmp_path / "libespeak-ng.so"
    library.touch()
    monkeypatch.setattr(module, "get_library_path", lambda: str(library), raising=False)
    monkeypatch.setitem(sys.modules, "espeakng_loader", module)
    with pytest.raises(ConfigError, match="lacks its library or data"):
        installed()
