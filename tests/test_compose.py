"""The compose file and the program that starts its MLflow server; without an engine."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from programs import loaded

DOCKER = Path(__file__).resolve().parents[1] / "docker"
START = DOCKER / "mlflow" / "start.py"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services, with YAML's merges done and variables as they stand."""
    content: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
    services: dict[str, Any] = content["services"]
    return services


@pytest.fixture(scope="module")
def start() -> ModuleType:
    return loaded(START)


def test_every_service_is_locked(services: dict[str, Any]) -> None:
    assert set(services) == {"mlflow", "postgres", "attacker", "anonymizer"}
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["pull_policy"] == "never", name
        assert "privileged" not in service, name


def test_only_the_server_is_published_and_only_on_this_machine(services: dict[str, Any]) -> None:
    published = {name: service["ports"] for name, service in services.items() if "ports" in service}
    assert published == {"mlflow": ["${MLFLOW_ADDRESS:-127.0.0.1:5000}:5000"]}


def test_no_password_has_a_default(services: dict[str, Any]) -> None:
    passwords = {
        (name, variable): value
        for name, service in services.items()
        for variable, value in service.get("environment", {}).items()
        if "PASSWORD" in variable
    }
    assert passwords.pop(("mlflow", "MLFLOW_AUTH_ADMIN_PASSWORD")).startswith(
        "${MLFLOW_AUTH_ADMIN_PASSWORD:?"
    )
    # Empty: the profile's services refuse it themselves, for compose asks for every `:?` in the
    # file, whatever the profile.
    assert set(passwords.values()) == {"${POSTGRES_PASSWORD:-}"}
    example = (DOCKER / ".env.example").read_text(encoding="utf-8")
    assert re.findall(r"^#?(\w*PASSWORD)=(.*)$", example, re.MULTILINE) == [
        ("MLFLOW_AUTH_ADMIN_PASSWORD", ""),
        ("POSTGRES_PASSWORD", ""),
    ]


def test_jobs_have_a_gpu_and_no_network(services: dict[str, Any]) -> None:
    for name in ("attacker", "anonymizer"):
        service = services[name]
        assert service["profiles"] == ["gpu"]
        assert service["network_mode"] == "none"
        (device,) = service["deploy"]["resources"]["reservations"]["devices"]
        assert device == {"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}
        # A name that a build gives: the tag of anonymizers is their system.
        default = service["image"].partition(":-")[2].removesuffix("}")
        assert re.fullmatch(r"harness-attacker|harness-anonymizer-vpc:b(1|1\.[ab]|[3-6])", default)
        assert [volume.rpartition(":/")[2] for volume in service["volumes"]] == ["in:ro", "out"]


def test_the_database_is_chosen_by_its_password(start: ModuleType) -> None:
    assert start.backend({}) == "sqlite:////data/mlflow.db"
    assert start.backend({"POSTGRES_PASSWORD": ""}) == "sqlite:////data/mlflow.db"
    chosen = start.backend({"POSTGRES_PASSWORD": "secret", "COMPOSE_PROFILES": "gpu,postgres"})
    assert chosen == "postgresql+psycopg://mlflow@postgres/mlflow"


def test_a_profile_without_its_password_is_refused(start: ModuleType) -> None:
    with pytest.raises(ValueError, match="needs POSTGRES_PASSWORD in docker/.env"):
        start.backend({"COMPOSE_PROFILES": "gpu,postgres"})


def test_a_database_that_is_away_is_waited_for_and_then_named(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        monkeypatch.setattr(start, "POSTGRES", unheard.getsockname())
        with pytest.raises(ValueError, match="postgres is silent .*refused.*COMPOSE_PROFILES"):
            start.await_postgres(0.0)


def test_what_is_wrong_is_one_line() -> None:
    done = subprocess.run(
        [sys.executable, START],
        env={"COMPOSE_PROFILES": "postgres"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "mlflow: the profile postgres needs POSTGRES_PASSWORD in docker/.env\n"
