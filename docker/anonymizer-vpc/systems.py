"""What differs by system: the challenges' codes, and how each anonymizes one data set.

Both find a data set in Kaldi's form at `data/<set>`, below the folder that their program is started
in. How they are run was read in their repositories, which inputs.lock names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar


class ContractError(Exception):
    """What ends in the one `error` event of clause C7."""


@dataclass(frozen=True)
class Code2022:
    """anonymize_data_dir.sh, with the options that main_anonymization.sh gives it.

    The seed draws the pseudo-speaker; the synthesis has a seed of its own, always the same.
    model: of the synthesis (`tts_type` in config.sh). audio: the folder that it writes to.
    """

    model: str
    audio: str
    program: ClassVar[str] = "local/anon/anonymize_data_dir.sh"
    # A name without a meaning: of train-clean-360-asv no F0 would be computed.
    dataset: ClassVar[str] = "one"
    start: ClassVar[str] = "baseline"
    writable: ClassVar[tuple[str, ...]] = ("baseline", "nii_pytorch")
    departures: ClassVar[tuple[str, ...]] = (
        "pseudo-speakers come from the women of the pool alone: the contract tells no gender",
        "a pseudo-speaker is far from the one utterance, not from all of its speaker's: each is "
        "anonymized alone",
    )

    def configure(self, scratch: Path, device: str) -> None:
        """Work on `device`: without a GPU, by the script that 2022.Dockerfile makes beside it."""
        if device == "cpu":
            # A link, since nothing that is written to /tmp can be executed there.
            script = scratch / self.start / "local" / "featex" / "extract_ppg_256.sh"
            script.with_name("extract_ppg_256_cpu.sh").replace(script)

    def command(self, scratch: Path, seed: int) -> list[str]:
        """What anonymizes the data set."""
        asr, xvectors = "exp/models/1_asr_am/exp", "exp/models/2_xvect_extr/exp/xvector_nnet_1a"
        options = {
            "nj": 1,
            "anoni-pool": "libritts_train_other_500",
            # Absolute, since the synthesis is started elsewhere.
            "data-netcdf": scratch / self.start / "exp" / "am_nsf_data",
            "ppg-model": asr,
            "ppg-dir": f"{asr}/nnet3_cleaned",
            "xvec-nnet-dir": xvectors,
            "anon-xvec-out-dir": f"{xvectors}/anon",
            "plda-dir": xvectors,
            # Of one utterance, the same as spk.
            "pseudo-xvec-rand-level": "utt",
            "distance": "plda",
            "proximity": "farthest",
            "cross-gender": "false",
            "rand-seed": seed,
            "anon-data-suffix": "_anon",
            "model-type": self.model,
            "inference-trunc-len": -1,
        }
        given = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        return ["bash", self.program, *given, self.dataset]

    def environment(self, home: Path, seed: int) -> dict[str, str]:
        """Nothing: it finds its own by env.sh."""
        return {}

    def made(self) -> str:
        """Where its audio lies, as a pattern."""
        return f"exp/am_nsf_data/{self.dataset}/{self.audio}"


@dataclass(frozen=True)
class Code2024:
    """run_anonymization.py, seeded from outside (seeding/), since it has no seed of its own.

    pipeline: of its configuration in configs/. changes: settings of the modules, for systems that
    share a configuration.
    """

    pipeline: str
    changes: Mapping[str, str] = field(default_factory=dict)
    program: ClassVar[str] = "run_anonymization.py"
    # All configurations know this set and anonymize it by utterance; no list of trials belongs to
    # it.
    dataset: ClassVar[str] = "train-clean-360"
    start: ClassVar[str] = "."
    writable: ClassVar[tuple[str, ...]] = ("data", "exp")
    departures: ClassVar[tuple[str, ...]] = ()

    def configure(self, scratch: Path, device: str) -> None:
        """Write a configuration for the one set. Raises ContractError where the code is another."""
        source = scratch / "configs" / f"anon_{self.pipeline}.yaml"
        text, found = re.subn(
            r"^datasets:\n(?:[ -].*\n|\n)*",
            f"datasets:\n  - name: {self.dataset}\n    data: {self.dataset}\n\n",
            source.read_text(encoding="utf-8"),
            flags=re.MULTILINE,
        )
        if not found:
            raise ContractError(f"{source.name} names no data sets")
        for name, value in {**self.changes, "device": device}.items():
            text, found = re.subn(rf"^(  {name}:).*$", rf'\1 "{value}"', text, flags=re.MULTILINE)
            if not found and name in self.changes:
                # Two systems differ by it alone.
                raise ContractError(f"{source.name} has no setting {name}")
        (scratch / "config.yaml").write_text(text, encoding="utf-8")

    def command(self, scratch: Path, seed: int) -> list[str]:
        """What anonymizes the data set."""
        return [sys.executable, self.program, "--config", "config.yaml"]

    def environment(self, home: Path, seed: int) -> dict[str, str]:
        """What its processes are told."""
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(home / "seeding"),
            "HARNESS_SEED": str(seed),
            "NUMBA_CACHE_DIR": "/tmp/numba",
            "TORCH_HOME": str(home / "torch"),
            "HF_HUB_OFFLINE": "1",
        }

    def made(self) -> str:
        """Where its audio lies, as a pattern."""
        return f"data/{self.dataset}_*/wav"


Code = Code2022 | Code2024
JOINT = Code2022("joint_nsf_hifigan", "nsf_hifigan_output_wav")
SYSTEMS: dict[str, Code] = {
    # B1 of 2024 is in the code of 2022; its file of results is named after B1.b.
    "B1": JOINT,
    "B1.a": Code2022("am_nsf_old", "nsf_output_wav"),
    "B1.b": JOINT,
    "B3": Code2024("sttts"),
    "B4": Code2024("nac"),
    "B5": Code2024("asrbn", {"model_tag_version": "hifigan_bn_tdnnf_wav2vec2_vq_48_v1"}),
    "B6": Code2024("asrbn", {"model_tag_version": "hifigan_bn_tdnnf_600h_vq_48_v1"}),
}
