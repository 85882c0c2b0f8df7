from __future__ import annotations

import base64
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

import results
from harness.errors import ConfigError
from harness.submissions.certificates.certificate import (
    open_certificate,
    sign,
    statement,
)
from harness.submissions.certificates.keys import generate_keys, load_public_key, load_signer

# RFC 8410, 10.1 and 10.3.
RFC_PRIVATE = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"
RFC_PUBLIC = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="


def pem(kind: str, text: str) -> str:
    return f"-----BEGIN {kind} KEY-----\n{text}\n-----END {kind} KEY-----\n"


def test_new_keys_sign_and_are_private(tmp_path: Path) -> None:
    private, public = generate_keys(tmp_path / "new" / "organizer.2025")
    assert [path.name for path in (private, public)] == ["organizer.2025.key", "organizer.2025.pub"]
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert sorted(path.name for path in private.parent.iterdir()) == [private.name, public.name]
    assert private.read_text().startswith("-----BEGIN PRIVATE KEY-----\n")
    assert public.read_text().startswith("-----BEGIN PUBLIC KEY-----\n")
    verification = results.verification()
    data = sign(statement(verification, verification.submissions[0]), load_signer(private))
    assert open_certificate(data, load_public_key(public))


@pytest.mark.parametrize("suffix", [".key", ".pub"])
def test_keys_are_never_overwritten(tmp_path: Path, suffix: str) -> None:
    there = tmp_path / f"organizer{suffix}"
    there.write_text("mine")
    with pytest.raises(ConfigError, match=f"organizer{suffix}: there is such a file already; cho"):
        generate_keys(tmp_path / "organizer")
    assert [path.name for path in tmp_path.iterdir()] == [there.name]
    assert there.read_text() == "mine"


def test_keys_need_a_name() -> None:
    with pytest.raises(ConfigError, match="no name for the keys"):
        generate_keys(Path("."))


def test_keys_of_the_standard_are_read(tmp_path: Path) -> None:
    private, public = tmp_path / "rfc.key", tmp_path / "rfc.pub"
    private.write_text(pem("PRIVATE", RFC_PRIVATE))
    public.write_text(pem("PUBLIC", RFC_PUBLIC))
    key = load_public_key(public)
    assert key == load_signer(private).public_key
    raw = base64.b64decode(RFC_PUBLIC)[-32:]
    assert key.keyval["public"] == raw.hex()


def private_pem(key: Any, password: bytes | None = None) -> bytes:
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        encryption = serialization.BestAvailableEncryption(password)
    data: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    )
    return data


def public_pem(key: Any) -> bytes:
    data: bytes = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return data


RSA = rsa.generate_private_key(65537, 2048)
P256 = ec.generate_private_key(ec.SECP256R1())
OWN = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))


@pytest.mark.parametrize(
    ("load", "data", "message"),
    [
        (load_signer, private_pem(RSA), "a key of the kind RSAPrivateKey, not Ed25519; make one"),
        (load_signer, private_pem(P256), "a key of the kind ECPrivateKey, not Ed25519"),
        (load_signer, private_pem(OWN, b"secret"), "an encrypted key; decrypt it"),
        (load_signer, public_pem(OWN), "no private key in PEM; give the .key"),
        (load_signer, b"\x00" * 100, "no private key in PEM"),
        (load_signer, b"x" * 100_000, "more than 65,536 bytes"),
        (load_public_key, public_pem(RSA), "a key of the kind RSAPublicKey, not Ed25519; make one"),
        (load_public_key, public_pem(P256), "a key of the kind ECPublicKey, not Ed25519"),
        (load_public_key, private_pem(OWN), "no public key in PEM; give the .pub"),
        (load_public_key, b"", "no public key in PEM"),
    ],
)
def test_a_wrong_key_is_one_line(
    tmp_path: Path, load: Callable[[Path], object], data: bytes, message: str
) -> None:
    path = tmp_path / "some"
    path.write_bytes(data)
    with pytest.raises(ConfigError, match=re.escape(f"some: {message}")):
        load(path)


@pytest.mark.parametrize("load", [load_signer, load_public_key])
def test_a_key_that_cannot_be_read(tmp_path: Path, load: Callable[[Path], object]) -> None:
    with pytest.raises(ConfigError, match=r"absent: cannot be read \(No such file or directory\)"):
        load(tmp_path / "absent")


def test_a_missing_package_names_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "securesystemslib.signer", None)
    with pytest.raises(ConfigError, match=r"run `pip install 'anonymization-harness\[certificate"):
        load_signer(tmp_path / "x")


def test_modules_load_no_cryptography() -> None:
    code = (
        "import sys, harness.submissions.certificates.comparison, harness.cli.cert\n"
        "print({'cryptography', 'securesystemslib'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"
