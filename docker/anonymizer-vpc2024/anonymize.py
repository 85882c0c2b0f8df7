"""The challenge's run_anonymization.py behind docs/contracts.md; Python's own library alone.

Each utterance is a data set and a process of its own, seeded from the manifest (seeding/): so
neither batch nor order changes a byte, at the cost of loading the models again and again.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import wave
from collections.abc import Mapping
from pathlib import Path

HOME = Path("/opt/vpc2024")
INPUTS, OUTPUTS, SCRATCH = Path("/in"), Path("/out"), Path("/tmp/upstream")
# Pipeline of each system in configs/, and what distinguishes two that share one.
SYSTEMS: dict[str, tuple[str, dict[str, str]]] = {
    "B3": ("sttts", {}),
    "B4": ("nac", {}),
    "B5": ("asrbn", {"model_tag_version": "hifigan_bn_tdnnf_wav2vec2_vq_48_v1"}),
    "B6": ("asrbn", {"model_tag_version": "hifigan_bn_tdnnf_600h_vq_48_v1"}),
}
# All configurations know this set and anonymize it by utterance; no list of trials belongs to it.
SET = "train-clean-360"
FORMAT = (1, 2, 16_000)  # channels, bytes a sample, Hz
NAME = re.compile(r"[\w-]+", re.ASCII)


class ContractError(Exception):
    """What ends in the one `error` event of clause C7."""


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


def configured(text: str, changes: Mapping[str, str]) -> str:
    """A configuration of the challenge for our one set. changes: settings of its modules."""
    text, found = re.subn(
        r"^datasets:\n(?:[ -].*\n|\n)*",
        f"datasets:\n  - name: {SET}\n    data: {SET}\n\n",
        text,
        flags=re.MULTILINE,
    )
    if not found:
        raise ContractError("the configuration names no data sets")
    for name, value in changes.items():
        text = re.sub(rf"^(  {name}:).*$", rf'\1 "{value}"', text, flags=re.MULTILINE)
    return text


def prepare(config: str, utterance: str, audio: Path) -> None:
    """A writable copy of the code's folder, of links, with one utterance as its only data."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    data = SCRATCH / "data" / SET
    (data / "wav").mkdir(parents=True)
    (SCRATCH / "exp").mkdir()
    for source in (HOME / "upstream").iterdir():
        if source.name not in ("data", "exp"):
            (SCRATCH / source.name).symlink_to(source)
    for source in (HOME / "upstream" / "exp").iterdir():
        (SCRATCH / "exp" / source.name).symlink_to(source)
    (data / "wav" / f"{utterance}.wav").symlink_to(audio)
    (SCRATCH / "config.yaml").write_text(config, encoding="utf-8")
    for name, value in {
        "wav.scp": f"data/{SET}/wav/{utterance}.wav",
        "utt2spk": utterance,
        "spk2utt": utterance,
        # The contract tells no gender; it is copied, not used.
        "spk2gender": "f",
    }.items():
        (data / name).write_text(f"{utterance} {value}\n", encoding="utf-8")


def refuse_audio(path: Path, kind: str) -> None:
    try:
        with wave.open(str(path), "rb") as stream:
            found = (stream.getnchannels(), stream.getsampwidth(), stream.getframerate())
            whole = stream.getnframes()
            held = len(stream.readframes(whole)) == whole * stream.getsampwidth()
    except (OSError, EOFError, wave.Error) as error:
        raise ContractError(f"{path}: {kind} is no WAV file ({error})") from error
    if found != FORMAT or not whole or not held:
        raise ContractError(f"{path}: {kind} is not whole mono 16 kHz WAV of 16-bit PCM")


def anonymize(utterance: str, audio: Path, seed: int, config: str, threads: object) -> None:
    refuse_audio(audio, "the speech given")
    prepare(config, utterance, audio)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": "/tmp",
        "PYTHONPATH": str(HOME / "seeding"),
        "PYTHONHASHSEED": "0",
        "HARNESS_SEED": str(seed),
        "OMP_NUM_THREADS": str(threads),
        "NUMBA_CACHE_DIR": "/tmp/numba",
        "TORCH_HOME": str(HOME / "torch"),
        "HF_HUB_OFFLINE": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
    }
    command = [sys.executable, "run_anonymization.py", "--config", "config.yaml"]
    # Its standard output is no events.
    ran = subprocess.run(command, cwd=SCRATCH, env=environment, stdout=sys.stderr, check=False)
    if ran.returncode:
        raise ContractError(f"{audio}: run_anonymization.py ended with status {ran.returncode}")
    made = list((SCRATCH / "data").glob(f"{SET}_*/wav/{utterance}.wav"))
    if len(made) != 1:
        raise ContractError(f"{audio}: run_anonymization.py made {len(made)} files of it, not one")
    refuse_audio(made[0], "what was made")
    shutil.copyfile(made[0], OUTPUTS / "audio" / f"{utterance}.wav")


def run(arguments: list[str]) -> None:
    if arguments != ["anonymize"]:
        raise ContractError(f"the one verb is anonymize, not {' '.join(arguments) or 'nothing'}")
    unknown = sorted(read_object("params.json"))
    if unknown:
        raise ContractError(f"/in/params.json: unknown parameter {unknown[0]!r}; there is none")
    circumstances = read_object("run.json")
    threads, device = circumstances.get("threads", 1), circumstances.get("device", "cpu")
    pipeline, changes = SYSTEMS[os.environ["VPC_SYSTEM"]]
    text = (HOME / "upstream" / "configs" / f"anon_{pipeline}.yaml").read_text(encoding="utf-8")
    config = configured(text, {**changes, "device": str(device)})
    with (INPUTS / "manifest.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    (OUTPUTS / "audio").mkdir(exist_ok=True)
    for number, row in enumerate(rows, start=1):
        utterance, seed = row.get("utterance") or "", row.get("seed") or ""
        if not NAME.fullmatch(utterance) or not seed.isdecimal() or not row.get("path"):
            raise ContractError(f"/in/manifest.tsv: row {number} lacks utterance, path or seed")
        anonymize(utterance, INPUTS / row["path"], int(seed), config, threads)
        say("progress", task="anonymize", done=number, total=len(rows), unit="utterances")


def main() -> int:
    try:
        run(sys.argv[1:])
    except (ContractError, OSError) as error:
        say("error", message=str(error))
        return 1
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
