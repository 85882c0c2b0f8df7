"""Builds the images; `make images` calls it.

usage: python docker/build.py --offline|--base IMAGE@sha256:… [IMAGE ...]

An image is a base, the packages of its lock in /opt/harness, and on top what its Dockerfile adds:
the harness. Packages are downloaded on the host, by hash; nothing that makes an image has a
network. They are installed in a container that sees the wheels on a mount, and what it leaves is
an image of its own (harness-packages:…), made once for each lock and base. So gigabytes are written
once and are in one layer, and what changes with each commit is built on them in seconds.

`--offline` builds on a base made from Debian packages (base.sh), for machines that reach no
registry. images.lock records what was built. The same content gives the same digest as long as
the engine keeps what it built.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.cli.main import Parser
from harness.errors import ContainerError, HarnessError
from harness.protocols.typed import read_yaml
from harness.runtime.containers.engine import CODE_LABEL, require_engine
from harness.runtime.files import (
    code_fingerprint,
    fingerprint,
    finished_folder,
    sha256_file,
    work_folder,
    write_text,
)

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "docker"
REQUIREMENTS = ROOT / "requirements"
WHEELS = ROOT / ".work" / "wheels"
LOCK = HERE / "images.lock"
HEADER = """\
# Digests of images, written by docker/build.py (`make images`).
# What runs as a process depends on none.
"""
# What a stage of dvc.yaml can run in a container.
KINDS = ("anonymizer", "attacker")
OFFLINE_BASE = "harness-base:bookworm"
# Of other versions, for comparison: by the same Dockerfile, and built where it is named.
BY_NAME = "-vpc2024"
# An image has a lock of its name, and a folder with a Dockerfile: that folder by that name.
IMAGES = {
    name: folder
    for name in sorted(path.stem for path in REQUIREMENTS.glob("*.lock"))
    for folder in [name.removesuffix(BY_NAME)]
    if (HERE / folder / "Dockerfile").exists()
}
# What the wheel of the harness is made of.
SOURCES = ("harness", "pyproject.toml", "LICENSE")
README = "README.md"
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
# /tmp is in memory: neither pip nor a mount leaves anything in the image.
INSTALL = """\
python3.11 -m venv --without-pip /opt/harness &&
python3.11 -m venv /tmp/pip &&
/tmp/pip/bin/pip --quiet --python /opt/harness/bin/python install --root-user-action ignore \
    --no-index --find-links /tmp/wheels --require-hashes --requirement /tmp/packages.lock
