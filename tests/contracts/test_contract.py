"""The contract without a container: what `harness contract anonymize` reads, writes and says."""

from __future__ import annotations

import json
import re
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.anonymizers.base import Job
from harness.cli.main import main
from harness.contracts import speech
from harness.contracts.anonymizer.exchange import read_manifest, write_inputs
from harness.contracts.clauses import CLAUSES
from harness.contracts.inputs import Circumstances, Held
from harness.contracts.wav import read_wav, write_wav
from harness.errors import AudioError, ListError

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "contracts.md"


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    write_inputs(
        tmp_path / "in",
        [
            (job, Held(samples))
            for job, samples in zip(speech.jobs(1), speech.utterances(), strict=True)
        ],
        {"type": "original"},
        Circumstances(),
    )
    return tmp_path / "in"


def contract(inputs: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    folders = ["--in", str(inputs), "--out", str(inputs.parent / "out")]
    status = main(["contract", *folders, "anonymize"])
    return status, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_document_has_every_clause() -> None:
    clauses = dict(re.findall(r"^- \*\*([A-Z]\d+) (.+?)\.\*\*", DOCUMENT.read_text("utf-8"), re.M))
    assert clauses == CLAUSES


def test_all_rows_are_anonymized(inputs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, events = contract(inputs, capsys)
    assert status == 0
    assert [event["event"] for event in events] == ["progress"] * 6 + ["done"]
    for job, samples in zip(speech.jobs(1), speech.utterances(), strict=True):
        with wave.open(str(inputs.parent / f"out/audio/{job.utterance}.wav")) as made:
            assert made.getparams()[:4] == (1, 2, 16_000, len(samples))
            assert made.readframes(len(samples)) == samples.astype("<i2").tobytes()


@pytest.mark.parametrize(
    ("place", "content", "said"),
    [
        ("audio/u0003.wav", b"no audio", "u0003.wav: not a WAV file"),
        ("audio/u0003.wav", None, "u0003.wav: no such audio file"),
        ("manifest.tsv", None, "manifest.tsv: cannot be read"),
        ("params.json", b"[1]", "params.json: not a JSON object"),
        ("params.json", b'{"type": "mcadam"}', "did you mean 'mcadams'"),
    ],
)
def test_bad_input_is_one_error_event(
    place: str,
    content: bytes | None,
    said: str,
    inputs: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (inputs / place).unlink()
    if content is not None:
        (inputs / place).write_bytes(content)
    status, events = contract(inputs, capsys)
    assert status == 1
    assert [event["event"] for event in events].count("error") == 1
    assert events[-1]["event"] == "error"
    assert said in events[-1]["message"]


def test_a_fault_of_ours_is_an_error_event_too(
    inputs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise ZeroDivisionError("a fault")

    # A mock, since a fault of ours cannot be had.
    monkeypatch.setattr("harness.cli.contract._program", lambda verb: fail)
    status, events = contract(inputs, capsys)
    assert status == 70
    assert events == [{"event": "error", "message": "a fault"}]


def test_numbers_survive_the_manifest(tmp_path: Path) -> None:
    job = Job("u1", (1 << 63) - 1, 0.1 + 0.2, "s9")
    write_inputs(
        tmp_path,
        [(job, Held(np.ones(9, np.int16)))],
        {},
        Circumstances(),
        ("alpha", "seed", "path", "utterance"),
    )
    (row,) = read_manifest(tmp_path / "manifest.tsv")
    assert (row.job, row.path) == (job, "audio/u1.wav")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column utterance, path, seed"),
        ("utterance\tpath\tseed\n", "has no row"),
        ("utterance\tpath\tseed\nu1\ta.wav\n", "2 fields under 3 columns"),
        ("utterance\tpath\tseed\n../u1\ta.wav\t1\n", "no opaque name"),
        ("utterance\tpath\tseed\nu1\ta/../../b\t1\n", "no path below"),
        ("utterance\tpath\tseed\nu1\ta.wav\t-1\n", "not of 63 bits"),
        ("utterance\tpath\tseed\nu1\ta.wav\tx\n", "no number"),
        ("utterance\tpath\tseed\nu1\ta.wav\t1\nu1\ta.wav\t1\n", "stands twice"),
    ],
)
def test_a_malformed_manifest_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ListError, match=said):
        read_manifest(path)


@pytest.mark.parametrize(
    ("place", "byte", "said"),
    [
        (0, b"X", "not a WAV"),
        (20, b"\3", "floating point"),
        (22, b"\2", "2 channels"),
        (34, b"\x08", "8 bits"),
        (24, b"\0", "15872 Hz"),
        (40, b"\xff", "cut short"),
    ],
)
def test_other_formats_are_refused(place: int, byte: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    write_wav(path, np.arange(50, dtype=np.int16))
    data = bytearray(path.read_bytes())
    data[place : place + 1] = byte
    path.write_bytes(data)
    with pytest.raises(AudioError, match=said):
        read_wav(path)
