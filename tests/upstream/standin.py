"""A system as its image has it, with a stand-in for its code (codes.py), in a folder of a test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.contracts.wav import read_wav, write_wav
from harness.corpora.store import Samples
from upstream import codes

IMAGE = Path(__file__).resolve().parents[2] / "docker" / "anonymizer-vpc"
EDITIONS = {2022: ("B1", "B1.a", "B1.b"), 2024: ("B3", "B4", "B5", "B6")}
EDITION = {system: edition for edition, systems in EDITIONS.items() for system in systems}
SYSTEMS = tuple(EDITION)
# A file of its weights, below /opt/vpc.
_JOINT = "upstream/baseline/exp/models/5_joint_tts_nsf_hifigan/trained_network_G.pt"
WEIGHTS = {
    "B1": _JOINT,
    "B1.a": "upstream/baseline/exp/models/4_nsf/trained_network.jsn",
    "B1.b": _JOINT,
    "B3": "upstream/exp/sttts_models/weights",
    "B4": "upstream/exp/nac_models/weights",
    "B5": "torch/hub/weights",
    "B6": "torch/hub/weights",
}


def lay(folder: Path, files: Mapping[str, str]) -> None:
    """Write files; scripts can be executed."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if text.startswith("#!") else 0o644)


@dataclass(frozen=True)
class Ran:
    """How the entry program ended. events: of its standard output. made: the files in /out."""

    status: int
    events: list[dict[str, Any]]
    stderr: str
    made: dict[str, bytes]

    @property
    def error(self) -> str:
        """What its one error event says; the last of its events, and none is like it."""
        *before, last = self.events
        assert last["event"] == "error"
        assert not [event for event in before if event["event"] in ("error", "done")]
        assert self.status == 1
        return str(last["message"])

    def said(self, kind: str) -> list[str]:
        """Messages of warnings, or how far the work was."""
        return [
            event.get("message") or f"{event['done']}/{event['total']}"
            for event in self.events
            if event["event"] == kind
        ]


class Installed:
    """A system as its image has it, with a stand-in for its code, in a folder of a test."""

    def __init__(self, folder: Path, system: str, *, stubs: bool = True) -> None:
        self.folder, self.system, self.home = folder, system, folder / "home"
        self.code, self.scratch = self.home / "upstream", folder / "scratch"
        if EDITION[system] == 2022:
            lay(self.code, codes.FILES_2022 | codes.SHARED)
            # As 2022.Dockerfile makes it.
            lay(self.code, {codes.GPU_2022.replace(".sh", "_cpu.sh"): codes.CPU_SCRIPT})
            lay(self.code / "baseline" / "exp", codes.MODELS_2022)
            lay(self.code / "baseline", codes.POOL_2022)
            for name, text in codes.INSTALLED_2022.items():
                lay(self.code, {name: text.format(place=self.scratch)})
        else:
            lay(self.code, codes.code_2024())
            lay(self.home, {WEIGHTS[system]: "weights"})
            shutil.copytree(IMAGE / "seeding", self.home / "seeding")
            if stubs:
                lay(self.home / "seeding", {"numpy.py": codes.NUMPY, "torch.py": codes.TORCH})

    def faults(self, **faults: str) -> None:
        """What shall go wrong with which utterance."""
        (self.code / "fault.json").write_text(json.dumps(faults), encoding="utf-8")

    def command(self, inputs: Path, outputs: Path) -> list[str]:
        """What the image's entrypoint is, on these folders."""
        places = {
            "HOME": self.home,
            "INPUTS": inputs,
            "OUTPUTS": outputs,
            "SCRATCH": self.scratch,
            "LOG": self.folder / "log",
        }
        lines = [f"program.{name} = Path({str(place)!r})" for name, place in places.items()]
        program = "\n".join(
            ["import sys", "from pathlib import Path", "import anonymize as program", *lines]
        )
        return [sys.executable, "-c", f"{program}\nsys.exit(program.main())", "anonymize"]

    def environment(self) -> dict[str, str]:
        """What the image says to the program."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(IMAGE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "VPC_SYSTEM": self.system,
        }

    def run(self, name: str, *rows: tuple[str, int], **files: bytes) -> Ran:
        """Anonymize utterances of 6400 samples. rows: names and seeds. files: more of /in."""
        given, out = self.folder / name / "in", self.folder / name / "out"
        (given / "audio").mkdir(parents=True)
        out.mkdir()
        lines = ["seed\tutterance\tpath"]
        for utterance, seed in rows:
            write_wav(given / "audio" / f"{utterance}.wav", ramp(len(utterance)))
            lines.append(f"{seed}\t{utterance}\taudio/{utterance}.wav")
        (given / "manifest.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for file, content in files.items():
            (given / file.replace("__", "/").replace("_", ".")).write_bytes(content)
        return self.start(given, out)

    def start(self, inputs: Path, outputs: Path, verb: Sequence[str] = ()) -> Ran:
        """The program to its end."""
        done = subprocess.run(
            [*self.command(inputs, outputs), *verb],
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return Ran(
            done.returncode,
            [json.loads(line) for line in done.stdout.splitlines()],
            done.stderr,
            {
                path.relative_to(outputs).as_posix(): path.read_bytes()
                for path in sorted(outputs.rglob("*"))
                if path.is_file()
            },
        )


def ramp(step: int) -> Samples:
    """6400 samples, (6400,) int16."""
    return (np.arange(6400) * step).astype(np.int16)


def samples(ran: Ran, utterance: str, folder: Path) -> Samples:
    """What was made of an utterance."""
    path = folder / f"{utterance}.wav"
    path.write_bytes(ran.made[f"audio/{utterance}.wav"])
    return read_wav(path)