"""


def run(*command: str | Path, **environment: str) -> str:
    """What a command says on standard output; its standard error is shown.

    environment: variables that it gets on top of this process's. Raises ContainerError if it fails.
    """
    done = subprocess.run(
        command,
        env=os.environ | environment,
        umask=0o022,
        check=False,
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        shown = " ".join(map(str, command[:3]))
        raise ContainerError(f"`{shown} …` failed, status {done.returncode}", fix="see above")
    return done.stdout.strip()


def revision(name: str) -> str:
    """The last commit that changed what is in an image; `-dirty` where it has changed since."""
    parts = [*SOURCES, f"docker/{IMAGES[name]}", f"requirements/{name}.lock"]
    commit = run("git", "-C", ROOT, "log", "-1", "--format=%H", "--", *parts)
    changed = run("git", "-C", ROOT, "status", "--porcelain", "--", *parts)
    return f"{commit}-dirty" if changed else commit


def copy(sources: Iterable[Path], folder: Path) -> None:
    """Copy files and folders into a folder, with the modes that a common checkout gives them."""
    for source in sources:
        if source.is_dir():
            caches = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / source.name, ignore=caches)
        else:
            shutil.copy(source, folder)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def wheel(folder: Path) -> Path:
    """The wheel of the harness, made in `folder`: the same bytes from the same source.

    It is made from a copy, so that nothing that an earlier build left gets in.
    """
    with tempfile.TemporaryDirectory() as source:
        copy((ROOT / name for name in SOURCES), Path(source))
        # What people read is none of what runs: it changes no digest.
        Path(source, README).touch()
        # The first day that a zip archive can state.
        epoch = {"SOURCE_DATE_EPOCH": "315532800"}
        run(*PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, source, **epoch)
    (made,) = folder.glob("*.whl")
    return made


def wheels(lock: Path) -> Path:
    """The folder with the wheels of a lock, downloaded where it is missing.

    Folders of locks that are no more are deleted.
    """
    target = WHEELS / sha256_file(lock)
    if not target.exists():
        with finished_folder(target, work_folder("downloads", target.name, WHEELS)) as folder:
            only = ("--require-hashes", "--only-binary=:all:")
            run(*PIP, "download", *only, "-r", lock, "-d", folder)
        current = {sha256_file(path) for path in REQUIREMENTS.glob("*.lock")}
        for old in WHEELS.glob("?" * len(target.name)):
            if old.name not in current:
                shutil.rmtree(old)
    return target


def packages(base: str, lock: Path) -> str:
    """The image of a base with the packages of a lock in /opt/harness, made where it is missing."""
    key = fingerprint([base, sha256_file(lock), INSTALL])
    image = f"harness-packages:{lock.stem}-{key[:16]}"
    if run("docker", "images", "--quiet", image):
        return image
    mounts = ((wheels(lock), "wheels"), (lock, "packages.lock"))
    container = f"harness-packages-{uuid.uuid4().hex[:16]}"
    try:
        run(
            *("docker", "run", "--name", container, "--network", "none", "--user", "0:0"),
            *("--tmpfs", "/tmp:exec", "--entrypoint", "sh"),
            *(f"--mount=type=bind,src={at},dst=/tmp/{name},readonly" for at, name in mounts),
            *(base, "-ec", INSTALL),
        )
        run("docker", "commit", "--change", "CMD []", container, image)
    finally:
        remove = ("docker", "rm", "--force", container)
        subprocess.run(remove, check=False, capture_output=True)
    return image


def build(name: str, base: str, harness: Path) -> dict[str, str]:
    """Build one image. harness: its wheel. What images.lock says of the image."""
    lock = REQUIREMENTS / f"{name}.lock"
    entry = {"lock_sha256": sha256_file(lock), "code_sha256": code_fingerprint()}
    labels = {
        "org.opencontainers.image.title": f"anonymization-harness {name}",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": revision(name),
        "org.opencontainers.image.base.digest": base.rpartition("@")[2],
        "anonymization-harness.lock.sha256": entry["lock_sha256"],
        CODE_LABEL: entry["code_sha256"],
    }
    on = packages(base, lock)
    with tempfile.TemporaryDirectory() as scratch:
        copy([*(HERE / IMAGES[name]).iterdir(), harness], Path(scratch))
        image = run(
            *("docker", "build", "--quiet", "--force-rm", "--network", "none"),
            *("--tag", f"harness-{name}", "--build-arg", f"PACKAGES={on}"),
            *(f"--label={key}={value}" for key, value in labels.items()),
            scratch,
        )
    return {"digest": image} | entry


def recorded(
    known: Mapping[str, Any], base: str, name: str, entry: Mapping[str, str]
) -> dict[str, Any]:
    """The content of images.lock once an image was built on a base.

    known: its content before. What was built on another base is dropped, for the file speaks of
    one; and so is what has no Dockerfile any more.
    """
    before = known.get("docker") or {}
    built = {
        other: said
        for kind, images in before.items()
        if kind != "base" and before["base"] == base
        for other, said in images.items()
        if other in IMAGES
    }
    built[name] = dict(entry)
    by_kind: dict[str, Any] = {}
    for image in sorted(built):
        by_kind.setdefault(image.partition("-")[0], {})[image] = built[image]
    return {"process": dict.fromkeys(KINDS, "none"), "docker": {"base": base, **by_kind}}


def build_all(names: list[str], base: str | None) -> None:
    """Build images and record each. base: None for the one that is made from Debian packages."""
    require_engine()
    known = read_yaml(LOCK) if LOCK.exists() else {}
    if base is None:
        if not run("docker", "images", "--quiet", OFFLINE_BASE):
            run("sh", HERE / "base.sh")
        base = run("docker", "image", "inspect", "--format", "{{.Id}}", OFFLINE_BASE)
    with tempfile.TemporaryDirectory() as folder:
        harness = wheel(Path(folder))
        for name in names:
            entry = build(name, base, harness)
            known = recorded(known, base.rpartition("@")[2], name, entry)
            text = yaml.safe_dump(known, sort_keys=False, default_flow_style=None, width=1000)
            write_text(LOCK, HEADER + text)
            print(f"harness-{name} {entry['digest']}")


def main() -> int:
    parser = Parser(prog="docker/build.py", description="Build the images.")
    usual = [name for name in IMAGES if not name.endswith(BY_NAME)]
    parser.add_argument(
        "images", nargs="*", metavar="IMAGE", help=f"of {', '.join(IMAGES)} (all but *{BY_NAME})"
    )
    parser.add_argument("--offline", action="store_true", help="on a base of Debian packages")
    parser.add_argument("--base", metavar="IMAGE@sha256:…", help="with Python 3.11 as python3.11")
    arguments = parser.parse_args()
    if arguments.offline == (arguments.base is not None):
        parser.error("on which base? OFFLINE=1 (--offline), or BASE=IMAGE@sha256:… (--base)")
    if arguments.base is not None and not re.fullmatch(
        r"[^-@]\S*@sha256:[0-9a-f]{64}", arguments.base
    ):
        parser.error("name the base by its digest: IMAGE@sha256:…")
    if unknown := sorted(set(arguments.images) - set(IMAGES)):
        parser.error(f"no image {unknown[0]!r}: there are {', '.join(IMAGES)}")
    try:
        build_all(arguments.images or usual, arguments.base)
    except HarnessError as error:
        print(f"docker/build.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
