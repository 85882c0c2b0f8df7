"""Imports point downwards, and the light wing stays light. See ARCHITECTURE.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "harness"
HEAVY = {"torch", "torchaudio", "speechbrain", "mlflow", "dvc", "numba", "ray", "transformers"}

# What each room may import of the package, besides itself.
MAY = {
    "errors": set(),
    "protocols": {"errors"},
    "metrics": {"errors"},
    "runtime": {"protocols", "errors"},
    "corpora": {"runtime", "protocols", "errors"},
    "anonymizers": {"corpora", "runtime", "protocols", "errors"},
    "attackers": {"corpora", "runtime", "protocols", "errors"},
    "utility": {
        *("attackers", "anonymizers", "corpora"),
        *("metrics", "runtime", "protocols", "errors"),
    },
    "contracts": {
        *("attackers", "anonymizers", "corpora"),
        *("metrics", "runtime", "protocols", "errors"),
    },
    "tracking": {"runtime", "errors"},
    "submissions": {"metrics", "protocols", "runtime.files", "runtime.containers", "errors"},
    "reruns": {
        *("submissions", "contracts", "attackers", "corpora"),
        *("metrics", "runtime", "protocols", "errors"),
    },
    "ranking": {"submissions", "metrics", "protocols", "runtime.files", "errors"},
    "reports": {"ranking", "submissions", "metrics", "protocols", "runtime.files", "errors"},
    "pipeline": set(),
    "cli": set(),
}
FREE = {"pipeline": {"cli"}, "cli": set()}  # may import all but these
# Foreign packages that only the named room may import.
OWN = {
    "mlflow": "tracking",
    "torch": "attackers",
    "speechbrain": "attackers",
    "numba": "anonymizers",
    "securesystemslib": "submissions",
}
LIGHT = (
    *("protocols", "metrics", "submissions", "ranking"),
    *("reports", "corpora", "runtime", "errors"),
)
# What stands on Matplotlib, Jinja2 or espeak, which the light environment lacks: loaded late.
LATE = (
    *("figures.py", "drawing.py", "drawing_overview.py", "drawing_set.py"),
    *("drawing_similarity.py", "drawing_tradeoff.py"),
    *("render.py", "listen.py", "espeak_process.py"),
)


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")


def test_every_room_is_named() -> None:
    assert {room(path) for path in FILES} == set(MAY)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_downwards(path: Path) -> None:
    here = room(path)
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "harness" and len(parts) > 1:
            there = parts[1]
            if there == here:
                continue
            if here in FREE:
                assert there not in FREE[here], f"{path.name} imports {name}"
            else:
                assert there in MAY[here] or ".".join(parts[1:3]) in MAY[here], f"imports {name}"
        elif parts[0] in OWN and here != OWN[parts[0]]:
            # Versions and devices are asked by the pipeline, which starts the attackers; some
            # anonymizers have neural back ends.
            asking = {(one, "torch") for one in ("pipeline", "runtime", "anonymizers", "utility")}
            assert (here, parts[0]) in asking, f"imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_modules_are_short_and_silent(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    if room(path) != "cli":
        calls = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Call)]
        names = {c.func.id for c in calls if isinstance(c.func, ast.Name)}
        # A child process speaks to its parent by its standard output.
        assert "print" not in names


@pytest.mark.parametrize("kind", ["anonymizers", "utility"])
def test_types_of_anonymizers_and_evaluators_load_no_torch(kind: str) -> None:
    # Parameters are checked, and B2 works, without what neural back ends take seconds to load.
    points = [f"harness.{kind}.base", f"harness.{kind}.stage"]
    group = {"anonymizers": "harness.anonymizers", "utility": "harness.evaluators"}[kind]
    points += [point.module for point in entry_points(group=group)]
    code = (
        f"import importlib, sys\nfor m in {points!r}: importlib.import_module(m)\n"
        f"print(sorted({HEAVY!r} & {{m.split('.')[0] for m in sys.modules}}))"
    )
    assert len(points) == len(entry_points(group=group)) + 2 > 4
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_light_wing_loads_nothing_heavy() -> None:
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in FILES
        if room(path) in LIGHT and path.name not in LATE
    ]
    code = (
        f"import importlib, sys\nfor m in {modules!r}: importlib.import_module(m)\n"
        f"print(sorted({HEAVY!r} & {{m.split('.')[0] for m in sys.modules}}))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
