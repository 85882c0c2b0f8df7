"""The locks agree with one another, and say nothing of the machine that made them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
REQUIREMENTS = REPOSITORY / "requirements"
LOCKS = (
    *("full", "light", "light-test", "lint", "fuzz"),
    *("verifier", "anonymizer-b2", "attacker", "mlflow"),
)
# Environments of an earlier day: their versions are their own.
APART = ("attacker-vpc2024",)


def pins(name: str) -> dict[str, str]:
    text = (REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", text, re.MULTILINE))


def hashes(name: str) -> dict[str, str]:
    text = (REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")
    return dict(
        re.findall(r"^([\w.-]+)==\S+ \\\n((?: {4}--hash=\S+(?: \\)?\n)+)", text, re.MULTILINE)
    )


def test_every_input_has_its_lock() -> None:
    assert {path.stem for path in REQUIREMENTS.glob("*.in")} == {*LOCKS, *APART}
    assert {path.stem for path in REQUIREMENTS.glob("*.lock")} == {*LOCKS, *APART}


@pytest.mark.parametrize("name", LOCKS[1:])
def test_what_two_environments_share_has_one_version(name: str) -> None:
    full = pins("full")
    shared = pins(name).keys() & full.keys()
    assert shared
    assert {package: pins(name)[package] for package in shared} == {p: full[p] for p in shared}


def test_the_attacker_image_holds_the_wheels_of_the_full_environment() -> None:
    full, attacker = hashes("full"), hashes("attacker")
    assert {"torch", "speechbrain", "nvidia-cudnn-cu13"} <= attacker.keys()
    assert attacker.items() <= full.items()


def test_light_environments_are_parts_of_the_full_one() -> None:
    assert pins("light").items() <= pins("light-test").items() <= pins("full").items()
    assert not {"torch", "mlflow", "dvc", "numba"} & pins("light-test").keys()


def test_the_challenges_environment_is_that_of_2024() -> None:
    versions = {"torch": "2.0.1", "torchaudio": "2.0.2", "speechbrain": "0.5.16"}
    assert versions.items() <= pins("attacker-vpc2024").items()
    # That torch was built for the first NumPy's interface.
    assert pins("attacker-vpc2024")["numpy"].startswith("1.")


@pytest.mark.parametrize("name", LOCKS + APART)
def test_lock_is_hashed_and_names_no_registry(name: str) -> None:
    text = (REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")
    requirements = [line for line in text.splitlines() if re.match(r"\w", line)]
    assert len(requirements) == len(pins(name))
    hashed = re.findall(r"^\S+==\S+ \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert len(hashed) == len(requirements)
    assert not re.search(r"https?:|file:|^ *--(extra-|find-|index)", text, re.MULTILINE)


@pytest.mark.parametrize("name", LOCKS + APART)
def test_every_named_package_is_locked(name: str) -> None:
    lines = (REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8").splitlines()
    named = [re.split(r"[=<>\s\[]", line)[0] for line in lines if re.match(r"\w", line)]
    assert named
    assert set(named) <= pins(name).keys()


def test_hooks_run_the_locked_tools() -> None:
    text = (REPOSITORY / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    hooked = re.findall(r'"([\w.-]+)==([\w.]+)"', text)
    assert {name for name, _ in hooked} >= {"ruff", "mypy"}
    assert dict(hooked).items() <= pins("lint").items()
