"""Keys that certificates are signed with: Ed25519, in PEM files.

A private key is PKCS #8, unencrypted; a public key is SubjectPublicKeyInfo (RFC 8410): what
`openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write too. A key's id is the SHA-256
that securesystemslib derives from the public key: people compare it, signatures name it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import ConfigError
from harness.runtime.files import disk_errors, whole_file
from harness.submissions.limits import read_small

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, SSlibKey

PRIVATE_SUFFIX = ".key"
PUBLIC_SUFFIX = ".pub"
PRIVATE_MODE = 0o600
PUBLIC_MODE = 0o644
# An Ed25519 key has 119 bytes, an RSA key of 16,384 bits 13,000.
LARGEST_KEY = 1 << 16


@contextmanager
def certificate_extra() -> Iterator[None]:
    """Around imports of what only certificates need. Raises ConfigError where it is missing."""
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"certificates need {error.name or 'securesystemslib'}, which is not installed",
            fix="run `pip install 'anonymization-harness[certificate]'`",
        ) from error


def generate_keys(stem: Path) -> tuple[Path, Path]:
    """Make a pair of keys: the paths `<stem>.key` (private, mode 0600) and `<stem>.pub`.

    Raises ConfigError when either is there already: a key is never overwritten.
    """
    with certificate_extra():
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    if not stem.name:
        raise ConfigError("no name for the keys", where=stem, fix="name them, such as `organizer`")
    private = stem.with_name(stem.name + PRIVATE_SUFFIX)
    public = stem.with_name(stem.name + PUBLIC_SUFFIX)
    _reserve(private, PRIVATE_MODE)
    try:
        _reserve(public, PUBLIC_MODE)
    except ConfigError:
        private.unlink()
        raise
    key = Ed25519PrivateKey.generate()
    _fill(
        private,
        PRIVATE_MODE,
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ),
    )
    _fill(
        public,
        PUBLIC_MODE,
        key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
    )
    return private, public


def load_signer(path: Path) -> CryptoSigner:
    """What signs with a private key. Raises ConfigError unless the file holds one of Ed25519."""
    with certificate_extra():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
        from securesystemslib.signer import CryptoSigner
    data = read_small(path, LARGEST_KEY, "name a key in PEM that can be read")
    try:
        key = load_pem_private_key(data, password=None)
    except TypeError as error:
        raise ConfigError(
            "an encrypted key", where=path, fix="decrypt it with `openssl pkey -in KEY -out NEW`"
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ConfigError(
            "no private key in PEM",
            where=path,
            fix="give the .key that `harness cert keygen` wrote",
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _wrong_kind(path, key)
    return CryptoSigner(key)


def load_public_key(path: Path) -> SSlibKey:
    """A public key. Raises ConfigError unless the file holds one of Ed25519."""
    with certificate_extra():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
        from securesystemslib.signer import SSlibKey
    data = read_small(path, LARGEST_KEY, "name a key in PEM that can be read")
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ConfigError(
            "no public key in PEM",
            where=path,
            fix="give the .pub that `harness cert keygen` wrote",
        ) from error
    if not isinstance(key, Ed25519PublicKey):
        raise _wrong_kind(path, key)
    return SSlibKey.from_crypto(key)


def _wrong_kind(path: Path, key: object) -> ConfigError:
    return ConfigError(
        f"a key of the kind {type(key).__name__}, not Ed25519",
        where=path,
        fix="make one with `harness cert keygen`",
    )


def _reserve(path: Path, mode: int) -> None:
    """Take a name that nobody has, also not a process that does the same at this moment."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        except FileExistsError as error:
            raise ConfigError(
                "there is such a file already", where=path, fix="choose another name for the keys"
            ) from error


def _fill(path: Path, mode: int, data: bytes) -> None:
    """Write a reserved file whole; nobody else can read it even while it is written."""
    with whole_file(path) as temporary:
        temporary.touch(mode)
        temporary.write_bytes(data)
