"""Which modules of the package a module needs, by reading imports as text.

`python tests/pipeline/closure.py` prints the list for each stage, to paste into dvc.yaml.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ANONYMIZERS = (
    "harness.anonymizers.admixture",
    "harness.anonymizers.asr_tts",
    "harness.anonymizers.formant_pitch",
    "harness.anonymizers.imported",
    "harness.anonymizers.knn_vc",
    "harness.anonymizers.mcadams",
    "harness.anonymizers.original",
    "harness.anonymizers.pitch_smoothing",
    "harness.contracts.anonymizer.image",
)
EVALUATORS = (
    "harness.utility.emotion",
    "harness.utility.pitch_correlation",
    "harness.utility.wer",
)
ATTACKERS = ("harness.attackers.ecapa.attacker", "harness.contracts.attacker.image")

# What computes each stage's output; a child process is run by its file, not imported.
STAGES: dict[str, tuple[str, ...]] = {
    "corpus": ("harness.pipeline.corpus", "harness.corpora.espeak_process"),
    "anonymize": ("harness.pipeline.anonymize", *ANONYMIZERS),
    "train": ("harness.pipeline.train", *ATTACKERS),
    "score": ("harness.pipeline.score", *ATTACKERS),
    "evaluate": ("harness.pipeline.evaluate",),
    "utility": ("harness.pipeline.utility", *EVALUATORS),
    "distinctiveness": ("harness.pipeline.distinctiveness", *ATTACKERS),
    "emotion-corpus": ("harness.pipeline.emotion_corpus",),
    "emotion-anonymize": ("harness.pipeline.emotion_anonymize", *ANONYMIZERS),
    "emotion": ("harness.pipeline.emotion", *EVALUATORS),
    "compare": ("harness.pipeline.compare",),
    "report": ("harness.pipeline.report",),
    "verify": ("harness.pipeline.verify",),
}
# Files of the package that a stage's modules read, beside the protocol.
HTML = "harness/reports/html"
NORMALIZATIONS = ("harness/protocols/normalizations/*",)
RANKINGS = ("harness/protocols/rankings/*",)
DATA = {
    "utility": NORMALIZATIONS,
    "emotion": NORMALIZATIONS,
    "report": (
        "harness/__init__.py",
        *RANKINGS,
        *(f"{HTML}/*.{kind}" for kind in ("j2", "css", "js")),
    ),
    "verify": RANKINGS,
}
# These check settings, tell of runs, and say where the work is done; they cannot change an output.
# tests/containers/test_runner.py holds that for containers. Of imported speech, the entry, which is
# a parameter, has the hash.
NEUTRAL = (
    *("harness.pipeline.context", "harness.tracking"),
    *("harness.pipeline.runner", "harness.contracts"),
    *("harness.runtime.containers", "harness.runtime.images"),
    "harness.anonymizers.imported",
)


def file_of(module: str) -> Path | None:
    """The file of a module of the package; None for a package or another's module."""
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return path if path.is_file() else None


def imports(path: Path) -> set[str]:
    """Modules of the package that a file imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    text = path.read_text(encoding="utf-8")
    found |= {
        f"harness.{path.parent.name}.{script}"
        for script in re.findall(r'with_name\("(\w+)\.py"\)', text)
    }
    return {name for name in found if name.startswith("harness.") and file_of(name)}


def closure(roots: tuple[str, ...]) -> list[str]:
    """Files of the roots and of all they import, sorted, relative to the repository."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module in seen or module.startswith(NEUTRAL):
            continue
        seen.add(module)
        path = file_of(module)
        assert path is not None, module
        waiting += imports(path)
    return sorted(module.replace(".", "/") + ".py" for module in seen)


def data_files(stage: str) -> list[str]:
    """Files of DATA, sorted, relative to the repository."""
    found = [path for pattern in DATA.get(stage, ()) for path in ROOT.glob(pattern)]
    # `harness listen` is no stage.
    used = [path for path in found if not path.name.startswith("listen.")]
    return sorted(path.relative_to(ROOT).as_posix() for path in used)


if __name__ == "__main__":
    for stage, roots in STAGES.items():
        print(f"# {stage}")  # noqa: T201
        for name in [*closure(roots), *data_files(stage)]:
            print(f"      - {name}")  # noqa: T201
