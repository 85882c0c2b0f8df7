"""The challenges' own code behind docs/contracts.md; Python's own library alone.

Each utterance is a data set and a run of its own, seeded from the manifest: so neither batch nor
order changes a byte, at the cost of loading the models again and again.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import wave
from collections.abc import Mapping
from pathlib import Path

from systems import SYSTEMS, Code, ContractError

HOME = Path("/opt/vpc")
INPUTS, OUTPUTS = Path("/in"), Path("/out")
# What is installed for 2022 holds the first of these as its own place: see inputs.lock.
SCRATCH, LOG = Path("/tmp/upstream"), Path("/tmp/upstream.log")
FORMAT = (1, 2, 16_000)  # channels, bytes a sample, Hz
# Clause A5: of the samples given, or samples; the larger of the two.
DURATION_SHARE, DURATION_SAMPLES = 0.1, 1_600
NAME = re.compile(r"[\w-]+", re.ASCII)
COLOURS = re.compile(r"\x1b\[[\d;]*m")
# Of what the code said before it failed. Clause C4 limits the log: of a run that ends well, none.
TOLD_BYTES = 4_096


def say(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def read_object(name: str) -> dict[str, object]:
    """A JSON object in /in; empty where there is no such file."""
    path = INPUTS / name
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except ValueError as error:
        raise ContractError(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict):
        raise ContractError(f"{path}: not a JSON object")
    return content


def samples_of(path: Path, kind: str) -> int:
    """How many samples a file holds. Raises ContractError unless it is whole, in the one format."""
    try:
        with wave.open(str(path), "rb") as stream:
            found = (stream.getnchannels(), stream.getsampwidth(), stream.getframerate())
            stated = stream.getnframes()
            held = len(stream.readframes(stated)) // (found[0] * found[1])
    except (OSError, EOFError, wave.Error) as error:
        raise ContractError(f"{path}: {kind} is no WAV file ({error})") from error
    if found != FORMAT or not stated or held != stated:
        raise ContractError(f"{path}: {kind} is not whole mono 16 kHz WAV of 16-bit PCM")
    return stated


def prepare(code: Code, utterance: str, audio: Path, device: str) -> None:
    """Links to the code, in folders where it writes, and one utterance as its only data."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    SCRATCH.mkdir()
    for source in (HOME / "upstream").iterdir():
        target = SCRATCH / source.name
        if source.name in code.writable:
            shutil.copytree(source, target, symlinks=True, copy_function=os.symlink)
        else:
            target.symlink_to(source)
    code.configure(SCRATCH, device)
    data = SCRATCH / code.start / "data" / code.dataset
    (data / "wav").mkdir(parents=True)
    (data / "wav" / f"{utterance}.wav").symlink_to(audio)
    for name, value in {
        "wav.scp": f"data/{code.dataset}/wav/{utterance}.wav",
        "utt2spk": utterance,
        "spk2utt": utterance,
        # The contract tells no gender. The code of 2024 copies it, that of 2022 goes by it.
        "spk2gender": "f",
    }.items():
        (data / name).write_text(f"{utterance} {value}\n", encoding="utf-8")


def failure(utterance: str, what: str) -> ContractError:
    """What went wrong, with the last line that the code said; more of it to standard error."""
    told = LOG.read_bytes()[-TOLD_BYTES:].decode("utf-8", "replace")
    print(told, file=sys.stderr)
    lines = [line.strip() for line in COLOURS.sub("", told).splitlines()]
    last = next((line for line in reversed(lines) if line), "it said nothing")
    return ContractError(f"{utterance}: {what} ({last})")


def anonymize(
    code: Code, utterance: str, audio: Path, seed: int, circumstances: Mapping[str, object]
) -> None:
    given = samples_of(audio, "the speech given")
    prepare(code, utterance, audio, str(circumstances.get("device", "cpu")))
    environment = {
        **os.environ,
        "HOME": "/tmp",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": str(circumstances.get("threads", 1)),
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        **code.environment(HOME, seed),
    }
    start, program = SCRATCH / code.start, Path(code.program).name
    with LOG.open("wb") as log:
        # What it says is no events, and nobody answers what it asks.
        status = subprocess.run(
            code.command(SCRATCH, seed),
            cwd=start,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    if status < 0:
        raise failure(utterance, f"{program} was ended by {signal.Signals(-status).name}")
    if status:
        raise failure(utterance, f"{program} ended with status {status}")
    made = list(start.glob(f"{code.made()}/{utterance}.wav"))
    if len(made) != 1:
        raise failure(utterance, f"{program} made {len(made)} files of it, not one")
    length = samples_of(made[0], "what was made")
    if abs(length - given) > max(DURATION_SHARE * given, DURATION_SAMPLES):
        say("warning", message=f"{utterance}: {length} samples from {given}, against clause A5")
    shutil.copyfile(made[0], OUTPUTS / "audio" / f"{utterance}.wav")


def run(arguments: list[str]) -> None:
    if arguments != ["anonymize"]:
        raise ContractError(f"the one verb is anonymize, not {' '.join(arguments) or 'nothing'}")
    unknown = sorted(read_object("params.json"))
    if unknown:
        raise ContractError(f"/in/params.json: unknown parameter {unknown[0]!r}; there is none")
    circumstances = read_object("run.json")
    code = SYSTEMS[os.environ["VPC_SYSTEM"]]
    with (INPUTS / "manifest.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    for departure in code.departures:
        say("warning", message=departure)
    (OUTPUTS / "audio").mkdir(exist_ok=True)
    for number, row in enumerate(rows, start=1):
        utterance, seed = row.get("utterance") or "", row.get("seed") or ""
        if not NAME.fullmatch(utterance) or not seed.isdecimal() or not row.get("path"):
            raise ContractError(f"/in/manifest.tsv: row {number} lacks utterance, path or seed")
        anonymize(code, utterance, INPUTS / row["path"], int(seed), circumstances)
        say("progress", task="anonymize", done=number, total=len(rows), unit="utterances")


def main() -> int:
    try:
        run(sys.argv[1:])
    except (ContractError, OSError, UnicodeError, csv.Error) as error:
        say("error", message=str(error))
        return 1
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
